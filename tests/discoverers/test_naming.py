"""Names of novel classes: each fit starts anew, and earlier names are kept where that is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import newfound as nf
from newfound import InputError
from newfound.discoverers.naming import carried_names
from tests.discoverers.common import DISCOVERERS, PACKED, SMALL, Maker, frame, integer_labels, kmeans, numbers
from tests.routing.test_calibration import CENTRES, MANY_LABELS, many

pytestmark = SMALL


def text_labels(y: np.ndarray) -> np.ndarray:
    return np.array([None if code < 0 else f"class {code}" for code in y], dtype=object)


@pytest.mark.parametrize("make", DISCOVERERS)
def test_a_second_fit_remembers_nothing_of_the_first(make: Maker) -> None:
    fast = {"epochs": 5} if make in PACKED else {}
    model = make(**fast).fit(frame(), text_labels(integer_labels()))
    model.rename({"novel_0": "wasp"}).merge(["novel_1", "class 0"])
    model.fit(numbers(), integer_labels())
    alone = clone(model).fit(numbers(), integer_labels())
    assert vars(model).keys() == vars(alone).keys()
    for name in ("classes_", "labels_", "known_classes_"):
        assert_array_equal(getattr(model, name), getattr(alone, name), strict=True)
    assert_array_equal(model.predict_proba(numbers(1)), alone.predict_proba(numbers(1)))


@pytest.mark.parametrize("make", DISCOVERERS)
def test_names_are_kept_where_that_is_asked_for(make: Maker) -> None:
    before = make().fit(frame(), text_labels(integer_labels())).rename({"novel_0": "wasp", "novel_1": "bee"})
    model = clone(before).fit(frame(), text_labels(integer_labels()))
    assert set(model.predict(frame())) >= set(model.novel_classes_), "nothing to compare names by"
    assert model.keep_names(before, frame()) is model
    assert model.novel_classes_.tolist() == ["wasp", "bee"]
    assert_array_equal(model.labels_, before.labels_)
    assert_array_equal(model.classes_[model.predict_proba(frame()).argmax(axis=1)], model.predict(frame()))


def test_names_stay_when_rows_and_classes_come_and_go() -> None:
    first = kmeans(n_novel_classes=2).fit(many(), text_labels(MANY_LABELS))
    east, north = (first.predict_novel([centre])[0] for centre in CENTRES[[4, 3]])
    first.rename({east: "east", north: "north"})
    # The northern class is known now, the eastern one has other rows, and there is one more.
    centres = np.array([[0, 0], [2, 0], [0, 2], [6, 6], [9, 0], [-9, 9], [9, 20]], dtype=float)
    truth = np.repeat(np.arange(7), 100)
    rows = centres[truth] + np.random.default_rng(5).normal(0, 1, (len(truth), 2))
    y = text_labels(np.where(truth < 3, truth, -1))
    y[truth == 3] = "north"
    second = kmeans(n_novel_classes=3, random_state=4).fit(rows, y).keep_names(first, rows)
    assert second.known_classes_.tolist() == ["class 0", "class 1", "class 2", "north"]
    assert second.predict_novel(centres[[4]]).tolist() == ["east"]
    assert set(second.novel_classes_.tolist()) == {"east", "novel_2", "novel_3"}  # novel_0 and novel_1 were used


def test_numbers_that_were_used_are_not_used_again() -> None:
    first = kmeans().fit(many(), MANY_LABELS)
    assert first.novel_classes_.tolist() == [3, 4]
    far = np.where(MANY_LABELS[:, None] < 0, many(2) * [-1, 1] - [40, 0], many(2))  # nothing stayed where it was
    names = kmeans(n_novel_classes=4).fit(far, MANY_LABELS).keep_names(first, far).novel_classes_.tolist()
    assert set(names) & {5, 6, 7, 8} == set(names) - {3, 4}


def test_names_are_kept_among_classes_of_one_type_and_tables_of_the_same_columns() -> None:
    first = kmeans().fit(numbers(), integer_labels())
    other: Any = kmeans().fit(numbers(), text_labels(integer_labels()))
    with pytest.raises(InputError, match="names are kept among classes of one type"):
        other.keep_names(first, numbers())
    with pytest.raises(InputError, match="expected a fitted discoverer"):
        other.keep_names(nf.KMeansDiscoverer(), numbers())
    mixed = kmeans().fit(frame(), text_labels(integer_labels()))
    with pytest.raises(InputError, match="features"):
        mixed.keep_names(other, frame())
    assert mixed.novel_classes_.tolist() == ["novel_0", "novel_1"]


def test_a_fit_that_fails_leaves_names_and_temperature() -> None:
    model = kmeans().fit(many(), MANY_LABELS).merge([3, 4], into=7)
    before = dict(vars(model))
    with pytest.raises(InputError):
        model.fit(many(), MANY_LABELS[:5])
    assert vars(model) == before


@pytest.mark.parametrize(
    ("before", "found", "names"),
    [
        (["a", "a", "b", "b"], [1, 1, 0, 0], ["b", "a"]),
        (["a", "a", "a", "a"], [0, 0, 1, 1], ["a", "novel_1"]),  # half of either is enough, and only one can have it
        (["a", "a", "a", "a", "a"], [0, 0, 1, 1, 2], ["novel_1", "novel_2", "novel_3"]),
        (["k", "k", "b", "b"], [0, 0, 1, 1], ["novel_1", "b"]),  # k is a known class now
        ([], [], ["novel_1", "novel_2"]),
    ],
    ids=["swapped", "halved", "in pieces", "known now", "none before"],
)
def test_carried_names(before: list[str], found: list[int], names: list[str]) -> None:
    n_found = max(found, default=1) + 1
    carried = carried_names(np.array(before), np.array(found, dtype=int), n_found, np.array(["k"]), ["a", "novel_0"])
    assert carried.tolist() == names
