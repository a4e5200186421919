"""Reading archives that come from elsewhere: nothing is unpacked to the disk, and nothing without a bound."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

__all__ = ["DAMAGED", "Archive", "ArchiveError", "check_archive", "open_archive", "open_gzip"]


class ArchiveError(ValueError):
    """An archive is not what was expected; says in a few words how."""


# what an archive can raise while it is read, if it is damaged or packed in a way that zipfile does not know
DAMAGED = (ArchiveError, zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError)

_MAGIC = {".zip": b"PK\x03\x04", ".gz": b"\x1f\x8b"}


class _Budget:
    """How many bytes may still be unpacked; an archive of a few kilobytes can hold terabytes of zeros."""

    def __init__(self, most: int) -> None:
        self._most, self._used = most, 0

    def spend(self, n_bytes: int) -> None:
        """Count bytes that were unpacked."""
        self._used += n_bytes
        if self._used > self._most:
            raise ArchiveError(f"it unpacks to more than {self._most / 2**20:,.0f} MiB")


class _Counted(io.RawIOBase):
    """A stream whose bytes are taken from a budget."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile, budget: _Budget) -> None:
        self._stream, self._budget = stream, budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._stream.read(len(buffer))
        self._budget.spend(len(block))
        buffer[: len(block)] = block
        return len(block)


class Archive:
    """The members of a zip file, also of those in a zip file within it, by the end of their path.

    Parameters
    ----------
    file : zipfile.ZipFile
    most : int
        Bytes that may be unpacked.
    stack : ExitStack
        Closes what is opened.
    """

    def __init__(self, file: zipfile.ZipFile, most: int, stack: ExitStack) -> None:
        self._budget, self._stack = _Budget(most), stack
        self._members: dict[str, zipfile.ZipFile] = {}
        self._add(file)

    def _add(self, file: zipfile.ZipFile) -> None:
        for name in file.namelist():
            parts = PurePosixPath(name.replace("\\", "/")).parts
            if ".." in parts or name.startswith(("/", "\\")):
                raise ArchiveError(f"it has a member named {name!r}, which points out of the archive")
            # what the Finder adds: resource forks with the names of the files
            if "__MACOSX" not in parts:
                self._members.setdefault(name, file)

    def open(self, member: str) -> IO[bytes]:
        """Open a member for reading: itself, or where it is not there, its ``.gz``."""
        for ending in (member, f"{member}.gz"):
            for name, file in self._members.items():
                if name == ending or name.endswith(f"/{ending}"):
                    packed = self._stack.enter_context(file.open(name))
                    stream = gzip.GzipFile(fileobj=packed) if ending.endswith(".gz") else packed
                    return io.BufferedReader(_Counted(stream, self._budget))
        raise ArchiveError(f"it has no member {member}, but {', '.join(sorted(self._members)[:10]) or 'nothing'}")

    def read(self, member: str) -> str:
        """Text of a small member."""
        return self.open(member).read().decode("utf-8")

    def enter(self, member: str) -> None:
        """Take the members of a zip file within this one for members of this one."""
        inner = io.BytesIO(self.open(member).read())
        self._add(self._stack.enter_context(zipfile.ZipFile(inner)))


@contextmanager
def open_archive(path: Path, most: int) -> Iterator[Archive]:
    """Open a zip file of which no more than ``most`` bytes may be unpacked."""
    with ExitStack() as stack:
        file = stack.enter_context(zipfile.ZipFile(path))
        yield Archive(file, most, stack)


@contextmanager
def open_gzip(path: Path, most: int) -> Iterator[IO[bytes]]:
    """Open a gzip file of which no more than ``most`` bytes may be unpacked."""
    with gzip.open(path) as stream, io.BufferedReader(_Counted(stream, _Budget(most))) as counted:
        yield counted


def check_archive(path: Path, kind: str, most: int) -> None:
    """Raise ArchiveError where a file is not a whole zip or gzip file.

    Parameters
    ----------
    path : Path
    kind : {".zip", ".gz"}
        What it must be, whatever it is called.
    most : int
        Bytes that may be unpacked.
    """
    with path.open("rb") as stream:
        start = stream.read(64)
    if not start.startswith(_MAGIC[kind]):
        page = " (a web page: perhaps of a proxy that asks to log in)" if start.lstrip()[:1] == b"<" else ""
        raise ArchiveError(f"what came is not a {kind} file, it begins with {start[:20]!r}{page}")
    try:
        if kind == ".gz":
            with open_gzip(path, most) as unpacked:
                while unpacked.read(1 << 20):
                    pass
        else:
            # the list of members is at the end of the file, so a file that was cut off has none
            with open_archive(path, most):
                pass
    except ArchiveError:
        raise
    except DAMAGED as error:
        raise ArchiveError(f"what came is not a whole {kind} file: {error}") from error
