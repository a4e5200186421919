"""The results of a benchmark: one JSON object a line, in a folder that a killed run leaves whole."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from newfound.errors import InputError
from newfound_lab.suites.trials import key_of

__all__ = ["RESULTS_FILE", "ResultFile"]

RESULTS_FILE = "results.jsonl"

# file systems without locks, where two runs on one folder are the user's own risk
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)


class ResultFile:
    """The results in a folder.

    Every ``*.jsonl`` file there is read, so that results of another machine can lie beside one's own; only
    ``results.jsonl`` is written to, inside ``with results.writing():``. Reading needs no right to write.

    Parameters
    ----------
    folder : Path or str
        Need not exist before something is written.

    Attributes
    ----------
    folder, path : Path
        The folder, and the file that is written to.
    lines : list of dict
        One for each trial. Where a trial has several lines the first counts: ``results.jsonl`` before other files,
        and those by name.
    notes : list of str
        What was noticed while reading: last lines that are incomplete, and do not count.

    Raises
    ------
    InputError
        If the folder is a file, cannot be read, or has a broken line that is not the last one of its file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = ResultFile(folder)
    ...     len(results.lines)
    0
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.path = self.folder / RESULTS_FILE
        self._descriptor: int | None = None
        self._read()

    @property
    def keys(self) -> set[str]:
        """Keys of the trials that have a line."""
        return set(self._lines)

    @property
    def by_key(self) -> dict[str, dict[str, Any]]:
        """The line of each trial, by its key."""
        return dict(self._lines)

    @property
    def lines(self) -> list[dict[str, Any]]:
        """One line for each trial, in the order in which they were read or appended."""
        return list(self._lines.values())

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the results file open for :meth:`append`, alone.

        Makes the folder, reads the files anew, since another run may have written meanwhile, and cuts off an incomplete
        last line.

        Raises
        ------
        InputError
            If the folder cannot be made or written to, or if another run holds it.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise InputError(
                f"Results cannot be written to {self.folder}: {_reason(error)}. Choose another folder."
            ) from None
        try:
            self._lock(descriptor)
            whole = self._read()
            if os.fstat(descriptor).st_size > whole:
                os.ftruncate(descriptor, whole)
            self._descriptor = descriptor
            yield
        finally:
            self._descriptor = None
            os.close(descriptor)  # gives the lock back as well

    def append(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Add lines, all or none of them, and wait until they are on the disk.

        Raises
        ------
        InputError
            If they cannot be written, for instance because the disk is full. The file is as it was before.
        ValueError, TypeError
            If a line is not JSON: NaN, or an object that JSON has no word for.
        """
        assert self._descriptor is not None, "append() is for inside `with results.writing()`"
        content = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines).encode()
        before = os.fstat(self._descriptor).st_size
        try:
            if os.write(self._descriptor, content) < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._descriptor)
        except OSError as error:
            # where even this fails, the next run finds the incomplete line and cuts it off
            with suppress(OSError):
                os.ftruncate(self._descriptor, before)
            raise InputError(
                f"Cannot write to {self.path}: {_reason(error)}. The {len(self._lines)} results up to now are kept; "
                "make room, then the same command continues where this one stopped."
            ) from None
        self._take(dict(line) for line in lines)

    def _read(self) -> int:
        """Read all files; returns the length of ``results.jsonl`` without its incomplete last line."""
        self._lines: dict[str, dict[str, Any]] = {}
        self.notes: list[str] = []
        try:
            if self.folder.exists() and not self.folder.is_dir():
                raise InputError(f"{self.folder} is a file, but results need a folder. Choose another one.")
            others = sorted(path for path in self.folder.glob("*.jsonl") if path != self.path)
            own = self.path.read_bytes() if self.path.exists() else b""
            whole = self._take_content(own, self.path)
            for path in others:
                # nothing is ever appended there, so a last line needs no newline to be whole
                content = path.read_bytes()
                self._take_content(content if content.endswith(b"\n") else content + b"\n", path)
        except OSError as error:
            raise InputError(f"Cannot read the results in {self.folder}: {_reason(error)}.") from None
        return whole

    def _take_content(self, content: bytes, path: Path) -> int:
        """Take the lines of one file; returns the length of those that are whole."""
        *rows, rest = content.split(b"\n")
        parsed = [_parsed(row) for row in rows]
        torn = len(rest)
        if not rest and parsed and parsed[-1] is None:
            torn = len(rows.pop()) + 1
            parsed.pop()
        if None in parsed:
            raise InputError(
                f"{path}, line {parsed.index(None) + 1} is not a result. Delete that line; its trial is measured again."
            )
        if torn:
            self.notes.append(f"The last line of {path} is incomplete and does not count; its trial is measured again.")
        self._take(line for line in parsed if line)
        return len(content) - torn

    def _take(self, lines: Iterable[dict[str, Any]]) -> None:
        for line in lines:
            self._lines.setdefault(key_of(line), line)

    def _lock(self, descriptor: int) -> None:
        try:
            import fcntl
        except ImportError:  # Windows
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"Another run is writing to {self.path}. Wait until it has ended, or choose another folder."
            ) from None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise


def _parsed(row: bytes) -> dict[str, Any] | None:
    """Return the line of a trial, an empty one for an empty row, or None for anything else."""
    if not row.strip():
        return {}
    try:
        line = json.loads(row)
        key_of(line)
    except (ValueError, KeyError, TypeError):
        return None
    return dict(line)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
