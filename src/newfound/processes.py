"""Processes of Python that run no code of the current folder, in which a table of strangers may lie.

Python started with ``-m`` or ``-c``, as `multiprocessing` starts it, looks for every module in the current folder
first: a file ``queue.py`` there would be run in place of the one that is meant.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_SAFE, _PLACES = "PYTHONSAFEPATH", "PYTHONPATH"


@contextmanager
def without_current_folder() -> Iterator[None]:
    """Have no process of Python that is started within this look for modules in the current folder."""
    before = os.environ.get(_SAFE)
    os.environ[_SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE]
        else:
            os.environ[_SAFE] = before


def environment_elsewhere() -> dict[str, str]:
    """Return the environment for a process in another folder, which finds the modules that this one finds.

    Folders of PYTHONPATH are made absolute. The current one is left out where it is not spelled out: Python takes an
    empty entry for it, such as ``PYTHONPATH=$PYTHONPATH:/more`` makes.
    """
    environment = {**os.environ, _SAFE: "1"}
    if given := environment.pop(_PLACES, ""):
        places = [(place, os.path.abspath(place)) for place in given.split(os.pathsep)]
        here = os.path.abspath("")
        kept = [path for place, path in places if os.path.isabs(place) or path != here]
        environment |= {_PLACES: os.pathsep.join(kept)} if kept else {}
    return environment
