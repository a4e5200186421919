from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from laboratory.tests.datasets.conftest import not_root
from newfound.errors import InputError
from newfound_lab.datasets.files import cache_folder, data_folders, find_file, one_line


def test_file_in_the_data_folder(data_folder: Path, sha256: Callable[[Path], str]) -> None:
    path = data_folder / "a.parquet"
    path.write_bytes(b"table")
    assert find_file("a.parquet", sha256(path), benchmark="a") == path


def test_data_folder_comes_before_the_cache(data_folder: Path, sha256: Callable[[Path], str]) -> None:
    cached = cache_folder() / "a.parquet"
    cached.parent.mkdir(parents=True)
    cached.write_bytes(b"table")
    assert find_file("a.parquet", sha256(cached), benchmark="a") == cached
    given = data_folder / "a.parquet"
    given.write_bytes(b"table")
    assert find_file("a.parquet", sha256(cached), benchmark="a") == given


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_data_folder_the_cache_serves(
    value: str | None, data_folder: Path, monkeypatch: pytest.MonkeyPatch, sha256: Callable[[Path], str]
) -> None:
    if value is None:
        monkeypatch.delenv("NEWFOUND_DATA")
    else:
        monkeypatch.setenv("NEWFOUND_DATA", value)
    with pytest.raises(InputError) as caught:
        find_file("a.parquet", "0" * 64, benchmark="a")
    assert f"not in {cache_folder()}. Put it there, or set NEWFOUND_DATA" in str(caught.value)
    path = cache_folder() / "a.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"table")
    assert find_file("a.parquet", sha256(path), benchmark="a") == path


def test_missing_file_says_which_and_where(data_folder: Path) -> None:
    with pytest.raises(InputError) as caught:
        find_file("a.parquet", "0" * 64, benchmark="anna")
    message = str(caught.value)
    assert "'anna' needs the file a.parquet" in message
    assert f"{data_folder} or {cache_folder()}" in message
    assert "does not download" in message


def test_data_folder_that_does_not_exist(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEWFOUND_DATA", str(data_folder / "nowhere"))
    with pytest.raises(InputError, match=r"NEWFOUND_DATA=.*nowhere' is not a folder"):
        find_file("a.parquet", "0" * 64, benchmark="a")


@pytest.mark.parametrize("given", ["nowhere", "~nobody-has-this-name/data", 5, b"bytes", "a\0b"])
def test_what_is_no_folder(given: Any, cache: Path) -> None:
    with pytest.raises(InputError, match=r"^data_dir=.* is not a folder that can be read; set it to "):
        data_folders(given)


def test_nobody_has_no_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEWFOUND_CACHE", "~nobody-has-this-name/cache")
    with pytest.raises(InputError, match="no home folder for the cache; set NEWFOUND_CACHE"):
        data_folders()


@not_root
def test_folder_that_may_not_be_entered(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (data_folder / "inner").mkdir()
    data_folder.chmod(0o600)
    try:
        for folder in (data_folder, data_folder / "inner"):
            with pytest.raises(InputError, match="is not a folder that can be read"):
                data_folders(folder)
        # a cache there is an empty one
        monkeypatch.setenv("NEWFOUND_CACHE", str(data_folder / "inner"))
        monkeypatch.delenv("NEWFOUND_DATA")
        with pytest.raises(InputError, match="needs the file"):
            find_file("a.parquet", "0" * 64, benchmark="a")
    finally:
        data_folder.chmod(0o700)


def test_file_that_cannot_be_read(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *args: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    (data_folder / "a.parquet").write_bytes(b"table")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"Cannot read .*a\.parquet: Permission denied\. Allow reading it"):
        find_file("a.parquet", "0" * 64, benchmark="a")


def test_wrong_checksum_names_both(data_folder: Path, sha256: Callable[[Path], str]) -> None:
    path = data_folder / "a.parquet"
    path.write_bytes(b"another table")
    with pytest.raises(InputError) as caught:
        find_file("a.parquet", "0" * 64, benchmark="anna")
    assert all(part in str(caught.value) for part in (str(path), "'anna'", sha256(path), "0" * 64))


@pytest.mark.parametrize(
    ("error", "line"), [(OSError("Found.\nTwice\x1b[31m.\r\n"), "Found. Twice [31m"), (EOFError(), "EOFError")]
)
def test_errors_take_one_line(error: Exception, line: str) -> None:
    assert one_line(error) == line


def test_cache_folder_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("NEWFOUND_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / ".cache" / "newfound"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == tmp_path / ".cache" / "newfound"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "newfound"
    monkeypatch.setenv("NEWFOUND_CACHE", "~/mine")
    assert cache_folder() == tmp_path / "mine"
