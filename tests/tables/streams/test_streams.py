"""A table read batch by batch tells the same as the table as a whole."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newfound.errors import InputError
from newfound.tables import TableEncoder, statistics, streams
from newfound.tables.statistics import Moments, TextCounts
from newfound.tables.streams import source, summary

N = 2_000


def table(n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    height = rng.normal(170, 9, n)
    height[n // 2 :] += 30  # the first files do not tell the mean of all
    frame = pd.DataFrame({"number": np.arange(n), "height": height, "tail": np.exp(rng.normal(0, 2, n))})
    frame["colour"] = rng.choice(["red", "green", "blue"], n, p=[0.5, 0.3, 0.2])
    frame.loc[n - 3 :, "colour"] = ["rare", None, "rare"]
    frame["round"] = rng.random(n) < 0.3
    frame["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 400, n), unit="D")
    frame.loc[n - 1, "height"] = np.nan
    frame["kind"] = np.where(np.arange(n) % 4 < 3, [f"known {i % 4}" for i in range(n)], None)
    frame.loc[7, "kind"] = "seldom"
    return frame


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(source, "BATCH_ROWS", 150)
    for number, start in enumerate(range(0, N, 700)):
        table()[start : start + 700].to_parquet(tmp_path / f"{number}.parquet")
    return tmp_path


@pytest.mark.parametrize("scaling", ["standard", "signed_log", "none"])
def test_the_encoder_is_that_of_the_whole_table(files: Path, scaling: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "SAMPLE_ROWS", 300)
    whole = table()
    encoder = TableEncoder(numeric_scaling=scaling, kinds={"number": "ignored"})
    expected = encoder.fit(whole.drop(columns="kind")).transform(whole.drop(columns="kind"))
    with streams.open_stream(files, "kind") as stream:
        found = streams.summarise(stream, TableEncoder(numeric_scaling=scaling))
        streamed = found.fit_encoder(TableEncoder(numeric_scaling=scaling))
        parts = list(found.encoded(streamed, without=np.array([3, 1_500])))
    assert streamed.layout_.names == encoder.layout_.names
    assert streamed.schema_.kind_of("number") == "ignored"  # consecutive, which no sample shows
    kept = np.delete(np.arange(N), [3, 1_500])
    np.testing.assert_allclose(np.concatenate([rows for rows, _ in parts]), expected[kept], atol=1e-9)
    classes = np.append(found.labels.known_classes.astype(object), None)
    assert classes[np.concatenate([codes for _, codes in parts])].tolist() == [
        kind if isinstance(kind, str) else None for kind in whole["kind"][kept]
    ]


def test_the_sample_is_random_and_misses_no_class(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "SAMPLE_ROWS", 300)
    with streams.open_stream(files, "kind") as stream:
        found = streams.summarise(stream, TableEncoder())
    assert found.labels.known_classes.tolist() == ["known 0", "known 1", "known 2", "seldom"]
    assert 300 <= len(found.rows) <= 300 + 4 * summary.CLASS_ROWS
    assert found.sample.n_rows == len(found.labels.codes) == len(found.rows) == len(set(found.rows))
    assert found.sample["number"].tolist() == found.rows.tolist()
    assert 7 in found.rows
    assert np.histogram(found.rows, bins=4, range=(0, N))[0].min() > 40


@pytest.mark.parametrize("is_labelled", [np.arange(N) < N * 9 // 10, np.arange(N) % 20 == 0])
def test_rows_of_a_rare_kind_are_many_and_all_have_the_same_chance(
    is_labelled: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary, "SAMPLE_ROWS", 300)
    monkeypatch.setattr(summary, "CLASS_ROWS", 10)
    kinds = np.where(is_labelled, [f"known {min(7, i * 8 // N)}" for i in range(N)], None).tolist()
    drawn, n_draws = np.zeros(N), 40
    for seed in range(n_draws):
        sampler = summary._Sampler(np.random.default_rng(seed))
        for start in range(0, N, 150):
            some = slice(start, start + 150)
            sampler.add(pa.table({"number": np.arange(N)[some]}), kinds[some])
        sampler.compact()
        drawn[sampler._rows] += 1
        assert len(sampler._rows) <= 300 + 120 + 8 * 10
        assert is_labelled[sampler._rows].sum() >= min(120, is_labelled.sum())
        assert (~is_labelled[sampler._rows]).sum() >= 120
    shares = drawn[~is_labelled] / n_draws
    halves = [half.mean() for half in np.array_split(shares, 2)]
    assert halves[0] == pytest.approx(halves[1], abs=0.05)  # five standard errors
    assert shares.mean() == pytest.approx(max(120, 300 * (~is_labelled).mean()) / (~is_labelled).sum(), rel=0.05)


@given(st.lists(st.lists(st.floats(-1e6, 1e6), max_size=6), min_size=1, max_size=6))
@settings(max_examples=60)
def test_moments_of_batches_are_those_of_all_numbers(batches: list[list[float]]) -> None:
    moments = Moments()
    for batch in batches:
        moments.add(np.array(batch))
    numbers = np.concatenate([np.array(batch) for batch in batches])
    assert moments.n == len(numbers)
    if len(numbers):
        assert (moments.low, moments.high) == (numbers.min(), numbers.max())
        assert moments.mean == pytest.approx(numbers.mean(), abs=1e-6)
        if numbers.min() < numbers.max():
            assert moments.spread == pytest.approx(numbers.std(), abs=1e-6, rel=1e-6)


def test_only_whole_numbers_that_follow_each_other_are_consecutive() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.permutation(100_000) + 7.0
    repeated = np.append(numbers[:-1], numbers[0])  # and so one is missing
    repeated[[np.argmin(numbers), np.argmax(numbers)]] = [7, 100_006]
    for values, expected in (
        (numbers, True),
        (numbers - 1e9, True),
        (repeated, False),
        (numbers + 0.5, False),
        (rng.integers(7, 100_007, 100_000), False),
        (numbers[:-1], False),
        ([], False),
    ):
        moments = Moments()
        for batch in np.array_split(np.array(values, dtype=float), 9):
            moments.add(batch)
        assert moments.are_consecutive == expected


@pytest.mark.parametrize("huge", [1e200, np.finfo(float).max])
def test_a_number_that_is_too_large_for_its_square_is_encoded_as_in_memory(huge: float, tmp_path: Path) -> None:
    frame = table(300)[["height", "kind"]]
    frame.loc[[3, 200], "height"] = [huge, -huge]
    frame.to_parquet(tmp_path / "0.parquet")
    with streams.open_stream(tmp_path, "kind") as stream:
        found = streams.summarise(stream, TableEncoder())
        rows = np.concatenate([rows for rows, _ in found.encoded(found.fit_encoder(TableEncoder()), np.arange(0))])
    expected = TableEncoder().fit_transform(frame[["height"]])
    np.testing.assert_allclose(rows, expected)


def test_columns_of_few_rows_are_taken_as_in_memory(tmp_path: Path) -> None:
    percent = [*range(101), *range(20)]
    percent[1:21] = [50] * 20
    frame = pd.DataFrame({"percent": percent[:101], "number": range(101), "kind": ["x"] * 101})
    frame.to_parquet(tmp_path / "0.parquet")
    with streams.open_stream(tmp_path, "kind") as stream, pytest.warns(UserWarning, match=r"'number' \(a row number"):
        encoder = streams.summarise(stream, TableEncoder()).fit_encoder(TableEncoder())
    assert [column.kind for column in encoder.schema_.columns] == ["numeric", "ignored"]


def test_row_numbers_that_the_sample_does_not_show_are_told_of(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "SAMPLE_ROWS", 300)
    with streams.open_stream(files, "kind") as stream, pytest.warns(UserWarning, match=r"'number' \(a row number"):
        streams.summarise(stream, TableEncoder()).fit_encoder(TableEncoder())


def test_files_that_a_program_has_not_completed_are_left_out(files: Path) -> None:
    for place in (files / ".newfound-1.tmp" / "new", files):
        place.mkdir(parents=True, exist_ok=True)
        (place / ".labels.parquet").write_bytes(b"PAR1")
    (files / ".newfound-1.tmp" / "new" / "labels.parquet").write_bytes(b"PAR1")
    with streams.open_stream(files, "kind") as stream:
        assert [path.name for path in stream.paths] == ["0.parquet", "1.parquet", "2.parquet"]


def test_frequent_texts_are_found_among_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "MAX_TEXTS", 20)
    counts, rng = TextCounts(), np.random.default_rng(0)
    texts = [f"once {i}" for i in range(2_000)] + ["often"] * 300 + ["sometimes"] * 200
    rng.shuffle(texts)
    for start in range(0, len(texts), 100):
        counts.add(Counter(texts[start : start + 100]))
        assert len(counts.counts) <= 40
    assert not counts.is_exact
    assert [text for text, _ in counts.counts.most_common(2)] == ["often", "sometimes"]


def test_a_file_a_folder_a_pattern_and_batches_are_one_table(files: Path, tmp_path: Path) -> None:
    whole = pa.Table.from_pandas(table(), preserve_index=False)
    pq.write_table(whole, tmp_path / "whole.pq")
    found = []
    for where in (
        files,
        str(files / "*.parquet"),
        tmp_path / "whole.pq",
        iter(whole.to_batches(300)),
        whole.to_reader(),
        sorted(files.glob("*.parquet")),
    ):
        assert streams.is_stream(where)
        with streams.open_stream(where, "kind") as stream:
            assert stream.n_rows == N
            found.append(pa.concat_tables([batch for batch, _ in stream.batches()]).to_pydict()["tail"])
    assert all(summary == found[0] for summary in found)
    assert not any(streams.is_stream(thing) for thing in (table(), whole, [[1.0]], np.zeros((2, 2))))


def test_files_of_other_formats_in_a_folder_are_told_of(files: Path) -> None:
    (files / "more.csv").touch()
    (files / "readme.txt").touch()
    (files / "_temporary").mkdir()
    (files / "_temporary" / "3.parquet").touch()
    told = r"1 file of .*, such as more\.csv, not read: of a folder, files that end in \.parquet are"
    with pytest.warns(UserWarning, match=told), streams.open_stream(files, "kind") as stream:
        assert len(stream.paths) == 3


def test_what_cannot_be_read(files: Path) -> None:
    def refused(where: Any, target: str = "kind") -> str:
        with pytest.raises(InputError) as caught, streams.open_stream(where, target) as stream:
            list(stream.batches())
        return str(caught.value)

    assert "names no file" in refused(files / "nothing")
    assert "which is no column of" in refused(files, "sort")
    assert "has no batches" in refused(iter([]))
    assert "an item of type int" in refused(iter([3]))
    other = files / "3.parquet"
    table()[:9].assign(height="tall").to_parquet(other)
    assert "3.parquet differs, column 'height' is" in refused(files)
    for broken in (pa.array([b"caf\xe9"] * 9).view(pa.string()), None):
        if broken is None:
            other.write_bytes((files / "0.parquet").read_bytes()[:-50])
        else:
            whole = pq.read_table(files / "0.parquet")[:9]
            pq.write_table(whole.set_column(whole.column_names.index("colour"), "colour", broken), other)
        assert "3.parquet cannot be read as a Parquet file" in refused(files)
