"""Where the tables lie, proof that they are the right ones, and writing that leaves nothing half done."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from newfound.errors import InputError
from newfound.folders import cache_folder
from newfound.writing import replacing

__all__ = [
    "beside",
    "cache_folder",
    "data_folders",
    "find_file",
    "is_there",
    "locked",
    "one_line",
    "read_record",
    "sha256_of",
    "verify",
    "write_record",
    "writing_to",
]

Folder = str | os.PathLike[str]

if sys.platform == "win32":
    import msvcrt

    def _acquire(descriptor: int) -> None:
        while True:
            try:
                return msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
            except OSError as error:
                # it gives up after ten seconds
                if error.errno != errno.EDEADLK:
                    raise
else:
    import fcntl

    def _acquire(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def data_folders(data_dir: Folder | None = None) -> list[Path]:
    """Folders to look in, in this order: ``data_dir``, or else ``NEWFOUND_DATA``, and then the cache.

    Raises
    ------
    InputError
        If the folder that was named does not exist, or may not be entered.
    """
    name, given = "data_dir", data_dir
    if given is None:
        name, given = "NEWFOUND_DATA", os.environ.get("NEWFOUND_DATA") or None
    if given is None:
        return [cache_folder()]
    # a path may be no path at all, or begin with the home of nobody
    with contextlib.suppress(TypeError, RuntimeError):
        folder = Path(given).expanduser()
        if os.path.isdir(folder) and os.access(folder, os.X_OK):
            return [folder, cache_folder()]
    raise InputError(
        f"{name}={str(given)!r} is not a folder that can be read; set it to the folder with the data files, or leave "
        "it out."
    )


def is_there(path: Path) -> bool:
    """Whether there is such a file; False also where its folder may not be entered, which ``Path.is_file`` raises."""
    return os.path.isfile(path)


def find_file(file: str, sha256: str, *, benchmark: str, data_dir: Folder | None = None) -> Path:
    """Locate one file in the data folder, else in the cache, and verify its checksum.

    Parameters
    ----------
    file : str
        Name of the file, without a folder.
    sha256 : str
        What the file must hash to.
    benchmark : str
        Named in messages.
    data_dir : str or path, optional
        The data folder; ``NEWFOUND_DATA`` where it is None.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If the file is in neither folder, or is not the file that the benchmark was defined on.
    """
    folders = data_folders(data_dir)
    for folder in folders:
        path = folder / file
        if is_there(path):
            verify(path, sha256, benchmark)
            return path
    looked = " or ".join(str(folder) for folder in folders)
    raise InputError(
        f"Benchmark {benchmark!r} needs the file {file}, which is not in {looked}. Put it there, or set "
        "NEWFOUND_DATA to the folder that holds it; newfound does not download this file."
    )


def sha256_of(path: Path) -> str:
    """Checksum of a file, as 64 hexadecimal digits; InputError where it cannot be read."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror or error}. Allow reading it, or replace it.") from error


def verify(path: Path, sha256: str, benchmark: str) -> None:
    """Raise InputError where the file is not the one that the benchmark was defined on."""
    found = sha256_of(path)
    if found != sha256:
        raise InputError(
            f"{path} is not the file that benchmark {benchmark!r} was defined on: its sha256 is {found}, expected "
            f"{sha256}. Replace it with the right file; scores on another file would not compare."
        )


def one_line(error: object) -> str:
    """Put what an error says, or a server, on one line without a full stop; its type where it says nothing."""
    text = "".join(character if character.isprintable() else " " for character in str(error))
    return " ".join(text.split()).rstrip(".") or type(error).__name__


# --- writing ----------------------------------------------------------------------------------------------------------


def beside(path: Path, ending: str) -> Path:
    """Path of a file that accompanies another: its name and an ending."""
    return path.with_name(path.name + ending)


@contextlib.contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Turn what the system refuses (no permission, no space) into one InputError that names the folder."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"Cannot write to {folder}: {error.strerror or error}. Make room or allow writing there, or choose "
            "another folder; NEWFOUND_CACHE names the cache folder."
        ) from error


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one process at a time work on ``path``; its folder is made where it is missing.

    The system lets go of the lock of a process that dies, so nothing can stay locked.
    """
    lock = beside(path, ".lock")
    while True:
        with writing_to(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            with writing_to(path.parent):
                _acquire(descriptor)
            # the one before may have removed the file that we waited for; then others hold a new one
            if _is(descriptor, lock):
                try:
                    yield
                finally:
                    with contextlib.suppress(OSError):
                        lock.unlink()
                return
        finally:
            os.close(descriptor)


def _is(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def write_record(path: Path, **facts: Any) -> None:
    """Write what is known of a file into the small JSON file beside it; the caller holds the lock of ``path``."""
    with writing_to(path.parent), replacing(beside(path, ".json")) as fresh:
        fresh.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def read_record(path: Path) -> dict[str, Any]:
    """Read what :func:`write_record` wrote beside a file; empty where there is none, or none that makes sense."""
    try:
        record = json.loads(beside(path, ".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
