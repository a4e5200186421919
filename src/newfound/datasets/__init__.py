"""Tables with known and novel classes, ready to fit and score."""

from __future__ import annotations

from newfound.datasets.dataset import Dataset
from newfound.datasets.generators import make_table
from newfound.datasets.loading import download, load, names

__all__ = ["Dataset", "download", "load", "make_table", "names"]
