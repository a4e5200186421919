"""The methods that are compared, by the names that results use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from newfound import discoverers
from newfound.datasets import Dataset
from newfound.discoverers.base import BaseDiscoverer
from newfound_lab.suites.experiments import NETWORKS

METHODS: dict[str, str] = {
    "tabular_ncd": "TabularNCD",
    "baseline": "ClassifierProjection",
    "spectral": "SpectralDiscoverer",
    "kmeans": "KMeansDiscoverer",
    "whitened_kmeans": "WhitenedKMeans",
    "ncd_kmeans": "NCDKMeans",
    "ncd_spectral": "NCDSpectral",
    "pbn": "PBN",
    "tuned_tabular_ncd": "TabularNCD",
    "auto": "AutoDiscoverer",
}
"""The discoverer of each method, by its name in ``newfound.discoverers``."""


def build(
    method: str, data: Dataset, settings: Mapping[str, Any], seed: int, device: str, n_novel: int | None = None
) -> BaseDiscoverer:
    """Make a discoverer for a benchmark, with its own preparation of the columns.

    The number of novel classes is the true one where ``n_novel`` is None.
    """
    discoverer: type[BaseDiscoverer] = getattr(discoverers, METHODS[method])
    where = {"device": device} if method in NETWORKS else {}
    k = len(data.novel_classes) if n_novel is None else n_novel
    return discoverer(k, encoder=data.encoder(), random_state=seed, **where, **settings)
