"""Whatever the bytes of a file are, it is read, or refused in one line: a fuzz target for each reader."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, seed, settings
from hypothesis import strategies as st

from newfound.errors import InputError
from newfound.tables.files import read_file
from tests.tables.files import bombs

pytestmark = pytest.mark.slow


def _table() -> object:
    import pyarrow as pa

    days = pa.array([0, None, 2**30], pa.int32()).cast(pa.date32())
    return pa.table({"a": [1.5, None, 3.0], "b": ["x", "y", None], "c": [[1], [], None], "d": days})


def _xlsx() -> bytes:
    from openpyxl import Workbook

    book, stream = Workbook(), io.BytesIO()
    for row in (["a", "b"], [1, "x"], [2.5, None], ["3", "é"]):
        book.active.append(row)  # type: ignore[union-attr]
    book.save(stream)
    return stream.getvalue()


def _packed_again(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


CSV = 'a,b,"c ""d"""\r\n1,x,2024-12-31\r\n"2,5",,"two\nlines"\r\n007,é,1e300\r\n'.encode()
JSON = b"".join(json.dumps(row).encode() + b"\n" for row in ({"a": 1, "b": "x"}, {"b": None, "c": [1]}, {"a": 1e300}))
READERS: dict[str, Callable[[], bytes]] = {
    "t.csv": lambda: CSV,
    "fast.csv": lambda: b"a,b,c\n" + b"1.5,x,2024-12-31\n" * 20_000,
    "t.csv.gz": lambda: _packed_again(CSV),
    "utf16.csv": lambda: CSV.decode().encode("utf-16"),
    "t.jsonl": lambda: JSON,
    "t.json": lambda: b"[" + JSON.strip().replace(b"\n", b",") + b"]",
    "t.parquet": lambda: bombs.parquet(_table()),
    "zstd.parquet": lambda: bombs.parquet(_table(), 2, compression="zstd", use_dictionary=False),
    "t.feather": lambda: bombs.feather(_table(), 2, "lz4"),
    "t.xlsx": _xlsx,
    "bare.xlsx": lambda: bombs.excel('<row r="2"><c r="B2" t="s"><v>0</v></c></row>', texts="<si><t>x</t></si>"),
}

# Where bytes are changed (as shares of the length), what is put there, and how many bytes go.
CHANGES = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.one_of(
            st.binary(max_size=12),
            st.sampled_from(
                [b"\xff\xff\xff\x7f", b"\xff" * 8, bytes(8), b'"', b"\x80" * 9, b"[" * 2000, b"99999999999"]
            ),
        ),
        st.sampled_from([0, 0, 1, 1, 2, 4, 8, 1000]),
    ),
    min_size=1,
    max_size=4,
)


def changed(content: bytes, changes: list[tuple[float, bytes, int]]) -> bytes:
    for share, piece, gone in changes:
        place = int(share * len(content))
        content = content[:place] + piece + content[place + gone :]
    return content


def check(name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")  # none of them from the packages below
        path = Path(folder, name)
        path.write_bytes(content)
        try:
            file = read_file(path, max_memory="64MiB")
            table = file.table()
        except InputError:
            return
        assert table.n_rows == file.n_rows == len(list(file.text_rows()))


@pytest.mark.parametrize("name", READERS)
@seed(17)
@settings(max_examples=400, deadline=None)
@given(CHANGES)
@example([(0.0, b"", 0)])
@example([(0.5, b"", 1_000_000)])
@example([(0.0, b"PAR1", 4)])
@example([(0.25, b"", 1000)])  # a zip archive whose list of parts is cut
@example([(1.0, b"\n" + b"9" * 5000 + b"x,1\n", 0)])
def test_a_file_with_changed_bytes_is_read_or_refused(name: str, changes: list[tuple[float, bytes, int]]) -> None:
    check(name, changed(_original(name), changes))


@pytest.mark.parametrize("name", READERS)
@seed(17)
@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 16))
def test_any_bytes_after_the_first_ones_are_read_or_refused(name: str, content: bytes, kept: int) -> None:
    check(name, _original(name)[:kept] + content)


@seed(17)
@settings(max_examples=300, deadline=None)
@given(CHANGES)
def test_packed_text_that_was_changed_before(changes: list[tuple[float, bytes, int]]) -> None:
    check("t.csv.gz", _packed_again(changed(CSV, changes)))
    check("t.jsonl.gz", _packed_again(changed(JSON, changes)))


_ORIGINALS: dict[str, bytes] = {}


def _original(name: str) -> bytes:
    if name not in _ORIGINALS:
        _ORIGINALS[name] = READERS[name]()
    return _ORIGINALS[name]
