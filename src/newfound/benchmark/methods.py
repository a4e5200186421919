"""The methods that are compared, by the names that results use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from newfound.benchmark.experiments import UNSUPERVISED
from newfound.datasets import Dataset
from newfound.discoverers import ClassifierProjection, KMeansDiscoverer, SpectralDiscoverer, TabularNCD
from newfound.discoverers.base import BaseDiscoverer

METHODS: dict[str, Callable[..., BaseDiscoverer]] = {
    "tabular_ncd": TabularNCD,
    "baseline": ClassifierProjection,
    "spectral": SpectralDiscoverer,
    "kmeans": KMeansDiscoverer,
}


def build(method: str, data: Dataset, settings: Mapping[str, Any], seed: int, device: str) -> BaseDiscoverer:
    """Make a discoverer for a benchmark: its number of novel classes and its own preparation of the columns."""
    where = {} if method in UNSUPERVISED else {"device": device}
    return METHODS[method](len(data.novel_classes), encoder=data.encoder(), random_state=seed, **where, **settings)
