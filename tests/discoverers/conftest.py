"""What tests of discoverers share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from newfound.clustering import partitions, representations


def keep_few_candidates(patch: pytest.MonkeyPatch) -> None:
    """Give AutoDiscoverer a portfolio of few candidates, which are made in a moment."""
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
