from __future__ import annotations

import warnings
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import newfound as nf
from newfound.discoverers.reading import Reading
from newfound.tables import TableEncoder

N = 120


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    truth = np.arange(N) % 4
    return pd.DataFrame(
        {"a": rng.normal(truth, 0.2), "k": np.array(["u", "v", None, "w"], dtype=object)[truth], "flat": 1.0}
    )


@pytest.fixture(scope="module")
def model(frame: pd.DataFrame) -> nf.TabularNCD:
    truth = np.arange(N) % 4
    discoverer = nf.TabularNCD(
        2, n_members=2, epochs=1, pretrain_epochs=1, encoder=TableEncoder(kinds={"flat": "ignored"}), random_state=0
    )
    return discoverer.fit(frame, np.where(truth < 2, truth, -1))


def test_answers_are_those_for_the_table(model: nf.TabularNCD, frame: pd.DataFrame) -> None:
    reading = Reading.of(model, frame)
    for question in (model.predict, model.predict_novel, model.predict_proba, model.novelty_score, model.transform):
        assert np.array_equal(question(reading), question(frame))
    alone = model.member(1)
    assert np.array_equal(alone.predict_proba(reading), alone.predict_proba(frame))


def test_the_table_is_encoded_and_predicted_once(model: nf.TabularNCD, frame: pd.DataFrame) -> None:
    with (
        patch.object(
            TableEncoder, "transform_table", autospec=True, side_effect=TableEncoder.transform_table
        ) as encode,
        patch.object(
            nf.TabularNCD, "_curated_proba", autospec=True, side_effect=nf.TabularNCD._curated_proba
        ) as predict,
    ):
        reading = Reading.of(model, frame)
        assert encode.call_count == 0
        model.predict(reading)
        model.novelty_score(reading)
        model.transform(reading.take(np.arange(3)))
        model.predict(reading.take(np.arange(3)))
        model.member(0).transform(reading)
        Reading.of(model, reading).take(np.arange(2)).take(np.array([1]))
    assert (encode.call_count, predict.call_count) == (1, 1)


def test_some_rows_are_those_rows(model: nf.TabularNCD, frame: pd.DataFrame) -> None:
    places = np.array([7, 3, 90])
    whole = Reading.of(model, frame)
    before, _ = whole.take(places), whole.proba
    after = whole.take(places)
    for some in (before, after):
        assert np.array_equal(some.rows, whole.rows[places])
        assert some.proba == pytest.approx(whole.proba[places])
        assert some.raw.columns["flat"].tolist() == [1.0] * 3
        assert list(some.used) == ["a", "k"]
        assert some.used["a"].tolist() == frame["a"].iloc[places].tolist()


def test_probabilities_are_shared_and_therefore_fixed(model: nf.TabularNCD, frame: pd.DataFrame) -> None:
    proba = model.predict_proba(Reading.of(model, frame))
    with pytest.raises(ValueError, match="read-only"):
        proba[0] = 0.0


def test_another_discoverer_reads_the_table_for_itself(model: nf.TabularNCD, frame: pd.DataFrame) -> None:
    other: Any = nf.KMeansDiscoverer(3, random_state=0).fit(frame[["a", "k"]])
    reading = Reading.of(model, frame)
    assert np.array_equal(other.predict_proba(reading), other.predict_proba(frame))
    assert Reading.of(other, reading).model is other


def test_a_table_without_names_is_told_so_once(model: nf.TabularNCD, frame: pd.DataFrame) -> None:
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        reading = Reading.of(model, frame.to_numpy(dtype=object))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(reading)
        model.transform(reading)
