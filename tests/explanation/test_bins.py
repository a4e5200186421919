from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from newfound.explanation.bins import NameBins, ScaleBins, cut_into_bins
from tests.explanation.tables import viewed

cells = st.lists(st.one_of(st.none(), st.integers(-50, 50), st.floats(-1e6, 1e6)), min_size=3, max_size=300)


@given(cells, st.data())
def test_a_run_of_bins_and_its_condition_match_the_same_rows(values: list[float | None], data: st.DataObject) -> None:
    frame = pd.DataFrame(
        {"x": np.array([np.nan if value is None else value for value in values]), "y": range(len(values))}
    )
    column = viewed(frame, x="numeric", y="ignored").column("x")
    inside = np.arange(len(values)) % 3 == 0
    if not cut_into_bins([column], inside):
        return
    bins = ScaleBins.fit(column, inside)
    codes = bins.encode()
    first = data.draw(st.integers(0, bins.n_bins))
    last = bins.n_bins if first == bins.n_bins else data.draw(st.integers(first, bins.n_bins - 1))
    chosen = np.zeros(bins.n_bins + 1, dtype=bool)
    chosen[first : last + 1] = True
    assert np.array_equal(bins.condition(chosen).mask(column), chosen[codes])


def test_scales_of_many_values_are_cut_where_the_class_is() -> None:
    numbers = np.concatenate([np.linspace(0, 1, 1000), np.linspace(0.5, 0.501, 50)])
    column = viewed(pd.DataFrame({"x": numbers})).column("x")
    inside = np.arange(1050) >= 1000
    bins = ScaleBins.fit(column, inside)
    assert bins.n_bins < 250
    chosen = np.append((bins.first >= 0.5) & (bins.last <= 0.501), False)
    condition = bins.condition(chosen)
    assert condition.mask(column)[inside].all()
    assert condition.mask(column)[~inside].sum() <= 2


def test_a_single_whole_number_is_named() -> None:
    column = viewed(pd.DataFrame({"x": [0, 0, 1, 5]})).column("x")
    bins = ScaleBins.fit(column, np.array([True, True, False, False]))
    assert bins.condition(np.array([True, False, False, False])).text == "x is 0"
    assert bins.condition(np.array([True, True, False, False])).text == "x is 3 or less"
    assert bins.condition(np.array([True, True, True, False])).text == "x is not missing"


def test_the_extreme_value_of_a_scale_is_named() -> None:
    column = viewed(pd.DataFrame({"x": [0.0, 0.25, 0.5, 0.99, 1.0]}), x="numeric").column("x")
    bins = ScaleBins.fit(column, np.array([True, False, False, False, True]))
    top, bottom, more = ([0, 0, 0, 0, 1, 0], [1, 0, 0, 0, 0, 0], [0, 0, 1, 1, 1, 0])
    texts = [bins.condition(np.array(chosen, dtype=bool)).text for chosen in (top, bottom, more)]
    assert texts == ["x is 1", "x is 0", "x is 0.4 or more"]


def test_rare_categories_share_a_bin() -> None:
    names = [f"k{j % 40:02d}" for j in range(400)] + ["rare", *["special"] * 3]
    column = viewed(pd.DataFrame({"x": names})).column("x")
    inside = np.array([name == "special" for name in names])
    bins = NameBins.fit(column, inside)
    codes = bins.encode()
    special = bins.places.tolist().index(column.categories.index("special"))
    assert codes[-1] == special
    assert codes[-4] == len(bins.places)
    chosen = np.zeros(bins.n_bins + 1, dtype=bool)
    chosen[: bins.n_bins] = True
    chosen[special] = False
    assert bins.condition(chosen).text == "x is not special"
    assert np.array_equal(bins.condition(chosen).mask(column), ~inside)


def test_a_rule_cannot_name_categories_of_one_or_two_rows() -> None:
    column = viewed(pd.DataFrame({"x": ["a"] * 40 + ["b"] * 40 + ["c", "c", "d"]})).column("x")
    bins = NameBins.fit(column, np.arange(83) >= 70)
    assert [column.categories[place] for place in bins.places] == ["a", "b"]


def test_columns_that_do_not_vary_take_no_part() -> None:
    table = viewed(
        pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, None], "c": ["u", "u"], "d": [None, None]}),
        a="numeric",
        b="numeric",
        c="categorical",
        d="categorical",
    )
    bins = cut_into_bins(table.columns, np.array([True, False]))
    assert [binned.column.name for binned in bins] == ["a", "b"]
