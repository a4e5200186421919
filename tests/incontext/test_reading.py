"""An encoded table becomes a context with one column for each column of the table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from newfound.incontext import MIXED
from newfound.incontext.reading import context_of
from newfound.tables import TableEncoder


def test_kinds_of_columns_come_back() -> None:
    table = pd.DataFrame(
        {
            "size": [1.0, np.nan, 3.0, 5.0],
            "city": ["Rome", "Oslo", None, "Rome"],
            "paid": [True, None, False, True],
            "width": [0.0, 1.5, 0.5, 2.5],
        }
    ).astype({"paid": "boolean"})
    encoder = TableEncoder()
    rows = encoder.fit_transform(table)
    context = context_of(rows, encoder.layout_, np.array([0, 1, -1, -1]), MIXED)
    assert context.values.shape == (1, 4, 4)
    assert context.categorical[0].tolist() == [False, True, True, False]
    assert context.missing[0, :, 0].tolist() == [False, True, False, False]
    assert not context.missing[0, :, 1:].any()  # missing cells of a category are a level of their own
    np.testing.assert_allclose(context.values[0, :, 3], rows[:, -1].astype(np.float32))
    city, paid = context.values[0, :, 1].tolist(), context.values[0, :, 2].tolist()
    assert city[0] == city[3]
    assert len(set(city)) == 3
    assert paid[0] == paid[3]
    assert len(set(paid)) == 3
    assert context.labels.tolist() == [[0, 1, -1, -1]]
    assert context.unlabelled.tolist() == [MIXED]


def test_a_level_that_fit_has_not_seen_is_like_no_other() -> None:
    encoder = TableEncoder(max_categories=2).fit(pd.DataFrame({"a": ["x", "y"], "n": [0.0, 1.0]}))
    rows = encoder.transform(pd.DataFrame({"a": ["x", "y", "z"], "n": [0.0, 1.0, 2.0]}))
    levels = context_of(rows, encoder.layout_, np.full(3, -1), MIXED).values[0, :, 0].tolist()
    assert len(set(levels)) == 3
