"""Small tables on disk, with two known and two novel classes that lie far apart."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

TARGET = "animal"
HEADING = ["size", "weight", "colour", TARGET]
TRUE = ["cat", "dog", "emu", "fox"]
KNOWN = TRUE[:2]
Rows = list[list[Any]]


def rows(n: int = 48, *, truth: bool = False, seed: int = 0) -> Rows:
    """Rows of the four classes in turn; the label is "" for the last two, unless the truth is wanted."""
    rng = np.random.default_rng(seed)
    made: Rows = []
    for i in range(n):
        code = i % 4
        size, weight = 3 * code + rng.normal(0, 0.2), 5 * (code % 2) + rng.normal(0, 0.2)
        label = TRUE[code] if truth or code < 2 else ""
        made.append([f"{size:.3f}", f"{weight:.3f}", ["red", "green"][code % 2], label])
    return made


def as_csv(body: Rows, heading: list[str] = HEADING, delimiter: str = ",") -> str:
    """The rows as the text of a CSV file."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([heading, *body])
    return text.getvalue()


def write(path: Path, body: Rows | None = None, heading: list[str] = HEADING, delimiter: str = ",") -> Path:
    """Write a CSV file in UTF-8."""
    path.write_text(as_csv(rows() if body is None else body, heading, delimiter), encoding="utf-8")
    return path


def with_column(name: str, cells: list[Any]) -> tuple[Rows, list[str]]:
    """The rows and their heading with one more column, the first."""
    body = rows(len(cells))
    return [[cell, *row] for cell, row in zip(cells, body, strict=True)], [name, *HEADING]


def read(path: Path, delimiter: str = ",") -> tuple[list[str], Rows]:
    """Heading and rows of a CSV file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:  # the encoding of the table is kept
        text = path.read_text(encoding="cp1252")
    heading, *body = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return heading, body


def check_found(path: Path, body: Rows | None = None, delimiter: str = ",", *, exact: bool = True) -> None:
    """The labels are the rows in order, and the novel classes are the true ones; ``exact`` compares all cells."""
    heading, found = read(path, delimiter)
    given = rows() if body is None else body
    if heading[-1] == "doubt":  # of discover
        assert {row[-1] for row in found} == {""}
        heading, found = heading[:-1], [row[:-1] for row in found]
    assert heading[-3:] == ["class", "probability", "is_novel"]
    assert [row[-4] for row in found] == [row[-1] for row in given]
    if exact:
        assert [row[:-3] for row in found] == given
    classes = [row[-3] for row in found]
    by_truth = [{*classes[code::4]} for code in range(4)]
    assert by_truth[:2] == [{"cat"}, {"dog"}]
    assert sorted(by_truth[2:], key=str) == [{"novel_0"}, {"novel_1"}]
    assert [row[-1] for row in found] == ["false", "false", "true", "true"] * (len(found) // 4)
    assert all(0 <= float(row[-2].replace(",", ".")) <= 1 for row in found)  # written like the numbers of the table
