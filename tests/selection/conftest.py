from __future__ import annotations

from collections.abc import Iterator

import pytest

from newfound.clustering import representations as spaces
from newfound.selection.portfolio import Portfolio, build_portfolio
from tests.selection.made_up import LAYOUT, N_NOVEL, rng, table


@pytest.fixture(scope="module")
def few_trees() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spaces, "_N_TREES", 5)
        yield


@pytest.fixture(scope="module")
def portfolio(few_trees: None) -> Portfolio:
    rows, codes, _ = table()
    return build_portfolio(rows, codes, LAYOUT, N_NOVEL, rng())
