"""Self-training as an option of every packed discoverer."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

import newfound as nf
from newfound import InputError
from newfound.discoverers.packed import fit_together, together_key
from newfound.errors import WeakEvidence
from newfound.learning import trainer
from newfound.learning.progress import Progress
from newfound.learning.self_training import STAGE, SelfTrainingSettings
from newfound.metrics import clustering_accuracy
from newfound.nn import PackedHead
from tests.discoverers.common import NOVEL, PACKED, TRUTH, Maker, beneath_a_mask, frame, integer_labels, numbers
from tests.discoverers.test_common import assert_same_model

packed = pytest.mark.parametrize("make", PACKED)
EPOCHS = 2


@pytest.fixture(scope="module", autouse=True)
def short_rounds() -> Iterator[None]:
    """Few epochs, so that the tests are fast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer, "SelfTrainingSettings", partial(SelfTrainingSettings, epochs=EPOCHS))
        yield


@pytest.fixture(scope="module")
def fitted() -> dict[Maker, Any]:
    """One self-trained discoverer of each kind; tests leave them as they are."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*have no rows")
        return {make: make(self_training=2, n_members=2).fit(frame(), integer_labels()) for make in PACKED}


@packed
def test_one_classifier_of_all_classes_predicts(make: Maker, fitted: dict[Maker, Any]) -> None:
    model = fitted[make]
    assert model.network_.clustering is None
    assert model.network_.classification.weight.shape[-1] == len(model.classes_)
    assert not hasattr(model, "centroids_")
    latents = np.split(model.transform(frame(1)), 2, axis=1)
    head = model.network_.classification
    inputs = torch.tensor(np.stack(latents))
    inputs = inputs.relu() if isinstance(head, PackedHead) else inputs
    logits = inputs @ head.weight.double() + head.bias.double()
    assert_allclose(model.predict_proba(frame(1)), logits.softmax(dim=-1).mean(dim=0).numpy(), atol=1e-9)
    novel = logits[..., -2:].softmax(dim=-1).mean(dim=0).argmax(dim=1)
    assert_array_equal(model.predict_novel(frame(1)), model.novel_classes_[novel])
    assert_array_equal(model.predict(frame(1)), model.classes_[model.predict_proba(frame(1)).argmax(axis=1)])


@packed
def test_novel_classes_are_found_and_ordered_by_size(make: Maker) -> None:
    model = make(self_training=1, n_members=3).fit(numbers(), integer_labels())
    assert clustering_accuracy(TRUTH[NOVEL], model.labels_[NOVEL]) > 0.9
    assert np.mean(model.predict(numbers(1))[~NOVEL] == TRUTH[~NOVEL]) > 0.9
    assert clustering_accuracy(TRUTH, model.predict(numbers(1))) > 0.9
    sizes = [int((model.labels_ == label).sum()) for label in model.novel_classes_]
    assert sizes == sorted(sizes, reverse=True)


@packed
def test_members_learn_from_what_they_agree_on(make: Maker, fitted: dict[Maker, Any]) -> None:
    model = fitted[make]
    together = np.mean([model.member(i).predict_proba(frame(1)) for i in range(2)], axis=0)
    assert_allclose(model.predict_proba(frame(1)), together, rtol=1e-9, atol=1e-12)
    for i, labels in enumerate(model.member_labels_):
        assert_array_equal(model.member(i).predict_novel(frame())[NOVEL], labels[NOVEL])


@packed
def test_history_goes_on(make: Maker, fitted: dict[Maker, Any]) -> None:
    plain = make(n_members=2).fit(frame(), integer_labels())
    before, added = fitted[make].history_[: len(plain.history_)], fitted[make].history_[len(plain.history_) :]
    assert [{**epoch, "seconds": 0} for epoch in before] == [{**epoch, "seconds": 0} for epoch in plain.history_]
    assert [(epoch["stage"], epoch["epoch"]) for epoch in added] == [(STAGE, i + 1) for i in range(2 * EPOCHS)]
    seconds = [epoch["seconds"] for epoch in fitted[make].history_]
    assert seconds == sorted(seconds)


@packed
def test_one_bar_counts_all_epochs(
    make: Maker, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "240")
    model = make(verbose=1, self_training=2).fit(numbers(), integer_labels())
    shown, n_epochs = capsys.readouterr().out, len(model.history_)
    assert f"{n_epochs}/{n_epochs}" in shown
    assert f"{STAGE} {2 * EPOCHS}/{2 * EPOCHS}" in shown


@packed
def test_the_same_seed_gives_the_same_model_and_no_planted_class_is_found(
    make: Maker, fitted: dict[Maker, Any]
) -> None:
    again = make(self_training=2, n_members=2).fit(frame(), beneath_a_mask())
    assert_same_model(again, fitted[make], frame(1))


@packed
def test_it_can_be_copied_saved_and_loaded(make: Maker, fitted: dict[Maker, Any], tmp_path: Path) -> None:
    model = fitted[make]
    nf.save(model, tmp_path / "model.newfound")
    copies = [nf.load(tmp_path / "model.newfound"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    for other in copies:
        assert_same_model(other, model, frame(1))
        assert_array_equal(other.member(1).predict_proba(frame(1)), model.member(1).predict_proba(frame(1)))
        assert other.get_params() == model.get_params()
        assert other.history_ == model.history_


@packed
def test_a_second_fit_forgets_it(make: Maker, fitted: dict[Maker, Any]) -> None:
    plain = make(n_members=2).fit(frame(), integer_labels())
    model = copy.deepcopy(fitted[make]).set_params(self_training=0)
    assert_same_model(model, fitted[make], frame(1))
    assert_same_model(model.fit(frame(), integer_labels()), plain, frame(1))
    assert set(vars(model)) == set(vars(plain))


@packed
def test_without_novel_classes_there_is_none(make: Maker) -> None:
    with pytest.warns(UserWarning, match="no unlabelled rows"):
        model = make(self_training=3).fit(numbers(), TRUTH)
    assert STAGE not in {epoch["stage"] for epoch in model.history_}
    assert model.score(numbers(1), TRUTH) > 0.9


@packed
@pytest.mark.filterwarnings("ignore:.*have no rows")
@pytest.mark.parametrize("n_unlabelled", [1, 5])
def test_as_many_novel_classes_as_unlabelled_rows(make: Maker, n_unlabelled: int, tmp_path: Path) -> None:
    y = TRUTH.copy()
    y[:n_unlabelled] = -1
    model = make(n_novel_classes=n_unlabelled, self_training=1).fit(numbers(), y)
    assert (model.labels_[:n_unlabelled] >= 4).all()
    assert model.history_[-1]["stage"] == STAGE
    nf.save(model, tmp_path / "model.newfound")
    assert_same_model(nf.load(tmp_path / "model.newfound"), model, numbers(1))


@packed
@pytest.mark.filterwarnings("ignore:.*have no rows")
def test_those_fitted_together_end_as_if_fitted_alone(make: Maker) -> None:
    models = [make(self_training=1, random_state=seed, device="cpu") for seed in (3, 1)]
    for model, together in zip(models, fit_together(models, numbers(), integer_labels()), strict=True):
        alone = model.fit(numbers(), integer_labels())
        assert_array_equal(together.labels_, alone.labels_)
        assert_allclose(together.predict_proba(numbers(1)), alone.predict_proba(numbers(1)), atol=2e-2)
        assert [epoch["stage"] for epoch in together.history_] == [epoch["stage"] for epoch in alone.history_]
    assert together_key(make(self_training=1)) != together_key(make(self_training=2))


# ---- interruption


def interrupt_at(n_epochs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Ctrl-C strike when so many epochs of self-training, or of the training before if negative, are over."""

    def announce(progress: Progress, text: str) -> None:
        done = [epoch["stage"] == STAGE for epoch in progress.history]
        if (sum(done) == n_epochs and text.startswith(STAGE)) or (n_epochs < 0 and len(done) == -n_epochs):
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "announce", announce)


