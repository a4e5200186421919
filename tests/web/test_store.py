"""The workbench removes what it made, and nothing else; and it finds again what is there."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import socket
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from newfound.cli.app import run as newfound
from newfound.errors import InputError
from newfound.web.store import RESULT, Store, held
from tests.web.conftest import client_of

FACTS = {"format": "CSV", "n_rows": 1, "n_columns": 1, "notes": []}
OPTIONS = {"table_name": "a.csv", "seed": 0}


def filled(folder: Path) -> tuple[str, list[str]]:
    """Make a work folder with a table, and runs that are done, interrupted and deleted; returns the first two."""
    store = Store(folder)
    table, path = store.new_table("a.csv", ".csv")
    path.write_text("x\n1\n")
    store.finish_table(table, 4, FACTS)
    runs = [store.new_run("discovery", table, f"run {i}", OPTIONS, None) for i in range(3)]
    for run in runs:
        (run["folder"] / RESULT).mkdir()
        (run["folder"] / RESULT / "model").write_text("a model")
    store.change_run(runs[0]["id"], status="done", title="mine", finished=2.0, facts={"n_novel_classes": 2})
    store.change_run(runs[1]["id"], status="interrupted", error={"message": "why"})
    store.remove_run(runs[2]["id"])
    store.close()
    return table, [run["id"] for run in runs]


def as_before_there_were_records(folder: Path) -> None:
    """Make a work folder one of an earlier version."""
    (folder / "workbench.json").unlink()
    for path in folder.glob("*/*/record.json"):
        path.unlink()


def all_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def known(store: Store) -> list[dict[str, Any]]:
    """All that a store says, without where it is."""
    return [{**record, "folder": None, "path": None} for record in (*store.tables(), *store.runs())]


def opened(folder: Path) -> Store:
    store = Store(folder)
    store.close()
    return Store(folder)


@pytest.fixture(autouse=True)
def unserved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a server that is not refused end at once."""
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that is in use."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


# ---- what is not ours


def test_what_the_workbench_has_not_made_stays(work: Path) -> None:
    table, (done, *_) = filled(work)
    other = work.parent / "other"
    _, (theirs, *_) = filled(other)
    shutil.copytree(other / "runs" / theirs, work / "runs" / theirs)  # of another work folder
    for name in ("exp1", "0123456789abcdef", "Trash", "0123456789ABCDEF"):
        for kind in ("runs", "tables"):
            (work / kind / name / "deep").mkdir(parents=True)
            (work / kind / name / "deep" / "file").write_text("theirs")
    (work / "runs" / "events.out").write_text("theirs")
    (work / "notes.txt").write_text("theirs")
    (work / "runs" / "fedcba9876543210").mkdir()
    (work / "runs" / "fedcba9876543210" / "record.json").write_text('{"workbench": "')
    before = all_of(work)
    for _ in range(2):
        store = Store(work)
        assert {name: before[name] for name in before if "index" not in name}.items() <= all_of(work).items()
        assert [run["id"] for run in store.runs() if run["status"] == "done"] == [done]
        assert store.table(table) is not None
        (note,) = store.notes
        assert note.startswith(f"Left as it is in {work}, as it is not of this workbench: tables/0123456789ABCDEF, ")
        assert note.endswith(" and 8 more")
        for id_ in ("0123456789abcdef", theirs):
            store.remove_run(id_)
            store.remove_table(id_)
        store.close()
    assert {name for name in before if name not in all_of(work)} <= {"index.sqlite-wal", "index.sqlite-shm"}


def test_no_link_is_followed(work: Path) -> None:
    table, (done, interrupted, _) = filled(work)
    precious = work.parent / "precious"
    for name in ("0123456789abcdef", "deep"):
        (precious / name).mkdir(parents=True)
        (precious / name / "file").write_text("mine")
    for name in ("aaaaaaaaaaaaaaaa", "link"):
        (work / "runs" / name).symlink_to(precious)
    moved = work.parent / interrupted
    (work / "runs" / interrupted).rename(moved)
    (work / "runs" / interrupted).symlink_to(moved)
    (work / "runs" / done / "more").symlink_to(precious)
    before = all_of(precious), all_of(moved)
    store = Store(work)
    assert store.runs() == []
    for id_ in ("aaaaaaaaaaaaaaaa", interrupted):
        store.remove_run(id_)
    assert (all_of(precious), all_of(moved)) == before
    store.remove_run(done)  # with the link in it, and not with what that leads to
    assert not (work / "runs" / done).exists()
    assert (all_of(precious), all_of(moved)) == before
    assert store.table(table) is not None
    store.close()


