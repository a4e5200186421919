"""A small file never takes more memory than the budget allows, nor more time than a reader has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import newfound as nf
from newfound.cli.app import run
from newfound.errors import InputError
from newfound.tables.files import budget as budgets
from newfound.tables.files import read_file
from newfound.tables.files.budget import Budget, default_memory, machine_memory, parse_size
from tests.tables.files import bombs

BUDGET = 128 << 20
SLACK = 300 << 20

# Reads one file after the other, and prints what became of each and the peak of its memory so far.
CHILD = """
import json, re, sys, time
from pathlib import Path
from newfound.errors import InputError
from newfound.tables.files import read_file
for name in sys.argv[2:]:
    start = time.process_time()
    try:
        file = read_file(Path(name), max_memory=int(sys.argv[1]))
        file.table()
        said = f"{file.n_rows} rows"
    except InputError as error:
        said = str(error)
    took, status = time.process_time() - start, Path("/proc/self/status").read_text()
    peak = int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1]) << 10  # that of getrusage may be the parent's
    print(json.dumps([Path(name).name, said, took, peak]), flush=True)
"""


def read_in_child(paths: list[Path], memory: int = BUDGET) -> list[tuple[str, str, float, int]]:
    command = [sys.executable, "-c", CHILD, str(memory), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=500)
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


def check_refused(paths: list[Path]) -> None:
    told = read_in_child(paths)
    assert [name for name, *_ in told] == [path.name for path in paths]
    for name, said, took, peak in told:
        assert "takes more than 128 MiB of memory (" in said or "is a broken Excel file (" in said, (name, said)
        assert "max_memory=" in said or "save it as CSV" in said
        assert "\n" not in said
        assert peak < BUDGET + SLACK, (name, peak >> 20)
        assert took < 10, (name, took)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured otherwise there")
def test_no_bomb_goes_off(tmp_path: Path) -> None:
    check_refused(bombs.write(tmp_path, bombs.QUICK))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured otherwise there")
def test_no_large_bomb_goes_off(tmp_path: Path) -> None:
    check_refused(bombs.write(tmp_path, bombs.LARGE))


@pytest.mark.skipif(sys.platform != "linux", reason="there is no such file")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_files_without_end(device: str) -> None:
    with pytest.raises(
        InputError, match=f"^{device} takes more than 8 MiB of memory .it has more than 8,388,608 bytes"
    ):
        read_file(Path(device), max_memory="8MiB")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are none")
def test_pipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr("newfound.tables.files.content._PATIENCE", 0.1)
    with pytest.raises(InputError, match="is a pipe that nobody writes to"):
        read_file(pipe)
    monkeypatch.undo()
    content = b"a,b\n" + b"1,2\n" * 100_000  # more than a pipe holds
    for memory in ("1GiB", "256KiB"):
        writer = threading.Thread(target=_write_to, args=(pipe, content))
        writer.start()
        if memory == "1GiB":
            assert read_file(pipe, max_memory=memory).n_rows == 100_000
        else:
            with pytest.raises(InputError, match="takes more than 256 KiB of memory"):
                read_file(pipe, max_memory=memory)
        writer.join()


def _write_to(pipe: Path, content: bytes) -> None:
    try:
        pipe.write_bytes(content)
    except BrokenPipeError:
        return


def test_the_limit_is_named_and_can_be_raised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "a,b,y\n" + "".join(f"{i * 7 % 100},{i * 3 % 50},{'xz'[i % 2] if i % 3 else ''}\n" for i in range(900))
    )
    with pytest.raises(
        InputError, match=r"more than 10 KiB of memory .*raise the limit with max_memory='\d+KiB'"
    ) as told:
        nf.read_table(path, max_memory="10KiB")
    assert told.value.parameter == "max_memory"
    X, y = nf.read_table(path, target="y", max_memory=10_000_000)
    assert X.n_rows == len(y) == 900
    command = ["discover", str(path), "-t", "y", "-k", "1", "--out", str(tmp_path / "out"), "--max-memory"]
    assert run([*command, "10KiB"]) == 2
    assert "raise the limit with --max-memory" in capsys.readouterr().err
    assert run([*command, "much"]) == 2
    assert "Got --max-memory much, but expected a number of bytes" in capsys.readouterr().err


@pytest.mark.parametrize("size", ["", "-1", "1e9", "2 GB2", "GB", 0, -5, True, 1.5, None, "9" * 400, "1" * 20 + "TB"])
def test_sizes_that_are_none(size: object) -> None:
    with pytest.raises(InputError, match="Got max_memory="):
        parse_size(size)


def test_the_default_suits_the_machine_and_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "machine_memory", lambda: 64 << 30)
    assert default_memory(0) == 1 << 29
    assert default_memory(100 << 20) == (1 << 29) + 16 * (100 << 20)
    assert default_memory(10 << 30) == 16 << 30
    path = tmp_path / "t.csv"
    path.write_bytes(bytes(1 << 20))
    assert Budget.of(None, path).memory == (1 << 29) + (16 << 20)
    assert Budget.of(None, tmp_path / "gone").memory == Budget.of(None, tmp_path).memory == 1 << 29
    monkeypatch.undo()
    assert 1 << 28 < machine_memory() < 1 << 50


def test_memory_that_the_machine_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")

    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("newfound.tables.files.reading.decode", fail)
    with pytest.raises(InputError, match=f"There is not enough memory to read {path}"):
        read_file(path)


@pytest.mark.parametrize("kind", ["binary", "string", "large_string", "large_binary"])
def test_long_texts_count_as_python_holds_them(kind: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    cells = [("x" * (3 << 20)) + str(i) for i in range(4)]
    table = pa.table({"a": pa.array([cell.encode() for cell in cells], getattr(pa, kind)())})
    path = tmp_path / "long.parquet"
    path.write_bytes(bombs.parquet(table, 1, use_dictionary=False, compression="zstd"))
    with pytest.raises(InputError, match=r"long.parquet takes more than 20 MiB of memory \(it has long texts"):
        read_file(path, max_memory="20MiB")
    assert read_file(path, max_memory="80MiB").n_rows == 4


def test_cells_without_text_count_before_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_bytes(b",".join(b"x%d" % i for i in range(100)) + b"\n" + (b"," * 99 + b"\n") * 20_000)
    with pytest.raises(InputError, match=r"about 2,000,[0-9]* cells"):
        read_file(path, max_memory="24MiB")  # 2 MB of delimiters, of which 26 MB of cells would be made
