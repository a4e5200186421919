"""Hidden folders in which files lie until they are complete, and what is done about those of programs that were killed.

A staging folder ``.newfound-....tmp`` lies beside the files that it will replace, on their file system. Its program
holds a lock in it for as long as it lives, however it ends. So whoever gets the lock knows that the folder is a
leftover, sets right what was begun, and removes it.

Anybody can make a folder of such a name, and an archive may bring one. So a mark in the folder names the number of the
lock file and the time of its last change of state, which the system gives, and which nobody who copies or unpacks files
can choose. Folders without the right mark are left alone, and so are those of other users. Only an empty folder, in
which there is at most an empty lock, needs no mark to be removed: its program was killed before it wrote one. In a
folder of ours, only files with names that we give are removed.

Several files cannot be replaced in one step. Before the first is, a journal says what is about to be done, and the
earlier files are kept beside it. As long as the journal is there, it can all be undone; removing it is the one step
that makes the new files stay.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_IS_POSIX = os.name == "posix"
_LOCKS: Any = importlib.import_module("fcntl" if _IS_POSIX else "msvcrt")
_BEGINNING, _END = ".newfound-", ".tmp"
_LOCK, _MARK, _JOURNAL, _NEW, _OLD = "lock", "mark", "journal.json", "new", "old"
_FIRST = "first"  # in the folders of files that are replaced together with those of another folder: where that is
_OUR_FOLDERS = re.compile(r"\.newfound-([0-9a-f]{16}|results|training|workbench)\.tmp")
_OUR_FILES = re.compile(r"lock|mark|journal\.json(\.new)?|first|old-\d+")
_TRIES = 100
_TO_LOCK = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_BIRTH = 0.05  # seconds that a program may take from making a folder to locking it
_NONSENSE = (ValueError, LookupError, TypeError, RecursionError)
_NO_LINKS = (errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)


class BusyError(OSError):
    """Another program is about to write the same files."""


class InTheWayError(OSError):
    """There is a folder of this name that newfound has not made."""


@dataclass(frozen=True, eq=False)
class Staging:
    """A staging folder that this program holds.

    Attributes
    ----------
    path : Path
    lock : int
        Handle of the locked file in it.
    """

    path: Path
    lock: int

    @property
    def new(self) -> Path:
        """Where new files are written."""
        return self.path / _NEW

    def leave(self) -> None:
        """Remove the folder, unless it is still needed to undo what was begun."""
        try:
            needed = self._is_needed()
            if _IS_POSIX and not needed:
                _remove(self.path)
        finally:
            os.close(self.lock)
        if not _IS_POSIX and not needed:  # Windows removes no file that is open
            _remove(self.path)

    def _is_needed(self) -> bool:
        try:
            return (self.path / _JOURNAL).exists() or (_first(self.path) / _JOURNAL).exists()
        except FileNotFoundError:
            return False
        except OSError:  # nobody can tell
            return True


@contextlib.contextmanager
def staging(folder: Path, key: str | None = None) -> Iterator[Staging]:
    """Hold a staging folder; leftovers of programs that were killed are cleared away first.

    Parameters
    ----------
    folder : Path
        The folder that it is made in.
    key : str, optional
        What is about to be written; only one program at a time holds a staging folder of the same key.

    Raises
    ------
    BusyError
        If another program holds the one of this key.
    InTheWayError
        If there is a folder of this name that newfound has not made.
    OSError
        If it cannot be made.
    """
    held = _hold(folder, secrets.token_hex(8) if key is None else key)
    try:
        held.new.mkdir()
        yield held
    finally:
        held.leave()


def _hold(folder: Path, key: str) -> Staging:
    path = folder / f"{_BEGINNING}{key}{_END}"
    for _ in range(_TRIES):
        clear_leftovers(folder)
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            if _is_free(path):  # it was not a moment ago
                continue
            break
        try:
            lock = os.open(path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        except FileNotFoundError:  # taken for a leftover, as it had no lock yet
            continue
        except BaseException:
            _remove(path)
            raise
        if _locked(lock) is not False and _is_same(path / _LOCK, lock):
            held = Staging(path, lock)
            try:
                (path / _MARK).write_text(_mark_of(os.fstat(lock)), encoding="utf-8")
            except BaseException:
                held.leave()
                raise
            return held
        os.close(lock)
    if _is_held(path):
        raise BusyError(errno.EBUSY, "Another newfound is writing there", str(folder))
    raise InTheWayError(errno.EEXIST, f"{path} is in the way, and newfound has not made it: move it away", str(path))


def _mark_of(lock: os.stat_result) -> str:
    return f"{lock.st_ino} {lock.st_ctime_ns}"


def clear_leftovers(folder: Path) -> None:
    """Undo what programs of this user that were killed had begun in a folder, and remove their staging folders."""
    try:
        names = [name for name in os.listdir(folder) if is_staging(name)]
    except OSError:
        return
    for name in names:
        # a journal that makes no sense is left alone
        with contextlib.suppress(OSError, *_NONSENSE), _taken_over(folder / name) as path:
            if path is not None:
                _set_right(path)


def is_staging(name: str) -> bool:
    """Whether this is a name that we give a staging folder."""
    return _OUR_FOLDERS.fullmatch(name) is not None


def _set_right(path: Path) -> None:
    """Undo what the program of a leftover had begun, which may be in another folder, and remove it."""
    with contextlib.suppress(FileNotFoundError):
        first = _first(path)
        with _taken_over(first) as other:
            if other is not None:
                _set_right(other)
            elif (first / _JOURNAL).exists():
                return  # this folder has what is needed to undo it
    if (path / _JOURNAL).exists():
        undo(path)
    _remove(path)


@contextlib.contextmanager
def _taken_over(path: Path) -> Iterator[Path | None]:
    """Give the path of a leftover while it is locked; None if it is not one."""
    lock = _leftover(path)
    try:
        yield None if lock is None else path
    finally:
        if lock is not None:
            os.close(lock)


def _is_free(path: Path) -> bool:
    with _taken_over(path) as taken:
        return taken is not None or not path.exists()


def _leftover(path: Path) -> int | None:
    """Lock a staging folder of ours that no living program holds; returns the handle, None if there is no such."""
    try:
        found = path.lstat()
        if (
            not is_staging(path.name)
            or not stat.S_ISDIR(found.st_mode)
            or (hasattr(os, "getuid") and found.st_uid != os.getuid())
        ):
            return None
        if not os.path.lexists(path / _LOCK):
            time.sleep(_BIRTH)
        lock = os.open(path / _LOCK, _TO_LOCK)
    except FileNotFoundError:  # its program was killed before it had a lock, or removes it just now
        with contextlib.suppress(OSError):
            path.rmdir()  # which fails unless it is empty
        return None
    except OSError:
        return None
    if _locked(lock) and _is_same(path / _LOCK, lock) and (_is_marked(path) or _is_empty(path)):
        return lock
    os.close(lock)
    return None


def _is_held(path: Path) -> bool:
    """Whether a living program holds the lock in a folder."""
    try:
        lock = os.open(path / _LOCK, _TO_LOCK)
    except OSError:
        return False
    try:
        return _locked(lock) is False
    finally:
        os.close(lock)


def _is_marked(path: Path) -> bool:
    """Whether a program of ours has made a folder."""
    try:
        found = (path / _LOCK).lstat()
        return stat.S_ISREG(found.st_mode) and (path / _MARK).read_text(encoding="utf-8") == _mark_of(found)
    except (OSError, ValueError):
        return False


def _is_empty(path: Path) -> bool:
    """Whether nothing is lost with a folder: it holds at most empty files and folders that bear our names."""
    for entry in os.scandir(path):
        if entry.name == _NEW and entry.is_dir(follow_symlinks=False):
            if os.listdir(entry.path):
                return False
        elif entry.name not in (_LOCK, _MARK) or entry.is_symlink() or entry.stat(follow_symlinks=False).st_size:
            return False
    return True


def _locked(handle: int) -> bool | None:
    """Try to lock a file for as long as this program lives; None where the system has no such locks."""
    try:
        if _IS_POSIX:
            _LOCKS.flock(handle, _LOCKS.LOCK_EX | _LOCKS.LOCK_NB)
        else:
            _LOCKS.locking(handle, _LOCKS.LK_NBLCK, 1)
    except OSError as error:
        return False if error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK) else None
    return True


def _is_same(path: Path, handle: int) -> bool:
    """Whether a file is still the one that was opened."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(handle))
    except OSError:
        return False


