from __future__ import annotations

import errno
import json
import signal
import subprocess
import sys
import threading
import urllib.error
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laboratory.tests.datasets.conftest import not_root
from laboratory.tests.datasets.server import Server
from newfound.errors import InputError
from newfound_lab.datasets import transfer
from newfound_lab.datasets.files import sha256_of
from newfound_lab.datasets.transfer import TransferError, download_file

CONTENT = np.random.default_rng(0).bytes(300_001)
LARGEST = 1 << 20


def nothing(path: Path) -> None:
    """Accept every file."""


def get(server: Server, path: Path, check: Callable[[Path], None] = nothing, largest: int = LARGEST) -> None:
    download_file(server.url("a.zip"), path, largest=largest, check=check)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def path(tmp_path: Path, server: Server) -> Path:
    server.files["a.zip"] = CONTENT
    return tmp_path / "cache" / "a.zip"


def test_download_is_recorded_and_leaves_nothing_else(server: Server, path: Path) -> None:
    get(server, path)
    assert path.read_bytes() == CONTENT
    assert left(path.parent) == ["a.zip", "a.zip.json"]
    record = json.loads((path.parent / "a.zip.json").read_text())
    assert record["sha256"] == sha256_of(path)
    assert (record["address"], record["bytes"]) == (server.url("a.zip"), len(CONTENT))
    assert server.requests[0]["User-Agent"].startswith("newfound/")
    assert "Range" not in server.requests[0]


def test_file_that_is_there_is_not_downloaded(server: Server, path: Path) -> None:
    get(server, path)
    get(server, path)
    assert len(server.requests) == 1


def test_server_that_fails_twice(server: Server, path: Path) -> None:
    server.moods = [500, 503]
    get(server, path)
    assert path.read_bytes() == CONTENT
    assert len(server.requests) == 3


