"""What commands write: whole or not at all, and never over what is there unless told to."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from newfound.cli.output import to_json
from newfound.errors import InputError

if TYPE_CHECKING:
    from newfound.tables.files import TableFile


@contextlib.contextmanager
def new_folder(out: Path, files: Sequence[str], *, force: bool) -> Iterator[Path]:
    """Give a folder to write files to; they are in ``out`` once all are complete, and vanish where something fails.

    Parameters
    ----------
    out : Path
        Made if it is not there. Other files in it stay as they are.
    files : sequence of str
        Names of the files that will be written.
    force : bool
        Whether files of these names that are there already are replaced.

    Yields
    ------
    Path
        Beside, or inside ``out`` if that is there.

    Raises
    ------
    InputError
        At once, if the folder cannot be written to, or has such files without ``force``.
    """
    import secrets
    import shutil

    with writing_to(out):
        _refuse_existing(out, files, force)
        made = _make_parents(out)
        there = out.is_dir()
        fresh = (out if there else out.parent) / f".newfound-{secrets.token_hex(8)}.tmp"
        fresh.mkdir()
    try:
        yield fresh
        with writing_to(out):
            if there:
                for name in files:
                    os.replace(fresh / name, out / name)
            else:
                os.rename(fresh, out)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        for folder in made:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
    shutil.rmtree(fresh, ignore_errors=True)


@contextlib.contextmanager
def new_file(path: Path, *, force: bool, option: str = "--out") -> Iterator[Path]:
    """Give a path to write to, which becomes ``path`` once complete; InputError at once if that is not possible."""
    with writing_to(path, option):
        if path.is_dir():
            raise InputError(f"Got {option} {path}, which is a folder; name a file in it.")
        if path.exists() and not path.is_file():
            raise InputError(f"Got {option} {path}, which is not a file that can be replaced; name another.")
        if os.path.lexists(path) and not force:
            raise InputError(f"{path} is there already; add --force to replace it, or name another file with {option}.")
        if not os.access(path.parent, os.W_OK):
            reason = "may not be written to" if path.parent.is_dir() else "is not there"
            raise InputError(f"Got {option} {path}, but the folder {path.parent} {reason}; name another place.")
    from newfound.writing import replacing

    with writing_to(path, option), replacing(path) as fresh:
        yield fresh


def check_new(path: Path, *, force: bool, option: str = "--out") -> None:
    """Raise InputError at once for a file that could not be written after much work."""
    with contextlib.suppress(_CheckedError), new_file(path, force=force, option=option):
        raise _CheckedError


class _CheckedError(Exception):
    """Leaves `new_file` before anything is written."""


def write_labels(place: Path | TextIO, file: TableFile, found: Mapping[str, Iterable[str]]) -> None:
    """Write the rows of a table in order, with further columns, as CSV.

    The delimiter is that of the table; a byte order mark is written where it had one, for the programs that need it.
    """
    from newfound.tables.files.writing import encoding_of, write_rows

    if isinstance(place, Path):
        with place.open("w", encoding=encoding_of(file), errors="replace", newline="") as stream:
            write_labels(stream, file, found)
        return
    rows = ([*row, *further] for row, *further in zip(file.text_rows(), *found.values(), strict=True))
    write_rows(place, itertools.chain([[*file.names, *found]], rows), file.delimiter)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON for people and programs."""
    path.write_text(to_json(content, ensure_ascii=False) + "\n", encoding="utf-8", errors="replace")


def _refuse_existing(out: Path, files: Sequence[str], force: bool) -> None:
    above = next((folder for folder in out.parents if folder.exists()), out)
    if not above.is_dir() and above != out:
        raise InputError(f"Got --out {out}, but {above} is a file, not a folder; name another place.")
    if os.path.lexists(out) and not out.is_dir():
        raise InputError(f"Got --out {out}, which is a file, but results need a folder; name another.")
    there = [name for name in files if os.path.lexists(out / name)]
    if there and not force:
        raise InputError(
            f"{out} has results already ({', '.join(there)}); add --force to replace them, or name another folder with "
            "--out."
        )
    others = [out / name for name in there if (out / name).exists() and not (out / name).is_file()]
    if others:
        what = "a folder" if others[0].is_dir() else "no file"
        raise InputError(f"{others[0]} is {what}, but a file of that name is to be written; move it away.")


def _make_parents(out: Path) -> list[Path]:
    """Make the folders above; returns those that were not there, the innermost first."""
    absent = [folder for folder in out.absolute().parents if not folder.exists()]
    out.parent.mkdir(parents=True, exist_ok=True)
    return absent


@contextlib.contextmanager
def writing_to(place: Path, option: str = "--out") -> Iterator[None]:
    """Turn what the system refuses into one line."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"Cannot write to {place}: {error.strerror or error}. Make room or allow writing there, or name another "
            f"place with {option}."
        ) from error
