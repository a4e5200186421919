"""Everything a report says, as a plain dict that JSON can hold."""

from __future__ import annotations

import json
import math
import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound import __version__
from newfound.deadline import NEVER, Deadline
from newfound.discoverers.base import BaseDiscoverer
from newfound.discoverers.reading import Reading
from newfound.errors import InputError
from newfound.explanation.explainer import explain_in_time
from newfound.explanation.wording import class_name, shortened
from newfound.parameters import check_integer, pick_generator
from newfound.reporting.distributions import distribution_facts
from newfound.reporting.layout import Places, drawn_rows, middle_of, place_rows
from newfound.reporting.row_doubts import RowDoubts, label_names
from newfound.tables import Labels, Table, read_labels
from newfound.tables.cells import as_texts, holds_booleans, missing_mask

Facts = dict[str, Any]
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

_PACKAGES = ("torch", "numpy", "scipy", "scikit-learn")
_MAP_BYTES = 1_300_000  # for the cells of the rows on the map, so that the whole stays below 3 MB
_TELLING = 6  # columns that are shown first for a row
_BINS = 20
_LABELS_SHOWN = 5
_DIGITS = 5
_NOT_LOSSES = ("stage", "epoch", "seconds")
_IGNORED_SHOWN = 50
_TIME_TO_EXPLAIN = 0.6  # share of the time that is left
_READY = {type(None), bool, int, str}  # which JSON has as they are


def report_facts(
    model: BaseDiscoverer,
    X: Any,
    y: Any = None,
    *,
    title: str | None = None,
    n_map_rows: int = 3_000,
    random_state: Any = 0,
    places: Places | None = None,
    source: Mapping[str, Any] | None = None,
    with_map: bool = True,
    deadline: Deadline = NEVER,
    on_step: Callable[[str], None] = lambda text: None,
) -> Facts:
    """Gather what a report says of a model and a table.

    Parameters
    ----------
    model : discoverer
        A fitted one.
    X : pandas, polars or pyarrow table, or numpy array, of shape (n, n_columns)
        A table that the model can read.
    y : labels of shape (n,), optional
        Labels of its rows; -1, None or NaN where a row is unlabelled.
    title : str, optional
        What the report is about.
    n_map_rows : int, default=3000
        About how many rows the map shows.
    random_state : int, RandomState or None, default=0
        Of the explanation, of the rows on the map and of their places.
    places : Places, optional
        Where all rows lie on a map, if that is known; otherwise the rows on the map are laid out.
    source : mapping, optional
        Where the table and the model are, for the commands that the report proposes: ``path``, ``target`` (None if it
        has none), ``model``, ``options``, a dict of the parameters of `newfound.read_table` that it was read with, and
        ``is_training``, whether the model was fitted to this table. Where the rows are a sample, ``sampled_from`` is
        the number of rows it was drawn from.
    with_map : bool, default=True
        Whether there is a map at all; without one ``map`` is None, and there can be no page.
    deadline : Deadline
        What takes long is cut short as it demands.
    on_step : callable
        Called with what is going on, at each step: one for each novel class, and two more.

    Returns
    -------
    dict
        ``title``, ``made_at``, ``table``, ``classes`` (all, in the order of the model), ``weaknesses``,
        ``doubted_rows`` (how many, by reason), ``explanation`` (see `newfound.explain`), ``novelty``, ``routing``,
        ``map``, ``history``, ``batches`` (of updates), ``n_classes``, ``candidates``, ``model`` and ``source``.

    Notes
    -----
    Rows are counted as `newfound discover` writes them to labels.csv: a row with the label of a known class is of that
    class, whatever the model predicts.

    Raises
    ------
    InputError
        If the model is no fitted discoverer, or the table or a parameter cannot be used.
    """
    if not isinstance(model, BaseDiscoverer):
        raise InputError(
            f"Got a model of type {type(model).__name__}, but a report needs a discoverer of newfound's.",
            parameter="model",
            value=model,
            expected="a fitted discoverer",
        )
    if title is not None and not isinstance(title, str):
        raise InputError.of("title", title, "a text or None")
    check_integer("n_map_rows", n_map_rows, low=1)
    rng = pick_generator(random_state)
    _ = model.n_novel_classes_  # says so where it is not fitted
    reading = Reading.of(model, X)
    table = reading.raw
    labels = None if y is None else read_labels(y, table.n_rows)
    codes = model.predict_proba(reading).argmax(axis=1)
    explanation = explain_in_time(
        model, reading, random_state=random_state, deadline=deadline.part(_TIME_TO_EXPLAIN), on_step=on_step
    ).to_dict()
    n_known = len(model.known_classes_)
    wanted = [columns_of(explained) for explained in explanation["classes"]]
    spreads = distribution_facts(reading, codes, wanted, n_known, rng)
    for explained, spread in zip(explanation["classes"], spreads, strict=True):
        explained["distributions"] = spread
    on_step("drawing the map")
    rows = drawn_rows(codes, n_map_rows, _rows_shown(explanation), rng)
    names = [class_name(name) for name in model.classes_.tolist()]
    spelled = [] if labels is None else label_names(labels, model)
    settled = _with_labels(codes, labels, spelled, names[:n_known])
    _count_rows(explanation, settled, n_known)
    doubts = RowDoubts.of(reading, labels)
    facts: Facts = {
        "title": title,
        "made_at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "table": _table_facts(model, table, labels),
        "classes": _class_facts(names, n_known, codes, settled, labels, spelled, doubts, _held_out(model)),
        "weaknesses": list(model.weaknesses_),
        "doubted_rows": doubts.counts(),
        "explanation": explanation,
        "novelty": _novelty_facts(reading, labels),
        "routing": routing_facts(model),
        "map": _map_facts(reading, rows, labels, spelled, explanation, rng, places, deadline) if with_map else None,
        "history": loss_curves(model.history_),
        "batches": [{**record, "class": _batch_class(record["class"])} for record in model.batches_],
        "n_classes": _count_facts(model),
        "candidates": _candidate_facts(model),
        "model": _model_facts(model, random_state),
        "source": None if source is None else dict(source),
    }
    checked: Facts = plain(facts)
    return checked


