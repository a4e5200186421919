"""The cells of one column: read into one of four array types, then viewed as numbers, texts, dates or booleans.

A column of a :class:`~newfound.tables.frame.Table` is always one of

- ``float64``, missing cells NaN;
- ``bool``, or ``object`` with True, False and None when some cells are missing;
- ``datetime64[us]`` in UTC, missing cells NaT;
- ``object`` with ``str`` and None.

A column that is missing throughout has no type to show and is ``float64``.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Iterable, Sized
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from newfound.errors import InputError, Message, Parameter
from newfound.tables.dates import MICROSECONDS_PER_SECOND, parse_date, parse_dates, parse_time

Family = Literal["boolean", "number", "date", "duration", "text", "complex", "nested"]

MISSING_WORDS = frozenset(
    ("", "na", "n/a", "#n/a", "<na>", "nan", "none", "null", "nil", "nat", "-nan", "?", "#null!", "#div/0!", "#value!")
)
"""What stands for a missing cell in files, in any spelling of capitals."""

MISSING_TEXTS = ("nan", "None", "<NA>")
"""What NumPy makes of NaN, None and pandas.NA among text."""

MICROSECONDS_PER_DAY = 86_400_000_000
MICROSECONDS_PER_HOUR = 3_600_000_000

_COARSE = ("Y", "M", "W", "D", "h", "m", "s", "ms")  # units of time in which more years fit than in microseconds
_FINE = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}  # and how many of them are a microsecond
_DAY = 86_400.0
_YEAR = 365.2425 * _DAY  # on average
_SECONDS = {"Y": _YEAR, "M": _YEAR / 12, "W": 7 * _DAY, "D": _DAY, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3}

_LONGEST_WHOLE = 10**4000
_NONE = np.array(None, dtype=object)
_WHOLE_FLOAT = re.compile(r"(-?\d+)\.0+", re.ASCII)
_MIDNIGHT = "T00:00:00.000000"
_BOOLEAN_WORDS = {"true": 1.0, "t": 1.0, "yes": 1.0, "y": 1.0, "1": 1.0}
_BOOLEAN_WORDS |= {"false": 0.0, "f": 0.0, "no": 0.0, "n": 0.0, "0": 0.0}

_SPLIT = "Split it into columns of single numbers, texts, booleans or dates, or drop the column."


# ---- single cells


def is_missing(cell: Any) -> bool:
    """Whether a cell is None, NaN, NaT or ``pandas.NA``."""
    if cell is None:
        return True
    if isinstance(cell, (str, int)):
        return False
    if isinstance(cell, Decimal):
        return cell.is_nan()
    if isinstance(cell, (float, np.floating, np.datetime64, np.timedelta64)):
        return bool(cell != cell)
    return type(cell).__name__ in ("NAType", "NaTType")  # pandas' own marks, recognised without importing pandas


def family_of(kind: type) -> Family:
    """Return what the cells of a Python or numpy type stand for."""
    if issubclass(kind, (bool, np.bool_)):
        return "boolean"
    if issubclass(kind, (timedelta, np.timedelta64)):  # before numbers: numpy counts timedelta64 among the integers
        return "duration"
    if issubclass(kind, (numbers.Real, Decimal)):
        return "number"
    if issubclass(kind, numbers.Complex):
        return "complex"
    if issubclass(kind, (date, np.datetime64)):
        return "date"
    if issubclass(kind, (str, bytes)):
        return "text"
    return "nested" if issubclass(kind, (Iterable, Sized)) else "text"


def text_of(cell: Any) -> str:
    """Return the text by which a cell is compared as a category; 1, 1.0 and "1.0" all give "1"."""
    if isinstance(cell, str):
        whole = _WHOLE_FLOAT.fullmatch(cell)
        return whole[1] if whole else text_itself(cell)
    if isinstance(cell, bytes):
        return text_of(cell.decode("utf-8", errors="surrogateescape"))  # under which no two become one
    family = family_of(type(cell))
    if family == "number":
        return _number_text(cell)
    if family == "date":
        return _date_text(cell)
    return str(cell)


def text_itself(text: str) -> str:
    """Return a text as Python's own type: a member of an Enum of texts is called otherwise, but equals its value."""
    return text if type(text) is str else str.__str__(text)


