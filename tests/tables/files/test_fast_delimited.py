"""Either pyarrow reads what the slow reader reads, or it leaves the text to it."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.errors import InputError
from newfound.tables.files import TableFile, fast_delimited, read_file, reading
from newfound.tables.files.delimited import Cells, read_delimited
from newfound.tables.files.fast_delimited import FAST_FROM, read_fast
from newfound.tables.files.text import Decoded, decode
from tests.tables.files.texts import as_decoded, budget

CELL = st.one_of(
    st.text(st.sampled_from(list("ab01.,;|\t\"'\n -é\u2028")), max_size=6),
    st.sampled_from(["", "NA", "1,5", "007", '"', '""', "x\r\ny", " ", "true", "31.12.2024"]),
    st.floats(allow_nan=False).map(repr),
)
SOUP = st.text(st.sampled_from(list('aab11,,;""\n\n\r\0 \té\ufeff')), max_size=40)


@pytest.fixture(autouse=True, params=[64, 1 << 20])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts in many small blocks, and in one; also short ones."""
    monkeypatch.setattr(fast_delimited, "_BLOCK", request.param)
    monkeypatch.setattr(fast_delimited, "_SHARE", 0)
    monkeypatch.setattr(fast_delimited, "_FEWEST", 0)


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    width = draw(st.integers(2, 4))
    return draw(st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=2, max_size=8))


def lists(cells: Cells | None) -> Cells | None:
    return cells and Cells(cells.names, [list(map(str, column)) for column in cells.columns], cells.delimiter)


def slowly(text: str, delimiter: str | None) -> Cells | None:
    try:
        return read_delimited(as_decoded(text), delimiter, budget())
    except InputError:
        return None


@given(
    tables(),
    st.sampled_from(",;\t| "),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.sampled_from(["", "sep={}\n", "\n"]),
)
def test_what_was_written_is_read(body: list[list[str]], delimiter: str, end: str, quoting: Any, first: str) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(body)
    whole = first.format(delimiter) + text.getvalue()
    for given_delimiter in (delimiter, None):
        read = read_fast(Decoded(whole.encode(), "utf-8", ""), given_delimiter, budget())
        if read is not None:
            assert lists(read) == slowly(whole, given_delimiter)


@given(SOUP, st.sampled_from([None, ",", ";"]), st.sampled_from(["", "a,b\n", 'a,b\n1,2\n"']))
def test_whatever_is_odd_is_left_to_the_slow_reader(soup: str, delimiter: str | None, first: str) -> None:
    read = read_fast(Decoded((first + soup).encode(), "utf-8", ""), delimiter, budget())
    if read is not None:
        assert lists(read) == slowly(first + soup, delimiter)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n3,4",
        "a,b\r\n1,2\r\n\r\n3,4\r\n",
        'a,b\n"1","x ""y"""\n"","z"\n',
        'a,b\n1,"two\nlines, and ""more"""\n3,"4"\n',
        "sep=;\na;b\n1;2,5\n",
        ",a,\n0,1,\n1,2,\n",
        "a,a\n1,2\n",
        "größe\tfarbe\n1\trot\n",
        "a,b\n" + "1,xyz\n" * 1000,
    ],
)
def test_a_regular_text_is_read_fast(text: str) -> None:
    read = read_fast(Decoded(text.encode(), "utf-8", ""), None, budget())
    assert read is not None
    assert lists(read) == read_delimited(as_decoded(text), None, budget())


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n1,2,3\n",
        "a,b\n1\n",
        "a,b\n",
        "a\n1\n",
        'a,b\n1,"x\n3,4\n',
        'a,b\n1,"x"y\n',
        'a,b\n1,x"y\n',
        'a,b\n1, "y"\n',
        "a,b\n1,2\r3,4\n",
        "a,b\n1,\0\n",
        'a,b\r\n1,"two\r\nlines"\r\n',
        "a,b\n1,2\n  \n3,4\n",
        f"a,b\n1,{'x' * 200_000}\n",
        "a§b\n1§2\n",
    ],
)
def test_an_odd_text_is_not(text: str) -> None:
    assert read_fast(Decoded(text.encode(), "utf-8", ""), "§" if "§" in text else ",", budget()) is None