def test_waits_grow(server: Server, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(transfer.time, "sleep", waits.append)
    monkeypatch.setattr(transfer, "FIRST_WAIT", 0.5)
    server.moods = [500] * 9
    with pytest.raises(TransferError, match=r"HTTP status 500 .*tried 4 times"):
        get(server, path)
    assert waits == [0.5, 1.0, 2.0]
    assert left(path.parent) == []


@pytest.mark.parametrize("status", [403, 404, 410])
def test_refusals_are_not_repeated(status: int, server: Server, path: Path) -> None:
    server.moods = [status]
    with pytest.raises(TransferError, match=f"HTTP status {status}"):
        get(server, path)
    assert len(server.requests) == 1
    assert left(path.parent) == []


@pytest.mark.parametrize("etag", [True, False], ids=["etag", "date"])
def test_cut_connection_is_resumed(etag: bool, server: Server, path: Path) -> None:
    if not etag:
        server.etag, server.modified = 'W/"weak"', "Sat, 15 Nov 2025 10:00:00 GMT"
    server.moods = ["cut"]
    get(server, path)
    assert path.read_bytes() == CONTENT
    again = server.requests[1]
    assert again["Range"] == f"bytes={len(CONTENT) // 2}-"
    assert again["If-Range"] == (server.etag if etag else server.modified)
    assert len(server.requests) == 2


def test_many_cuts_are_no_reason_to_give_up_while_bytes_arrive(server: Server, path: Path) -> None:
    server.moods = ["cut"] * 8
    get(server, path)
    assert path.read_bytes() == CONTENT
    assert len(server.requests) == 9


def test_server_that_does_not_resume_sends_everything_again(server: Server, path: Path) -> None:
    server.ranges = False
    server.moods = ["cut"]
    get(server, path)
    assert path.read_bytes() == CONTENT
    assert "Range" in server.requests[1]


def test_server_without_a_validator_is_asked_for_everything(server: Server, path: Path) -> None:
    server.etag = None
    server.moods = ["cut"]
    get(server, path)
    assert path.read_bytes() == CONTENT
    assert "Range" not in server.requests[1]


def test_server_that_always_cuts_without_resuming(server: Server, path: Path) -> None:
    server.ranges = False
    server.moods = ["cut"] * 99
    with pytest.raises(TransferError, match=r"ended after 150,000 of 300,001 bytes; tried 4 times"):
        get(server, path)
    assert len(server.requests) == 4
    assert not path.exists()


def test_file_that_changed_in_between_is_begun_again(server: Server, path: Path) -> None:
    server.moods = ["cut", 404]
    with pytest.raises(TransferError):
        get(server, path)
    assert left(path.parent) == ["a.zip.part", "a.zip.part.json"]
    server.files["a.zip"] = new = CONTENT[::-1]
    server.etag = '"second"'
    get(server, path)
    assert server.requests[-1]["If-Range"] == '"first"'
    assert path.read_bytes() == new
    assert left(path.parent) == ["a.zip", "a.zip.json"]


def test_rest_from_another_address_is_not_appended(server: Server, path: Path) -> None:
    server.moods = ["cut", 404]
    with pytest.raises(TransferError):
        get(server, path)
    server.files["b.zip"] = CONTENT[::-1]
    download_file(server.url("b.zip"), path, largest=LARGEST, check=nothing)
    assert path.read_bytes() == CONTENT[::-1]


@pytest.mark.parametrize("mood", ["wrong range", 416])
def test_answer_that_does_not_continue_begins_again(mood: object, server: Server, path: Path) -> None:
    server.moods = ["cut", mood]
    get(server, path)
    assert path.read_bytes() == CONTENT
    assert "Range" not in server.requests[2]


def test_part_that_was_complete_begins_again(server: Server, path: Path) -> None:
    path.parent.mkdir()
    (path.parent / "a.zip.part").write_bytes(CONTENT)
    (path.parent / "a.zip.part.json").write_text(json.dumps({"address": server.url("a.zip"), "validator": '"first"'}))
    get(server, path)
    assert path.read_bytes() == CONTENT
    assert server.requests[0]["Range"] == f"bytes={len(CONTENT)}-"


def test_promise_of_more_than_comes_is_noticed(server: Server, path: Path) -> None:
    server.ranges = False
    server.moods = ["promise more"] * 9
    with pytest.raises(TransferError, match="ended after 300,001 of 300,008 bytes"):
        get(server, path)
    assert not path.exists()


def test_promise_of_less_is_left_to_the_check(server: Server, path: Path) -> None:
    def check(part: Path) -> None:
        raise InputError(f"only {part.stat().st_size} bytes")

    server.moods = ["promise less"]
    with pytest.raises(TransferError, match="only 299994 bytes"):
        get(server, path, check)
    assert left(path.parent) == []


def test_length_may_be_unknown(server: Server, path: Path) -> None:
    server.length = False
    get(server, path)
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("length", [True, False])
def test_file_of_endless_size(length: bool, server: Server, path: Path) -> None:
    server.length = length
    with pytest.raises(TransferError, match="more than 0 MiB"):
        get(server, path, largest=100_000)
    assert len(server.requests) == 1
    assert left(path.parent) == []


def test_another_content_than_was_recorded_is_refused(server: Server, path: Path) -> None:
    get(server, path)
    first = sha256_of(path)
    path.unlink()
    server.files["a.zip"] = CONTENT[::-1]
    with pytest.raises(InputError, match=f"now gives another file.*{first}.*delete .*a.zip.json") as caught:
        get(server, path)
    assert "\n" not in str(caught.value)
    assert left(path.parent) == ["a.zip.json"]


def test_nobody_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer.time, "sleep", lambda seconds: pytest.fail("waited, although nobody answered"))
    with pytest.raises(TransferError, match=r"refused$"):
        download_file("http://127.0.0.1:9/a.zip", tmp_path / "a.zip", largest=LARGEST, check=nothing)
    with pytest.raises(TransferError, match=r"not known$"):
        download_file("https://archive.ics.uci.edu/a.zip", tmp_path / "a.zip", largest=LARGEST, check=nothing)


