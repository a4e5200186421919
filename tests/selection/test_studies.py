from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import newfound as nf
from newfound import InputError, TableEncoder
from newfound.selection.space import Real
from newfound.selection.studies import describe_task, open_study, quiet_optuna
from newfound.tables import as_table, read_labels

optuna = pytest.importorskip("optuna")

TASK = {"table": "t", "labels": "l", "discoverer": "Fake of newfound: {}", "space": "s", "scoring": "c"}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def finished(value: float) -> Any:
    return optuna.trial.create_trial(value=value)


# ---- the task


def described(**changes: Any) -> dict[str, str]:
    given = {"X": pd.DataFrame({"a": [1.0, 2.0], "b": ["x", None]}), "y": ["ant", None], "discoverer": nf.TabularNCD()}
    given |= {"space": {"w1": Real(0, 1)}, "scoring": {"metric": "f1"}} | changes
    table = as_table(given["X"])
    labels = read_labels(given["y"], table.n_rows)
    return describe_task(table, labels, given["discoverer"], given["space"], given["scoring"])


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        ("table", {"X": pd.DataFrame({"a": [1.0, 2.5], "b": ["x", None]})}),
        ("table", {"X": pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})}),
        ("table", {"X": pd.DataFrame({"a": [1.0, 2.0], "c": ["x", None]})}),
        ("table", {"X": pd.DataFrame({"a": [True, False], "b": ["x", None]})}),
        ("labels", {"y": [None, "ant"]}),
        ("labels", {"y": ["bee", None]}),
        ("discoverer", {"discoverer": nf.TabularNCD(w1=0.3)}),
        ("discoverer", {"discoverer": nf.TabularNCD(random_state=1)}),
        ("discoverer", {"discoverer": nf.TabularNCD(encoder=TableEncoder(max_categories=5))}),
        ("discoverer", {"discoverer": nf.ClassifierProjection()}),
        ("space", {"space": {"w1": Real(0, 0.5)}}),
        ("scoring", {"scoring": {"metric": "acc"}}),
    ],
    ids=range(12),
)
def test_another_task_is_described_otherwise(part: str, changes: dict[str, Any]) -> None:
    assert [name for name in described() if described()[name] != described(**changes)[name]] == [part]


def test_what_changes_nothing_is_no_part_of_the_task() -> None:
    assert described(discoverer=nf.TabularNCD(verbose=1, device="cpu")) == described()
    first, other = (nf.TabularNCD(random_state=np.random.RandomState(seed)) for seed in (0, 1))
    assert described(discoverer=first) == described(discoverer=other), "memory addresses are left out"


# ---- the storage


def test_trials_are_kept_in_a_file_of_the_cache_unless_told(cache: Path) -> None:
    study = open_study(None, None, TASK)
    assert study.where == str(cache / "tuning.sqlite3")
    study.add([finished(0.5)])
    assert [trial.value for trial in open_study(None, None, TASK).trials()] == [0.5]
    assert study.name.startswith("Fake-")


@pytest.mark.parametrize("as_path", [False, True], ids=["text", "path"])
def test_folders_of_a_file_are_made(tmp_path: Path, as_path: bool) -> None:
    path = tmp_path / "new" / "newer" / "trials.db"
    study = open_study(path if as_path else str(path), "mine", TASK)
    study.add([finished(0.1), finished(0.2)])
    assert path.exists()
    assert study.where == str(path)
    assert len(open_study(f"sqlite:///{path}", "mine", TASK).trials()) == 2, "the same by its address"


def test_nothing_is_kept_in_memory(tmp_path: Path) -> None:
    open_study(":memory:", None, TASK).add([finished(0.5)])
    assert open_study(":memory:", None, TASK).trials() == []
    assert not list(tmp_path.rglob("*"))


def test_a_storage_of_optunas_is_accepted() -> None:
    storage = optuna.storages.InMemoryStorage()
    open_study(storage, "mine", TASK).add([finished(0.5)])
    assert len(open_study(storage, "mine", TASK).trials()) == 1


def test_trials_that_others_left_unfinished_do_not_count() -> None:
    storage = optuna.storages.InMemoryStorage()
    study = open_study(storage, "mine", TASK)
    optuna.load_study(study_name="mine", storage=storage).ask()
    assert study.trials() == []


def test_what_is_remembered_is_made_once() -> None:
    study = open_study(None, None, TASK)
    assert study.remembered("seed", lambda: 7) == 7
    assert open_study(None, None, TASK).remembered("seed", lambda: 8) == 7


def test_each_task_has_a_study_of_its_own() -> None:
    open_study(None, None, TASK).add([finished(0.5)])
    assert open_study(None, None, TASK | {"table": "another"}).trials() == []


def test_a_name_that_belongs_to_another_task_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    open_study(path, "mine", TASK)
    with pytest.raises(InputError, match=r"'mine' in .*trials.db belongs to another task.* its table and space"):
        open_study(path, "mine", TASK | {"table": "another", "space": "another"})
    with pytest.raises(InputError, match=r"differs in its labels\. Choose another study_name or storage"):
        open_study(path, "mine", TASK | {"labels": "others"})


def test_a_study_of_somebody_else_is_refused(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'trials.db'}"
    with quiet_optuna():
        optuna.create_study(storage=address, study_name="theirs").add_trial(finished(1.0))
    with pytest.raises(InputError, match=r"'theirs' in .* was not made by newfound.tune"):
        open_study(address, "theirs", TASK)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are my notes, and no database. " * 100)
    with pytest.raises(InputError, match=r"notes.txt cannot be read or written: file is not a database"):
        open_study(path, None, TASK)
    assert path.read_text().startswith("These are my notes")


def test_a_file_that_is_in_use_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    address = f"sqlite:///{path}?timeout=0.1"
    study = open_study(address, None, TASK)
    with sqlite3.connect(path) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(InputError, match=r"database is locked\. If another program uses them, wait"):
            study.remembered("seed", lambda: 7)


@pytest.mark.parametrize(
    ("storage", "message"),
    [
        ("nonsense://", "cannot be read or written"),
        ("redis://localhost", "cannot be read or written"),
        ("postgresql://me:secret@localhost/db", r"postgresql://me:\*\*\*@localhost/db cannot be read or written"),
        (7, "storage=7, but expected None, a file"),
    ],
)
def test_other_storages_are_refused(storage: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        open_study(storage, None, TASK)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_in_the_way_and_one_that_is_no_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unable to open database file"):
        open_study(tmp_path, None, TASK)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be made.*storage=':memory:' to keep nothing"):
        open_study(tmp_path / "file" / "trials.db", None, TASK)


@pytest.mark.parametrize("name", ["", 3])
def test_a_name_must_be_one(name: Any) -> None:
    with pytest.raises(InputError, match="study_name="):
        open_study(":memory:", name, TASK)


def test_optuna_stays_as_talkative_as_it_was() -> None:
    before = optuna.logging.get_verbosity()
    with quiet_optuna():
        assert optuna.logging.get_verbosity() == optuna.logging.WARNING
    assert optuna.logging.get_verbosity() == before