@pytest.mark.parametrize(("n_rows", "n_chunks"), [(150, None), (1500, 1)])
def test_very_many_columns_are_read_cell_by_cell_or_in_few_chunks(
    monkeypatch: pytest.MonkeyPatch, n_rows: int, n_chunks: int | None
) -> None:
    monkeypatch.undo()  # blocks as they are
    text = ",".join(f"x{place}" for place in range(600)) + "\n" + ("1.25," * 599 + "2\n") * n_rows
    assert len(text) > FAST_FROM
    read = read_fast(Decoded(text.encode(), "utf-8", ""), None, budget())
    assert (None if read is None else read.columns[0].num_chunks) == n_chunks


def test_a_lone_surrogate_is_left_to_the_slow_reader(tmp_path: Path) -> None:
    text = "a,b\n1,\ud800\n"
    decoded = decode(text.encode("utf-7", "surrogatepass"), "utf-7", budget())
    assert decoded.text == text
    assert read_fast(decoded, None, budget()) is None


def test_without_pyarrow_the_slow_reader_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyarrow", "pyarrow.csv"):
        monkeypatch.setitem(sys.modules, name, None)
    assert read_fast(Decoded(b"a,b\n1,2\n", "utf-8", ""), None, budget()) is None


# ---- whole files


def read_both(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """All that can be known of a file, or the complaint: read fast, if pyarrow can, and slowly."""
    found: list[Any] = []
    for fast_from in (0, sys.maxsize):
        monkeypatch.setattr(reading, "FAST_FROM", fast_from)
        try:
            file = read_file(path)
            found.append(facts(file))
        except InputError as error:
            found.append(str(error))
    return found


def facts(file: TableFile) -> Any:
    columns = {name: (values.dtype, repr(values.tolist())) for name, values in file.table().columns.items()}
    return columns, file.notes, file.names, file.row_numbers, file.delimiter, file.decimal, list(file.text_rows())


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2\n1,2,3\n",
        b'a,b\n1,"x\n3,4\n',
        b'a,b\n1,"x"y\n',
        b"a,b\n",
        b"\n\n \n",
        b"a,b\n1e999,2\n",
        b"a,a\n1,2\n",
        b"\xef\xbb\xbfa;b\r\n1,5;x\r\n,y\r\n",
        b"\xef\xbb\xbf\xef\xbb\xbfa;b\n1,5;x\n",
        "größe,b\n1,ü\n".encode("cp1252"),
        "größe,b\n1,ü\n".encode("utf-16"),
        b",a\n0,x\n1,y\n",
        b"a,b\n" + b"".join(b"%d,%d\n" % (i, i % 7) for i in range(100)) + b"many,007\n",
        b"a,b,c\n" + b"NA,true,31.12.2024\n?,,1.1.2025\n" * 30,
    ],
)
def test_files_and_complaints_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    fast, slow = read_both(path, monkeypatch)
    assert fast == slow


def test_a_large_file_of_all_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_delimited, "_BLOCK", 1 << 15)
    rng = np.random.default_rng(0)
    n = 12_000
    columns = {
        "number": [repr(number) for number in rng.normal(size=n).tolist()],
        "missing": [["NA", "", " 4 ", "2.50"][i] for i in rng.integers(0, 4, n)],
        "late": ["1"] * (n - 1) + ["x"],
        "day": [f"{i % 28 + 1}.{i % 12 + 1}.2024" for i in range(n)],
        "text": [f'a "{i % 50}", b' for i in range(n)],
        "flag": [["true", "FALSE", ""][i % 3] for i in range(n)],
        "code": [f"{i % 100:05}" for i in range(n)],
    }
    path = tmp_path / "table.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    assert path.stat().st_size > FAST_FROM
    fast, slow = read_both(path, monkeypatch)
    assert fast == slow
    assert hasattr(read_file(path).columns[0], "chunks") is False  # the last was read slowly
    monkeypatch.undo()
    assert hasattr(read_file(path).columns[0], "chunks")
