"""The long tasks of a worker: discover novel classes, and update a model by a further batch."""

from __future__ import annotations

import functools
import json
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from newfound.errors import InputError
from newfound.persistence import load, save
from newfound.progress import Step, watched_by
from newfound.reporting.layout import place_all
from newfound.runs.building import build
from newfound.runs.labelling import label_batch, label_rows
from newfound.runs.names import class_names
from newfound.tables.frame import listed
from newfound.web.film import Film
from newfound.web.opened import CODES, FRAMES, MODEL, PLACES_FILE, SUMMARY, Opened
from newfound.web.problems import told as in_words
from newfound.web.sources import PLACES, Source, check, open_source, read
from newfound.web.store import RESULT
from newfound.writing import filling

Tell = Callable[[dict[str, Any]], None]
Facts = dict[str, Any]

PARENT = "parent.newfound"
"""In the folder of an update: the model that it begins with."""

_CHECKPOINTS = "checkpoint"
_STAGES = {"reading": (0.0, 0.03), "fitting": (0.03, 0.78), "drawing": (0.78, 0.86), "explaining": (0.86, 1.0)}
_BARS = {"auto": 2}  # progress bars of a fit, one after the other
_FILMED = ("tabular_ncd", "pbn", "classifier_projection")  # whose networks see the rows as they are encoded
_MOST_FILMED = 20_000  # rows
_EVERY = 0.2  # seconds between two words on progress
_WIDTH = 10_000


def tidied(task: Callable[..., Facts]) -> Callable[..., Facts]:
    """Have a task hold no table beyond its end: the next one may be large."""

    @functools.wraps(task)
    def run(*arguments: Any, **named: Any) -> Facts:
        try:
            return task(*arguments, **named)
        finally:
            read.cache_clear()

    return run


@tidied
def discover(tell: Tell, *, folder: str, path: str, name: str, options: Facts) -> Facts:
    """Find the novel classes of a table, and write all that is shown of them."""
    here = Path(folder)
    progress = _Progress(tell, _BARS.get(options["method"], 1))
    progress.stage("reading", f"Reading {name}")
    source = open_source(path, name, options, here)
    check(source, options["method"])
    progress.stage("fitting", "Looking for novel classes")
    film = Film() if options["method"] in _FILMED else None
    with _noted() as notes:
        model = _fitted(source, options, here / _CHECKPOINTS, progress, film)
    more: Facts = {"rehearsal": None, "update": None}
    _write(here, source, options, model, None, progress, notes, more, film)
    shutil.rmtree(here / _CHECKPOINTS, ignore_errors=True)
    return _summary(here)


@tidied
def update(tell: Tell, *, folder: str, path: str, name: str, options: Facts) -> Facts:
    """Update a model by a further batch, and write all that is shown of it."""
    here = Path(folder)
    progress = _Progress(tell, 1)
    progress.stage("reading", f"Reading {name}")
    model: Any = load(here / PARENT)
    source = open_source(path, name, options, here)
    _refuse_other_columns(model, source, name)
    progress.stage("fitting", "Updating the classes")
    labels = None if options["target"] is None else _typed(source, model, options["target"])
    with _noted() as notes:
        told = model.update(source.table, labels)
        codes = label_batch(model, source.table, told).codes
    facts = {name: fact for name, fact in told.to_dict().items() if name != "labels"}
    _write(here, source, options, model, codes, progress, notes, {"rehearsal": None, "update": facts})
    return _summary(here)


def _refuse_other_columns(model: Any, source: Source, name: str) -> None:
    """Refuse a batch without the columns that the classes were learned from."""
    missing = [column.name for column in model.encoder_.schema_.used if column.name not in source.table.columns]
    if missing:
        raise InputError(
            f"{name} lacks {listed(missing)}. The classes were learned from these columns, so a batch needs them under "
            "the same names; where values are not known, cells may be empty."
        )


def _fitted(source: Source, options: Facts, checkpoints: Path, progress: _Progress, film: Film | None) -> Any:
    from sklearn.utils.validation import has_fit_parameter

    from newfound.tables import TableEncoder

    parameters = {
        "encoder": TableEncoder(kinds=source.kinds) if source.kinds else None,
        "random_state": options["seed"],
        "verbose": 1,
        "time_limit": options["time_limit"],
        "unlabelled": options["unlabelled"],
    }
    model = build(options["method"], options["n_novel_classes"], options["settings"], **parameters)
    kept: dict[str, Any] = {"checkpoint_dir": checkpoints} if has_fit_parameter(model, "checkpoint_dir") else {}

    def watch(step: Step) -> None:
        progress.watch(step)
        if film is not None:
            film.watch(step)

    with watched_by(watch):
        model.fit(source.table, source.labels, **kept)
    if "verbose" in model.get_params(deep=False):
        model.set_params(verbose=0)
    return model