def plain(value: Any) -> Any:
    """Return a value as JSON has it: no numpy, no NaN, no infinity, names of keys as text."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        ready = value.dtype.kind in "iub" or (value.dtype.kind == "f" and bool(np.isfinite(value).all()))
        return value.tolist() if ready else plain(value.tolist())
    if isinstance(value, list | tuple):
        return list(value) if _READY.issuperset(map(type, value)) else [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


# ---- the table and its classes


def _table_facts(model: BaseDiscoverer, table: Table, labels: Labels | None) -> Facts:
    schema = model.encoder_.schema_
    return {
        "n_rows": table.n_rows,
        "n_columns": len(schema.columns),
        "kinds": Counter(column.kind for column in schema.columns),
        "ignored": {column.name: column.reason for column in schema.ignored[:_IGNORED_SHOWN]},
        "n_labelled": None if labels is None else int(labels.labelled.sum()),
        "n_labels": None if labels is None else labels.n_known,
    }


def _class_facts(
    names: Sequence[str],
    n_known: int,
    codes: Codes,
    settled: Codes,
    labels: Labels | None,
    spelled: Sequence[str],
    doubts: RowDoubts,
    held_out: Mapping[str, float],
) -> list[Facts]:
    """Facts of every class: how many rows are of it or predicted to be, and what labels these carry."""
    of_rows = np.full(len(codes), -1) if labels is None else labels.codes
    together = np.zeros((len(names), len(spelled)), dtype=np.int64)
    np.add.at(together, (codes[of_rows >= 0], of_rows[of_rows >= 0]), 1)
    known_labels = np.isin(spelled, names[:n_known]) if spelled else np.zeros(0, dtype=bool)
    facts = []
    for j, name in enumerate(names):
        order = [int(i) for i in np.argsort(-together[j], kind="stable") if together[j, i]]
        place = spelled.index(name) if name in spelled else None
        facts.append(
            {
                "name": name,
                "is_novel": j >= n_known,
                "n_rows": int((settled == j).sum()),
                "n_predicted": int((codes == j).sum()),
                "n_unlabelled": None if labels is None else int(((codes == j) & (of_rows < 0)).sum()),
                "n_labelled": None if labels is None else (0 if place is None else int(together[:, place].sum())),
                "n_agreeing": None if labels is None else (0 if place is None else int(together[j, place])),
                "held_out": held_out.get(name),
                "n_known_labels": int(together[j, known_labels].sum()),
                "labels": [{"name": spelled[i], "n_rows": int(together[j, i])} for i in order[:_LABELS_SHOWN]],
                "n_labels": len(order),
                "n_unsure": doubts.counts(codes == j)["unsure"],
            }
        )
    return facts


def _held_out(model: BaseDiscoverer) -> dict[str, float]:
    """Share of the labelled rows of each known class that models put there which have not seen them, where known."""
    return {class_name(record["class"]): record["right"] for record in getattr(model, "known_accuracy_", ())}


def _with_labels(codes: Codes, labels: Labels | None, spelled: Sequence[str], known: Sequence[str]) -> Codes:
    """Return the class of each row (n,): that of its label where it is a known one, else the predicted one."""
    if labels is None or not spelled:
        return codes
    places = np.array([known.index(name) if name in known else -1 for name in spelled])
    given = np.where(labels.labelled, places[labels.codes], -1)
    return np.where(given >= 0, given, codes)


def _count_rows(explanation: Facts, settled: Codes, n_known: int) -> None:
    """Count the rows of novel classes as they are written to labels.csv."""
    for place, explained in enumerate(explanation["classes"]):
        explained["n_rows"] = int((settled == n_known + place).sum())
        explained["share"] = explained["n_rows"] / len(settled)
    explanation["n_novel_rows"] = int((settled >= n_known).sum())


def _novelty_facts(reading: Reading, labels: Labels | None) -> Facts | None:
    """How novel the labelled and the unlabelled rows look: shares of rows in bins of the score from 0 to 1."""
    model = reading.model
    if labels is None or not len(model.novel_classes_) or not labels.labelled.any() or not labels.unlabelled.any():
        return None
    score = model.novelty_score(reading)
    shares = {
        kind: (np.histogram(score[mask], _BINS, (0.0, 1.0))[0] / mask.sum()).round(4)
        for kind, mask in (("labelled", labels.labelled), ("unlabelled", labels.unlabelled))
    }
    return {
        **shares,
        "n_labelled_novel": int((score[labels.labelled] >= 0.5).sum()),
        "n_unlabelled_novel": int((score[labels.unlabelled] >= 0.5).sum()),
    }


def routing_facts(model: BaseDiscoverer) -> Facts | None:
    """Say what the unlabelled rows of the fit were taken for, why, and how many are of known classes; None if told."""
    if not hasattr(model, "known_share_"):
        return None
    return {
        "unlabelled": model.unlabelled_,
        "reason": model.unlabelled_reason_,
        "known_share": float(model.known_share_),
        "interval": list(model.known_share_.interval),
        "nothing_novel": model.curation_.n_found == 0,
    }


# ---- the map


def _rows_shown(explanation: Facts) -> Codes:
    """Rows that the cards name, which a reader may look for on the map."""
    shown = [
        row["row"]
        for explained in explanation["classes"]
        for row in (*explained["exemplars"], *explained["borderline"])
    ]
    return np.array(sorted(set(shown)), dtype=np.int64)


def _map_facts(
    reading: Reading,
    rows: NDArray[np.intp],
    labels: Labels | None,
    spelled: Sequence[str],
    explanation: Facts,
    rng: np.random.RandomState,
    known: Places | None,
    deadline: Deadline,
) -> Facts:
    model, some = reading.model, reading.take(rows)
    proba = model.predict_proba(some)
    if known is None:
        places = place_rows(model.transform(some), rng, deadline)
    else:
        places = Places(known.points[rows], known.method)
    of_class = proba.argmax(axis=1)
    columns, telling = map_columns(some.raw, explanation, len(model.known_classes_), len(model.classes_))
    return {
        "method": places.method,
        "rows": rows,
        "x": (places.points[:, 0] * 10_000).round().astype(np.int64),
        "y": (places.points[:, 1] * 10_000).round().astype(np.int64),
        "classes": of_class,
        "probabilities": _three_digits(proba[np.arange(len(rows)), of_class]),
        "labels": None if labels is None else labels.codes[rows],
        "label_names": spelled,
        "middles": [
            int(members[middle_of(places.points[members])]) if len(members) else None
            for members in (np.flatnonzero(of_class == j) for j in range(len(model.classes_)))
        ],
        "columns": columns,
        "n_columns_left_out": reading.raw.n_columns - len(columns),
        "telling": telling,
    }


def _three_digits(shares: Floats) -> Floats:
    """Round shares, but to 1 only what is 1: readers take that for certain."""
    return np.where(shares < 1, np.minimum(shares.round(3), 0.999), 1.0)


def map_columns(drawn: Table, explanation: Facts, n_known: int, n_classes: int) -> tuple[list[Facts], list[list[int]]]:
    """Cells of the rows on the map, as many columns as there is room for, and which of them tell most of each class."""
    wanted = [columns_of(explained) for explained in explanation["classes"]]
    ranks: dict[str, float] = {}
    for names in wanted:
        for place, name in enumerate(names):
            ranks[name] = ranks.get(name, 0.0) + 1 / (1 + place)
    order = sorted(drawn.names, key=lambda name: -ranks.get(name, 0.0))
    kept, room = set(), _MAP_BYTES
    coded: dict[str, Facts] = {}
    for name in order:
        coded[name] = coded_column(name, drawn.columns[name])
        room -= len(json.dumps(coded[name], separators=(",", ":")))
        if room < 0:
            break
        kept.add(name)
    columns = [coded[name] for name in drawn.names if name in kept]
    place_of = {column["name"]: i for i, column in enumerate(columns)}
    leading = [place_of[name] for name in order if name in place_of][:_TELLING]
    own = [[place_of[name] for name in names if name in place_of][:_TELLING] for names in wanted]
    return columns, [*([leading] * n_known), *(own if len(own) == n_classes - n_known else [])]


def columns_of(explained: Facts) -> list[str]:
    """Columns that tell what an explained class is, those of its rules first."""
    in_rules = [condition["column"] for rule in explained["rules"] for condition in rule["conditions"]]
    return list(dict.fromkeys([*in_rules, *(shift["column"] for shift in explained["profile"])]))


def coded_column(name: str, values: NDArray[Any]) -> Facts:
    """Return cells in little space: numbers as they are, anything else as places in a list of its different texts."""
    missing = missing_mask(values)
    if values.dtype == np.float64:
        return {
            "name": name,
            "cells": [None if gone else _lean(x) for x, gone in zip(values.tolist(), missing, strict=True)],
        }
    texts = as_texts(values)
    if holds_booleans(values):
        texts = np.array([None if text is None else text.lower() for text in texts], dtype=object)
    distinct = list(dict.fromkeys(text for text in texts if text is not None))
    place_of: dict[Any, int | None] = {text: i for i, text in enumerate(distinct)} | {None: None}
    return {"name": name, "texts": [shortened(text) for text in distinct], "cells": [place_of[text] for text in texts]}


def _lean(x: float) -> float | int | None:
    if not math.isfinite(x):
        return None
    lean = float(f"{x:.{_DIGITS}g}") if abs(x) < 10**_DIGITS else round(x, 2)
    return int(lean) if lean.is_integer() and abs(lean) < 2**53 else lean


# ---- how it was found


def _batch_class(name: Any) -> str | None:
    return None if name is None else class_name(name)


def loss_curves(history: Sequence[Mapping[str, Any]]) -> list[Facts]:
    """Losses over the epochs of each stage of the training."""
    curves = []
    for stage in dict.fromkeys(str(epoch.get("stage", "")) for epoch in history):
        epochs = [epoch for epoch in history if str(epoch.get("stage", "")) == stage]
        losses = dict.fromkeys(name for epoch in epochs for name in epoch if name not in _NOT_LOSSES)
        for loss in losses:
            points = [(epoch.get("epoch", i + 1), epoch[loss]) for i, epoch in enumerate(epochs) if loss in epoch]
            curves.append(
                {"stage": stage, "loss": loss, "epochs": [p[0] for p in points], "means": [p[1] for p in points]}
            )
    return curves


def _count_facts(model: BaseDiscoverer) -> Facts | None:
    estimate = getattr(model, "n_classes_estimate_", None)
    if estimate is None:
        return None
    return {
        "n_classes": estimate.n_classes,
        "interval": list(estimate.interval),
        "curve": [{"k": point["k"], "probability": point["combined"]} for point in estimate.curve],
        "criteria": list(estimate.criteria),
    }


def _candidate_facts(model: BaseDiscoverer) -> Facts | None:
    """Gather what a discoverer that chose among candidates says of its choice."""
    leaderboard = getattr(model, "leaderboard_", None)
    if leaderboard is None:
        return None
    return {
        "leaderboard": [dict(record) for record in leaderboard],
        "confidence": getattr(model, "confidence_", None),
        "class_confidence": getattr(model, "class_confidence_", None),
    }


def _model_facts(model: BaseDiscoverer, random_state: Any) -> Facts:
    return {
        "name": type(model).__name__,
        "parameters": {name: repr(value) for name, value in sorted(model.get_params(deep=False).items())},
        "temperature": getattr(model, "temperature_", None),
        "n_members": len(model.member_labels_) if hasattr(model, "member_labels_") else None,
        "report_random_state": repr(random_state),
        "versions": {
            "newfound": __version__,
            "Python": platform.python_version(),
            **{name: found for name in _PACKAGES if (found := _version(name))},
        },
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