def _remove(path: Path) -> None:
    """Remove what we have made in a staging folder, and the folder unless there is anything else in it.

    Mark and lock are removed last, so that a removal that is cut short leaves a known leftover.
    """
    with contextlib.suppress(OSError):
        for name in os.listdir(path):
            if name == _NEW:
                shutil.rmtree(path / name)  # which removes no link
            elif _OUR_FILES.fullmatch(name) and name not in (_LOCK, _MARK):
                (path / name).unlink()
        if set(os.listdir(path)) <= {_LOCK, _MARK}:
            (path / _MARK).unlink(missing_ok=True)
            (path / _LOCK).unlink(missing_ok=True)
            path.rmdir()


def _first(path: Path) -> Path:
    return Path((path / _FIRST).read_text(encoding="utf-8"))


# ---- several files at once


def put_all(pairs: Sequence[tuple[Path, Path]], held: Sequence[Staging], *, replace: bool) -> None:
    """Move new files to their places: all of them or, if one cannot be moved, none.

    Parameters
    ----------
    pairs : sequence of (Path, Path)
        Each new file, complete and on the disk, and its place on the same file system.
    held : sequence of Staging
        The staging folders in which the files are; the first keeps the journal.
    replace : bool
        Whether earlier files are replaced.

    Raises
    ------
    FileExistsError
        If there is a file in one of the places and it is not to be replaced.
    OSError
        Whatever the system refuses; all places are then as they were.
    """
    if len(pairs) == 1:
        _put(*pairs[0], replace=replace)
        return
    first, steps = held[0].path, []
    for other in held[1:]:
        _write(other.path / _FIRST, str(first))
    try:
        for number, (fresh, target) in enumerate(pairs):
            # a file can be kept by a link on its own file system only
            beside = next((folder for folder in held if folder.path.parent == target.parent), held[0])
            old = beside.path / f"{_OLD}-{number}" if os.path.lexists(target) else None
            if old is not None:
                _keep(target, old)
            seen = _seen(fresh)
            steps.append({"target": str(target), "old": old and str(old), "new": seen, "beside": str(beside.path)})
        _write(first / f"{_JOURNAL}.new", json.dumps(steps))
        os.rename(first / f"{_JOURNAL}.new", first / _JOURNAL)
        sync_folder(first)
        for fresh, target in pairs:
            _put(fresh, target, replace=replace)
        for folder in {target.parent for _, target in pairs}:
            sync_folder(folder)
        (first / _JOURNAL).unlink()
    except BaseException:
        if (first / _JOURNAL).exists():
            undo(first)
        raise


