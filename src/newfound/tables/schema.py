"""The kind of every column: inferred from its cells, or given by the user."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from newfound.counting import counted
from newfound.errors import InputError, Message, ModelFileError, Parameter, warn_user
from newfound.tables import cells
from newfound.tables.dates import odd_among, parse_dates, parse_time
from newfound.tables.frame import Table, refuse_infinite

Kind = Literal["numeric", "categorical", "boolean", "date", "time", "ignored"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_FORMER_KINDS: dict[str, Kind] = {"datetime": "date"}  # as model files called them before

# Below this many rows, distinct values are no sign of an identifier.
MIN_IDENTIFIER_ROWS = 20
IDENTIFIER_SHARE = 0.9

# Whole numbers are identifiers where numbers drawn from their range would all differ with a smaller chance than this.
_CHANCE_TO_DIFFER = 1e-12

# Texts are told of where more of the distinct ones than this are numbers: this many, and this share.
_MANY_NUMBERS, _MOSTLY_NUMBERS = 20, 0.9

_IDENTIFIER_NAME = re.compile(r"(.*[_\-. ])?(id|uuid|guid)|index|row[_\-. ]?(number|num|no|nr|id)", re.IGNORECASE)
_IDENTIFIER_CAMEL = re.compile(r".*[a-z0-9](Id|ID|Uuid|UUID)")
_CODE = re.compile(r"[+-]?0\d+", re.ASCII)  # 007 is a name, not a number
_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+", re.ASCII)

_ROW_NUMBER = "a row number: consecutive whole numbers"
_IDENTIFIER_REASONS = ("like an identifier", "an identifier", "a row number")  # how these begin; old files have them


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
    kind : {"numeric", "categorical", "boolean", "date", "time", "ignored"}
        A time is one of the day, such as 20:40.
    reason : str
        Why the column is ignored; empty otherwise.
    """

    name: str
    kind: Kind
    reason: str = ""


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order.

    Examples
    --------
    >>> schema = Schema((Column("age", "numeric"), Column("id", "ignored", "a row number")))
    >>> schema.kind_of("age")
    'numeric'
    >>> [column.name for column in schema.used]
    ['age']
    """

    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(column.name for column in self.columns)

    @property
    def used(self) -> tuple[Column, ...]:
        """The columns that are not ignored."""
        return tuple(column for column in self.columns if column.kind != "ignored")

    @property
    def ignored(self) -> tuple[Column, ...]:
        """The columns that are ignored."""
        return tuple(column for column in self.columns if column.kind == "ignored")

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Names of columns that were ignored since they name or number the rows; names come first."""
        found = [column for column in self.ignored if column.reason.startswith(_IDENTIFIER_REASONS)]
        return tuple(
            column.name for column in sorted(found, key=lambda column: _IDENTIFIER_REASONS.index(_said(column)))
        )

    def kind_of(self, name: str) -> Kind:
        """Return the kind of a column; KeyError if there is none of that name."""
        for column in self.columns:
            if column.name == name:
                return column.kind
        raise KeyError(name)

    def to_json(self) -> list[dict[str, str]]:
        """Return the columns as plain dicts."""
        return [{"name": column.name, "kind": column.kind, "reason": column.reason} for column in self.columns]

    @classmethod
    def from_json(cls, content: Any) -> Schema:
        """Build a schema from :meth:`to_json`; ModelFileError if the content is not one."""
        if not isinstance(content, list) or not content:
            raise ModelFileError(f"the schema must be a list of columns, got {cells.shown(content)}.")
        schema = cls(tuple(_column_from_json(item) for item in content))
        if len(set(schema.names)) != len(schema.names):
            raise ModelFileError("the schema names a column twice.")
        return schema


