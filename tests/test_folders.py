"""Temporary folders outlive neither their program nor a disk that is full."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from newfound.errors import InputError
from newfound.folders import folder_for_a_while


def test_what_a_killed_program_left_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / ".newfound-0123456789abcdef.tmp"
    (left / "new").mkdir(parents=True)
    (left / "lock").touch()
    lock = (left / "lock").lstat()
    (left / "mark").write_text(f"{lock.st_ino} {lock.st_ctime_ns}")
    (left / "new" / "0.rows").write_bytes(b"0" * 1_000)
    with folder_for_a_while() as first, folder_for_a_while() as second:
        assert not left.exists()
        assert first != second
        (first / "0.rows").touch()
        assert list(second.iterdir()) == []
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with (
        pytest.raises(InputError, match=r"Temporary files cannot be written to .*nowhere.*TMPDIR"),
        folder_for_a_while(),
    ):
        pass
