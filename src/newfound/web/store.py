"""What the workbench keeps: an index in SQLite, and a folder for each table and each run."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from newfound.errors import InputError
from newfound.staging import BusyError, clear_leftovers, staging
from newfound.writing import replacing

Record = dict[str, Any]

_INDEX, _TABLES, _RUNS = "index.sqlite", "tables", "runs"
_VERSION = 1
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

    It is used by one thread. Rows of the index change in transactions, files are replaced as a whole, and a folder that
    no row names is removed when the workbench starts: whatever is killed, what was finished stays.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in (_TABLES, _RUNS):
            (folder / name).mkdir(parents=True, exist_ok=True)
        clear_leftovers(folder)
        self._index = sqlite3.connect(folder / _INDEX, check_same_thread=False, isolation_level=None)
        self._index.row_factory = sqlite3.Row
        self._index.execute("PRAGMA journal_mode=WAL")
        self._index.execute("PRAGMA synchronous=NORMAL")  # nothing is lost by a kill; a power cut may lose a moment
        found = self._index.execute("PRAGMA user_version").fetchone()[0]
        if found > _VERSION:
            raise InputError(
                f"{folder} was written by a later version of newfound; update newfound, or name another --workdir."
            )
        self._index.executescript(_SCHEMA)
        self._index.execute(f"PRAGMA user_version={_VERSION}")
        self._recover()

    def close(self) -> None:
        """Close the index."""
        self._index.close()

    # ---- tables

    def new_table(self, name: str, ending: str) -> tuple[str, Path]:
        """Make a place for a table: returns its id, and the path of its file, which has a name of ours."""
        id_ = secrets.token_hex(8)
        folder = self.folder / _TABLES / id_
        folder.mkdir()
        file = f"table{ending}"
        self._index.execute("INSERT INTO tables VALUES (?, ?, ?, ?, 0, 0, '{}')", (id_, name, file, time.time()))
        return id_, folder / file

    def finish_table(self, id_: str, n_bytes: int, facts: Mapping[str, Any]) -> None:
        """Say that a table can be used."""
        self._index.execute("UPDATE tables SET ready=1, n_bytes=?, facts=? WHERE id=?", (n_bytes, _to_json(facts), id_))

    def table(self, id_: str) -> Record | None:
        """Return a table that can be used; None if there is none."""
        row = self._index.execute("SELECT * FROM tables WHERE id=? AND ready=1", (id_,)).fetchone()
        return None if row is None else self._table(row)

    def tables(self) -> list[Record]:
        """Return all tables that can be used, the latest first."""
        rows = self._index.execute("SELECT * FROM tables WHERE ready=1 ORDER BY created DESC").fetchall()
        return [self._table(row) for row in rows]

    def table_of_example(self, name: str) -> Record | None:
        """Return an example that was asked for before."""
        return next((table for table in self.tables() if table["facts"].get("example") == name), None)

    def n_tables(self) -> int:
        """Count all tables, also those that are on their way."""
        return int(self._index.execute("SELECT COUNT(*) FROM tables").fetchone()[0])

    def remove_table(self, id_: str) -> None:
        """Remove a table."""
        self._index.execute("DELETE FROM tables WHERE id=?", (id_,))
        shutil.rmtree(self.folder / _TABLES / id_, ignore_errors=True)

    def runs_of_table(self, id_: str) -> int:
        """Count the runs that need a table."""
        return int(self._index.execute("SELECT COUNT(*) FROM runs WHERE table_id=?", (id_,)).fetchone()[0])

    def _table(self, row: sqlite3.Row) -> Record:
        record = dict(row) | {"facts": json.loads(row["facts"]), "folder": self.folder / _TABLES / row["id"]}
        record["path"] = record["folder"] / record["file"]
        return record

    # ---- runs

    def new_run(self, kind: str, table: str, title: str, options: Mapping[str, Any], parent: Record | None) -> Record:
        """Make a run that waits for its turn."""
        id_ = secrets.token_hex(8)
        (self.folder / _RUNS / id_).mkdir()
        round_ = 1 if parent is None else parent["round"] + 1
        self._index.execute(
            "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, NULL, NULL, ?, NULL, '{}')",
            (id_, kind, table, None if parent is None else parent["id"], round_, title, time.time(), _to_json(options)),
        )
        return self.run(id_) or {}

    def run(self, id_: str) -> Record | None:
        """Return a run; None if there is none."""
        row = self._index.execute("SELECT * FROM runs WHERE id=?", (id_,)).fetchone()
        return None if row is None else self._run(row)

    def runs(self) -> list[Record]:
        """Return all runs, the latest first."""
        return [self._run(row) for row in self._index.execute("SELECT * FROM runs ORDER BY created DESC").fetchall()]

    def n_runs(self) -> int:
        """Count all runs."""
        return int(self._index.execute("SELECT COUNT(*) FROM runs").fetchone()[0])

    def change_run(self, id_: str, **columns: Any) -> None:
        """Change some columns of a run."""
        assert columns.keys() <= {"title", "status", "started", "finished", "error", "facts"}
        values = [_to_json(value) if isinstance(value, dict) else value for value in columns.values()]
        names = ", ".join(f"{name}=?" for name in columns)
        self._index.execute(f"UPDATE runs SET {names} WHERE id=?", (*values, id_))  # noqa: S608 - names are ours

    def remove_run(self, id_: str) -> None:
        """Remove a run."""
        self._index.execute("DELETE FROM runs WHERE id=?", (id_,))
        shutil.rmtree(self.folder / _RUNS / id_, ignore_errors=True)

    def _run(self, row: sqlite3.Row) -> Record:
        record = dict(row) | {"folder": self.folder / _RUNS / row["id"]}
        for name in ("options", "facts", "error"):
            record[name] = None if row[name] is None else json.loads(row[name])
        return record

    # ---- after a start

    def _recover(self) -> None:
        """Say of runs that were under way that they were interrupted, and remove what was only begun."""
        for run in self.runs():
            if run["status"] in _UNFINISHED:
                finished = result_of(run["folder"])
                if finished is None:
                    self.change_run(run["id"], status="interrupted", finished=time.time())
                else:  # it ended, and only the server did not live to hear of it
                    self.change_run(run["id"], status="done", finished=time.time(), facts=finished)
        self._index.execute("DELETE FROM tables WHERE ready=0")
        for name in (_TABLES, _RUNS):
            there = {row[0] for row in self._index.execute(f"SELECT id FROM {name}")}  # noqa: S608 - names are ours
            for entry in os.scandir(self.folder / name):
                if entry.name not in there and entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)


RESULT = "result"
"""Folder of what a run has found, which is there once it is complete."""

_SUMMARY = "run.json"


def result_of(folder: Path) -> Record | None:
    """Return what a run says of its result; None as long as it has none."""
    found: Record | None = read_json(folder / RESULT / _SUMMARY)
    return found


def read_json(path: Path) -> Any:
    """Return the content of a file of ours; None where there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def write_json(path: Path, content: Any) -> None:
    """Write a file of ours as a whole."""
    with replacing(path) as fresh:
        fresh.write_text(_to_json(content), encoding="utf-8")


def _to_json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def moment(seconds: float | None) -> str | None:
    """Return a time as pages read it."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the folder of a workbench; InputError where another one holds it, or it cannot be written to."""
    with contextlib.ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(staging(folder, "workbench"))
            Store(folder).close()  # a broken index is told now, and not in a log
        except BusyError:
            raise InputError(
                f"Another workbench is using {folder}. Open that one, or name another folder with --workdir."
            ) from None
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"Got --workdir {folder}, which cannot be used: {reason}. Name another folder.") from None
        yield
