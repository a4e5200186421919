from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from newfound.errors import InputError
from newfound_lab.runner.results import ResultFile
from newfound_lab.suites.trials import Trial, key_of


def line(seed: int, **measured: Any) -> dict[str, Any]:
    trial = Trial("main", "digits", "kmeans", "default", "label-free", "inductive", seed, {"n_init": 10})
    return trial.line({"acc": 0.5} | measured)


def write(folder: Path, *lines: dict[str, Any], name: str = "results.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in lines))
    return path


def seeds(results: ResultFile) -> list[int]:
    return [record["seed"] for record in results.lines]


def test_what_is_appended_is_read_again(tmp_path: Path) -> None:
    results = ResultFile(tmp_path / "a" / "b")
    assert results.lines == []
    assert not (tmp_path / "a").exists()  # reading makes nothing
    with results.writing():
        results.append([line(0), line(1)])
        results.append([line(2)])
    assert seeds(results) == [0, 1, 2]
    again = ResultFile(tmp_path / "a" / "b")
    assert again.lines == results.lines
    assert again.keys == {key_of(line(seed)) for seed in range(3)}
    assert again.notes == []


def test_appending_leaves_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps(line(0), indent=None, separators=(" ,  ", ":  ")) + "\n\n")  # written by another hand
    before = path.read_bytes()
    results = ResultFile(tmp_path)
    with results.writing():
        results.append([line(1)])
    assert path.read_bytes() == before + json.dumps(line(1)).encode() + b"\n"


def test_other_files_count_and_stay_as_they_are(tmp_path: Path) -> None:
    other = write(tmp_path, line(0, acc=0.9), line(5), name="cuda.jsonl")
    other.write_bytes(other.read_bytes().removesuffix(b"\n"))  # an editor may leave out the last newline
    before = other.read_bytes()
    write(tmp_path, line(0, acc=0.1))
    (tmp_path / "notes.txt").write_text("not a result")
    results = ResultFile(tmp_path)
    assert seeds(results) == [0, 5]
    with results.writing():
        results.append([line(7)])
    assert seeds(ResultFile(tmp_path)) == [0, 7, 5]
    assert other.read_bytes() == before


def test_the_first_line_of_a_trial_counts(tmp_path: Path) -> None:
    write(tmp_path, line(0, acc=0.1), line(0, acc=0.2))
    write(tmp_path, line(0, acc=0.3), line(1, acc=0.4), name="a.jsonl")
    write(tmp_path, line(1, acc=0.5), name="b.jsonl")
    assert [record["acc"] for record in ResultFile(tmp_path).lines] == [0.1, 0.4]


@pytest.mark.parametrize(
    "tail",
    [
        json.dumps(line(1))[:40].encode(),
        json.dumps(line(1)).encode(),  # whole but for the newline
        b"\x00" * 64 + b"\n",  # what some file systems leave after a power cut
        b'{"seed": 1}\n',
        b'"' + "ä".encode()[:1],
    ],
)
def test_an_incomplete_last_line_is_cut_off(tmp_path: Path, tail: bytes) -> None:
    path = write(tmp_path, line(0))
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    results = ResultFile(tmp_path)
    assert seeds(results) == [0]
    assert results.notes == [f"The last line of {path} is incomplete and does not count; its trial is measured again."]
    assert path.read_bytes() == whole + tail  # reading changes nothing
    with results.writing():
        results.append([line(1)])
    assert path.read_bytes() == whole + json.dumps(line(1)).encode() + b"\n"
    assert ResultFile(tmp_path).notes == []


@pytest.mark.parametrize("name", ["results.jsonl", "cuda.jsonl"])
def test_a_broken_line_in_the_middle_is_not_passed_over(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, line(0), line(1), line(2), name=name)
    rows = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(rows[0] + rows[1][:20] + b"\n" + rows[2])
    with pytest.raises(InputError, match=f"{name}, line 2 is not a result. Delete that line"):
        ResultFile(tmp_path)


def test_two_runs_do_not_write_at_once(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    first, second = ResultFile(tmp_path), ResultFile(tmp_path)
    with first.writing():
        first.append([line(0)])
        with pytest.raises(InputError, match="Another run is writing to"), second.writing():
            pass
        first.append([line(1)])
    with second.writing():  # and it sees what was written since it was read
        assert seeds(second) == [0, 1]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("n_written", [None, 0, 10])
def test_a_full_disk_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, n_written: int | None
) -> None:
    results = ResultFile(tmp_path)
    real = os.write

    def full(descriptor: int, content: bytes) -> int:
        if n_written is None:
            raise OSError(code, os.strerror(code))
        return real(descriptor, content[:n_written])

    with results.writing():
        results.append([line(0)])
        before = results.path.read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(InputError, match="The 1 results up to now are kept; make room"):
                results.append([line(1), line(2)])
        assert results.path.read_bytes() == before
        assert seeds(results) == [0]
        results.append([line(1), line(2)])  # there is room again
    assert seeds(ResultFile(tmp_path)) == [0, 1, 2]


def test_lines_that_do_not_reach_the_disk_are_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    results = ResultFile(tmp_path)
    with results.writing():
        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(InputError, match="Input/output error"):
            results.append([line(0)])
    assert results.path.read_bytes() == b""


def test_a_file_that_may_not_grow_is_left_whole(tmp_path: Path) -> None:
    """The operating system itself writes only the first bytes of a line, as on a full disk."""
    pytest.importorskip("resource")
    write(tmp_path, line(0))
    before = (tmp_path / "results.jsonl").read_bytes()
    code = (
        "import resource, sys; from laboratory.tests.runner.test_results import *\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 25},) * 2)\n"
        "results = ResultFile(sys.argv[1])\n"
        "with results.writing():\n    results.append([line(1)])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert "The 1 results up to now are kept" in done.stderr.splitlines()[-1]
    assert (tmp_path / "results.jsonl").read_bytes() == before


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object()])
def test_what_is_not_json_is_not_written(tmp_path: Path, value: object) -> None:
    results = ResultFile(tmp_path)
    with results.writing():
        with pytest.raises((ValueError, TypeError)):
            results.append([line(0), line(1, acc=value)])
        assert results.path.read_bytes() == b""
        assert results.lines == []


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file, but results need a folder"):
        ResultFile(tmp_path / "file")
    below = ResultFile(tmp_path / "file" / "below")
    with pytest.raises(InputError, match=r"Results cannot be written to .*: Not a directory"), below.writing():
        pass


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_only_be_read(tmp_path: Path) -> None:
    write(tmp_path, line(0))
    tmp_path.chmod(0o555)
    (tmp_path / "results.jsonl").chmod(0o444)
    try:
        results = ResultFile(tmp_path)
        assert seeds(results) == [0]
        with pytest.raises(InputError, match="Permission denied"), results.writing():
            pass
    finally:
        tmp_path.chmod(0o755)
