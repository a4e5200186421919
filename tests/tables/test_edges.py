"""Numbers, dates and labels at the edge of what a computer holds: kept as they are or refused by name, never others."""

from __future__ import annotations

import enum
import tracemalloc
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import newfound as nf
from newfound.errors import InputError, ModelFileError
from newfound.tables import TableEncoder, as_table, read_labels
from newfound.tables.cells import text_of
from newfound.tables.labels import class_array, classes_from_json, classes_to_json

FAR = 10**14  # seconds, in the year 3,170,843


class Colour(str, enum.Enum):  # noqa: UP042 - unlike a StrEnum, its str is not its value
    RED = "red"
    RUBY = "ruby"
    BLUE = "blue"


# ---- dates

TOO_FAR = {
    "numpy seconds": np.array([[0], [FAR]], dtype="M8[s]"),
    "numpy days": np.array([[0], [-FAR // 86_400]], dtype="M8[D]"),
    "numpy years": np.array([[0], [300_000]], dtype="M8[Y]"),
    "numpy weeks": np.array([[0], [10**11]], dtype="M8[W]"),
    "objects": np.array([[np.datetime64(0, "s")], [np.datetime64(FAR, "s")]], dtype=object),
    "pandas": pd.DataFrame({"x0": np.array([0, FAR], dtype="M8[s]")}),
    "pandas milliseconds": pd.DataFrame({"x0": np.array([0, FAR * 1000], dtype="M8[ms]")}),
    "pandas objects": pd.DataFrame({"x0": np.array([date(1, 1, 1), np.datetime64(FAR, "s")], dtype=object)}),
    "arrow seconds": pa.table({"x0": pa.array([None, FAR], pa.int64()).cast(pa.timestamp("s"))}),
    "arrow zone": pa.table({"x0": pa.array([0, -FAR], pa.int64()).cast(pa.timestamp("s", "UTC"))}),
    "arrow days": pa.table({"x0": pa.array([0, 2**31 - 1], pa.int32()).cast(pa.date32())}),
    "polars days": pl.DataFrame({"x0": pl.Series([0, 2**31 - 1], dtype=pl.Int32).cast(pl.Date)}),
    "polars milliseconds": pl.DataFrame({"x0": pl.Series([0, FAR * 1000]).cast(pl.Datetime("ms"))}),
}


@pytest.mark.parametrize("table", TOO_FAR.values(), ids=list(TOO_FAR))
def test_dates_beyond_microseconds_are_refused_by_name(table: Any) -> None:
    with pytest.raises(InputError, match=r"column 'x0' holds dates beyond the years -290,000 to 290,000.* in row 2"):
        as_table(table)


@given(st.integers(-(2**63) + 1, 2**63 - 1), st.sampled_from(["D", "h", "m", "s", "ms", "us", "ns"]))
def test_a_date_is_itself_or_refused(ticks: int, unit: str) -> None:
    dates = np.array([[ticks]], dtype=f"M8[{unit}]")
    try:
        read = as_table(dates).columns["x0"]
    except InputError:
        assert (
            abs(ticks) * {"D": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 10**6, "ms": 1000}[unit]
            >= 2**63
        )
        return
    assert read.dtype == "M8[us]"
    assert (
        read.astype(np.int64)[0] == np.floor_divide(ticks, 1000)
        if unit == "ns"
        else (read.astype(dates.dtype) == dates).all()
    )


@given(st.datetimes(), st.integers(-1439, 1439))
def test_dates_of_any_year_and_zone(moment: datetime, minutes: int) -> None:
    there = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    expected = np.datetime64(moment, "us") - np.timedelta64(minutes * 60, "s")
    assert as_table([[there]]).columns["x0"][0] == expected
    assert text_of(there) == text_of(expected)


@pytest.mark.parametrize("year", [1, 9999])
def test_the_first_and_the_last_year_as_labels_and_cells(year: int) -> None:
    ends = [datetime(year, 1, 1, tzinfo=timezone(timedelta(hours=9))), datetime(year, 12, 31, 23, tzinfo=UTC)]
    ends.append(datetime(year, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=-9))))
    assert len({text_of(end) for end in ends}) == 3
    assert as_table(pd.DataFrame({"d": pd.Series(ends, dtype=object)})).columns["d"].dtype == "M8[us]"


@pytest.mark.parametrize("unit", ["W", "D", "h", "m", "s", "ms"])
def test_durations_never_wrap(unit: str) -> None:
    step = np.timedelta64(1, unit) / np.timedelta64(1, "s")
    read = as_table(np.array([[2**62], [-(2**62)], ["NaT"]], dtype=f"m8[{unit}]")).columns["x0"]
    np.testing.assert_allclose(read, [2**62 * step, -(2**62) * step, np.nan])
    objects = as_table([[timedelta.max], [timedelta.min], [None]]).columns["x0"]
    np.testing.assert_allclose(objects, [timedelta.max.total_seconds(), timedelta.min.total_seconds(), np.nan])


def test_durations_of_arrow() -> None:
    spans = pa.table({"d": pa.array([10**15, None], pa.int64()).cast(pa.duration("s"))})
    np.testing.assert_array_equal(as_table(spans).columns["d"], [1e15, np.nan])


# ---- labels


@pytest.mark.parametrize(
    "names",
    [
        ["a", "a\0", "a\0\0", "\0", ""],
        [Colour.RED, Colour.RUBY, Colour.BLUE],
        ["x" * 1000, "x" * 1001],
        ["é", "e\u0301", "\udcff"],
        [2**53, 2**53 + 1],
        [-(2**63), 2**63 - 1],
        [9007199254740992.0, 9007199254740994.0],
    ],
    ids=["NUL", "enum", "long", "letters", "integers", "limits", "floats"],
)
@pytest.mark.filterwarnings("ignore:y has the empty text")
def test_classes_that_differ_stay_apart(names: list[Any]) -> None:
    labels = read_labels([*names, *names, None], 2 * len(names) + 1)
    assert labels.n_known == len(names)
    assert [labels.known_classes[code] == name for code, name in zip(labels.codes, names, strict=False)] == [
        True
    ] * len(names)
    assert len(set(labels.codes[: len(names)])) == len(names)
    kept = classes_from_json(classes_to_json(labels.known_classes))
    assert kept.tolist() == labels.known_classes.tolist()
    assert kept.dtype == labels.known_classes.dtype


@pytest.mark.parametrize(
    "names", [[2**53 + 1, 2.0], [2**60 + 1, None, 4.0], np.array([2**53 + 1, 2], dtype=np.longdouble)]
)
def test_labels_that_floats_would_merge_are_refused(names: Any) -> None:
    with pytest.raises(InputError, match="which no floating-point number holds"):
        read_labels(names, len(names))


def test_an_enum_of_texts_is_its_value() -> None:
    assert text_of(Colour.RED) == "red"
    labels = read_labels([Colour.RED, "red", Colour.BLUE], 3)
    assert labels.known_classes.tolist() == ["blue", "red"]
    assert all(type(name) is str for name in labels.known_classes)


def test_texts_of_cells_that_differ_stay_apart() -> None:
    assert len({text_of(b"\xff"), text_of(b"\xfe"), text_of("\ufffd")}) == 3
    assert len({text_of(Decimal("1.00000000000000000001")), text_of(Decimal(1)), text_of(Decimal("1.1"))}) == 3
    assert text_of(Decimal("1.0")) == "1"
    assert len({text_of(10**5000), text_of(10**5000 + 1)}) == 2


def test_a_long_label_takes_its_room_once() -> None:
    X = np.arange(16_000.0).reshape(8000, 2) % 97
    long = "x" * 131_000
    y = [None if row % 3 == 0 else long if row % 3 == 1 else "b" for row in range(8000)]
    tracemalloc.start()
    labels = read_labels(y, 8000)
    found = class_array([*labels.known_classes.tolist(), "novel_0"], labels.known_classes)[labels.codes]
    table = as_table([[long, 1.0]] + [["b", 2.0]] * 8000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == len(X)
    assert table.n_rows == 8001
    assert peak < 20 << 20


# ---- numbers


@pytest.mark.parametrize("size", [1e155, -1e200, 1.7e308])
@pytest.mark.parametrize("scaling", ["standard", "signed_log", "quantile", "none"])
def test_huge_columns(size: float, scaling: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + np.repeat([[0.0], [5.0], [9.0]], 20, axis=0)
    y = np.array(["a"] * 20 + ["b"] * 20 + [None] * 20, dtype=object)
    huge = X.copy()
    huge[:, 1] *= size / np.abs(X[:, 1]).max()
    encoder = TableEncoder(numeric_scaling=scaling)
    for make in (nf.KMeansDiscoverer, nf.NCDKMeans, nf.WhitenedKMeans):
        if scaling == "none":
            with pytest.raises(InputError, match=r"column 'x1' holds .*numeric_scaling='standard'"):
                make(1, encoder=encoder, random_state=0).fit(huge, y)
            model = make(1, encoder=encoder, random_state=0).fit(X, y)
        else:
            model = make(1, encoder=encoder, random_state=0).fit(huge, y)
        for rows in (huge, np.full((1, 2), size)):
            assert np.isfinite(model.predict_proba(rows)).all()
            assert np.isfinite(model.novelty_score(rows)).all()


def test_huge_weights() -> None:
    X, y = [[0.0], [1.0], [9.0], [8.0]], ["a", "a", None, None]
    model = nf.KMeansDiscoverer(1, random_state=0).fit(X, y)
    truth = ["a", "b", "c", "c"]
    for size in (1.0, 1e155, 1.7e308, 1e-320):
        assert model.score(X, truth, sample_weight=np.full(4, size)) == pytest.approx(0.75)


def test_a_model_that_has_no_probabilities_says_so() -> None:
    X, y = [[0.0], [1.0], [9.0], [8.0]], ["a", "a", None, None]
    model = nf.KMeansDiscoverer(1, random_state=0).fit(X, y)
    arrays = model._fitted_arrays()
    for array in arrays.values():
        array[:] = 1e200
    model._restore_fitted(arrays)
    with pytest.raises(InputError, match="has no probabilities for some rows"):
        model.predict(X)


def test_a_model_file_with_more_categories_than_it_may_have(tmp_path: Any) -> None:
    table = [["ab"[row % 2], float(row % 7)] for row in range(40)]
    model = nf.KMeansDiscoverer(1, random_state=0).fit(table, ["x"] * 20 + [None] * 20)
    header, arrays = model.encoder_.to_state()
    header["max_categories"] = 1
    with pytest.raises(ModelFileError, match="column 'x0' has 2 categories, but 1 at most"):
        TableEncoder.from_state(header, arrays)
    long = "n" * 1_000_000
    model.rename({"novel_0": long})
    nf.save(model, tmp_path / "m.newfound")
    assert nf.load(tmp_path / "m.newfound").classes_.tolist() == ["x", long]
