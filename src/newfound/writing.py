"""Files that appear as a whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Give a path to write to; it becomes ``path`` once complete on the disk, and vanishes where something fails.

    A link stays, and what it points to is replaced; the permissions of an earlier file are kept.

    Parameters
    ----------
    path : Path or str

    Yields
    ------
    Path
        In the same folder. It does not exist yet, and must when the block ends.

    Raises
    ------
    OSError
        Whatever the system refuses, and a device or a pipe in the place of a file; ``path`` is then as it was.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not (target.is_file() or target.is_dir()):  # a folder is refused by the system
        raise OSError(errno.EINVAL, "It is not a file", str(path))
    fresh = target.with_name(f".newfound-{secrets.token_hex(8)}.tmp")
    try:
        yield fresh
        with fresh.open("rb+") as stream:
            os.fsync(stream.fileno())
        with contextlib.suppress(OSError):  # there may be no earlier file, or no permissions to speak of
            fresh.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(fresh, target)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system offers that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
