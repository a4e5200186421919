"""What tests of discoverers share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from newfound.routing import batches, evidence, forest


def keep_small_forests(patch: pytest.MonkeyPatch) -> None:
    """Let routers, discoverers and updates grow a third of their trees, which tell clear classes apart as well."""
    patch.setattr(evidence, "_N_TREES", 100)
    patch.setattr(forest, "_N_TREES", 30)
    patch.setattr(batches, "_N_TREES", 60)
    patch.setattr(batches, "_N_CLASS_TREES", 20)


@pytest.fixture(scope="module", autouse=True)
def small_forests() -> Iterator[None]:
    """Small forests, for fixtures of the module too."""
    with pytest.MonkeyPatch.context() as patch:
        keep_small_forests(patch)
        yield
