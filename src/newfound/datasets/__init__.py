"""Benchmarks with known and novel classes, ready to fit and score."""

from __future__ import annotations

from newfound.datasets.dataset import Dataset
from newfound.datasets.loaders import load, names
from newfound.datasets.registry import Benchmark

__all__ = ["Benchmark", "Dataset", "load", "names"]
