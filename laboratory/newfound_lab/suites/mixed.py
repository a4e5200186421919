"""The suite "mixed": unlabelled rows of known and novel classes, in several mixtures, and routers to compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from newfound_lab.datasets.development import ALL_TABLES
from newfound_lab.suites.trials import Regime, Trial

MIXED_DATASETS = tuple(name for name in ALL_TABLES if name not in ("balance", "lymphography", "zoo"))
"""Development tables with four classes or more, two of which can be known and two novel."""

OURS, OURS_MIXED, OURS_COUNTED = "routed", "routed_mixed", "routed_counted"
"""WhitenedKMeans with ``unlabelled="auto"``, "mixed", and "auto" with the number of novel classes to be estimated."""

ORACLE, SUPERVISED = "oracle", "supervised"
"""A router that is told what is novel; one that learned it from the true answer for other rows."""

ALL_NOVEL = "all_novel"
BASELINES = ("ss_kmeans", "knn_distance", "max_probability", ALL_NOVEL)
AUTO, AUTO_ORACLE = "auto", "auto_oracle"
"""AutoDiscoverer with its own router, and behind the oracle."""

ROUTERS = (OURS, OURS_MIXED, *BASELINES, ORACLE, SUPERVISED)
MIXED_METHODS = (*ROUTERS, OURS_COUNTED, AUTO, AUTO_ORACLE)
"""All methods of the suite, in the order of tables."""

KNOWN_SHARES = (0.1, 0.3, 0.5, 0.8)
"""Shares of known rows among the unlabelled ones, apart from 0 and 1."""

LABELLED = (10, 50)
"""Most labelled rows of a class; all there are is the main setting."""

_N_SPLITS = 3
_TOLD = (ORACLE, SUPERVISED, AUTO_ORACLE)


def _trials(
    experiment: str,
    mixtures: Sequence[dict[str, Any]],
    methods: Sequence[str],
    n_splits: int,
    dataset: str,
    n_seeds: int,
) -> Iterator[Trial]:
    """Make a trial for each class split, mixture and method; the number of the split is the seed as well."""
    for split in range(min(n_seeds, n_splits)):
        for mixture in mixtures:
            for method in methods:
                regime: Regime = "oracle" if method in _TOLD else "label-free"
                yield Trial(experiment, dataset, method, "", regime, "inductive", split, mixture, split)


_MAIN = (*ROUTERS, OURS_COUNTED)
MIXED_EXPERIMENTS: dict[str, Callable[[str, int], Iterator[Trial]]] = {
    # half of the rows of each known class is unlabelled
    "mixed": partial(_trials, "mixed", [{}], _MAIN, _N_SPLITS),
    "mixed_pure": partial(_trials, "mixed_pure", [{"known_share": 0.0}], _MAIN, _N_SPLITS),
    "mixed_known": partial(_trials, "mixed_known", [{"known_share": 1.0}], _MAIN, _N_SPLITS),
    "mixed_shares": partial(_trials, "mixed_shares", [{"known_share": share} for share in KNOWN_SHARES], ROUTERS, 1),
    "mixed_labelled": partial(_trials, "mixed_labelled", [{"n_labelled": n} for n in LABELLED], ROUTERS, 1),
    "mixed_shift": partial(
        _trials,
        "mixed_shift",
        [{"shift": True}, *({"n_labelled": n, "shift": True} for n in LABELLED)],
        ROUTERS,
        1,
    ),
    "mixed_auto": partial(_trials, "mixed_auto", [{}], (AUTO, AUTO_ORACLE), 1),
}
"""Trials of each experiment of the suite, for a table and a number of seeds. Settings are those of a ``Mixture``."""
