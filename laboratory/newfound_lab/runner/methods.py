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

    The number of novel classes is the true one where ``n_novel`` is None. In a benchmark all unlabelled rows are of
    novel classes, and every method is told so.
    """
    discoverer: Any = registered()[_OTHER_NAMES.get(method, method)].load()
    where = {"device": device} if method in NETWORKS else {}
    k = len(data.novel_classes) if n_novel is None else n_novel
    told = {"unlabelled": "novel", "encoder": data.encoder(), "random_state": seed}
    built: BaseDiscoverer = discoverer(k, **told, **where, **settings)
    return built
