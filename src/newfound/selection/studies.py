"""Where the trials of a search are kept, and proof that those found there belong to the same task."""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from newfound import __version__
from newfound.errors import InputError
from newfound.extras import load_extra
from newfound.folders import cache_folder
from newfound.tables import Labels, Table

MEMORY = ":memory:"
_NOT_THE_TASK = ("device", "verbose")  # they change how a fit runs, not what it finds


def load_optuna() -> Any:
    """Import optuna; MissingExtraError without it."""
    return load_extra("optuna", "The search")


@contextmanager
def quiet_optuna() -> Iterator[None]:
    """Keep optuna from reporting every step, and leave it as talkative as the user had it."""
    logging = load_optuna().logging
    before = logging.get_verbosity()
    logging.set_verbosity(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"optuna(\..*)?")
            yield
    finally:
        logging.set_verbosity(before)


def describe_task(
    table: Table, labels: Labels, discoverer: Any, space: Mapping[str, Any], scoring: Mapping[str, Any]
) -> dict[str, str]:
    """Describe what is tuned, so that trials of another task are not mistaken for trials of this one.

    Parameters
    ----------
    table : Table
    labels : Labels
    discoverer : Discoverer
    space : mapping of parameter to Space
    scoring : mapping of name to value
        How trials are scored.

    Returns
    -------
    dict
        Parts of the task by name, each as a text that differs wherever the part does.
    """
    parameters = {
        name: _text_of(value)
        for name, value in sorted(discoverer.get_params().items())
        if name not in _NOT_THE_TASK and not hasattr(value, "get_params")
    }
    return {
        "table": _digest_of(table),
        "labels": hashlib.sha256(labels.codes.tobytes() + repr(labels.known_classes.tolist()).encode()).hexdigest(),
        "discoverer": f"{type(discoverer).__name__} of newfound {__version__}: {json.dumps(parameters)}",
        "space": repr(dict(space)),
        "scoring": json.dumps({name: _text_of(value) for name, value in scoring.items()}),
    }


def open_study(storage: Any, study_name: str | None, task: Mapping[str, str]) -> Study:
    """Open the study of a task, or begin it.

    Parameters
    ----------
    storage : str, path, optuna storage or None
        An address (with "://"), a file for SQLite, ":memory:", or None for the file in newfound's cache folder.
    study_name : str or None
        None is a name made of the task.
    task : mapping
        As `describe_task` returns it.

    Raises
    ------
    InputError
        If the storage cannot be used, or has a study of this name for another task.
    """
    optuna = load_optuna()
    if study_name is not None and (not isinstance(study_name, str) or not study_name):
        raise InputError.of("study_name", study_name, "a name or None")
    digest = hashlib.sha256(json.dumps(dict(task), sort_keys=True).encode()).hexdigest()
    name = study_name or f"{task['discoverer'].partition(' ')[0]}-{digest[:16]}"
    address, where = _address_of(storage)
    with _explaining(where):
        study = optuna.create_study(storage=address, study_name=name, direction="maximize", load_if_exists=True)
        found = study.user_attrs.get("task")
        if found is None and not study.get_trials(deepcopy=False):
            study.set_user_attr("task", dict(task))
            found = dict(task)
    if not isinstance(found, dict):
        raise InputError(
            f"The study {name!r} in {where} was not made by newfound.tune; choose another study_name or storage.",
            parameter="study_name",
            value=study_name,
        )
    differing = [part for part in task if found.get(part) != task[part]]
    if differing:
        raise InputError(
            f"The study {name!r} in {where} belongs to another task, which differs in its {' and '.join(differing)}. "
            "Choose another study_name or storage, or leave study_name out: every task then has a study of its own.",
            parameter="study_name",
            value=study_name,
        )
    return Study(study, where)


class Study:
    """Trials that are kept, all of them finished.

    Parameters
    ----------
    study : optuna.Study
    where : str
        Its storage, for people.
    """

    def __init__(self, study: Any, where: str) -> None:
        self._study = study
        self.where = where
        self.name: str = study.study_name

    def trials(self) -> list[Any]:
        """Return optuna's frozen trials, in the order in which they were added."""
        with _explaining(self.where):
            return [trial for trial in self._study.get_trials(deepcopy=False) if trial.state.is_finished()]

    def add(self, trials: Sequence[Any]) -> None:
        """Keep finished trials."""
        with _explaining(self.where):
            for trial in trials:
                self._study.add_trial(trial)

    def remembered(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what was noted under a name when the study began, or else make it and note it now."""
        with _explaining(self.where):
            noted = self._study.user_attrs
        if name in noted:
            return noted[name]
        value = make()
        with _explaining(self.where):
            self._study.set_user_attr(name, value)
        return value


def _digest_of(table: Table) -> str:
    digest = hashlib.sha256(repr((table.names, table.n_rows)).encode())
    for column in table.columns.values():
        digest.update(str(column.dtype).encode())
        is_plain = column.dtype.kind != "O"
        digest.update(np.ascontiguousarray(column).tobytes() if is_plain else repr(column.tolist()).encode())
    return digest.hexdigest()


def _text_of(value: Any) -> str:
    """Text of a parameter, without the address that some objects have in theirs."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _address_of(storage: Any) -> tuple[Any, str]:
    """Return what optuna takes as a storage, and how to call it in messages."""
    if storage is None:
        storage = cache_folder() / "tuning.sqlite3"
    if not isinstance(storage, (str, os.PathLike)):
        if not hasattr(storage, "get_all_studies"):
            raise InputError.of(
                "storage",
                storage,
                f"None, a file, an address of optuna's such as 'sqlite:///trials.db', an optuna storage, or {MEMORY!r}",
            )
        return storage, type(storage).__name__
    if storage == MEMORY:
        return None, "memory"
    if "://" in str(storage):
        return storage, re.sub(r"(//[^:/@]*):[^@/]*@", r"\1:***@", str(storage))
    path = Path(storage).expanduser().absolute()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder of storage={str(path)!r} cannot be made: {error.strerror}. Choose another file, or "
            f"storage={MEMORY!r} to keep nothing.",
            parameter="storage",
            value=storage,
        ) from None
    return f"sqlite:///{path}", str(path)


@contextmanager
def _explaining(where: str) -> Iterator[None]:
    """Turn what a storage may raise into one clear line."""
    from optuna.exceptions import OptunaError
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except InputError:
        raise
    except (SQLAlchemyError, OptunaError, OSError, ImportError, RuntimeError, ValueError) as error:
        cause = error.__cause__ if isinstance(error, OptunaError) and error.__cause__ else error
        problem = str(getattr(cause, "orig", None) or cause).strip().partition("\n")[0]
        raise InputError(
            f"The trials in {where} cannot be read or written: {problem.rstrip('.')}. If another program uses them, "
            f"wait for it; else choose another storage, or storage={MEMORY!r} to keep nothing."
        ) from error
