from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.explanation.conditions import Condition, Rule
from newfound.explanation.rules import MakingRows, find_rules, rule_figures, score_rules
from tests.explanation.tables import viewed
from tests.oracles import explanation as oracle


def making(frame: pd.DataFrame, codes: np.ndarray) -> MakingRows:
    n = len(frame)
    return MakingRows(viewed(frame), codes, np.ones(n), np.arange(n) % 2, np.zeros(n, dtype=bool))


@pytest.fixture(scope="module")
def two_pieces() -> tuple[pd.DataFrame, np.ndarray]:
    """A class of two pieces, one of which is told by a missing cell."""
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(rng.rand(1200, 3).round(2), columns=list("abc")).assign(k=rng.choice(["u", "v", "w"], 1200))
    frame.loc[rng.rand(1200) < 0.2, "c"] = np.nan
    inside = (((frame.a > 0.7) & (frame.k == "u")) | frame.c.isna()).to_numpy()
    return frame, np.where(inside, 3, 0)


def test_sequential_covering(two_pieces: tuple[pd.DataFrame, np.ndarray]) -> None:
    frame, codes = two_pieces
    rules = find_rules(making(frame, codes), 3, max_rules=4, max_conditions=4)
    assert [rule.text for rule in rules] == ["c is missing", "a is 0.71 or more and k is u"]
    scored, precision, coverage = score_rules(rules, viewed(frame), codes == 3)
    assert (precision, coverage) == (1.0, 1.0)
    assert [rule.precision for rule in scored] == [1.0, 1.0]


def test_limits(two_pieces: tuple[pd.DataFrame, np.ndarray]) -> None:
    frame, codes = two_pieces
    (rule,) = find_rules(making(frame, codes), 3, max_rules=1, max_conditions=1)
    assert rule.text == "c is missing"


@pytest.mark.parametrize("codes", [np.zeros(100), np.full(100, 3), np.where(np.arange(100) < 4, 3, 0)])
def test_classes_without_rules(codes: np.ndarray) -> None:
    frame = pd.DataFrame({"a": np.arange(100.0) ** 2})
    assert find_rules(making(frame, codes.astype(np.int64)), 3, max_rules=4, max_conditions=4) == []


def test_noise_has_no_rules() -> None:
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(rng.rand(600, 8), columns=list("abcdefgh"))
    assert find_rules(making(frame, rng.randint(4, size=600)), 1, max_rules=4, max_conditions=4) == []


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=20))
def test_figures(pairs: list[tuple[bool, bool]]) -> None:
    matched, inside = (np.array([pair[side] for pair in pairs], dtype=bool) for side in (0, 1))
    assert rule_figures(matched, inside) == pytest.approx(oracle.rule_figures(matched.tolist(), inside.tolist()))


@given(
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=20),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=3),
)
def test_scores_of_rules(rows: list[tuple[int, bool]], ends: list[tuple[int, int]]) -> None:
    table = viewed(pd.DataFrame({"x": [float(x) for x, _ in rows]}), x="numeric")
    inside = np.array([is_inside for _, is_inside in rows])
    rules = [Rule((Condition("x", "range", low=low, high=high),)) for low, high in ends]
    scored, *together = score_rules(rules, table, inside)
    matched = [[low <= x <= high for x, _ in rows] for low, high in ends]
    for rule, mask in zip(scored, matched, strict=True):
        assert (rule.precision, rule.coverage) == pytest.approx(oracle.rule_figures(mask, inside.tolist()))
        assert rule.n_matched == sum(mask)
    union = [any(masks) for masks in zip(*matched, strict=True)]
    assert tuple(together) == pytest.approx(oracle.rule_figures(union, inside.tolist()) if rules else (None, None))
