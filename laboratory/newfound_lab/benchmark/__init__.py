"""The benchmark of the task: methods on development tables, scored on rows of known and novel classes held out."""
