"""Benchmarks with known and novel classes, ready to fit and score."""

from __future__ import annotations

from newfound.datasets.dataset import Dataset
from newfound.datasets.generators import make_table
from newfound.datasets.loaders import download, load, names
from newfound.datasets.registry import Benchmark
from newfound.datasets.sources import Source

__all__ = ["Benchmark", "Dataset", "Source", "download", "load", "make_table", "names"]
