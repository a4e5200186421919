from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from newfound.explanation.conditions import Condition, Rule
from tests.explanation.tables import viewed

FRAME = pd.DataFrame(
    {
        "size": [1.0, 2.0, None, 4.0],
        "colour": ["red", "blue", None, "red"],
        "open": [True, False, None, True],
        "clock": ["20:40", None, "7:05", "23:00"],
        "day": pd.to_datetime(["2024-01-01", "2024-01-02", None, "2024-01-04"]),
    }
)


@pytest.mark.parametrize(
    ("condition", "matched", "text"),
    [
        (Condition("size", "range", low=2, high=4), [0, 1, 0, 1], "size is from 2 to 4"),
        (Condition("size", "range", high=1.5), [1, 0, 0, 0], "size is 1.5 or less"),
        (Condition("size", "range", low=2), [0, 1, 0, 1], "size is 2 or more"),
        (Condition("size", "range", low=4, high=4), [0, 0, 0, 1], "size is 4"),
        (Condition("size", "missing"), [0, 0, 1, 0], "size is missing"),
        (Condition("size", "missing", negated=True), [1, 1, 0, 1], "size is not missing"),
        (Condition("colour", "category", values=("red",)), [1, 0, 0, 1], "colour is red"),
        (Condition("colour", "category", values=("red", "blue")), [1, 1, 0, 1], "colour is one of red, blue"),
        (Condition("colour", "category", values=("red",), negated=True), [0, 1, 0, 0], "colour is not red"),
        (Condition("colour", "category", values=("green",), negated=True), [1, 1, 0, 1], "colour is not green"),
        (Condition("colour", "category", values=("", "a,b")), [0, 0, 0, 0], "colour is one of '', 'a,b'"),
        (Condition("open", "boolean", values=("True",)), [1, 0, 0, 1], "open is True"),
        (Condition("clock", "time", low=20.5), [1, 0, 0, 1], "clock is 20:30 or later"),
        (Condition("clock", "time", low=7.0, high=20.75), [1, 0, 1, 0], "clock is from 07:00 to 20:45"),
        (Condition("day", "date", low=19724.0), [0, 1, 0, 1], "day is 2024-01-02 or later"),
        (Condition("day", "date", high=19724.0), [1, 1, 0, 0], "day is 2024-01-02 or earlier"),
        (Condition("day", "date", high=19724.0, whole_days=False), [1, 1, 0, 0], "day is 2024-01-02 00:00 or earlier"),
    ],
    ids=lambda value: value.text if isinstance(value, Condition) else "",
)
def test_conditions(condition: Condition, matched: list[int], text: str) -> None:
    table = viewed(FRAME)
    assert condition.mask(table.column(condition.column)).tolist() == [bool(matches) for matches in matched]
    assert condition.text == text


def test_rules_are_conditions_that_hold_together() -> None:
    rule = Rule((Condition("size", "range", low=2), Condition("colour", "category", values=("red",))), 0.5, 1.0, 2)
    assert rule.mask(viewed(FRAME)).tolist() == [False, False, False, True]
    assert Rule(()).mask(viewed(FRAME)).all()
    facts: dict[str, Any] = rule.to_dict()
    assert facts["text"] == "size is 2 or more and colour is red"
    assert (facts["precision"], facts["coverage"], facts["n_matched"]) == (0.5, 1.0, 2)
    assert [condition["values"] for condition in facts["conditions"]] == [None, ["red"]]


def test_dates_are_iso_texts_in_plain_values() -> None:
    facts = Condition("day", "date", low=19724.0).to_dict()
    assert (facts["low"], facts["high"]) == ("2024-01-02T00:00:00", None)


def test_columns_in_their_own_words() -> None:
    cells = {"n": [0, 1, 0, None], "w": ["no", "YES", None, "no"], "k": ["x", "1.0", None, "x"]}
    table = viewed(pd.DataFrame(cells), w="boolean")
    assert table.column("n").categories == ("0", "1")
    assert table.column("w").categories == ("no", "YES")
    assert table.column("k").categories == ("1", "x")
    assert np.array_equal(table.column("w").missing, [False, False, True, False])
    with pytest.raises(KeyError):
        table.column("other")
