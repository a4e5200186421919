"""The prior: synthetic tasks of novel class discovery, made in batches on whichever device, seeded.

A family makes complete tables (`mixtures`, `functions`, `categories`, `wide`); `labelling` hides classes and labels;
`recording` turns columns into what people store. `FAMILIES` lists the families with their weights; leave one out by
passing weights of your own.
"""

from newfound_lab.prior.tasks import FAMILIES, PRIOR_VERSION, Tasks, sample_tasks

__all__ = ["FAMILIES", "PRIOR_VERSION", "Tasks", "sample_tasks"]