@packed
@pytest.mark.parametrize(("n_epochs", "rounds"), [(-2, 0), (0, 0), (1, 0), (EPOCHS, 1), (EPOCHS + 1, 1)])
@pytest.mark.filterwarnings("ignore:.*have no rows")
def test_ctrl_c_keeps_the_last_whole_round(
    make: Maker, n_epochs: int, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = make(self_training=rounds).fit(numbers(), integer_labels())
    interrupt_at(n_epochs, monkeypatch)
    with pytest.warns(UserWarning, match="last completed epoch is: ") as caught:
        model = make(self_training=2).fit(numbers(), integer_labels())
    (about_training,) = [
        warning
        for warning in caught
        if "have no rows" not in str(warning.message) and not issubclass(warning.category, WeakEvidence)
    ]
    assert about_training.filename == __file__
    if n_epochs >= 0:
        assert sum(epoch["stage"] == STAGE for epoch in model.history_) == n_epochs
        assert_same_model(model, expected, numbers(1))
    else:
        assert STAGE not in {epoch["stage"] for epoch in model.history_}
        assert_allclose(model.predict_proba(numbers(1)).sum(axis=1), 1)


# ---- bad input


@packed
@pytest.mark.parametrize("rounds", [-1, 0.5, "two", None])
def test_bad_numbers_of_rounds_are_named(make: Maker, rounds: Any) -> None:
    with pytest.raises(InputError, match="self_training="):
        make(self_training=rounds).fit(numbers(), integer_labels())
