"""Dates and times of day that are text: read alike in every type of table and in files, or warned about."""

from __future__ import annotations

import csv
import datetime as dt
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.errors import InputError, ModelFileError
from newfound.tables import TableEncoder
from newfound.tables.blocks import emptiest_hour
from newfound.tables.cells import as_hours
from newfound.tables.dates import parse_time
from newfound.tables.files import read_table
from newfound.tables.frame import as_table
from tests.tables.formats import FORMATS, convert

N = 60
KINDS = ["time", "time", "time", "date", "date", "date", "categorical", "numeric"]


def flights() -> dict[str, list[Any]]:
    rng = np.random.default_rng(0)
    minutes = rng.integers(0, 24 * 60, N).tolist()
    days = [dt.date(2024, 1, 1) + dt.timedelta(int(n)) for n in rng.integers(0, 400, N)]
    return {
        "departure": [f"{m // 60:02}:{m % 60:02}" for m in minutes],
        "arrival": [None if m % 7 == 3 else f"{m // 60}:{m % 60:02}:30" for m in minutes],
        "meal": [f"{m // 60 % 12 or 12}:{m % 60:02} {'am' if m < 720 else 'PM'}" for m in minutes],
        "german": [f"{day.day}.{day.month}.{day.year}" for day in days],
        "slashed": ["" if day.day == 3 else f"{day.year}/{day.month}/{day.day} 7:05" for day in days],
        "mixed": [str(day) if day.day % 2 else f"{day.day}.{day.month}.{day.year}" for day in days],
        "score": [f"{m % 3}:{m % 4}" for m in minutes],
        "delay": rng.normal(size=N).tolist(),
    }


@pytest.mark.parametrize("form", FORMATS)
def test_every_table_is_read_as_its_file_is(form: str, tmp_path: Path) -> None:
    columns = flights()
    with (tmp_path / "flights.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    of_file = TableEncoder().fit(read_table(tmp_path / "flights.csv"))
    assert [column.kind for column in of_file.schema_.columns] == KINDS
    in_memory = TableEncoder().fit(convert(columns, form))
    assert [column.kind for column in in_memory.schema_.columns] == KINDS
    expected = of_file.transform(read_table(tmp_path / "flights.csv"))
    np.testing.assert_allclose(in_memory.transform(convert(columns, form)), expected, atol=1e-12)


def test_times_that_are_no_text() -> None:
    clock = [dt.time(hour, 30) for hour in range(24)]
    for table in (pd.DataFrame({"t": clock}), pl.DataFrame({"t": clock}), pd.DataFrame({"t": clock}).to_numpy()):
        read = as_table(table)
        (name,) = read.names
        assert TableEncoder().fit(table).schema_.columns[0].kind == "time"
        assert as_hours(read.columns[name], name).tolist() == [hour + 0.5 for hour in range(24)]
    moments = np.array(["2024-05-01T20:45", "1969-12-31T23:00", "NaT"], dtype="M8[us]")
    np.testing.assert_array_equal(as_hours(moments, "t"), [20.75, 23.0, np.nan])


@given(st.times())
def test_times_are_parsed_as_python_does(time: dt.time) -> None:
    hours = (time.hour * 3600 + time.minute * 60 + time.second + time.microsecond / 1e6) / 3600
    assert parse_time(time.isoformat()) == pytest.approx(hours, abs=1e-9)
    minute = time.replace(second=0, microsecond=0)
    assert parse_time(minute.strftime("%I:%M %p")) == parse_time(minute.strftime("%H:%M"))


@pytest.mark.parametrize(
    "text", ["25:00", "12:60", "24:01", "3:2", "0:30 am", "13:00 pm", "20.40", "1:10:70", "-1:00", ""]
)
def test_what_is_no_time(text: str) -> None:
    assert parse_time(text) is None


def test_the_end_of_a_day_is_a_time() -> None:
    assert parse_time("24:00") == 24


# ---- what cannot be read

DATES = [f"2024-{month:02}-{day}" for month in range(1, 10) for day in range(10, 30)]
CLOCKS = [f"{hour}:{minute}" for hour in range(24) for minute in range(10, 20)]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([*DATES, "unknown"], "looks like dates, but 'unknown' is not read as one, so all are text: blank such cells"),
        ([f"{text[5:7]}/{text[8:]}/2024" for text in DATES], "day and month may be either way round"),
        (
            [*CLOCKS, "noon"],
            "looks like times of day, but 'noon' is not read as one, so all are text: blank such cells",
        ),
        ([f"2024-{month}-31" for month in range(1, 13)] * 20, None),  # few of them
        ([f"10.0.{build}" for build in range(100)], None),
    ],
)
@pytest.mark.parametrize("often", [1, 3])
def test_texts_that_are_nearly_dates_or_times_are_told(cells: list[str], said: str | None, often: int) -> None:
    table = pd.DataFrame({"c": cells * often, "kept": np.resize([1.0, 2.5, 4.0], len(cells) * often)})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        encoder = TableEncoder().fit(table)
    assert encoder.schema_.kind_of("c") in ("ignored", "categorical")
    assert encoder.transform(table).shape[0] == len(table)
    found = " ".join(str(warning.message) for warning in caught)
    assert ("is not read as one" in found) == (said is not None)
    if said is not None and encoder.schema_.kind_of("c") == "categorical":
        assert said in found


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([*map(str, range(100)), "-"], "column 'c' holds numbers, but also text such as '-'; blank such cells"),
        (
            [*(f"{i},5" for i in range(100)), "unknown"],
            "holds numbers with a decimal comma such as '0,5', so all are text; read the file with decimal=','.",
        ),
        ([*(f"{i},5" for i in range(60)), *map(str, range(60))], "read the file with decimal=','"),
        ([*(f"0{i}" for i in range(100)), "unknown"], None),  # codes
        (["1", "2", "-"] * 20, None),  # few of them
        ([*map(str, range(60)), *(f"size {i}" for i in range(60))], None),
    ],
)
def test_texts_that_are_nearly_numbers_are_told(cells: list[str], said: str | None) -> None:
    table = pd.DataFrame({"c": cells * 3, "kept": np.resize([1.0, 2.5, 4.0], len(cells) * 3)})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        encoder = TableEncoder().fit(table)
    assert encoder.schema_.kind_of("c") == "categorical"
    found = " ".join(str(warning.message) for warning in caught)
    assert said in found if said else not found