def undo(path: Path) -> None:
    """Put earlier files back to their places, as the journal of a staging folder says, and remove the journal.

    What somebody else has put in a place since then, or has changed there, stays.
    """
    steps = json.loads((path / _JOURNAL).read_text(encoding="utf-8"))
    _check(path, steps)
    for step in steps:
        target = Path(step["target"])
        with contextlib.suppress(FileNotFoundError):
            if _seen(target) != step["new"]:
                continue
            if step["old"] is None:
                target.unlink()
            else:
                os.replace(step["old"], target)
    (path / _JOURNAL).unlink()


def _check(path: Path, steps: Any) -> None:
    """Raise ValueError for a journal that reaches beyond the folders that files were about to be put in."""
    for step in steps:
        beside, target, old = Path(step["beside"]), Path(step["target"]), step["old"]
        is_ours = is_staging(beside.name) and _is_marked(beside)
        if beside != path and not (is_ours and _first(beside) == path):
            raise ValueError(f"{beside} does not belong to {path}")
        # the files for a folder that was not there have been staged beside it
        if beside.parent not in (target.parent, target.parent.parent):
            raise ValueError(f"{target} is not beside {beside}")
        if old is not None and (Path(old).parent != beside or not re.fullmatch(rf"{_OLD}-\d+", Path(old).name)):
            raise ValueError(f"{old} is not in {beside}")


def _seen(path: Path) -> list[int]:
    """Return what tells a file from another one, or from itself after a change."""
    found = path.lstat()
    return [found.st_ino, found.st_size, found.st_mtime_ns]


def _put(fresh: Path, target: Path, *, replace: bool) -> None:
    if replace:
        os.replace(fresh, target)
        return
    try:
        os.link(fresh, target)  # unlike a rename it fails where there is a file
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from error
        os.rename(fresh, target)
        return
    fresh.unlink()


def _keep(target: Path, old: Path) -> None:
    try:
        os.link(target, old, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copy2(target, old)
        sync(old)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    sync(path)


def sync(path: Path) -> None:
    """Have a file on the disk before anything relies on it."""
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Make new names last through a power cut, where the system offers that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
