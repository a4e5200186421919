"""What tests of discoverers share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from newfound.clustering import partitions, representations
from newfound.deadline import Deadline
from newfound.routing import batches, evidence, forest
from newfound.selection import learned_chooser
from newfound.selection.candidates import Candidates, Scene


def keep_small_forests(patch: pytest.MonkeyPatch) -> None:
    """Let routers and updates grow a third of their trees, which tell clear classes apart as well."""
    patch.setattr(evidence, "_N_TREES", 100)
    patch.setattr(forest, "_N_TREES", 30)
    patch.setattr(batches, "_N_TREES", 60)
    patch.setattr(batches, "_N_CLASS_TREES", 20)


def keep_few_candidates(patch: pytest.MonkeyPatch) -> None:
    """Give AutoDiscoverer a portfolio of few candidates, which are made in a moment, and small forests."""
    keep_small_forests(patch)
    make = learned_chooser.make_candidates

    def few(scene: Scene, rng: np.random.RandomState, plan: Mapping[str, Any], deadline: Deadline) -> Candidates:
        return make(scene, rng, {space: ("k-means",) for space in plan if space in ("whitened", "network")}, deadline)

    patch.setattr(learned_chooser, "make_candidates", few)
    entries = representations._Bank.entries
    wanted = (representations.RAW, *representations.FEW_KNOWN)
    patch.setattr(partitions, "METHODS", partitions.FEW_KNOWN)
    patch.setattr(
        representations._Bank, "entries", lambda bank: (entry for entry in entries(bank) if entry[0] in wanted)
    )


@pytest.fixture(scope="module", autouse=True)
def small_portfolio() -> Iterator[None]:
    """A small portfolio, for fixtures of the module too; a module that wants the whole one has its own fixture."""
    with pytest.MonkeyPatch.context() as patch:
        keep_few_candidates(patch)
        yield