def test_odd_cells_of_a_later_table_are_named_with_the_cure() -> None:
    encoder = TableEncoder().fit(pd.DataFrame({"t": CLOCKS, "d": np.resize(DATES, len(CLOCKS))}))
    assert np.isfinite(
        encoder.transform(pd.DataFrame({"t": ["20:40", "NA", None], "d": ["31.12.2024", "", "?"]}))
    ).all()
    for odd in (
        {"t": ["noon"], "d": ["2024-01-01"]},
        {"t": ["20:40"], "d": ["soon"]},
        {"t": [3.0], "d": ["2024-01-01"]},
    ):
        with pytest.raises(InputError, match=r"is used as (dates|times of day) but holds"):
            encoder.transform(pd.DataFrame(odd))


# ---- where a day begins


def test_the_hours_around_midnight_are_near_each_other_where_the_day_is_empty() -> None:
    night = pd.DataFrame({"t": ["22:30", "23:50", "00:10", "01:00"] * 9})
    encoder = TableEncoder().fit(night)
    late, early, far = encoder.transform(pd.DataFrame({"t": ["23:50", "00:10", "22:30"]}))[:, 0]
    assert abs(late - early) < abs(late - far)


@given(st.lists(st.integers(0, 23), min_size=1, max_size=40))
def test_no_hour_is_emptier(hours: list[int]) -> None:
    around = [sum(hour in (start, (start - 1) % 24) for hour in hours) for start in range(24)]
    found = int(emptiest_hour(np.array(hours) + 0.5))
    assert around[found] == min(around)


def test_times_survive_saving() -> None:
    table = pd.DataFrame({"t": ["22:30", "23:50", "00:10", None] * 9, "x": range(36)})
    encoder = TableEncoder(kinds={"x": "numeric"}).fit(table)
    header, arrays = encoder.to_state()
    again = TableEncoder.from_state(json.loads(json.dumps(header)), arrays)
    assert again.schema_ == encoder.schema_
    np.testing.assert_array_equal(again.transform(table), encoder.transform(table))
    for start in (24.0, -1.0, "0", None):
        header["blocks"][0]["start"] = start
        with pytest.raises(ModelFileError):
            TableEncoder.from_state(header, arrays)
