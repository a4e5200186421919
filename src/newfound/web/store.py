"""What the workbench keeps: a folder for each table and each run, and an index of them in SQLite."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from newfound.errors import InputError
from newfound.staging import BusyError, clear_leftovers, staging
from newfound.web.records import (
    COLUMNS,
    INDEX,
    RUNS,
    TABLES,
    DamagedError,
    Record,
    check_folder,
    fits,
    has_links,
    id_of,
    is_being_removed,
    is_of_another,
    is_place,
    read_json,
    read_record,
    remove,
    to_json,
    told,
    write_record,
)

_VERSION = 1
_JSON = ("options", "error", "facts")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS tables (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL, created REAL NOT NULL, ready INTEGER NOT NULL,
    n_bytes INTEGER NOT NULL, facts TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, table_id TEXT NOT NULL, parent TEXT, round INTEGER NOT NULL,
    title TEXT NOT NULL, status TEXT NOT NULL, created REAL NOT NULL, started REAL, finished REAL,
    options TEXT NOT NULL, error TEXT, facts TEXT NOT NULL
);
"""
_UNFINISHED = ("queued", "running")


class Store:
    """Tables and runs in a folder.

    It is used by one thread. What is known of a table or a run stands in its folder first, and then in the index, where
    it is found quickly. So the folders are right where the two differ, and an index that is lost is made again.

    Parameters
    ----------
    folder : Path
        Made if it is not there; InputError if it is another folder than a workbench's.

    Attributes
    ----------
    notes : list of str
        What the user should know: what was found in the folder and not understood, which is left as it is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes: list[str] = []
        self._strange: list[str] = []  # folders that are not ours, or of which nothing is known
        check_folder(folder)
        for name in (TABLES, RUNS):
            (folder / name).mkdir(parents=True, exist_ok=True)
        clear_leftovers(folder)
        self._id = id_of(folder)
        self._set_aside_lone_log()
        try:
            self._index = self._opened()
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:  # the others are no matter of what is in the file
                raise
            self._set_aside(*(f"{INDEX}{ending}" for ending in ("", "-wal", "-shm")))
            self._index = self._opened()
        self._recover()

    def _opened(self) -> sqlite3.Connection:
        index = sqlite3.connect(self.folder / INDEX, check_same_thread=False, isolation_level=None)
        try:
            index.row_factory = sqlite3.Row
            index.execute("PRAGMA journal_mode=WAL")
            index.execute("PRAGMA synchronous=NORMAL")  # nothing is lost by a kill; a power cut may lose a moment
            found = index.execute("PRAGMA user_version").fetchone()[0]
            if found > _VERSION:
                raise InputError(
                    f"{self.folder} was written by a later version of newfound; update newfound, or name another "
                    "--workdir."
                )
            index.executescript(_SCHEMA)
            index.execute(f"PRAGMA user_version={_VERSION}")
        except BaseException:
            index.close()
            raise
        return index

    def _set_aside_lone_log(self) -> None:
        """Keep SQLite from deleting the log of an index that is lost."""
        index, log = self.folder / INDEX, self.folder / f"{INDEX}-wal"
        if log.exists() and log.stat().st_size and not (index.exists() and index.stat().st_size):
            self._set_aside(log.name)

    def _set_aside(self, *names: str) -> None:
        """Give files that cannot be used other names."""
        end = f".aside-{secrets.token_hex(4)}"
        there = [name for name in names if (self.folder / name).exists()]
        for name in there:
            os.rename(self.folder / name, self.folder / f"{name}{end}")
        aside = told([f"{name}{end}" for name in there])
        self.notes.append(f"The index in {self.folder} could not be read, and was made again. Set aside: {aside}")

    def close(self) -> None:
        """Close the index."""
        self._index.close()

    # ---- tables

    def new_table(self, name: str, ending: str) -> tuple[str, Path]:
        """Make a place for a table: returns its id, and the path of its file, which has a name of ours."""
        id_, file = secrets.token_hex(8), f"table{ending}"
        folder = self.folder / TABLES / id_
        folder.mkdir()
        facts: Record = {"created": time.time(), "ready": 0, "n_bytes": 0, "facts": {}}
        self._keep(TABLES, {"id": id_, "name": name, "file": file, **facts})
        return id_, folder / file

    def finish_table(self, id_: str, n_bytes: int, facts: Mapping[str, Any]) -> None:
        """Say that a table can be used."""
        self._change(TABLES, id_, ready=1, n_bytes=n_bytes, facts=dict(facts))

    def table(self, id_: str) -> Record | None:
        """Return a table that can be used; None if there is none."""
        return next(iter(self._tables("id=? AND ready=1", id_)), None)

    def tables(self) -> list[Record]:
        """Return all tables that can be used, the latest first."""
        return self._tables("ready=1")

    def table_of_example(self, name: str) -> Record | None:
        """Return an example that was asked for before."""
        return next((table for table in self.tables() if table["facts"].get("example") == name), None)

    def n_tables(self) -> int:
        """Count all tables, also those that are on their way."""
        return int(self._index.execute("SELECT COUNT(*) FROM tables").fetchone()[0])

    def remove_table(self, id_: str) -> None:
        """Remove a table."""
        self._remove(TABLES, id_)

    def runs_of_table(self, id_: str) -> int:
        """Count the runs that need a table."""
        return int(self._index.execute("SELECT COUNT(*) FROM runs WHERE table_id=?", (id_,)).fetchone()[0])

    def _tables(self, where: str, *values: Any) -> list[Record]:
        found = [
            record | {"folder": self.folder / TABLES / record["id"]} for record in self._rows(TABLES, where, *values)
        ]
        return [record | {"path": record["folder"] / record["file"]} for record in found]

    # ---- runs

    def new_run(self, kind: str, table: str, title: str, options: Mapping[str, Any], parent: Record | None) -> Record:
        """Make a run that waits for its turn."""
        id_ = secrets.token_hex(8)
        (self.folder / RUNS / id_).mkdir()
        record = {
            "id": id_,
            "kind": kind,
            "table_id": table,
            "parent": None if parent is None else parent["id"],
            "round": 1 if parent is None else parent["round"] + 1,
            "title": title,
            "status": "queued",
            "created": time.time(),
            "started": None,
            "finished": None,
            "options": dict(options),
            "error": None,
            "facts": {},
        }
        self._keep(RUNS, record)
        return self.run(id_) or {}

    def run(self, id_: str) -> Record | None:
        """Return a run; None if there is none."""
        return next(iter(self._runs("id=?", id_)), None)

    def runs(self) -> list[Record]:
        """Return all runs, the latest first."""
        return self._runs("1")

    def n_runs(self) -> int:
        """Count all runs."""
        return int(self._index.execute("SELECT COUNT(*) FROM runs").fetchone()[0])

    def change_run(self, id_: str, **columns: Any) -> None:
        """Change some columns of a run."""
        assert columns.keys() <= {"title", "status", "started", "finished", "error", "facts"}
        self._change(RUNS, id_, **columns)

    def remove_run(self, id_: str) -> None:
        """Remove a run."""
        self._remove(RUNS, id_)

    def _runs(self, where: str, *values: Any) -> list[Record]:
        return [record | {"folder": self.folder / RUNS / record["id"]} for record in self._rows(RUNS, where, *values)]

    # ---- both

    def _rows(self, kind: str, where: str, *values: Any) -> list[Record]:
        """Return records as the index has them, the latest first, but none that leads out of its folder."""
        order = f"SELECT * FROM {kind} WHERE {where} ORDER BY created DESC"  # noqa: S608 - all names are ours
        found = map(_record_of, self._index.execute(order, values).fetchall())
        known = (record for record in found if record is not None and fits(kind, record))
        return [record for record in known if f"{kind}/{record['id']}" not in self._strange]

    def _change(self, kind: str, id_: str, **columns: Any) -> None:
        for record in self._rows(kind, "id=?", id_):
            self._keep(kind, record | columns)

    def _keep(self, kind: str, record: Record) -> None:
        """Write all that is known of a table or a run: in its folder, and then in the index."""
        write_record(self.folder / kind / record["id"], record, self._id)
        self._put(kind, record)

    def _put(self, kind: str, record: Record) -> None:
        values = [
            to_json(record[name]) if name in _JSON and record[name] is not None else record[name]
            for name in COLUMNS[kind]
        ]
        places = ", ".join("?" * len(values))
        self._index.execute(f"INSERT OR REPLACE INTO {kind} VALUES ({places})", values)  # noqa: S608 - names are ours

    def _remove(self, kind: str, id_: str) -> None:
        def forget() -> None:
            self._index.execute(f"DELETE FROM {kind} WHERE id=?", (id_,))  # noqa: S608 - names are ours

        remove(self.folder / kind / id_, self._id, forget)

    # ---- after a start

    def _recover(self) -> None:
        """Bring folders and index together, and remove what was only begun; runs under way were interrupted."""
        for kind in (TABLES, RUNS):
            rows = {record["id"]: record for record in self._rows(kind, "1")}
            for name in sorted(os.listdir(self.folder / kind)):
                if not self._recovered(kind, self.folder / kind / name, rows.get(name)):
                    self._strange.append(f"{kind}/{name}")
        if self._strange:
            self.notes.append(f"Left as it is in {self.folder}, as it is not of this workbench: {told(self._strange)}")
        for run in self.runs():
            if run["status"] in _UNFINISHED:
                finished = result_of(run["folder"])
                if finished is None:
                    self.change_run(run["id"], status="interrupted", finished=time.time())
                else:  # it ended, and only the server did not live to hear of it
                    self.change_run(run["id"], status="done", finished=time.time(), facts=finished)
        for table in self._rows(TABLES, "ready=0"):
            self.remove_table(table["id"])

    def _recovered(self, kind: str, folder: Path, row: Record | None) -> bool:
        """Bring the index and a folder together; False where the folder is not ours, or nothing is known of it."""
        if is_place(folder) and is_being_removed(folder, self._id):
            self._remove(kind, folder.name)
            return True
        if not is_place(folder) or is_of_another(folder, self._id) or has_links(folder):
            return False
        record = read_record(folder, kind, self._id)
        if record is not None:
            self._put(kind, record)
        elif row is not None:  # an earlier version wrote no record
            self._keep(kind, row)
        else:
            clear_leftovers(folder)
            with contextlib.suppress(OSError):
                folder.rmdir()  # which fails unless it is empty
            return not folder.exists()
        return True


def _record_of(row: sqlite3.Row) -> Record | None:
    """Return what the index says of a table or a run; None where it makes no sense."""
    try:
        return {
            name: json.loads(value) if name in _JSON and value is not None else value
            for name, value in dict(row).items()
        }
    except (TypeError, ValueError):
        return None


RESULT = "result"
"""Folder of what a run has found, which is there once it is complete."""

_SUMMARY = "run.json"


def result_of(folder: Path) -> Record | None:
    """Return what a run says of its result; None as long as it has none, and where that cannot be understood."""
    with contextlib.suppress(DamagedError):
        found = read_json(folder / RESULT / _SUMMARY)
        return found if isinstance(found, dict) else None
    return None


def moment(seconds: float | None) -> str | None:
    """Return a time as pages read it."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


@contextlib.contextmanager
def held(folder: Path) -> Iterator[list[str]]:
    """Hold the folder of a workbench; InputError where another one holds it, or it cannot be used.

    Yields
    ------
    list of str
        What the user should know of the folder.
    """
    with contextlib.ExitStack() as stack:
        try:
            check_folder(folder)
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(staging(folder, "workbench"))
            store = Store(folder)  # a broken index is told now, and not in a log
            store.close()
        except BusyError:
            raise InputError(
                f"Another workbench is using {folder}. Open that one, or name another folder with --workdir."
            ) from None
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"Got --workdir {folder}, which cannot be used: {reason}. Name another folder.") from None
        yield store.notes
