"""Readers of official benchmark files: what :func:`newfound.datasets.load` hands over to."""

from __future__ import annotations

from newfound_lab.datasets.dataset import BenchmarkDataset
from newfound_lab.datasets.loaders import download, load, names
from newfound_lab.datasets.registry import Benchmark
from newfound_lab.datasets.sources import Source

__all__ = ["Benchmark", "BenchmarkDataset", "Source", "download", "load", "names"]
