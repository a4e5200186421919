"""What in a work folder is ours: marks and records, and the removal of what carries them.

A work folder has an id of its own, in ``workbench.json``. Each folder of a table or a run holds ``record.json``, with
this id and all that the index says of it, so that a lost index can be made again. Only folders with the right id are
ever removed, and no link is followed. What is to be removed has its record renamed first: a removal that is cut short
is finished by the next start, and nothing comes back.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import secrets
import shutil
import sqlite3
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from newfound.errors import InputError
from newfound.staging import is_staging
from newfound.writing import replacing

Record = dict[str, Any]

INDEX, TABLES, RUNS = "index.sqlite", "tables", "runs"
_MARK, _RECORD, _REMOVED = "workbench.json", "record.json", "removed.json"
_OURS = (_MARK, INDEX, f"{INDEX}-wal", f"{INDEX}-shm", TABLES, RUNS, "workers.log")
_VERSION = 1
_ID = re.compile(r"[0-9a-f]{16}")
_WORKBENCH = re.compile(r"[0-9a-f]{32}")
_FILE = re.compile(r"table(\.[a-z]+){0,2}")
_TIME, _MAYBE_TIME = (int, float), (int, float, type(None))
COLUMNS: dict[str, dict[str, type | tuple[type, ...]]] = {
    TABLES: {"id": str, "name": str, "file": str, "created": _TIME, "ready": int, "n_bytes": int, "facts": dict},
    RUNS: {
        "id": str,
        "kind": str,
        "table_id": str,
        "parent": (str, type(None)),
        "round": int,
        "title": str,
        "status": str,
        "created": _TIME,
        "started": _MAYBE_TIME,
        "finished": _MAYBE_TIME,
        "options": dict,
        "error": (dict, type(None)),
        "facts": dict,
    },
}
"""Columns of the index, in their order, and what they hold."""


class DamagedError(InputError):
    """A file of a table or run that cannot be understood."""


def read_json(path: Path) -> Any:
    """Return the content of a file of ours; None where there is none, DamagedError where it makes no sense."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        raise damaged(path.name) from None


def damaged(name: str) -> DamagedError:
    """Return the error that says that a file of ours makes no sense."""
    return DamagedError(
        f"The file {name} of this table or run is damaged. Put it back from a copy, or delete the table or run."
    )


def write_json(path: Path, content: Any) -> None:
    """Write a file of ours as a whole."""
    with replacing(path) as fresh:
        fresh.write_text(to_json(content), encoding="utf-8")


def to_json(content: Any) -> str:
    """Return the JSON that files and the index hold."""
    return json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


# ---- the work folder


def check_folder(folder: Path) -> None:
    """Raise InputError for a folder that is no work folder and cannot become one; nothing is changed.

    Parameters
    ----------
    folder : Path
        It may be absent or empty. A work folder of a version that wrote no mark is known by its index or, where that is
        lost, by nothing else being in it.
    """
    if not folder.is_dir():
        return
    links = [name for name in _OURS if (folder / name).is_symlink()]
    if links:
        raise InputError(
            f"{folder / links[0]} is a link, and the workbench follows none. Move what it leads to there, or name "
            "another folder with --workdir."
        )
    if (folder / _MARK).exists() or _has_index(folder):
        return
    others = [name for name in sorted(os.listdir(folder)) if name not in _OURS and not is_staging(name)]
    if (folder / INDEX).exists() and _names_in(folder / INDEX):
        others.append(INDEX)
    for kind in (TABLES, RUNS):
        if (folder / kind).is_dir():
            others += [f"{kind}/{name}" for name in sorted(os.listdir(folder / kind)) if not _ID.fullmatch(name)]
    if others:
        raise InputError(
            f"{folder} holds other files ({told(others)}). Name a folder for the workbench alone, such as --workdir "
            f"{folder / 'newfound-workbench'}."
        )


