"""Why the result of a fit should be doubted, whichever discoverer found it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import newfound as nf
from newfound.counting import share_text
from newfound.discoverers.weaknesses import member_agreement
from newfound.errors import WeakEvidence
from tests.discoverers.common import DISCOVERERS, FEW_EPOCHS
from tests.discoverers.test_auto import blobs


@pytest.mark.filterwarnings(FEW_EPOCHS)
@pytest.mark.parametrize("make", DISCOVERERS)
def test_every_discoverer_says_why_to_doubt_it(make: Any) -> None:
    """Eight rows are few for three classes, whoever looks for them."""
    X, y, _ = blobs(sizes=(3, 3, 2))
    model = make(n_novel_classes=3)
    with pytest.warns(WeakEvidence, match="weak: there are only 8 unlabelled rows for 3 novel classes") as caught:
        model.fit(X, y)
    assert caught[-1].filename == __file__
    assert model.weaknesses_[0] == "there are only 8 unlabelled rows for 3 novel classes"
    assert all(type(reason) is str for reason in model.weaknesses_)


def test_nothing_speaks_against_a_clear_result() -> None:
    X, y, _ = blobs()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nf.KMeansDiscoverer(3, random_state=0).fit(X, y).weaknesses_ == []


def test_no_unlabelled_rows_no_doubts() -> None:
    X, _, truth = blobs()
    with pytest.warns(UserWarning, match="nothing to discover"):
        assert nf.KMeansDiscoverer(3, random_state=0).fit(X, truth).weaknesses_ == []


def test_unlabelled_rows_that_look_like_known_classes() -> None:
    X, y, truth = blobs()
    hidden = truth == 0
    hidden[np.flatnonzero(hidden)[:15]] = False
    y = np.where(hidden, -1, y)
    with pytest.warns(WeakEvidence, match="look like known classes"):
        model = nf.KMeansDiscoverer(3, random_state=0).fit(X, y)
    share = np.mean(np.isin(model.predict(X[y < 0]), model.known_classes_))
    cure = "if some may be of these, have known and novel rows told apart (unlabelled='auto')"
    assert f"{share_text(share)} of the unlabelled rows look like known classes; {cure}" in model.weaknesses_


def test_a_column_that_says_how_rows_were_chosen_for_labelling() -> None:
    X, y, _ = blobs(sizes=(30, 30, 30))
    batch = np.where(y < 0, 7.0, np.arange(len(y)) % 5)
    with pytest.warns(WeakEvidence, match="column 'x4' alone tells labelled from unlabelled rows"):
        model = nf.KMeansDiscoverer(3, random_state=0).fit(np.column_stack([X, batch]), y)
    assert sum("'x4'" in reason for reason in model.weaknesses_) == 1


def test_a_second_fit_knows_nothing_of_the_doubts_of_the_first() -> None:
    X, y, _ = blobs(sizes=(3, 3, 2))
    model = nf.KMeansDiscoverer(3, random_state=0)
    with pytest.warns(WeakEvidence):
        model.fit(X, y)
    X, y, _ = blobs()
    assert model.fit(X, y).weaknesses_ == []


def test_doubts_are_saved(tmp_path: Any) -> None:
    X, y, _ = blobs(sizes=(3, 3, 2))
    with pytest.warns(WeakEvidence):
        model = nf.KMeansDiscoverer(3, random_state=0).fit(X, y)
    nf.save(model, tmp_path / "model.newfound")
    assert nf.load(tmp_path / "model.newfound").weaknesses_ == model.weaknesses_ != []


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 12), st.randoms(use_true_random=False))
def test_agreement_of_the_members_is_the_mean_overlap(n_novel: int, n_members: int, n: int, random: Any) -> None:
    found = np.array([random.randrange(n_novel) for _ in range(n)])
    members = np.array([[random.randrange(n_novel) for _ in range(n)] for _ in range(n_members)])
    for j, agreement in enumerate(member_agreement(found, members, n_novel)):
        ours = {i for i in range(n) if found[i] == j}
        theirs = [{i for i in range(n) if codes[i] == j} for codes in members]
        overlaps = [len(ours & class_) / len(ours | class_) if ours | class_ else 1.0 for class_ in theirs]
        assert agreement == pytest.approx(np.mean(overlaps))