@pytest.mark.parametrize("name", ["tables", "runs", "index.sqlite", "workers.log", "workbench.json"])
def test_a_work_folder_of_links_is_refused(work: Path, name: str) -> None:
    filled(work)
    (work / "workers.log").touch()
    elsewhere = work.parent / "elsewhere"
    (work / name).rename(elsewhere)
    (work / name).symlink_to(elsewhere)
    before = all_of(work.parent)
    assert newfound(["serve", "--port", "0", "--workdir", str(work)]) == 2
    with pytest.raises(InputError, match=f"{name} is a link, and the workbench follows none"):
        Store(work)
    assert all_of(work.parent) == before


def test_an_index_leads_nowhere_else(work: Path) -> None:
    filled(work)
    victim = work.parent / "victim"
    victim.mkdir()
    (victim / "file").write_text("mine")
    with sqlite3.connect(work / "index.sqlite") as index:
        for id_ in ("../../victim", str(victim), "..", "", "."):
            values = (id_, "a", "table.csv", 1.0, 1, 4, json.dumps(FACTS))
            index.execute("INSERT INTO tables VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        values = ("0" * 16, "a", "../../../victim/file", 1.0, 1, 4, json.dumps(FACTS))
        index.execute("INSERT INTO tables VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        index.execute("UPDATE tables SET ready=0 WHERE id='..'")
        index.execute("INSERT INTO tables VALUES ('ffffffffffffffff', 'a', 'table.csv', 1.0, 1, 4, '{')")
    index.close()
    store = Store(work)
    assert len(store.tables()) == 1
    assert len(store.runs()) == 2
    for id_ in ("../../victim", str(victim), "..", "", "."):
        store.remove_table(id_)
        store.remove_run(id_)
    assert (victim / "file").read_text() == "mine"
    assert len(store.tables()) == 1
    assert (work / "runs").is_dir()
    store.close()


# ---- folders that are none of ours


@pytest.mark.parametrize("files", [["train.py"], ["runs/exp1/events"], ["tables/a.csv"], ["data/index.sqlite", "x"]])
def test_a_folder_of_something_else_is_refused_and_another_named(
    tmp_path: Path, files: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("theirs")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.chdir(tmp_path)
    assert newfound(["serve", "--port", "0", "--workdir", "."]) == 2
    said = capsys.readouterr().err
    assert ". holds other files (" in said
    assert said.endswith("such as --workdir newfound-workbench.\n")
    assert said.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_database_of_something_else_is_not_written_to(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "index.sqlite") as index:
        index.execute("CREATE TABLE runs (id TEXT, loss REAL)")
    index.close()
    before = all_of(tmp_path)
    with pytest.raises(InputError, match=r"holds other files \(index.sqlite\)"):
        Store(tmp_path)
    assert all_of(tmp_path) == before


def test_a_work_folder_of_an_earlier_version_goes_on(work: Path) -> None:
    table, (done, interrupted, _) = filled(work)
    as_before_there_were_records(work)
    (work / "train.py").write_text("theirs")  # earlier versions took any folder
    (work / "runs" / "exp1").mkdir()
    (work / "runs" / "ffffffffffffffff" / RESULT).mkdir(parents=True)
    (work / ".newfound-workbench.tmp" / "new").mkdir(parents=True)  # its server was killed
    (work / ".newfound-workbench.tmp" / "lock").touch()
    with held(work) as notes:
        assert notes == [f"Left as it is in {work}, as it is not of this workbench: runs/exp1, runs/ffffffffffffffff"]
    store = Store(work)
    assert {run["id"]: run["status"] for run in store.runs()} == {done: "done", interrupted: "interrupted"}
    store.remove_run(interrupted)
    assert store.table(table) is not None
    store.close()
    (work / "index.sqlite").unlink()
    store = Store(work)
    assert [run["id"] for run in store.runs()] == [done]
    assert sorted(path.name for path in (work / "runs").iterdir()) == sorted([done, "exp1", "ffffffffffffffff"])
    store.close()


# ---- the index


def without_index(folder: Path) -> None:
    (folder / "index.sqlite").unlink()


def with_an_empty_index(folder: Path) -> None:
    (folder / "index.sqlite").write_bytes(b"")


def with_a_broken_index(folder: Path) -> None:
    (folder / "index.sqlite").write_bytes(b"no database at all" * 100)


def with_a_cut_index(folder: Path) -> None:
    os.truncate(folder / "index.sqlite", 5000)


def without_index_and_mark(folder: Path) -> None:
    (folder / "index.sqlite").unlink()
    (folder / "workbench.json").unlink()


@pytest.mark.parametrize(
    "harm", [without_index, with_an_empty_index, with_a_broken_index, with_a_cut_index, without_index_and_mark]
)
def test_an_index_that_is_lost_is_made_again(work: Path, harm: Any) -> None:
    table, (done, interrupted, deleted) = filled(work)
    before = opened(work)
    files = {name: content for name, content in all_of(work).items() if "/" in name}
    said = known(before)
    before.close()
    harm(work)
    store = Store(work)
    assert known(store) == said
    assert {run["id"] for run in store.runs()} == {done, interrupted}  # and not the one that was deleted
    assert not (work / "runs" / deleted).exists()
    assert {name: content for name, content in all_of(work).items() if "/" in name} == files
    store.remove_run(done)
    store.remove_run(interrupted)
    store.remove_table(table)
    assert {name for name in all_of(work) if "/" in name} == set()
    store.close()


def test_a_copy_without_the_log_of_the_index_has_all(work: Path) -> None:
    filled(work)
    store = Store(work)
    new = store.new_run("discovery", "0" * 16, "latest", OPTIONS, None)
    store.change_run(new["id"], status="done", facts={"n_novel_classes": 1})
    said = known(store)
    copy = work.parent / "copy"
    shutil.copytree(work, copy, ignore=shutil.ignore_patterns("*-wal", "*-shm"))
    log = work.parent / "log"
    shutil.copytree(work, log, ignore=shutil.ignore_patterns("index.sqlite", "*-shm"))
    wal = (log / "index.sqlite-wal").read_bytes()
    store.close()
    assert wal
    for folder in (copy, log):
        found = Store(folder)
        assert known(found) == said
        assert not any("Left as it is" in note for note in found.notes)
        found.close()
    (aside,) = log.glob("index.sqlite-wal.aside-*")
    assert aside.read_bytes() == wal


def test_an_index_of_an_earlier_version_that_is_lost_loses_no_file(work: Path) -> None:
    table, (done, interrupted, _) = filled(work)
    as_before_there_were_records(work)
    (work / "index.sqlite").write_bytes(b"")
    before = {name: content for name, content in all_of(work).items() if "/" in name}
    assert newfound(["serve", "--port", "70000", "--workdir", str(work)]) == 2
    store = Store(work)
    assert {name: content for name, content in all_of(work).items() if "/" in name} == before
    (note,) = store.notes
    assert all(id_ in note for id_ in (table, done, interrupted))
    store.close()


class KilledError(BaseException):
    """Ends a program that is dead."""


def kill_at(patch: pytest.MonkeyPatch, at: int) -> None:
    """Have a call of the system with this number, and all from then on, end the program."""
    made = itertools.count()

    def counting(call: Any) -> Any:
        def counted(*arguments: Any, **more: Any) -> Any:
            if next(made) >= at:
                raise KilledError
            return call(*arguments, **more)

        return counted

    for name in ("rename", "unlink", "rmdir", "listdir", "scandir"):
        patch.setattr(os, name, counting(getattr(os, name)))


def test_a_run_that_was_deleted_never_comes_back(work: Path) -> None:
    """Wherever its removal is cut short."""
    for at in range(100):
        folder = work / str(at)
        _, (done, interrupted, _) = filled(folder)
        store = Store(folder)
        killed = True
        with pytest.MonkeyPatch.context() as patch, contextlib.suppress(KilledError):
            kill_at(patch, at)
            store.remove_run(done)
            killed = False
        store.close()
        begun = not (folder / "runs" / done / "record.json").exists()
        for path in folder.glob("index.sqlite*"):
            path.unlink()
        store = Store(folder)
        assert {run["id"] for run in store.runs()} == {interrupted} | (set() if begun else {done}), at
        assert (folder / "runs" / done).exists() is not begun, at
        assert store.notes == [], at
        store.close()
        if not killed:
            break
    assert 5 < at < 99


def test_an_upload_that_was_cut_short_is_removed(work: Path) -> None:
    filled(work)
    store = Store(work)
    _, path = store.new_table("a.csv", ".csv")
    path.write_text("x")
    store.close()
    (work / "tables" / "ffffffffffffffff").mkdir()  # killed before anything was written
    store = Store(work)
    assert len(list((work / "tables").iterdir())) == 1
    assert store.n_tables() == 1
    assert not path.exists()
    store.close()


# ---- before anything is touched


def test_where_the_port_is_in_use_nothing_is_made_or_removed(
    work: Path, taken: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert newfound(["serve", "--port", str(taken), "--workdir", str(work)]) == 2
    assert not work.exists()
    filled(work)
    (work / "runs" / "ffffffffffffffff" / "deep").mkdir(parents=True)
    (work / "tables" / "exp1").mkdir()
    (work / "index.sqlite").write_bytes(b"")
    paths, before = sorted(work.rglob("*")), all_of(work)
    assert newfound(["serve", "--port", str(taken), "--workdir", str(work)]) == 2
    assert (sorted(work.rglob("*")), all_of(work)) == (paths, before)
    assert f"Port {taken} is in use" in capsys.readouterr().err


def test_a_second_server_touches_nothing(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(work)
    with held(work):
        store = Store(work)
        _, path = store.new_table("a.csv", ".csv")  # an upload that goes on
        path.write_text("x")
        store.close()
        before = all_of(work)
        assert newfound(["serve", "--port", "0", "--workdir", str(work)]) == 2
        assert all_of(work) == before
    assert f"Another workbench is using {work}" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="who may do everything is refused nothing")
def test_a_folder_that_may_not_be_written_to_is_one_line(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(work)
    before = all_of(work)
    work.chmod(0o500)
    try:
        assert newfound(["serve", "--port", "0", "--workdir", str(work)]) == 2
    finally:
        work.chmod(0o700)
    assert capsys.readouterr().err.count("\n") == 1
    assert all_of(work) == before


def test_a_damaged_mark_is_told(work: Path) -> None:
    filled(work)
    (work / "workbench.json").write_text('{"workbench": "..')
    with pytest.raises(InputError, match=r"workbench.json is damaged. Move it away: it is made again"):
        Store(work)
    (work / "workbench.json").rename(work.parent / "away")
    store = Store(work)
    assert (len(store.runs()), store.notes) == (2, [])
    store.close()


# ---- damaged files of one run

DAMAGES = ["", "{", '{"states": [', "[]", "{}", '{"states": [], "place": 0, "next": 1}', "\0" * 64]


@pytest.mark.parametrize("content", DAMAGES)
def test_a_damaged_file_of_a_run_is_told_of_that_run_alone(work: Path, content: str) -> None:
    table, (done, interrupted, _) = filled(work)
    (work / "runs" / done / "curation.json").write_text(content)
    (work / "runs" / done / "answers.json").write_text("{")
    (work / "tables" / table / "columns.json").write_text("{")
    with client_of(work) as client:
        found = {run["id"]: run for run in client.get("/api/runs").json()}
        assert found.keys() == {done, interrupted}
        assert "curation.json of this table or run is damaged" in found[done]["error"]["message"]
        for what in ("classes", "facts", "map"):
            assert_told(client, f"/api/runs/{done}/{what}", "curation.json")
        assert_told(client, f"/api/runs/{done}/labels", "answers.json")
        assert_told(client, f"/api/tables/{table}/columns", "columns.json")
        assert client.delete(f"/api/runs/{done}").status_code == 204
        assert client.get("/api/runs").json()[0]["id"] == interrupted


def assert_told(client: TestClient, address: str, file: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 409, answer.text
    assert f"The file {file} of this table or run is damaged" in answer.json()["error"]["message"]


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "5", "\0"])
def test_a_damaged_result_is_none(work: Path, content: str) -> None:
    _, (done, *_) = filled(work)
    store = Store(work)
    store.change_run(done, status="running")
    store.close()
    (work / "runs" / done / RESULT / "run.json").write_text(content)
    with client_of(work) as client:
        assert client.get(f"/api/runs/{done}").json()["status"] == "interrupted"


def test_the_system_folder_is_safe_from_a_linked_work_folder(work: Path) -> None:
    """As happened with ``tables`` a link to a folder of the system."""
    system = Path(tempfile.mkdtemp(dir=work.parent))
    (system / "ssh").mkdir()
    (system / "ssh" / "config").write_text("mine")
    (work / "runs").mkdir(parents=True)
    (work / "tables").symlink_to(system)
    assert newfound(["serve", "--port", "0", "--workdir", str(work)]) == 2
    assert all_of(system) == {"ssh/config": b"mine"}