def _write(
    here: Path,
    source: Source,
    options: Facts,
    model: Any,
    codes: Any,
    progress: _Progress,
    notes: list[str],
    more: Facts,
    film: Film | None = None,
) -> None:
    files = [
        *([CODES] if codes is not None else []),
        MODEL,
        PLACES_FILE,
        "method.json",
        SUMMARY,
        *(f"{name}-0.json" for name in ("map", "classes", "sections", "report", "facts")),
    ]
    with filling(here / RESULT, files, replace=True) as fresh:
        save(model, fresh / MODEL)
        if codes is not None:
            np.save(fresh / CODES, codes.astype(np.int32), allow_pickle=False)
        opened = Opened(here, fresh, source, options, [])
        progress.stage("drawing", "Drawing the map")
        found = opened.labelling
        rng = np.random.RandomState(options["seed"] % 2**32)
        places = place_all(opened.model.transform(opened.reading), found.codes.astype(np.int64), rng)
        np.save(fresh / PLACES_FILE, (places.points * _WIDTH).round().astype(np.uint16), allow_pickle=False)
        (fresh / "method.json").write_text(json.dumps(places.method), encoding="utf-8")
        if film is not None and film.frames and len(found.codes) <= _MOST_FILMED:
            frames = film.developed(opened, places, rng)
            (fresh / FRAMES).write_text(json.dumps(frames), encoding="utf-8")
            files.append(FRAMES)
        opened.write_classes(fresh, 0)
        progress.stage("explaining", "Explaining the novel classes")
        if options["hide"]:
            more["rehearsal"] = _rehearsed(source, opened, options["hide"])
        opened.write_facts(fresh, 0, more)
        summary = {
            "n_known_classes": len(model.known_classes_),
            "n_novel_classes": len(model.novel_classes_),
            "notes": [
                *dict.fromkeys(
                    [*(in_words(note, PLACES) for note in (*source.file.notes, *source.target.notes)), *notes]
                )
            ],
            "more": more,
        }
        (fresh / SUMMARY).write_text(json.dumps(summary), encoding="utf-8")


def _summary(here: Path) -> Facts:
    found: Facts = json.loads((here / RESULT / SUMMARY).read_text(encoding="utf-8"))
    return found


def _typed(source: Source, model: Any, target: str) -> list[Any]:
    """Labels in the type of the model's classes."""
    if model.classes_.dtype.kind == "O":
        return list(source.labels)
    kind = type(model.classes_.tolist()[0])
    try:
        return [None if label is None else kind(label) for label in source.labels]
    except ValueError:
        raise InputError(f"The classes of the model are numbers, but {target!r} holds other labels.") from None


def _rehearsed(source: Source, opened: Opened, hidden: list[str]) -> Facts:
    """Say how far the hidden classes were found again."""
    from collections import Counter

    from newfound.metrics import novel_scores

    rows = np.flatnonzero(np.isin(source.truth.astype(str), hidden))
    found = label_rows(opened.model, opened.reading.take(rows))
    names = class_names(opened.model)
    together = Counter((str(source.truth[row]), names[code]) for row, code in zip(rows, found.codes, strict=True))
    scores = novel_scores(source.truth[rows].astype(str), found.codes.astype(np.int64))
    return {
        "scores": {name: float(value) for name, value in scores.items()},
        "table": [{"hidden": hidden, "found": other, "rows": n} for (hidden, other), n in together.most_common()],
    }


@contextmanager
def _noted() -> Iterator[list[str]]:
    """Collect what the library warns of."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    for warning in caught:
        if isinstance(warning.message, UserWarning) and warning.category is UserWarning:
            notes.append(in_words(warning.message.args[0], PLACES))


class _Progress:
    """Says how far a run is: a share of the whole, what is going on, and losses."""

    def __init__(self, tell: Tell, n_bars: int) -> None:
        self._tell, self._n_bars = tell, n_bars
        self._low, self._high = 0.0, 0.0
        self._bar: Step | None = None
        self._n_before = -1
        self._last = 0.0

    def stage(self, name: str, text: str) -> None:
        self._low, self._high = _STAGES[name]
        self._tell({"phase": text, "share": self._low})

    def watch(self, step: Step) -> None:
        if step is not self._bar:
            self._bar = step
            self._n_before += 1
        if step.record is not None:
            self._tell({"epoch": _epoch(step.record)})
        now = time.monotonic()
        if now - self._last < _EVERY and step.record is None:
            return
        self._last = now
        within = min(1.0, step.done / step.total) if step.total else 0.0
        share = min(1.0, (self._n_before + within) / self._n_bars)
        self._tell({"phase": step.text, "share": self._low + share * (self._high - self._low)})


def _epoch(record: Mapping[str, Any]) -> Facts:
    losses = {
        name: float(value) if np.isfinite(value) else None
        for name, value in record.items()
        if name not in ("stage", "epoch", "seconds")
    }
    return {
        "stage": str(record["stage"]),
        "epoch": int(record["epoch"]),
        "seconds": float(record["seconds"]),
        "losses": losses,
    }