def _number_text(number: Any) -> str:
    if isinstance(number, numbers.Integral):
        whole = int(number)
        return str(whole) if abs(whole) < _LONGEST_WHOLE else hex(whole)  # Python spells no longer ones in decimals
    value = _float_of(number)
    if isinstance(number, Decimal) and number.is_finite() and Decimal(repr(value)) != number:
        return str(number.normalize())  # it has more digits than a float
    return str(int(value)) if value.is_integer() else repr(value)


def _float_of(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:  # a Python integer beyond float64; reported later with the other infinite values
        return float("inf") if number > 0 else float("-inf")


def _date_text(cell: Any) -> str:
    timestamp = _timestamp(cell)
    return str(cell) if timestamp is None else str(np.datetime_as_string(timestamp, unit="us")).removesuffix(_MIDNIGHT)


def _timestamp(cell: Any) -> np.datetime64 | None:
    """Return a date in UTC; None if microseconds since 1970 do not hold it."""
    if hasattr(cell, "to_datetime64"):  # pandas.Timestamp, whose years may be any
        cell = cell.to_datetime64()
    if isinstance(cell, np.datetime64):
        stamp, wrong = _microseconds(np.array([cell]))
        return None if wrong is not None and wrong[0] else stamp[0]
    if not isinstance(cell, datetime):
        return np.datetime64(cell, "us")
    # not by astimezone, which knows no year 0 or 10000
    behind = cell.utcoffset() or timedelta(0)
    return np.datetime64(cell.replace(tzinfo=None), "us") - np.timedelta64(behind, "us")


def _seconds_of(cell: Any) -> float:
    if hasattr(cell, "to_timedelta64"):  # pandas.Timedelta, whose own seconds are rounded
        cell = cell.to_timedelta64()
    if isinstance(cell, np.timedelta64):
        return float(seconds(np.array([cell]))[0])
    return float(cell.total_seconds())


# ---- reading a column


def read_cells(cells: NDArray[Any], name: str) -> NDArray[Any]:
    """Turn a column of Python objects, shape (n,), into one of the four array types.

    Raises
    ------
    InputError
        If a cell is nested (a list, a dict, an array) or complex.
    """
    present, family = present_cells(cells, name)
    if family == "boolean":
        return _scatter(cells[present].astype(bool), present, None)
    if family == "date":
        found = [_timestamp(cell) for cell in cells[present]]
        if any(stamp is None for stamp in found):
            row = next(row for row in np.flatnonzero(present) if _timestamp(cells[row]) is None)
            raise _too_far(name, cells, int(row))
        return _scatter(np.array(found, dtype="M8[us]"), present, np.datetime64("NaT"))
    if family == "duration":
        spans = np.array([_seconds_of(cell) for cell in cells[present]], dtype=np.float64)
        return _scatter(spans, present, np.nan)
    if family == "number":
        floats = np.array([_float_of(cell) for cell in cells[present]], dtype=np.float64)
        return _scatter(floats, present, np.nan)
    return _texts(cells, present)


def read_texts(cells: NDArray[Any], name: str) -> NDArray[Any]:
    """Turn a column of Python objects into ``str`` and None, whatever its cells are."""
    present, _ = present_cells(cells, name)
    return _texts(cells, present) if present.any() else np.full(len(cells), np.nan)


def _texts(cells: NDArray[Any], present: NDArray[np.bool_]) -> NDArray[Any]:
    texts = np.empty(int(present.sum()), dtype=object)
    texts[:] = [text_of(cell) for cell in cells[present]]
    return _scatter(texts, present, None)


def present_cells(cells: NDArray[Any], name: str) -> tuple[NDArray[np.bool_], Family]:
    """Return the mask of the cells that are not missing, and the family that fits them all."""
    present = np.fromiter((not is_missing(cell) for cell in cells), dtype=np.bool_, count=len(cells))
    types = {type(cell) for cell in cells[present]}
    families = {family_of(kind) for kind in types}
    for family, problem in (("nested", "nested cells are not supported"), ("complex", "Complex data not supported")):
        if family in families:
            example = next(cell for cell in cells[present] if family_of(type(cell)) == family)
            raise InputError(
                f"{problem}: column {name!r} holds {shown(example)} of type {type(example).__name__}. {_SPLIT}",
                parameter="X",
                cure=_SPLIT,
            )
    if families <= {"boolean", "number"}:
        return present, "boolean" if families == {"boolean"} else "number"
    return present, families.pop() if len(families) == 1 else "text"


def unmasked(array: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Return a masked array as objects, with None where it is masked."""
    objects = np.array(array.data, dtype=object)
    objects[np.ma.getmaskarray(array)] = None
    return objects


def seconds(spans: NDArray[Any]) -> NDArray[np.float64]:
    """Turn ``timedelta64`` of any unit into seconds, NaT into NaN."""
    unit, step = np.datetime_data(spans.dtype)
    if unit not in _SECONDS:  # finer than milliseconds, so that microseconds hold it
        return _ratio(spans.astype("m8[us]"), MICROSECONDS_PER_SECOND)
    return _ratio(spans, 1) * (_SECONDS[unit] * step) if unit != "ms" else _ratio(spans, 1000) * step


def moments(dates: NDArray[Any], name: str) -> NDArray[Any]:
    """Turn ``datetime64`` of any unit, shape (n,), into microseconds; InputError if they do not hold one of them.

    numpy would turn the year 300,000 into one before Christ.
    """
    converted, wrong = _microseconds(dates)
    if wrong is not None and wrong.any():
        raise _too_far(name, dates, int(wrong.argmax()))
    return converted


def _microseconds(dates: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return dates in microseconds, and which of them these do not hold; None where they hold all."""
    unit, step = np.datetime_data(dates.dtype)
    if unit in _FINE and step == 1:  # by hand: numpy wraps the first microsecond that nanoseconds hold
        converted = (dates.astype(np.int64) // _FINE[unit]).astype("M8[us]")
        converted[np.isnat(dates)] = np.datetime64("NaT")
        return converted, None
    converted = dates.astype("M8[us]", copy=False)
    if unit not in _COARSE:
        return converted, None
    return converted, (converted.astype(dates.dtype) != dates) & ~np.isnat(dates)


def _too_far(name: str, dates: Any, row: int) -> InputError:
    cure = "Correct or blank such cells, or leave the column out."
    problem = f"column {name!r} holds dates beyond the years -290,000 to 290,000, such as {dates[row]} in row {row + 1}"
    return InputError(f"{problem}. {cure}", parameter="X", cure=cure)


def shown(cell: Any, width: int = 40) -> str:
    """Return a cell as a message shows it, shortened."""
    text = repr(str(cell)) if isinstance(cell, str) else repr(cell)
    return text if len(text) <= width else text[: width - 3] + "..."


def kind_setting(name: str, kind: str) -> Parameter:
    """Return what a message names to have a column read as a kind."""
    return Parameter("kinds", {name: kind}, "TableEncoder")


def _ratio(ticks: NDArray[Any], per_unit: int) -> NDArray[np.float64]:
    result: NDArray[np.float64] = ticks.astype(np.int64) / per_unit
    result[np.isnat(ticks)] = np.nan
    return result


def _scatter(values: NDArray[Any], present: NDArray[np.bool_], missing: Any) -> NDArray[Any]:
    """Put ``values`` where ``present`` is True, and the missing mark elsewhere."""
    if present.all():
        return values
    dtype = values.dtype if missing is not None else np.dtype(object)
    column = np.full(len(present), missing, dtype=dtype)
    column[present] = values
    return column


# ---- viewing a column


def missing_mask(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which cells of a column are missing, shape (n,)."""
    if values.dtype == bool:
        return np.zeros(len(values), dtype=np.bool_)
    mask: NDArray[Any]
    if values.dtype == object:
        mask = np.equal(values, _NONE)
    else:
        mask = np.isnat(values) if values.dtype.kind == "M" else np.isnan(values)
    return mask.astype(np.bool_, copy=False)


def holds_booleans(values: NDArray[Any]) -> bool:
    """Whether a column holds booleans, with or without missing cells."""
    if values.dtype == object:
        return isinstance(next((cell for cell in values if cell is not None), None), bool | np.bool_)
    return values.dtype == bool


def as_numbers(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    """View a column as contiguous float64, missing cells NaN; booleans are 0/1, dates days, texts are parsed."""
    if values.dtype.kind == "M":
        return as_days(values, name)
    if values.dtype == object and not holds_booleans(values):
        return _parse(values, parse_number, name, "numbers")
    return np.ascontiguousarray(values, dtype=np.float64)  # None becomes NaN


def as_booleans(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    """View a column as 0.0 and 1.0, missing cells NaN; words such as "yes" and "No" are understood."""
    if values.dtype.kind == "M" and not np.isnat(values).all():
        raise _unfit(name, "booleans", "dates", values[~np.isnat(values)][0])
    if values.dtype == object and not holds_booleans(values):
        return _parse(values, _parse_boolean, name, "booleans")
    return as_numbers(values, name)


def as_days(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    """View a column of dates, or of texts that spell some, as days since 1970, missing cells NaN."""
    if values.dtype.kind == "M":
        return _ratio(values, MICROSECONDS_PER_DAY)
    if values.dtype == object and not holds_booleans(values):
        present = ~missing_mask(values)
        stamps = parse_dates(values[present].tolist())
        if stamps is None:
            return _parse(values, _parse_days, name, "dates")
        return _scatter(stamps / MICROSECONDS_PER_DAY, present, np.nan)
    return _nothing_but_missing(values, name, "dates")


def as_hours(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    """View a column of times of day, or of dates with a time, as hours from midnight, missing cells NaN."""
    if values.dtype.kind == "M":
        ticks = values.astype(np.int64) % MICROSECONDS_PER_DAY
        return np.where(np.isnat(values), np.nan, ticks / MICROSECONDS_PER_HOUR)
    if values.dtype == object and not holds_booleans(values):
        return _parse(values, _parse_hours, name, "times of day")
    return _nothing_but_missing(values, name, "times of day")


def _nothing_but_missing(values: NDArray[Any], name: str, wanted: str) -> NDArray[np.float64]:
    present = values[~missing_mask(values)]
    if len(present):
        raise _unfit(name, wanted, "numbers" if values.dtype == np.float64 else "booleans", present[0])
    return np.full(len(values), np.nan)


def as_texts(values: NDArray[Any]) -> NDArray[Any]:
    """View a column as an object array of ``str`` and None, by which categories are compared."""
    if values.dtype == object and not holds_booleans(values):
        return values
    # Few distinct values are the rule in categories, so each is spelled once.
    present = ~missing_mask(values)
    distinct, codes = np.unique(
        values[present].astype(bool if holds_booleans(values) else values.dtype), return_inverse=True
    )
    spelled = np.empty(len(distinct), dtype=object)
    spelled[:] = [text_of(cell) for cell in distinct]
    return _scatter(spelled[codes], present, None)


def parse_number(text: str) -> float | None:
    """Return the number a text spells, NaN for a blank one, None where it spells none."""
    if not text.strip():
        return float("nan")  # a blank cell of a text file
    try:
        number = float(text)
    except ValueError:
        return None
    return None if np.isinf(number) else number


def nearly_numbers(name: str, example: str) -> str:
    """Say that a column is text because of some of its cells."""
    return (
        f"column {shown(name)} holds numbers, but also text such as {shown(example)}; blank such cells to have it read "
        "as numbers."
    )


def is_blank_text(text: str) -> bool:
    """Whether a text stands for a missing cell, such as "" and "NA"."""
    return text.strip().lower() in MISSING_WORDS


def _parse_days(text: str) -> float | None:
    stamp = float("nan") if is_blank_text(text) else parse_date(text.strip())
    return None if stamp is None else stamp / MICROSECONDS_PER_DAY


def _parse_hours(text: str) -> float | None:
    return float("nan") if is_blank_text(text) else parse_time(text.strip())


def _parse_boolean(text: str) -> float | None:
    return _BOOLEAN_WORDS.get(text.strip().lower())


def _parse(values: NDArray[Any], parse: Callable[[str], float | None], name: str, wanted: str) -> NDArray[np.float64]:
    parsed: dict[str | None, float] = {None: float("nan")}
    for text in values:
        if text not in parsed:
            number = parse(text)
            if number is None:
                raise _unfit(name, wanted, "text", text)
            parsed[text] = number
    return np.fromiter((parsed[text] for text in values), dtype=np.float64, count=len(values))


def _unfit(name: str, wanted: str, found: str, example: Any) -> InputError:
    write = {"dates": "Write dates as 2024-12-31, correct", "times of day": "Write times as 20:40, correct"}
    cure = Message(
        f"{write.get(wanted, 'Correct')} or blank such cells, or name another kind for the column: ",
        kind_setting(name, "categorical"),
        ".",
    )
    what = f"column {name!r} is used as {wanted} but holds {found} such as {shown(text_of(example))}. "
    return InputError(Message(what, cure), parameter="X", cure=cure)
