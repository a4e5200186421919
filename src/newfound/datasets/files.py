"""Where the raw tables lie, and proof that they are the right ones."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from newfound.errors import InputError

__all__ = ["cache_folder", "find_file"]


def cache_folder() -> Path:
    """Folder of newfound's own copies: ``NEWFOUND_CACHE``, else ``newfound`` in the user's cache folder."""
    if own := os.environ.get("NEWFOUND_CACHE"):
        return Path(own).expanduser()
    # the XDG standard says that a relative path there is to be ignored
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "newfound"


def find_file(file: str, sha256: str, *, benchmark: str) -> Path:
    """Locate one raw file in ``NEWFOUND_DATA``, else in the cache, and verify its checksum.

    Parameters
    ----------
    file : str
        Name of the file, without a folder.
    sha256 : str
        What the file must hash to.
    benchmark : str
        Named in messages.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If the file is in neither folder, or is not the file that the benchmark was defined on.
    """
    folders = _folders()
    for folder in folders:
        path = folder / file
        if path.is_file():
            _verify(path, sha256, benchmark)
            return path
    looked = " or ".join(str(folder) for folder in folders)
    raise InputError(
        f"Benchmark {benchmark!r} needs the file {file}, which is not in {looked}. Put it there, or set "
        "NEWFOUND_DATA to the folder that holds it; this version of newfound does not download data."
    )


def _folders() -> list[Path]:
    given = os.environ.get("NEWFOUND_DATA")
    if not given:
        return [cache_folder()]
    data = Path(given).expanduser()
    if not data.is_dir():
        raise InputError(
            f"NEWFOUND_DATA={given!r} is not a folder; set it to the folder with the data files, or unset it."
        )
    return [data, cache_folder()]


def _verify(path: Path, sha256: str, benchmark: str) -> None:
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != sha256:
        raise InputError(
            f"{path} is not the file that benchmark {benchmark!r} was defined on: its sha256 is {found}, expected "
            f"{sha256}. Replace it with the right file; scores on another file would not compare."
        )