def test_network_that_goes_away_and_comes_back(server: Server, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once something has arrived, a failure to connect is worth another try."""
    connect, failures = transfer.urllib.request.urlopen, [False, True, True]

    def flaky(*args: Any, **options: Any) -> Any:
        if failures and failures.pop(0):
            raise urllib.error.URLError("Network is unreachable")
        return connect(*args, **options)

    monkeypatch.setattr(transfer.urllib.request, "urlopen", flaky)
    server.moods = ["cut"]
    get(server, path)
    assert path.read_bytes() == CONTENT
    assert len(server.requests) == 2


def test_server_that_falls_silent(server: Server, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "TIMEOUT", 0.2)
    server.moods = ["hang"]
    get(server, path)
    assert path.read_bytes() == CONTENT
    assert "Range" in server.requests[1]


def test_other_addresses_are_not_followed(tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="only http and https"):
        download_file("file:///etc/passwd", tmp_path / "a.zip", largest=LARGEST, check=nothing)


# --- the disk ---------------------------------------------------------------------------------------------------------


def test_folder_that_cannot_be_made(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match=r"Cannot write to .*file/cache: Not a directory\."):
        get(server, tmp_path / "file" / "cache" / "a.zip")
    assert server.requests == []


@not_root
def test_folder_without_permission(server: Server, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match=r"Permission denied.*NEWFOUND_CACHE"):
        get(server, tmp_path / "a.zip")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk(server: Server, path: Path) -> None:
    path.parent.mkdir()
    # what is written there ends on a device without any space
    part = path.parent / "a.zip.part"
    real_open = Path.open

    def on_full_disk(self: Path, mode: str = "r", *args: object, **options: object) -> object:
        return real_open(Path("/dev/full") if self == part and "a" in mode else self, mode, *args, **options)  # type: ignore[call-overload]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "open", on_full_disk)
        with pytest.raises(InputError, match=r"Cannot write to .*cache: No space left on device.*Make room"):
            get(server, path)
    assert not path.exists()
    assert len(server.requests) == 1
    get(server, path)
    assert path.read_bytes() == CONTENT


def test_disk_that_fills_up_while_recording(server: Server, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, *args: object, **options: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with pytest.raises(InputError, match="No space left"):
            get(server, path)
    assert not path.exists()


# --- processes --------------------------------------------------------------------------------------------------------

SCRIPT = """
import sys
from pathlib import Path
from newfound_lab.datasets.transfer import download_file
download_file(sys.argv[1], Path(sys.argv[2]), largest=1 << 20, check=lambda path: None)
"""


def test_killed_process_and_the_next_one_goes_on(server: Server, path: Path) -> None:
    server.moods = ["hang"]
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, server.url("a.zip"), str(path)])
    try:
        assert server.half_sent.wait(60)
        part = path.parent / "a.zip.part"
        # the server has sent half; wait until some of it is on the disk
        for _ in range(600):
            if part.exists() and part.stat().st_size:
                break
            threading.Event().wait(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not path.exists()
    n_there = part.stat().st_size
    assert 0 < n_there <= len(CONTENT) // 2
    get(server, path)
    assert path.read_bytes() == CONTENT
    assert server.requests[1]["Range"] == f"bytes={n_there}-"
    assert left(path.parent) == ["a.zip", "a.zip.json"]


def test_processes_and_threads_do_not_disturb_each_other(server: Server, path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, server.url("a.zip"), str(path)]
    processes = [subprocess.Popen(command) for _ in range(2)]
    threads = [threading.Thread(target=get, args=(server, path)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.wait() for process in processes] == [0, 0]
    assert path.read_bytes() == CONTENT
    assert len(server.requests) == 1
    assert left(path.parent) == ["a.zip", "a.zip.json"]


# --- the bar ----------------------------------------------------------------------------------------------------------


def test_bar_only_on_request(server: Server, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    get(server, path)
    assert capsys.readouterr() == ("", "")
    path.unlink()
    download_file(server.url("a.zip"), path, largest=LARGEST, check=nothing, progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "a.zip" in shown.err
    assert "0.3/0.3 MB" in shown.err


def test_bar_on_a_terminal(
    server: Server, path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    get(server, path)
    assert "a.zip" in capsys.readouterr().err
