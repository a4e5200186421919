"""No pattern takes more than linear time on the text of a cell or a name, however it ends."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import newfound.tables
from newfound.errors import InputError
from newfound.tables import dates
from newfound.tables.cells import parse_number, text_of
from newfound.tables.files import read_file
from newfound.tables.files.columns import read_column
from newfound.tables.matching import closest

# What each pattern repeats, and an end that none of them accepts: backtracking would try all ways to divide the text.
PIECES = [
    "0",
    "9",
    "1,",
    "1.",
    "0.0",
    ".",
    "e1",
    "1e",
    "+",
    "inf",
    " ",
    "2024-",
    "1-1-",
    "T1:",
    "_id",
    "aId",
    "row_",
    "__index_level_",
]
STARTS = [
    "",
    "-",
    "1",
    "12:30:",
    "1.",
    "0.",
    "1.0",
    "1e",
    "2024-01-01 ",
    "2024-01-01T",
    "31.12.2024 ",
    "2024/1/1T1:00:00.",
]
ENDS = ["x", "\n"]


def patterns() -> dict[str, re.Pattern[str]]:
    """All patterns in the rooms that read tables."""
    found = {}
    for module in pkgutil.walk_packages(newfound.tables.__path__, "newfound.tables."):
        for name, value in vars(importlib.import_module(module.name)).items():
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, re.Pattern):
                    found[f"{module.name}.{name}"] = item
    return found


def seconds(call: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    call(text)
    return time.process_time() - start


def test_every_pattern_is_linear() -> None:
    known = patterns()
    assert {name.rpartition(".")[2] for name in known} >= {
        "NUMBER", "COMMA_NUMBER", "CODE", "_WHOLE_FLOAT", "_INDEX", "_OTHER_DATES", "_LIKE_A_DATE", "_ISO_DATE",
        "_TIME", "_IDENTIFIER_NAME", "_IDENTIFIER_CAMEL", "_SIZE",
    }  # fmt: skip
    for name, pattern in known.items():
        for start in STARTS:
            for piece in PIECES:
                for end in ENDS:
                    text = start + piece * (10_000 // len(piece)) + end
                    # 10,000 characters take well under a millisecond, and seconds in the square of it
                    assert seconds(pattern.fullmatch, text) < 0.2, (name, start, piece, end)


@pytest.mark.parametrize(
    "call", [parse_number, text_of, dates.parse_date, dates.parse_time, lambda text: closest(text, [text + "x"] * 50)]
)
def test_what_reads_a_cell_is_linear(call: Callable[[str], object]) -> None:
    for piece in PIECES:
        assert seconds(call, "1" + piece * (100_000 // len(piece)) + "x") < 0.5


@pytest.mark.parametrize(
    "cell", ["9" * 60_000 + "x", "0" * 60_000, "1." + "0" * 60_000 + "x", "1," * 30_000, "-" * 60_000]
)
@pytest.mark.parametrize("decimal", [".", ","])
def test_columns_with_a_long_cell(cell: str, decimal: str) -> None:
    assert seconds(lambda text: read_column(["1", "2", text] * 20, "a", decimal=decimal), cell) < 1


@pytest.mark.parametrize("name", ["x" * 100_000, "ab" * 50_000, "size" * 20_000])
def test_long_names_of_columns(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{name},{name}y,b\n1,2,3\n4,5,6\n")
    file = read_file(path)

    def ask(text: str) -> None:
        with pytest.raises(InputError, match="has no such column"):
            file.place(text, "target")

    assert seconds(ask, name[:-1]) < 1
