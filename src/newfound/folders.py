"""Where newfound keeps files of its own, and what is said where there is no room for them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from newfound.errors import InputError
from newfound.staging import staging


def cache_folder() -> Path:
    """Folder of newfound's own copies: ``NEWFOUND_CACHE``, else ``newfound`` in the user's cache folder."""
    try:
        if own := os.environ.get("NEWFOUND_CACHE"):
            return Path(own).expanduser()
        # the XDG standard says that a relative path there is to be ignored
        base = Path(os.environ.get("XDG_CACHE_HOME", ""))
        return (base if base.is_absolute() else Path.home() / ".cache") / "newfound"
    except RuntimeError as error:
        raise InputError("There is no home folder for the cache; set NEWFOUND_CACHE to a folder.") from error


@contextmanager
def folder_for_a_while() -> Iterator[Path]:
    """Give a folder for temporary files; it is removed in the end, or by the next one to be made if this is killed."""
    place = Path(tempfile.gettempdir())
    with ExitStack() as closing:
        with writing_for_a_while("Temporary files", place):
            held = closing.enter_context(staging(place))
        yield held.new


@contextmanager
def writing_for_a_while(what: str, folder: Path) -> Iterator[None]:
    """Turn what the system says of a full disk into a clear error, for files in a temporary folder."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or " ".join(str(error).split())[:200]
        cure = "Make room there, or name a folder on a larger disk in the environment variable TMPDIR."
        raise InputError(f"{what} cannot be written to {folder} ({reason}). {cure}", cure=cure) from error
