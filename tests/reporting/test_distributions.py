from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import newfound as nf
from newfound.discoverers.reading import Reading
from newfound.reporting import report_facts
from newfound.reporting.distributions import distribution_facts, draw_distributions

N = 200


@pytest.fixture(scope="module")
def reading() -> Reading:
    rng = np.random.default_rng(0)
    old = np.arange(N) % 2 == 0
    table = pd.DataFrame(
        {
            "age": np.where(old, rng.normal(70, 3, N), rng.normal(30, 3, N)),
            "income": np.exp(rng.normal(0, 3, N)),
            "zero": np.where(np.arange(N) < 3, 7.0, 0.0),
            "colour": np.where(old, "red", rng.choice(["blue", "green", "<b>"], N)),
            "clock": [f"{20 + i % 4}:15" for i in range(N)],
            "day": pd.date_range("2024-01-01", periods=N),
            "gone": np.where(old, np.nan, rng.normal(size=N)),
        }
    )
    model = nf.KMeansDiscoverer(2, random_state=0).fit(table, [None] * N)
    return Reading.of(model, table)


def facts_of(reading: Reading, *columns: str) -> list[dict[str, Any]]:
    codes = (np.arange(N) % 2).astype(np.int64)
    return distribution_facts(reading, codes, [list(columns)], 0, np.random.RandomState(0))[0]


def test_shares_of_rows_in_bins_and_of_categories(reading: Reading) -> None:
    age, colour, clock, day = facts_of(reading, "age", "colour", "clock", "day")
    for spread in (age, clock, day):
        assert sum(spread["here"]) == pytest.approx(1, abs=0.01)
        assert sum(spread["rest"]) == pytest.approx(1, abs=0.01)
    assert (np.array(age["here"]) * age["rest"]).sum() == 0  # the two lie apart
    assert dict(zip(colour["categories"], colour["here"], strict=True))["red"] == 1
    assert (clock["low"], clock["high"]) == ("20:15", "23:15")
    assert day["low"].startswith("2024-01-0")


def test_few_telling_columns_are_enough_and_empty_ones_are_left_out(reading: Reading) -> None:
    found = facts_of(reading, "gone", "income", "zero", "age", "colour")
    assert [spread["column"] for spread in found] == ["income", "zero", "age"]  # of the first four
    assert found[0]["logarithmic"]
    assert max(found[1]["rest"]) > 0.9


def test_pictures_are_safe(reading: Reading) -> None:
    drawn = draw_distributions(facts_of(reading, "colour", "age"), "c0")
    assert drawn is not None
    assert "<b>blue" not in drawn
    assert "&lt;b&gt;" in drawn
    assert drawn.count("<figure") == 2
    assert draw_distributions([], "c0") is None


@pytest.mark.parametrize(
    "values",
    [
        [1e308, 1e-320, -1e308, 0.0],
        [1.7e308, -1.7e308, 1.7e308, -1.7e308],
        [5e-324, 0.0, 5e-324, 0.0],
        [0.0, 1e-310, 1e300, 2e300],
        [1.0, np.nextafter(1.0, 2.0), 1.0, 1.0],
        [1e39, -2e39, 5.0, 1e30],
    ],
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_numbers_at_the_ends_of_what_a_number_holds_have_bins(values: list[float]) -> None:
    codes = np.arange(N) % 2
    table = pd.DataFrame({"end": np.resize(values, N), "other": codes + np.linspace(0, 0.1, N)})
    model = nf.KMeansDiscoverer(2, random_state=0).fit(table, [None] * N)
    (spread,) = facts_of(Reading.of(model, table), "end")
    for side in ("here", "rest"):
        assert sum(spread[side]) == pytest.approx(1, abs=0.01)
    assert report_facts(model, table)["classes"]
