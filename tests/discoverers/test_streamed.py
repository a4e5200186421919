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
from newfound.tables.streams import open_stream, source, summarise, summary
from tests.discoverers.common import (
    CENTRES,
    SMALL,
    Maker,
    auto,
    classifier_projection,
    in_context,
    kmeans,
    ncd_spectral,
    pbn,
    tabular_ncd,
)

pytestmark = SMALL
N = 1_200
NAMES = np.array(["ant", "bee", "wasp", "fly"])


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


@pytest.fixture
def mixed_rows(rows: Path) -> Path:
    """The same files, but half of the rows of known classes have no label."""
    for path in rows.iterdir():
        frame = pd.read_parquet(path)
        frame.loc[frame.index % 2 == 0, "kind"] = None
        frame.to_parquet(path)
    return rows


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


def test_predictions_go_to_a_file(rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    for path, problem in (
        (tmp_path / "nowhere" / "found.parquet", "but there is no folder .*nowhere; make it first"),
        (tmp_path, r"which cannot be written \("),
    ):
        with pytest.raises(nf.InputError, match=f"path=.*{problem}"):
            nf.predict_parquet(fitted, rows, path)
    with pytest.raises(nf.InputError, match="keep='width'"):
        nf.predict_parquet(fitted, rows, tmp_path / "found.parquet", keep="width")
    with pytest.raises(nf.InputError, match=r"model=.model\.newfound., but expected a fitted"):
        nf.predict_parquet("model.newfound", rows, tmp_path / "found.parquet")  # type: ignore[arg-type]

    of_rows = rows / "00400.parquet"
    before = of_rows.read_bytes()
    with pytest.raises(nf.InputError, match=r"path=.*one of the files that are read; name another file"):
        nf.predict_parquet(fitted, rows, of_rows)
    assert of_rows.read_bytes() == before

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(nf.InputError, match=r"path=.*No space left on device\); make room, or name another file"):
        nf.predict_parquet(fitted, rows, tmp_path / "found.parquet")
    with pytest.raises(nf.InputError, match=r"batches cannot be written to .*No space left on device.* TMPDIR"):
        model().fit(iter(pq.read_table(rows).to_batches()), "kind")
    assert len(pd.read_parquet(tmp_path / "found.parquet")) == N  # the one before


@pytest.mark.parametrize("make", [model, auto])
def test_known_and_novel_rows_are_told_apart_in_streams_too(make: Maker, mixed_rows: Path, tmp_path: Path) -> None:
    whole, (other, truth) = pd.read_parquet(mixed_rows), table(1)
    other, named = other.drop(columns="kind"), NAMES[truth]
    in_memory = make(unlabelled="auto").fit(whole.drop(columns="kind"), whole["kind"])
    streamed = make(unlabelled="auto").fit(mixed_rows, "kind")
    assert streamed.unlabelled_ == in_memory.unlabelled_ == "mixed"
    assert in_memory.score(other, named) > 0.95
    assert streamed.score(other, named) > 0.9  # by a third of the rows, but for networks of more epochs
    share = float((table()[1][whole["kind"].isna()] < 2).mean())
    for fitted in (in_memory, streamed):
        assert fitted.known_share_.interval[0] < share < fitted.known_share_.interval[1]
    sampled = table()[1][streamed.sampled_rows_]
    assert len(streamed.labels_) == len(sampled) < N
    assert (streamed.labels_[sampled < 2] == NAMES[sampled[sampled < 2]]).mean() > 0.9
    assert nf.predict_parquet(streamed, mixed_rows, tmp_path / "found.parquet") == N
    found = pd.read_parquet(tmp_path / "found.parquet")["class"]
    assert found.tolist() == streamed.predict(whole.drop(columns="kind")).tolist()


def test_a_table_that_fits_into_the_sample_is_learned_as_in_memory(
    mixed_rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary, "SAMPLE_ROWS", N)
    whole, other = pd.read_parquet(mixed_rows), table(1)[0].drop(columns="kind")
    in_memory = auto(unlabelled="auto").fit(whole.drop(columns="kind"), whole["kind"])
    streamed = auto(unlabelled="auto").fit(mixed_rows, "kind")
    assert streamed.sampled_rows_.tolist() == list(range(N))
    assert streamed.labels_.tolist() == in_memory.labels_.tolist()
    np.testing.assert_allclose(streamed.predict_proba(other), in_memory.predict_proba(other), atol=1e-9)


def test_networks_learn_from_no_row_that_the_router_takes_for_known(
    mixed_rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned: list[np.ndarray] = []
    add = shards.Shards.add

    def watched(self: shards.Shards, rows: np.ndarray, codes: np.ndarray) -> None:
        learned.append(codes)
        add(self, rows, codes)

    monkeypatch.setattr(shards.Shards, "add", watched)
    model(unlabelled="mixed").fit(mixed_rows, "kind")
    codes = np.concatenate(learned)
    assert (codes >= 0).sum() == pd.read_parquet(mixed_rows)["kind"].notna().sum()
    assert (codes < 0).sum() == pytest.approx((table()[1] >= 2).sum(), rel=0.1)


def test_where_nothing_is_novel_networks_learn_the_known_classes(rows: Path) -> None:
    for path in rows.iterdir():
        frame = pd.read_parquet(path)
        frame["kind"] = np.where(frame.index % 2 == 0, NAMES[table()[1][frame.index]], None)
        frame.to_parquet(path)
    other, truth = table(1)
    with pytest.warns(UserWarning, match="No novel class"):
        fitted = model(unlabelled="auto").fit(rows, "kind")
    assert fitted.n_novel_classes_ == 0
    assert fitted.score(other.drop(columns="kind"), NAMES[truth]) > 0.95


@pytest.mark.parametrize("make", [auto, in_context, ncd_spectral, kmeans])
def test_discoverers_without_epochs_learn_from_the_sample(make: Maker, rows: Path) -> None:
    with open_stream(rows, "kind") as stream:
        sample = summarise(stream, nf.TableEncoder())
    whole, (other, truth) = table()[0], table(1)
    other, named = other.drop(columns="kind"), NAMES[truth]
    streamed = make().fit(rows, "kind")
    assert streamed.sampled_rows_.tolist() == sample.rows.tolist()
    assert len(streamed.labels_) == len(sample.rows)
    # means and deviations are those of all rows, so the two are alike and not the same
    alone = make().fit(whole.drop(columns="kind").iloc[sample.rows], whole["kind"].iloc[sample.rows])
    assert streamed.score(other, named) == pytest.approx(alone.score(other, named), abs=0.02)
    assert streamed.score(other, named) > 0.9


def test_a_stream_without_labels_is_searched_by_those_that_need_none(rows: Path) -> None:
    for path in rows.iterdir():
        pd.read_parquet(path).drop(columns="kind").to_parquet(path)
    assert len(kmeans(n_novel_classes=4).fit(rows).novel_classes_) == 4
    with pytest.raises(nf.InputError, match="expected the name of the column of the labels"):
        auto().fit(rows)


def test_what_a_stream_is_refused_for(rows: Path) -> None:
    with pytest.raises(nf.InputError, match=r"name of the column of the labels.*newfound\.read_table"):
        model().fit(rows, [1, 2])
    with pytest.raises(nf.InputError, match="calibrate"):
        model().fit(rows, "kind", calibrate="no")
    table()[0].to_csv(rows / "rows.csv")
    with pytest.raises(nf.InputError, match=r"cannot be read as a Parquet file.*newfound\.read_table"):
        auto().fit(rows / "rows.csv", "kind")
