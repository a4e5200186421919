"""What a run on a table file needs, for the command line and the workbench alike."""
