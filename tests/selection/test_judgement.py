"""How sure a choice is, and the doubts about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from newfound.records import Records
from newfound.selection.evidence import Evidence
from newfound.selection.judgement import Judgement, doubts_of_the_numbers, judge
from newfound.selection.n_classes import NClassesEstimate
from newfound.selection.ranking import Ranking

TOLD = Evidence(n_folds=8, trust_in_information=1.0)


def ranking(*partitions: Any, within: float = 1.0, evidence: Evidence = TOLD, is_holes: bool = False) -> Ranking:
    names = [("a", "x")] * len(partitions)
    scores = np.zeros(len(partitions))
    return Ranking(np.stack(partitions), names, scores, within, is_holes, False, evidence, Records())


def judged(choice: Ranking, found: Any, **facts: Any) -> Judgement:
    return judge(choice, np.asarray(found), 2, **{"n_known": 5, "estimate": None, "trained": 1.0, **facts})


FOUND = np.repeat([0, 1], 20)


def test_confidence_is_the_overlap_with_the_best_candidates() -> None:
    found = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    told = judged(ranking(1 - found, np.array([0, 0, 1, 1, 1, 1, 1, 1])), found)
    np.testing.assert_allclose(told.class_confidence, [(1 + 2 / 3) / 2, (1 + 5 / 6) / 2])
    assert told.confidence == pytest.approx(3 / 8 * told.class_confidence[0] + 5 / 8 * told.class_confidence[1])
    assert told.weaknesses == []


def test_nothing_speaks_against_a_clear_choice() -> None:
    assert judged(ranking(FOUND), FOUND).weaknesses == []


@pytest.mark.parametrize(
    ("facts", "choice", "words"),
    [
        ({"trained": 0.4}, ranking(FOUND), "the training of the networks ended early; allow more time"),
        ({"n_known": 1}, ranking(FOUND), "there is only 1 known class, too few"),
        (
            {},
            ranking(FOUND, within=0.8, evidence=Evidence(8, trust_in_information=1.0, within=0.95)),
            "less apart than the known ones (80 % of the nearest rows are of the same class, 95 % for known classes)",
        ),
        ({}, ranking(FOUND, is_holes=True), "almost only of rows in which one column is empty"),
        (
            {},
            ranking(FOUND, evidence=Evidence()),
            "too few rows, or too little time, to test the candidates on hidden classes",
        ),
        ({}, ranking(np.arange(40)), "the best candidates disagree (confidence 0.05)"),
    ],
)
def test_doubts(facts: dict[str, Any], choice: Ranking, words: str) -> None:
    (doubt,) = judged(choice, FOUND, **facts).weaknesses
    assert words in doubt


def test_doubts_of_the_numbers() -> None:
    assert [*doubts_of_the_numbers(8, 2, None)] == ["there are only 8 unlabelled rows for 2 novel classes"]
    assert [*doubts_of_the_numbers(1, 1, None)] == ["there is only 1 unlabelled row for 1 novel class"]
    assert [*doubts_of_the_numbers(20, 2, None)] == []
    estimate = NClassesEstimate(2, (1, 6), Records(), Records())
    (doubt,) = doubts_of_the_numbers(20, 2, estimate)
    assert doubt == "the number of novel classes is uncertain: from 1 to 6 are plausible"
