"""How much memory reading a table may take, so that a small file cannot ask for all there is."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from newfound.errors import InputError, Message, Parameter

_GIB = 1 << 30
_UNITS = {"": 1, "b": 1} | {
    f"{letter}{ending}": base ** (place + 1)
    for place, letter in enumerate("kmgt")
    for ending, base in (("", 1024), ("ib", 1024), ("b", 1000))
}
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) ?([a-z]{0,3})", re.IGNORECASE | re.ASCII)
_EXPECTED = "a number of bytes such as 2000000000, or a text such as '2GB' or '1.5GiB'"

_SHARE = 4  # of the machine's memory, a table may take one part in so many
_SMALL_FILE = _GIB // 2  # what a file of any size may take
_TIMES = 16  # and how many times its size more
_UNKNOWN_MACHINE = 8 * _GIB
_NO_LIMIT = 1 << 60  # where a system means "unlimited" by a huge number
_CGROUP_FILES = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")

CELL = 8
"""Bytes of a cell in a table: a number, or the place of a text."""

TEXT = 150
"""Bytes that each different text takes besides its characters, with its place in a dictionary."""

COLUMN = 10_000
"""Bytes that a column takes besides its cells, until it is encoded."""


class Budget:
    """Memory that reading one table may take; the readers say while they read how much they hold.

    Parameters
    ----------
    memory : int
        Bytes.
    source : str
        The table, named in messages.

    Attributes
    ----------
    used : int
        Bytes held at present.

    Examples
    --------
    >>> budget = Budget(1 << 20, "table.csv")
    >>> budget.take(1000, "its content")
    >>> budget.left
    1047576
    >>> budget.check(1 << 21, "it has {:,} rows", 262_144)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    newfound.errors.InputError: table.csv takes more than 1 MiB of memory (it has 262,144 rows). If ...
    """

    def __init__(self, memory: int, source: str) -> None:
        self.memory, self.source = memory, source
        self.used = 0

    @classmethod
    def of(cls, max_memory: int | str | None, path: Path) -> Budget:
        """Make the budget that the user gave, or that suits the machine and the size of the file."""
        memory = default_memory(_size_of(path)) if max_memory is None else parse_size(max_memory)
        return cls(memory, str(path))

    @property
    def left(self) -> int:
        """Bytes that may still be taken."""
        return self.memory - self.used

    def take(self, n_bytes: int, what: str, *values: object) -> None:
        """Count memory that is held from now on; InputError where it is too much, because of ``what``.

        The values are put in their places in ``what`` as `str.format` does, and only if it is said.
        """
        self.check(n_bytes, what, *values)
        self.used += n_bytes

    def check(self, n_bytes: int, what: str, *values: object) -> None:
        """Raise InputError where so much more would be too much, which will be held for a moment or not at all."""
        if self.used + n_bytes > self.memory:
            raise self.exceeded(what.format(*values), self.used + n_bytes)

    def give_back(self, n_bytes: int) -> None:
        """Count memory that is no longer held."""
        self.used -= n_bytes

    def exceeded(self, what: str, needed: int = 0) -> InputError:
        """Return the error for a table that takes more than it may."""
        enough = _shown(max(2 * self.memory, needed + needed // 4), up=True).replace(" ", "")
        problem = f"{self.source} takes more than {_shown(self.memory)} of memory ({what})."
        cure = Message("If that is what you expect, raise the limit with ", Parameter("max_memory", enough), ".")
        return InputError(Message(problem, " ", cure), parameter="max_memory", value=self.memory, cure=cure)


def out_of_memory(source: str) -> InputError:
    """Return the error for a machine that has less memory than it was asked for."""
    cure = "Close other programs, take a smaller table, or use a machine with more memory."
    return InputError(f"There is not enough memory to read {source}. {cure}", cure=cure)


def parse_size(size: Any) -> int:
    """Return the bytes that a number or a text such as "2GB" stands for.

    Examples
    --------
    >>> parse_size("2GB"), parse_size("1.5 GiB"), parse_size(1_000_000)
    (2000000000, 1610612736, 1000000)
    """
    n_bytes = 0
    if isinstance(size, int) and not isinstance(size, bool):
        n_bytes = size
    elif isinstance(size, str) and (found := _SIZE.fullmatch(size.strip())) and found[2].lower() in _UNITS:
        n_bytes = int(float(found[1]) * _UNITS[found[2].lower()])
    if not 0 < n_bytes < _NO_LIMIT:
        raise InputError.of("max_memory", size, _EXPECTED)
    return n_bytes


def default_memory(file_size: int) -> int:
    """Return how much memory a table may take whose file has so many bytes (0 where that is not known).

    It is a quarter of what the machine has, but not more than 512 MiB and 16 times the size of the file: what takes
    more is packed more tightly than tables are.
    """
    return min(machine_memory() // _SHARE, _SMALL_FILE + _TIMES * file_size)


def machine_memory() -> int:
    """Return the bytes of memory that this process may use: of the machine, its container and its own limit."""
    found = []
    try:
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        found.append(_UNKNOWN_MACHINE)
    for name in _CGROUP_FILES:
        try:
            found.append(int(Path(name).read_text(encoding="ascii")))
        except (OSError, ValueError):  # not there, or "max"
            continue
    try:
        import resource

        found.append(resource.getrlimit(resource.RLIMIT_AS)[0])
    except (ImportError, OSError):
        pass
    return min((limit for limit in found if 0 < limit < _NO_LIMIT), default=_UNKNOWN_MACHINE)


def _size_of(path: Path) -> int:
    """Bytes of a file; 0 for what has none, such as a pipe, or cannot be asked."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except (OSError, ValueError):
        return 0


def _shown(n_bytes: int, *, up: bool = False) -> str:
    """Return a size as people read it, rounded up to a whole number if asked."""
    for unit, size in (("TiB", 1 << 40), ("GiB", _GIB), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n_bytes >= size:
            return f"{-(-n_bytes // size)} {unit}" if up else f"{n_bytes / size:.4g} {unit}"
    return f"{n_bytes} B"
