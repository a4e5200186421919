"""The methods that are compared, by the names that results use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from newfound.datasets import Dataset
from newfound.discoverers.base import BaseDiscoverer
from newfound.registry import registered
from newfound_lab.suites.experiments import NETWORKS

_OTHER_NAMES = {"baseline": "classifier_projection", "tuned_tabular_ncd": "tabular_ncd"}
"""Methods that results call otherwise than the product does."""


def build(
    method: str, data: Dataset, settings: Mapping[str, Any], seed: int, device: str, n_novel: int | None = None
) -> BaseDiscoverer:
    """Make a discoverer for a benchmark, with its own preparation of the columns.

    The number of novel classes is the true one where ``n_novel`` is None.
    """
    discoverer: Any = registered()[_OTHER_NAMES.get(method, method)].load()
    where = {"device": device} if method in NETWORKS else {}
    k = len(data.novel_classes) if n_novel is None else n_novel
    built: BaseDiscoverer = discoverer(k, encoder=data.encoder(), random_state=seed, **where, **settings)
    return built
