"""Files that appear as a whole or not at all, one or several at once."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from newfound.staging import clear_leftovers, put_all, staging, sync, sync_folder

_RESULTS = "results"


@contextlib.contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Give a path to write to; it becomes ``path`` once complete on the disk, and vanishes where something fails.

    A link stays, and what it points to is replaced; the permissions of an earlier file are kept. What a program that
    was killed has left in the folder is cleared away.

    Parameters
    ----------
    path : Path or str

    Yields
    ------
    Path
        On the same file system. It does not exist yet, and must when the block ends.

    Raises
    ------
    OSError
        Whatever the system refuses, and a device or a pipe in the place of a file; ``path`` is then as it was.
    """
    with replacing_all([path]) as (fresh,):
        yield fresh


@contextlib.contextmanager
def replacing_all(
    paths: Sequence[Path | str], *, replace: bool = True, exclusive: bool = False
) -> Iterator[tuple[Path, ...]]:
    """Do what `replacing` does for several files: all of them are replaced, or none is.

    Where the program is killed while they are being replaced, the next that writes there puts the earlier files back.

    Parameters
    ----------
    paths : sequence of Path or str
        Different files.
    replace : bool, default=True
        Whether earlier files are replaced; otherwise they are an error at the end of the block.
    exclusive : bool, default=False
        Whether only one program at a time may be within such a block for one of these files.

    Yields
    ------
    tuple of Path
        In the same order.

    Raises
    ------
    BusyError
        If it is exclusive, and another program is within such a block.
    FileExistsError
        If there is a file and it is not to be replaced.
    OSError
        As for `replacing`.
    """
    targets = [Path(os.path.realpath(path)) for path in paths]
    for target, path in zip(targets, paths, strict=True):
        if target.exists() and not (target.is_file() or target.is_dir()):  # a folder is refused by the system
            raise OSError(errno.EINVAL, "It is not a file", str(path))
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(staging(target.parent, _key(target) if exclusive else None)) for target in targets]
        fresh = tuple(folder.new / target.name for folder, target in zip(held, targets, strict=True))
        yield fresh
        pairs = list(zip(fresh, targets, strict=True))
        _complete(pairs)
        put_all(pairs, held, replace=replace)
        for folder in {target.parent for target in targets}:
            sync_folder(folder)


@contextlib.contextmanager
def filling(out: Path, names: Sequence[str], *, replace: bool) -> Iterator[Path]:
    """Give a folder to write files to; they are in ``out`` once all are complete, and vanish where something fails.

    Only one program at a time may be within such a block for a folder.

    Parameters
    ----------
    out : Path
        Made if it is not there. Other files in it stay as they are.
    names : sequence of str
        Names of the files that will be written.
    replace : bool
        Whether files of these names that are there already are replaced.

    Raises
    ------
    BusyError
        If another program is about to fill the same folder.
    FileExistsError
        If there is a file and it is not to be replaced.
    OSError
        Whatever the system refuses; ``out`` is then as it was.
    """
    there = out.is_dir()
    clear_leftovers(out.parent)
    with staging(*((out, _RESULTS) if there else (out.parent, _key(out)))) as held:
        yield held.new
        pairs = [(held.new / name, out / name) for name in names]
        _complete(pairs)
        try:
            if not there:
                os.rename(held.new, out)
                sync_folder(out.parent)
                return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # somebody has made it in the meantime
                raise
        put_all(pairs, [held], replace=replace)


def _complete(pairs: Sequence[tuple[Path, Path]]) -> None:
    """Have new files on the disk, with the permissions of those that they replace."""
    for fresh, target in pairs:
        sync(fresh)
        with contextlib.suppress(OSError):  # there may be no earlier file, or no permissions to speak of
            fresh.chmod(stat.S_IMODE(target.stat().st_mode))


def _key(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]