def infer_schema(table: Table, kinds: Mapping[str, Kind] | None = None, row_numbers: Collection[str] = ()) -> Schema:
    """Decide the kind of every column.

    Parameters
    ----------
    table : Table
    kinds : mapping of column name to kind, optional
        The kinds that the user knows better; they win over what the cells look like.
    row_numbers : collection of str, default=()
        Columns that are known to number the rows, which a sample of them may not show.

    Warns
    -----
    UserWarning
        Once, naming every column that is ignored by inference and why; and for each column of text that looks like
        dates or times, but cannot be read as such.

    Raises
    ------
    InputError
        If `kinds` names an unknown column or kind, if a column that is used holds infinite values, or if no usable
        column is left.
    """
    given = check_kinds(kinds, table.names)
    refuse_infinite(table, (name for name in table.names if given.get(name) != "ignored"))
    schema = Schema(
        tuple(
            Column(name, given[name], "set by kinds" if given[name] == "ignored" else "")
            if name in given
            else Column(name, "ignored", _ROW_NUMBER)
            if name in row_numbers
            else _infer_column(name, values)
            for name, values in table.columns.items()
        )
    )
    inferred = [column for column in schema.ignored if column.name not in given]
    for column in schema.columns:
        if column.kind == "categorical" and column.name not in given:
            _warn_of_odd_texts(column.name, table.columns[column.name])
    if not schema.used:
        raise _no_usable_column(schema, table.n_rows)
    if inferred:
        more = f" and {len(inferred) - 10} more columns" if len(inferred) > 10 else ""
        first = inferred[0].name
        warn_user(
            Message(
                f"ignored {_explained(inferred[:10])}{more}. To keep a column, name its kind: ",
                cells.kind_setting(first, "categorical"),
                ". To leave it out without this message: ",
                cells.kind_setting(first, "ignored"),
                ".",
            )
        )
    return schema


def check_kinds(kinds: Any, names: Sequence[str]) -> dict[str, Kind]:
    """Return the user's kinds with their names as text, after checking them against the columns there are."""
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping):
        raise InputError(
            f"kinds must be a dict of column name to kind, got {cells.shown(kinds)}.",
            parameter="kinds",
            value=kinds,
            expected="a dict of column name to kind",
        )
    given = {str(name): kind for name, kind in kinds.items()}
    for name, kind in given.items():
        if kind not in KINDS:
            expected = f"one of {', '.join(map(repr, KINDS))}"
            raise InputError(
                f"kinds[{name!r}] is {kind!r}; a kind is {expected}.", parameter="kinds", value=kinds, expected=expected
            )
    unknown = [name for name in given if name not in set(names)]
    if unknown:
        raise InputError(
            f"kinds names {unknown[0]!r}, which is not a column; the columns are {cells.shown(list(names), 200)}.",
            parameter="kinds",
            value=kinds,
            expected="names of columns",
        )
    return given


def _infer_column(name: str, values: NDArray[Any]) -> Column:
    values = np.ascontiguousarray(values)  # read once what may lie scattered over a matrix
    missing = cells.missing_mask(values)
    if missing.all():
        return Column(name, "ignored", "every cell is missing")
    present = values[~missing] if missing.any() else values
    if not missing.any() and _is_constant(present):
        return Column(name, "ignored", f"every cell is {cells.shown(cells.text_of(present[0]))}")
    if cells.holds_booleans(values):
        return Column(name, "boolean")
    if values.dtype.kind == "M":
        return Column(name, "date")
    if values.dtype == object:
        return _infer_text(name, present, len(values))
    return _infer_number(name, present, len(values))


def _is_constant(present: NDArray[Any]) -> bool:
    return bool((present == present[0]).all())


def _infer_text(name: str, present: NDArray[Any], n_rows: int) -> Column:
    distinct = set(present)
    spelled = _without_blanks(distinct)
    if spelled and parse_dates(spelled) is not None:
        return Column(name, "date")
    if spelled and all(parse_time(text) is not None for text in spelled):
        return Column(name, "time")
    n_distinct = len(distinct)
    if n_rows < MIN_IDENTIFIER_ROWS or n_distinct <= IDENTIFIER_SHARE * len(present):
        return Column(name, "categorical")
    numbers = [cells.parse_number(text) for text in present]
    n_texts = numbers.count(None)
    if n_texts == 0:  # numbers that were stored as text
        values = np.array(numbers, dtype=np.float64)
        return _infer_number(name, values[~np.isnan(values)], n_rows)
    if n_texts < len(present) / 2:
        example = cells.shown(next(text for text, number in zip(present, numbers, strict=True) if number is None))
        texts = counted(n_texts, "cell holds", "cells hold")
        return Column(name, "ignored", f"numbers, but {texts} text such as {example}; blank such cells to use it")
    odd = odd_among(spelled)
    if odd is not None:
        what = "dates" if odd.kind == "date" else "times"
        return Column(name, "ignored", f"{what}, but {cells.shown(odd.example)} is not read as one: {odd.cure}")
    return Column(name, "ignored", f"like an identifier: {n_distinct:,} distinct texts in {len(present):,} cells")


def _without_blanks(distinct: set[str]) -> list[str]:
    """Return distinct texts without the space around them, and without those that stand for missing cells."""
    return list(dict.fromkeys(text.strip() for text in distinct if not cells.is_blank_text(text)))