def told(names: list[str]) -> str:
    """List the first of many names."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def _has_index(folder: Path) -> bool:
    found = _names_in(folder / INDEX)
    return all(found.get(kind, set()) >= COLUMNS[kind].keys() for kind in COLUMNS)


def _names_in(index: Path) -> dict[str, set[str]]:
    """Return the tables of a database and their columns, none where it is absent; no file is made beside it."""
    if not index.exists():
        return {}
    address = f"{index.absolute().as_uri()}?immutable=1"
    with contextlib.closing(sqlite3.connect(address, uri=True)) as database:
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        asked = "SELECT name FROM pragma_table_info(?)"
        return {name: {row[0] for row in database.execute(asked, (name,))} for name in names}


def id_of(folder: Path) -> str:
    """Return the id of a work folder; one without gets that which its records name, or else a new one."""
    path = folder / _MARK
    try:
        content = read_json(path)
    except DamagedError:
        content = ""
    if content is None:
        named = {_owner(place / _RECORD) for kind in COLUMNS for place in (folder / kind).iterdir() if is_place(place)}
        named.discard(None)
        content = {"workbench": named.pop() if len(named) == 1 else secrets.token_hex(16)}
        write_json(path, content)
    found = content.get("workbench") if isinstance(content, dict) else None
    if not isinstance(found, str) or not _WORKBENCH.fullmatch(found):
        raise InputError(f"{path} is damaged. Move it away: it is made again from the tables and runs.")
    return found


# ---- the folder of a table or a run


def is_place(folder: Path) -> bool:
    """Whether a path is one that we give a table or a run, and no link leads elsewhere."""
    return bool(_ID.fullmatch(folder.name)) and _is_folder(folder) and _is_folder(folder.parent)


def _is_folder(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and not getattr(found, "st_reparse_tag", 0)  # Windows has links of its own


def has_links(folder: Path) -> bool:
    """Whether anything in a folder leads elsewhere; nothing that we write does."""
    walked = os.walk(folder)
    return any(
        os.path.islink(os.path.join(place, name)) for place, *names in walked for name in itertools.chain(*names)
    )


def fits(kind: str, record: Any) -> bool:
    """Whether this is a record of a table or a run: nothing in it leads out of its folder."""
    columns = COLUMNS[kind]
    return (
        isinstance(record, dict)
        and record.keys() == columns.keys()
        and all(isinstance(record[name], columns[name]) for name in columns)
        and bool(_ID.fullmatch(record["id"]))
        and (kind == RUNS or bool(_FILE.fullmatch(record["file"])))
    )


def read_record(folder: Path, kind: str, workbench: str) -> Record | None:
    """Return the record of a folder; None where it has none that this work folder wrote."""
    with contextlib.suppress(DamagedError, OSError):
        content = read_json(folder / _RECORD)
        if isinstance(content, dict) and (content.get("workbench"), content.get("version")) == (workbench, _VERSION):
            record: Record = content.get("record", {})
            if fits(kind, record) and record["id"] == folder.name:
                return record
    return None


def write_record(folder: Path, record: Mapping[str, Any], workbench: str) -> None:
    """Write the record of a folder; nothing happens where the folder is gone."""
    if is_place(folder):
        write_json(folder / _RECORD, {"workbench": workbench, "version": _VERSION, "record": record})


def is_of_another(folder: Path, workbench: str) -> bool:
    """Whether another work folder made this folder."""
    return _owner(folder / _RECORD) not in (None, workbench)


def is_being_removed(folder: Path, workbench: str) -> bool:
    """Whether the removal of a folder of ours was cut short."""
    return _owner(folder / _REMOVED) == workbench


def _owner(path: Path) -> str | None:
    """Id of the work folder that wrote a record; None where there is none that makes sense."""
    with contextlib.suppress(DamagedError, OSError):
        content = read_json(path)
        found = content.get("workbench") if isinstance(content, dict) else None
        return found if isinstance(found, str) and _WORKBENCH.fullmatch(found) else None
    return None


def remove(folder: Path, workbench: str, forget: Callable[[], None]) -> None:
    """Remove the folder of a table or a run if it is ours, and have the index forget it in any case.

    Parameters
    ----------
    folder : Path
    workbench : str
        Id of the work folder.
    forget : callable
        Called once nobody can mistake the folder for one that is wanted, and when there is room again on a full disk.
    """
    if not is_place(folder) or workbench not in (_owner(folder / _RECORD), _owner(folder / _REMOVED)):
        forget()
        return
    with contextlib.suppress(FileNotFoundError):
        os.rename(folder / _RECORD, folder / _REMOVED)
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)  # which removes no link
        elif entry.name != _REMOVED:
            with contextlib.suppress(OSError):
                os.unlink(entry.path)
    forget()
    with contextlib.suppress(OSError):  # what is still open on Windows is removed by the next start
        if os.listdir(folder) == [_REMOVED]:
            (folder / _REMOVED).unlink()
            folder.rmdir()
