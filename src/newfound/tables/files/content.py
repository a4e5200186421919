"""The bytes of a file, unpacked if they are compressed, and never more of them than the budget allows."""

from __future__ import annotations

import io
import os
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from newfound.errors import InputError
from newfound.tables.files.budget import Budget

_GZIP = b"\x1f\x8b"
_PART = 1 << 20  # bytes that are read at once
_UNPACKED_PART = 1 << 22
_GZIP_WINDOW = 31  # zlib's word for a header and a check sum of gzip
_PATIENCE = 5.0  # seconds to wait for somebody who writes to a pipe


def read_content(path: Path, budget: Budget) -> bytes:
    """Read a file as a whole.

    Parameters
    ----------
    path : Path
        A file, or what can be read like one, such as /dev/stdin or a pipe.
    budget : Budget
        The content is taken from it.

    Raises
    ------
    InputError
        If there is no such file, it cannot be read or unpacked, or it is too large.
    """
    try:
        with _opened(path) as stream:
            packed = stream.peek(len(_GZIP))[: len(_GZIP)] == _GZIP
            return _unpacked(stream, budget) if packed else _plain(stream, budget)
    except FileNotFoundError:
        raise InputError(_not_there(path)) from None
    except IsADirectoryError:
        inside = next((found for found in sorted(path.iterdir()) if found.is_file()), None)
        example = f", such as {inside}" if inside else ""
        raise InputError(f"{path} is a folder, but expected a file with a table; name a file in it{example}.") from None
    except (zlib.error, EOFError) as error:
        raise InputError(
            f"{path} is compressed by gzip, but cannot be unpacked: {error}. It may be cut short; get it again."
        ) from None
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"Cannot read {path}: {reason}. Allow reading it, or name another file.") from None


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a file; a pipe that nobody writes to is given up after a few seconds."""
    if not hasattr(os, "O_NONBLOCK") or not stat.S_ISFIFO(path.stat().st_mode):
        with path.open("rb") as stream:
            yield stream
        return
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as pipe:
        first = _first_of(pipe, path)
        os.set_blocking(pipe.fileno(), True)
        with io.BufferedReader(_Continued(first, pipe)) as stream:
            yield stream


def _first_of(pipe: io.FileIO, path: Path) -> bytes:
    """Return the first bytes of a pipe: none, if it has a writer who has not written yet."""
    has_name = os.path.exists(os.path.realpath(path))  # others can only open a pipe that has one
    end = time.monotonic() + _PATIENCE
    while (first := pipe.read(_PART)) == b"":  # nobody has opened it for writing; None would be somebody
        if not has_name:
            return b""
        if time.monotonic() > end:
            raise InputError(f"{path} is a pipe that nobody writes to; start what writes to it, or name a file.")
        time.sleep(0.02)
    return first or b""


class _Continued(io.RawIOBase):
    """A stream whose first bytes have been read already."""

    def __init__(self, first: bytes, rest: io.FileIO) -> None:
        self._first, self._rest = memoryview(first), rest

    def readable(self) -> bool:
        """Say that it is."""
        return True

    def readinto(self, buffer: memoryview) -> int | None:  # type: ignore[override]
        """Read some bytes."""
        if not self._first:
            return self._rest.readinto(buffer)
        n = min(len(buffer), len(self._first))
        buffer[:n], self._first = self._first[:n], self._first[n:]
        return n


def _plain(stream: BinaryIO, budget: Budget) -> bytes:
    found = os.fstat(stream.fileno()) if not isinstance(getattr(stream, "raw", None), _Continued) else None
    size = found.st_size if found is not None and stat.S_ISREG(found.st_mode) else 0
    budget.check(size, "it has {:,} bytes", size)
    whole = stream.read(size) if size else b""
    budget.take(len(whole), "its content")
    part = stream.read(_PART)
    if not part:  # as with every file that is not growing
        return whole
    kept = io.BytesIO(whole)
    kept.seek(0, io.SEEK_END)
    while part:
        budget.take(len(part), "it has more than {:,} bytes", kept.tell())
        kept.write(part)
        part = stream.read(_PART)
    return kept.getvalue()


def _unpacked(stream: BinaryIO, budget: Budget) -> bytes:
    """Unpack gzip, of which there may be several parts one after the other, and zeros behind them."""
    kept = io.BytesIO()
    unpacking = zlib.decompressobj(_GZIP_WINDOW)
    while data := stream.read(_PART):
        while data or not unpacking.eof:
            if unpacking.eof:
                data = data.lstrip(b"\0")
                if not data:
                    break
                unpacking = zlib.decompressobj(_GZIP_WINDOW)
            part = unpacking.decompress(data, _UNPACKED_PART)
            budget.take(len(part), "it unpacks to more than {:,} bytes", kept.tell())
            kept.write(part)
            data = unpacking.unused_data if unpacking.eof else unpacking.unconsumed_tail
            if not data and len(part) < _UNPACKED_PART:  # it holds nothing back
                break
    if not unpacking.eof:
        raise EOFError("Compressed file ended before the end-of-stream marker was reached")
    return kept.getvalue()


def _not_there(path: Path) -> str:
    if path.is_symlink():
        return f"{path} is a link to {path.readlink()}, where there is no file. Correct the link, or name another file."
    if str(path) == "-":
        return "Got - as the table, but expected a file; standard input has the name /dev/stdin."
    return f"There is no file {path}; check the name and the folder (this is {Path.cwd()})."