def _warn_of_odd_texts(name: str, values: NDArray[Any]) -> None:
    """Warn of text that looks like dates, times of day or numbers, and is taken for categories."""
    if values.dtype != object or cells.holds_booleans(values):
        return
    texts = _without_blanks({text for text in values if text is not None})
    odd = odd_among(texts)
    if odd is None:
        _warn_of_odd_numbers(name, texts)
    else:
        what = "dates" if odd.kind == "date" else "times of day"
        warn_user(
            f"column {cells.shown(name)} looks like {what}, but {cells.shown(odd.example)} is not read as one, so all "
            f"are text: {odd.cure}."
        )


def _warn_of_odd_numbers(name: str, texts: list[str]) -> None:
    """Warn of distinct texts most of which are numbers, with a decimal point or a comma."""
    numbers = {text for text in texts if cells.parse_number(text) is not None}
    commas = [text for text in texts if _COMMA_NUMBER.fullmatch(text)]
    if any(map(_CODE.fullmatch, numbers)) or len(numbers) == len(texts):
        return
    enough = max(_MANY_NUMBERS, _MOSTLY_NUMBERS * len(texts))
    if len(numbers) > enough:
        warn_user(cells.nearly_numbers(name, min(text for text in texts if text not in numbers)))
    elif commas and len(numbers) + len(commas) > enough:
        warn_user(
            Message(
                f"column {cells.shown(name)} holds numbers with a decimal comma such as {cells.shown(min(commas))}, so "
                "all are text; read the file with ",
                Parameter("decimal", ","),
                ".",
            )
        )


def _infer_number(name: str, present: NDArray[np.float64], n_rows: int) -> Column:
    low, high = float(present.min()), float(present.max())
    if low == 0 and high == 1 and ((present == 0) | (present == 1)).all():
        return Column(name, "boolean")
    if len(present) == n_rows >= MIN_IDENTIFIER_ROWS:
        if high - low == n_rows - 1:
            reason = _ROW_NUMBER
        elif _named_like_identifier(name):
            reason = "an identifier: its name says so and no two cells agree"
        elif _differ_on_purpose(n_rows, high - low + 1):
            reason = f"an identifier: {n_rows:,} whole numbers in a narrow range, no two of which agree"
        else:
            reason = ""
        if reason and _whole_and_distinct(present):
            return Column(name, "ignored", reason)
    return Column(name, "numeric")


def _said(column: Column) -> str:
    return next(reason for reason in _IDENTIFIER_REASONS if column.reason.startswith(reason))


def _named_like_identifier(name: str) -> bool:
    return bool(_IDENTIFIER_NAME.fullmatch(name) or _IDENTIFIER_CAMEL.fullmatch(name))


def _differ_on_purpose(n: int, width: float) -> bool:
    """Whether n whole numbers that all differ were made to: among as many days, two of n birthdays would agree."""
    return math.exp(-n * (n - 1) / (2 * width)) < _CHANCE_TO_DIFFER


def _whole_and_distinct(values: NDArray[np.float64]) -> bool:
    return bool((values == np.floor(values)).all()) and len(np.unique(values)) == len(values)


def _explained(columns: Sequence[Column]) -> str:
    return "; ".join(f"column {column.name!r} ({column.reason})" for column in columns)


def _no_usable_column(schema: Schema, n_rows: int) -> InputError:
    if n_rows == 1:
        problem = "has n_samples=1: a single row shows no differences to learn from"
        return InputError.about("X", problem, "Pass more rows.")
    setting = cells.kind_setting(schema.names[0], "categorical")
    return InputError.about(
        "X",
        f"has no usable column: ignored {_explained(schema.columns[:10])}",
        Message("Add columns that vary, or name the kind of a column to keep: ", setting, "."),
    )


def kind_from_json(kind: Any) -> Kind | None:
    """Return the kind that a model file names, in any version of the file; None if it is none."""
    now = _FORMER_KINDS.get(kind, kind) if isinstance(kind, str) else kind
    return now if now in KINDS else None


def _column_from_json(item: Any) -> Column:
    if not isinstance(item, dict) or set(item) != {"name", "kind", "reason"}:
        raise ModelFileError(f"a column of the schema needs name, kind and reason, got {cells.shown(item)}.")
    kind = kind_from_json(item["kind"])
    if kind is None or not all(isinstance(text, str) for text in item.values()):
        raise ModelFileError(f"a column of the schema is not understood: {cells.shown(item)}.")
    return Column(item["name"], kind, item["reason"])
