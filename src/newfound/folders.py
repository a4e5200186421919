"""Where newfound keeps files of its own."""

from __future__ import annotations

import os
from pathlib import Path

from newfound.errors import InputError


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
