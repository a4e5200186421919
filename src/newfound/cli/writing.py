"""What commands write: whole or not at all, and never over what is there unless told to."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from newfound.cli.output import to_json
from newfound.errors import InputError, ModelFileError


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
    from newfound.staging import clear_leftovers
    from newfound.writing import filling

    made: list[Path] = []
    try:
        with contextlib.ExitStack() as stack:
            with writing_to(out):
                for folder in (out, out.parent):  # what was begun there may have to be undone first
                    clear_leftovers(folder)
                _refuse_existing(out, files, force)
                made = _make_parents(out)
                fresh = stack.enter_context(filling(out, files, replace=force))
                _refuse_existing(out, files, force)  # another run may just have ended
            yield fresh
            with writing_to(out), _told_of_results(out, files):
                stack.close()
    except BaseException:
        for folder in made:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


@contextlib.contextmanager
def new_file(path: Path, *, force: bool, option: str = "--out") -> Iterator[Path]:
    """Give a path to write to, which becomes ``path`` once complete; InputError at once if that is not possible."""
    with new_files({option: path}, force=force) as (fresh,), writing_to(path, option):
        yield fresh


@contextlib.contextmanager
def new_files(places: Mapping[str, Path], *, force: bool) -> Iterator[tuple[Path, ...]]:
    """Do what `new_file` does for several files, by their options: all of them are written, or none is."""
    from newfound.staging import clear_leftovers
    from newfound.writing import replacing_all

    paths = list(places.values())
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise InputError(f"Got {paths[0]} for both {' and '.join(places)}; name two files.")
    option, names = next(iter(places)), " and ".join(map(str, paths))
    with contextlib.ExitStack() as stack:
        with writing_to(names, option):
            for given_by, path in places.items():
                clear_leftovers(Path(os.path.realpath(path)).parent)
                _refuse_place(path, given_by, force)
            fresh = stack.enter_context(replacing_all(paths, replace=force, exclusive=True))
            for given_by, path in places.items():  # another run may just have ended
                _refuse_place(path, given_by, force)
        yield fresh
        with writing_to(names, option):
            try:
                stack.close()
            except FileExistsError as error:
                raise _is_there(names, option) from error


def _refuse_place(path: Path, option: str, force: bool) -> None:
    if path.is_dir():
        raise InputError(f"Got {option} {path}, which is a folder; name a file in it.")
    if path.exists() and not path.is_file():
        raise InputError(f"Got {option} {path}, which is not a file that can be replaced; name another.")
    if os.path.lexists(path) and not force:
        raise _is_there(path, option)
    if not os.access(path.parent, os.W_OK):
        reason = "may not be written to" if path.parent.is_dir() else "is not there"
        raise InputError(f"Got {option} {path}, but the folder {path.parent} {reason}; name another place.")


def _is_there(path: Path | str, option: str) -> InputError:
    return InputError(f"{path} is there already; add --force to replace it, or name another file with {option}.")


def check_new(path: Path, *, force: bool, option: str = "--out") -> None:
    """Raise InputError at once for a file that could not be written after much work."""
    with contextlib.suppress(_CheckedError), new_file(path, force=force, option=option):
        raise _CheckedError


class _CheckedError(Exception):
    """Leaves `new_file` before anything is written."""


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
        raise _has_results(out, there)
    others = [out / name for name in there if (out / name).exists() and not (out / name).is_file()]
    if others:
        what = "a folder" if others[0].is_dir() else "no file"
        raise InputError(f"{others[0]} is {what}, but a file of that name is to be written; move it away.")


def _has_results(out: Path, there: Sequence[str]) -> InputError:
    return InputError(
        f"{out} has results already ({', '.join(there)}); add --force to replace them, or name another folder with "
        "--out."
    )


@contextlib.contextmanager
def _told_of_results(out: Path, files: Sequence[str]) -> Iterator[None]:
    """Say that results are there, where they have come while this run was at work."""
    try:
        yield
    except FileExistsError as error:
        raise _has_results(out, [name for name in files if os.path.lexists(out / name)]) from error


def _make_parents(out: Path) -> list[Path]:
    """Make the folders above; returns those that were not there, the innermost first."""
    absent = [folder for folder in out.absolute().parents if not folder.exists()]
    out.parent.mkdir(parents=True, exist_ok=True)
    return absent


@contextlib.contextmanager
def writing_to(place: Path | str, option: str = "--out") -> Iterator[None]:
    """Turn what the system refuses into one line."""
    from newfound.staging import BusyError

    try:
        yield
    except BusyError as error:
        raise InputError(
            f"Another newfound is just now writing to {place}. Wait until it has ended, or name another place with "
            f"{option}."
        ) from error
    except (OSError, ModelFileError) as error:
        cause = error.__cause__ if isinstance(error, ModelFileError) else error  # which names where it was staged
        if not isinstance(cause, OSError):
            raise
        raise InputError(
            f"Cannot write to {place}: {cause.strerror or cause}. Make room or allow writing there, or name another "
            f"place with {option}."
        ) from error
