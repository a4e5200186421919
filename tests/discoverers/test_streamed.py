"""A fit on a table that is read in batches ends as a fit in memory does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import newfound as nf
from newfound.learning import shards
from newfound.learning.checkpoints import Checkpoints
from newfound.tables.streams import source, summary
from tests.discoverers.common import CENTRES, SMALL, Maker, auto, classifier_projection, pbn, tabular_ncd

pytestmark = SMALL
N = 1_200


def table(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Four groups in order of their class, two of them known, and the true classes."""
    rng = np.random.default_rng(seed)
    truth = np.sort(rng.integers(4, size=N))
    frame = pd.DataFrame(CENTRES[truth] + rng.normal(0, 0.7, (N, 2)), columns=["width", "height"])
    frame["colour"] = np.array(["red", "green", "blue"])[(truth + (rng.random(N) < 0.3)) % 3]
    frame["kind"] = np.array(["ant", "bee", None, None], dtype=object)[truth]
    return frame, truth


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of files, each of few classes; batches, shards and the sample are small."""
    monkeypatch.setattr(source, "BATCH_ROWS", 100)
    monkeypatch.setattr(shards, "SHARD_ROWS", 300)
    monkeypatch.setattr(summary, "SAMPLE_ROWS", 400)
    folder = tmp_path / "rows"
    folder.mkdir()
    for start in range(0, N, 400):
        table()[0][start : start + 400].to_parquet(folder / f"{start:05d}.parquet")
    return folder


def model(**changes: object) -> nf.TabularNCD:
    return tabular_ncd(epochs=4, pretrain_epochs=1, n_members=2, **changes)


def test_a_stream_is_learned_as_a_table_in_memory_is(rows: Path, tmp_path: Path) -> None:
    (whole, _), (other, truth) = table(), table(1)
    other = other.drop(columns="kind")
    in_memory = model().fit(whole.drop(columns="kind"), whole["kind"])
    streamed = model().fit(rows, "kind")
    named = np.array(["ant", "bee", "wasp", "fly"])[truth]
    assert in_memory.score(other, named) > 0.95
    assert streamed.score(other, named) > 0.95
    assert streamed.classes_.tolist() == in_memory.classes_.tolist()
    assert len(streamed.labels_) == len(streamed.sampled_rows_) < N
    known = whole["kind"][streamed.sampled_rows_].notna().to_numpy()
    assert streamed.labels_[known].tolist() == whole["kind"][streamed.sampled_rows_][known].tolist()
    # the same model again from the file, and from batches
    nf.save(streamed, tmp_path / "model.newfound")
    proba = nf.load(tmp_path / "model.newfound").predict_proba(other)
    batches = pq.read_table(rows).to_batches(250)
    for again in (streamed, model().fit(iter(batches), "kind")):
        assert np.array_equal(again.predict_proba(other), proba)


@pytest.mark.parametrize("make", [classifier_projection, pbn])
def test_other_networks_learn_from_streams_too(make: Maker, rows: Path) -> None:
    (whole, _), (other, truth) = table(), table(1)
    other, named = other.drop(columns="kind"), np.array(["ant", "bee", "wasp", "fly"])[truth]
    in_memory = make(epochs=15).fit(whole.drop(columns="kind"), whole["kind"]).score(other, named)
    assert in_memory > 0.7
    assert make(epochs=15).fit(rows, "kind").score(other, named) > in_memory - 0.1


@pytest.mark.parametrize("step", [3, 30])
def test_a_streamed_training_goes_on_where_it_ended(
    step: int, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, seen = model().fit(rows, "kind"), []

    def is_due(_: Checkpoints) -> bool:
        seen.append(len(seen))
        if len(seen) == step + 1:
            raise MemoryError
        return len(seen) == step

    monkeypatch.setattr(Checkpoints, "is_due", property(is_due))
    with pytest.raises(MemoryError):
        model().fit(rows, "kind", checkpoint_dir=tmp_path / "kept")
    again = model().fit(rows, "kind", checkpoint_dir=tmp_path / "kept")
    first, second = whole.network_.state_dict(), again.network_.state_dict()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_predictions_go_to_a_file(rows: Path, tmp_path: Path) -> None:
    whole, _ = table()
    fitted = model().fit(rows, "kind")
    assert nf.predict_parquet(fitted, rows, tmp_path / "found.parquet", keep=["width"]) == N
    found = pd.read_parquet(tmp_path / "found.parquet")
    assert list(found.columns) == ["width", "class", "probability"]
    proba = fitted.predict_proba(whole.drop(columns="kind"))
    assert found["width"].tolist() == whole["width"].tolist()
    assert found["class"].tolist() == fitted.classes_[proba.argmax(axis=1)].tolist()
    np.testing.assert_allclose(found["probability"], proba.max(axis=1))
    for keep in (["weight"], ["class"]):
        with pytest.raises(nf.InputError, match="keep"):
            nf.predict_parquet(fitted, rows, tmp_path / "found.parquet", keep=keep)
    with pytest.raises(nf.InputError, match="source"):
        nf.predict_parquet(fitted, whole, tmp_path / "found.parquet")
    assert len(pd.read_parquet(tmp_path / "found.parquet")) == N  # the one before


def test_what_a_stream_is_refused_for(rows: Path) -> None:
    with pytest.raises(nf.InputError, match="name of the column of the labels"):
        model().fit(rows, [1, 2])
    with pytest.raises(nf.InputError, match="unlabelled"):
        model(unlabelled="mixed").fit(rows, "kind")
    with pytest.raises(nf.InputError, match="Got the name of a file"):
        auto().fit(rows, "kind")
