"""What speaks against the class of a row."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import newfound as nf
from newfound.discoverers.reading import Reading
from newfound.reporting.row_doubts import RowDoubts
from tests.discoverers.test_auto import blobs

CLASSES = np.array(["ant", "bee", "novel_0", "novel_1"])


def doubted(proba: Any, y: Any = None, **more: Any) -> RowDoubts:
    """Doubt rows of which a model says these probabilities."""
    told = np.asarray(proba, dtype=float)
    facts = {"classes_": CLASSES, "known_classes_": CLASSES[:2], "novel_classes_": CLASSES[2:], **more}
    methods = {"predict_proba": lambda reading: told, "unsure": lambda reading: told.max(axis=1) < 0.5}
    model = SimpleNamespace(**methods, **facts)
    return RowDoubts.of(SimpleNamespace(model=model), y)  # type: ignore[arg-type]


ROWS = [[0.9, 0.05, 0.03, 0.02], [0.1, 0.0, 0.85, 0.05], [0.05, 0.05, 0.45, 0.45], [0.02, 0.08, 0.1, 0.8]]


def test_what_is_said_of_each_row() -> None:
    found = doubted(ROWS, [None, "bee", None, None])
    assert found.texts() == [
        "looks like the known class ant",
        "labelled bee, but looks like novel_0",
        "unsure: novel_1 45 % or novel_0 45 %",
        "",
    ]
    assert found.counts() == {"stray": 1, "known": 1, "unsure": 1, "split": 0, "any": 3}
    assert found.counts(np.array([True, False, False, True]))["any"] == 1


def test_where_known_and_novel_rows_are_mixed_a_known_class_is_no_doubt() -> None:
    assert doubted(ROWS, [None, "ant", None, None], unlabelled_="mixed").texts()[0] == ""
    assert doubted(ROWS, [None, "ant", None, None], unlabelled_="novel").texts()[0] != ""


def test_a_label_that_the_model_does_not_know_is_no_stray() -> None:
    assert doubted(ROWS, [None, "wasp", None, None]).texts()[1] == ""


def test_without_labels_all_rows_may_be_unsure() -> None:
    assert doubted(ROWS).counts()["unsure"] == 1


def test_members_that_disagree() -> None:
    labels = np.array(["ant", "bee", "novel_0", "novel_1"])
    members = np.array([labels, labels, ["ant", "bee", "novel_1", "novel_1"], ["ant", "bee", "novel_1", "novel_1"]])
    proba = [[0.9, 0.1, 0, 0], [0.1, 0.9, 0, 0], [0, 0, 0.9, 0.1], [0, 0, 0.1, 0.9]]
    y = ["ant", "bee", None, None]
    assert doubted(proba, y, labels_=labels, member_labels_=members).texts() == [
        "",
        "",
        "only 2 of 4 members agree",
        "",
    ]
    wrong = [[0.9, 0.1, 0, 0], [0.1, 0.9, 0, 0], [0.9, 0, 0.1, 0], [0, 0, 0.1, 0.9]]  # of which members know nothing
    found = doubted(wrong, y, labels_=labels, member_labels_=members)
    assert found.texts()[2] == "looks like the known class ant"
    another = ["bee", "bee", None, None]  # not the table of fit
    assert doubted(proba, another, labels_=labels, member_labels_=members).votes is None
    assert doubted(proba, None, labels_=labels, member_labels_=members).votes is None


def test_labels_of_booleans_are_spelled_as_the_classes() -> None:
    X = np.concatenate([np.zeros(8), np.ones(8), np.full(8, 9.0), np.full(8, 12.0)])[:, None]
    y = np.array([False] * 8 + [True] * 8 + [None] * 16, dtype=object)
    X[0] = 9.0
    model = nf.KMeansDiscoverer(2, random_state=0).fit(X, y)
    assert RowDoubts.of(Reading.of(model, X), y).texts()[0].startswith("labelled 0, but looks like")


@pytest.mark.parametrize("n_members", [1, 3])
def test_a_fitted_model(n_members: int) -> None:
    X, y, _ = blobs()
    model = nf.ClassifierProjection(3, epochs=5, n_members=n_members, random_state=0).fit(X, y)
    found = RowDoubts.of(Reading.of(model, X), y)
    assert (found.votes is not None) == (n_members > 1)
    predicted = model.predict(X)
    np.testing.assert_array_equal(found.stray, (y >= 0) & np.isin(predicted, model.novel_classes_))
    np.testing.assert_array_equal(found.known, (y < 0) & np.isin(predicted, model.known_classes_))
    assert [bool(text) for text in found.texts()] == found.any.tolist()
