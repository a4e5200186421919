"""How many novel classes the unlabelled rows of a table hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.decomposition import PCA

from newfound.deadline import NEVER, Deadline
from newfound.errors import InputError, ModelFileError
from newfound.learning.machine import one_thread
from newfound.markup import Html, inline, tag
from newfound.parameters import check_integer, pick_generator
from newfound.records import Records
from newfound.selection.criteria import SCALED, CountingTask, Curves, criteria_curves
from newfound.selection.hidden_task import HiddenTask
from newfound.selection.network_count import network_count
from newfound.selection.one_class import Rehearsals, doubts_of_one, most_for_one, with_caution
from newfound.selection.parting import parting_column
from newfound.selection.source_columns import SourceColumns
from newfound.tables import TableEncoder, as_table, read_labels
from newfound.tables.state import Entries
from newfound.tables.task import DiscoveryTask

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Prior:
    """Log odds of k classes before any row is seen, up to a constant.

    They are ``a log k + b (log k)^2 / 2 + single [k = 1] + known log k (log(n_known + 1) - 1.5)``.
    """

    a: float
    b: float
    single: float
    known: float

    def curve(self, n_classes: Codes, n_known: int) -> Floats:
        log = np.log(n_classes)
        slope = self.a + self.known * (np.log(n_known + 1.0) - 1.5)
        curve: Floats = slope * log + self.b * log**2 / 2 + self.single * (n_classes == 1)
        return curve


# Learned by a conditional logit over 221 tasks with true novel classes and 891 with hidden ones, of 47 real tables.
# The prior of hidden tasks differs, because we choose how many classes are hidden.
_PRIOR = _Prior(0.161, -1.730, -0.419, 1.256)
_HIDDEN_PRIOR = _Prior(-0.161, -1.726, -0.507, 0.608)
_WEIGHTS = {
    "halves": 1.462,
    "modularity": 1.134,
    "linked": 0.690,
    "crossing": 0.505,
    "leaving": 0.453,
    "pair odds": 0.400,
    "spread": 0.344,
    "silhouette": 0.113,
}
_BLIND_PRIOR = _Prior(-0.194, -1.435, -0.093, 0.0)
_BLIND_WEIGHTS = {"modularity": 1.272, "linked": 1.068, "silhouette": 0.437}
# Not learned: real tables are hardly ever so clear, but where one is, no prior may outweigh it.
_FIXED_WEIGHTS = {"unanimous": 3.0, "clear gaps": 20.0}

_NETWORK = "in-context network"
_FIRMNESS = 10.0  # how firmly a table's own weights are tied to those above
_TASKS = 5
_FEWEST_KNOWN = 4  # known classes, of which some are hidden
_MOST_HIDDEN = 12
_FEWEST_ROWS = 8  # of a hidden task
_MASS = 0.8
_SHOWN_FROM = 0.01  # probability below which a number of classes is left out of a notebook
_MOST_UNLABELLED, _MOST_KNOWN, _MOST_HIDDEN_ROWS = 1_500, 1_500, 1_000
_COMPONENTS = 50
_SECONDS = 3.0  # for so many rows, on one slow core
_FEWEST_DRAWN = 0.15  # of these rows, however little time there is


@dataclass(frozen=True)
class NClassesEstimate:
    """An estimate of the number of novel classes.

    Parameters
    ----------
    n_classes : int
        The estimate: half of the probability lies at or below it.
    interval : tuple of int
        Lowest and highest number of classes of a range around the estimate that has a probability of 80 %.
    curve : Records
        For each number of classes ``k`` its probability (``combined``), and what each criterion says of it: the
        higher, the more speaks for it.
    criteria : Records
        For each ``criterion`` the number of classes it would choose alone (``n_classes``), and its ``weight``. Where
        the in-context network was asked, it is the only one. Elsewhere the first is the prior, which looks at no row;
        a criterion that has no preference says what the prior says.
    doubts : tuple of str
        What speaks against the estimate, in words, where it is one class or the count alone says so: there a mistake
        hides most. Empty elsewhere.
    """

    n_classes: int
    interval: tuple[int, int]
    curve: Records
    criteria: Records
    doubts: tuple[str, ...] = ()

    def to_facts(self) -> dict[str, list[Any]]:
        """Return the estimate as facts for the model file: lists of texts, or of dicts of numbers and texts."""
        low, high = self.interval
        return {
            "count": [{"n_classes": self.n_classes, "low": low, "high": high}],
            "count_curve": list(self.curve),
            "count_criteria": list(self.criteria),
            "count_doubts": list(self.doubts),
        }

    @classmethod
    def from_facts(cls, facts: Mapping[str, list[Any]]) -> NClassesEstimate:
        """Read `to_facts`; ModelFileError for facts that make no sense."""
        count, curve, criteria, doubts = (
            facts.get(f"count{part}", []) for part in ("", "_curve", "_criteria", "_doubts")
        )
        named = Entries(count[0] if len(count) == 1 else None, "the count")
        found, low, high = (named.get(name, int) for name in ("n_classes", "low", "high"))
        if not 0 <= low <= found <= high or len(count[0]) != 3:
            raise ModelFileError("the count must be a number of classes within its interval.")
        names = [Entries(row, "a criterion of the count").get("criterion", str) for row in criteria]
        if not all(isinstance(row["n_classes"], int) and row["weight"] >= 0 and len(row) == 3 for row in criteria):
            raise ModelFileError("each criterion of the count must have a number of classes and a weight.")
        keys = {"k", "combined", *names}
        if not curve or not all(isinstance(point, dict) and point.keys() == keys for point in curve):
            raise ModelFileError(f"the curve of the count must have dicts of {', '.join(sorted(keys))}.")
        numbers = np.array([[point[key] for key in keys] for point in curve], dtype=np.float64)
        shares = [point["combined"] for point in curve]
        if (
            numbers.ndim != 2
            or not all(isinstance(point["k"], int) for point in curve)
            or not 0 <= min(shares) <= max(shares) <= 1
        ):
            raise ModelFileError("the curve of the count must have numbers of classes, and probabilities from 0 to 1.")
        if not all(isinstance(doubt, str) for doubt in doubts):
            raise ModelFileError("the doubts of the count must be texts.")
        return cls(found, (low, high), Records(curve), Records(criteria), tuple(doubts))

    def plot(self, path: str | PathLike[str] | None = None) -> Any:
        """Draw the probability of each number of classes, and the criteria behind it.

        Parameters
        ----------
        path : str or path, optional
            A file to write as well, .png or .svg.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from newfound.pictures.counts import Criterion, draw_counts

        drawn = [
            Criterion(row["criterion"], row["weight"] * np.array([point[row["criterion"]] for point in self.curve]))
            for row in self.criteria
        ]
        probabilities = [point["combined"] for point in self.curve]
        paths = [] if path is None else [Path(path)]
        return draw_counts(paths, probabilities, drawn, chosen=self.n_classes, interval=self.interval)

    def __repr__(self) -> str:
        low, high = self.interval
        doubts = f", doubts={list(self.doubts)}" if self.doubts else ""
        return f"NClassesEstimate(n_classes={self.n_classes}, interval=({low}, {high}){doubts})"

    def _repr_html_(self) -> Html:
        low, high = self.interval
        counts = Records(
            {"novel classes": str(point["k"]), "probability": round(point["combined"], 3)}
            for point in self.curve
            if point["combined"] >= _SHOWN_FROM
        )
        classes = "1 novel class" if self.n_classes == 1 else f"{self.n_classes} novel classes"
        return inline(
            tag("p", tag("b", classes), f"; between {low} and {high} with a probability of at least 80 %."),
            tag("ul", *(tag("li", doubt) for doubt in self.doubts), class_="doubt") if self.doubts else None,
            counts._repr_html_(),
            tag("details", tag("summary", "What each criterion would choose"), self.criteria._repr_html_()),
        )


def estimate_n_novel_classes(
    X: Any,
    y: Any = None,
    *,
    max_classes: int | None = None,
    encoder: TableEncoder | None = None,
    random_state: Any = None,
) -> NClassesEstimate:
    """Estimate how many novel classes the unlabelled rows of a table hold.

    The in-context network (see `InContextDiscoverer`) looks at labelled and unlabelled rows together, and gives a
    probability to each number of classes up to 40. Without labelled rows, or with more than 64 known classes, it cannot
    be asked. Then criteria are measured for every number of classes, and combined into a probability.

    One class is the count that hides most where it is wrong. Its probability is held down by how often several classes
    are taken for one, and by a column that parts the unlabelled rows into groups more clearly than any known class.

    Parameters
    ----------
    X : pandas, polars or pyarrow table, or numpy array, of shape (n, n_columns)
        The table.
    y : labels of shape (n,)
        Known classes; -1, None or NaN where a row is unlabelled. The unlabelled rows are taken to be of novel classes.
    max_classes : int, optional
        The largest number of classes that is considered; 40 unless told, or 20 where the network cannot be asked.
    encoder : TableEncoder, optional
        How the table becomes numbers; as every discoverer does it unless told.
    random_state : int, RandomState or None
        Of large tables, some rows drawn at random are looked at: at most 2,000, or about 1,000 of 50 columns.

    Returns
    -------
    NClassesEstimate

    Raises
    ------
    InputError
        If there are no unlabelled rows, or a parameter cannot be used.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(7), 40)
    >>> X = 9 * rng.normal(size=(7, 5))[y] + rng.normal(size=(280, 5))
    >>> estimate_n_novel_classes(X, np.where(y < 4, y, -1), random_state=0).n_classes
    3
    """
    if encoder is not None and not isinstance(encoder, TableEncoder):
        raise InputError.of("encoder", encoder, "None or a TableEncoder, e.g. TableEncoder()")
    if max_classes is not None:
        check_integer("max_classes", max_classes, low=1)
    rng = pick_generator(random_state)
    table = as_table(X)
    labels = read_labels(y, table.n_rows)
    if not labels.unlabelled.any():
        raise InputError.about("y", "has no unlabelled rows to count classes of", "Mark them with -1, None or NaN.")
    used = TableEncoder() if encoder is None else clone(encoder)
    rows = used.fit_table(table).transform_table(table)
    task = DiscoveryTask(rows, labels.codes, labels.n_known, 0, used.layout_)
    return estimate_from_task(task, rng, max_classes=max_classes, columns=SourceColumns.of(used))


def estimate_from_task(
    task: DiscoveryTask,
    random_state: Any,
    *,
    max_classes: int | None = None,
    columns: SourceColumns | None = None,
    deadline: Deadline = NEVER,
    device: torch.device | str = "cpu",
) -> NClassesEstimate:
    """Estimate how many novel classes a task has: by the in-context network where it can be asked, or by criteria.

    Parameters
    ----------
    task : DiscoveryTask
        Of which at least one row is unlabelled.
    random_state, max_classes, columns, deadline : as for `estimate_from_rows`
    device : torch.device or str, default="cpu"
        Where the network is asked.

    Returns
    -------
    NClassesEstimate
    """
    rng = pick_generator(random_state)
    probability = network_count(task, rng, deadline, device)
    if probability is None:
        return estimate_from_rows(task.rows, task.codes, rng, max_classes, columns, deadline)
    probability = probability[:max_classes] / probability[:max_classes].sum()
    return _careful(probability, _conclude_network, task.rows, task.codes, columns, Rehearsals(), rng)


def estimate_from_rows(
    rows: Floats,
    codes: Codes,
    random_state: Any,
    max_classes: int | None = None,
    columns: SourceColumns | None = None,
    deadline: Deadline = NEVER,
) -> NClassesEstimate:
    """Estimate how many novel classes encoded rows hold.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Encoded rows, of which at least one is unlabelled.
    codes : ndarray of shape (n,), int64
        Known classes 0, 1, ...; -1 where a row is unlabelled.
    random_state : int, RandomState or None
    max_classes : int, optional
        20 unless told.
    columns : SourceColumns, optional
        The columns behind the rows, to look for one that parts the unlabelled rows.
    deadline : Deadline
        Fewer rows are looked at where there is little time, and classes are hidden while there is some.

    Returns
    -------
    NClassesEstimate
    """
    rng = pick_generator(random_state)
    most = SCALED if max_classes is None else max_classes
    known, unlabelled = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    n_known = len(np.unique(codes[known]))
    prior, weights = (_PRIOR, _WEIGHTS) if n_known else (_BLIND_PRIOR, _BLIND_WEIGHTS)
    # What takes longest, distances between all rows, grows with the square of their number.
    share = float(np.clip(np.sqrt(deadline.room / _SECONDS), _FEWEST_DRAWN, 1.0))
    task = _drawn_task(rows, codes, unlabelled, known, _MOST_UNLABELLED, share, rng)
    n_classes = _countable(task.unlabelled, max(most, SCALED))
    rehearsals = Rehearsals()
    with one_thread():
        curves = criteria_curves(task, n_classes, rng) if len(n_classes) > 1 else {}
        if curves and n_known >= _FEWEST_KNOWN:
            weights, rehearsals = _tuned(weights, list(_hidden_tasks(rows, codes, share, rng)), rng, deadline)
    short = {name: curve[:most] for name, curve in curves.items()}
    weights = {**weights, **_FIXED_WEIGHTS}
    start = prior.curve(n_classes[:most], n_known)
    probability = np.exp(log_softmax(start + sum(weights[name] * curve for name, curve in short.items())))
    conclude = partial(_conclude, start, short, weights)
    return _careful(probability, conclude, rows, codes, columns, rehearsals, rng)


def _careful(
    probability: Floats,
    conclude: Callable[[Floats], NClassesEstimate],
    rows: Floats,
    codes: Codes,
    columns: SourceColumns | None,
    rehearsals: Rehearsals,
    rng: np.random.RandomState,
) -> NClassesEstimate:
    """Conclude from the probabilities of 1, 2, ... classes, with caution where that is one class; (K,)."""
    if len(probability) == 1 or _median(probability) > 1:
        return conclude(probability)
    parting = None if columns is None else parting_column(columns, rows, codes, rng)
    cautious = with_caution(probability, parting, most_for_one(parting, rehearsals))
    found = conclude(cautious)
    return replace(found, doubts=tuple(doubts_of_one(found.n_classes, found.interval, cautious, parting)))


def _countable(rows: Floats, most: int) -> Codes:
    """Numbers of classes that rows (n, d) could tell: at least one, and two fewer than there are different rows."""
    n_different = len(np.unique(rows, axis=0))
    return np.arange(1, max(1, min(most, n_different - 2)) + 1)


def _drawn_task(
    rows: Floats, codes: Codes, sought: Codes, known: Codes, most: int, share: float, rng: np.random.RandomState
) -> CountingTask:
    """Draw some of the rows whose classes are sought and some known ones, in their leading principal components."""
    some, taught = (_drawn(places, round(share * n), rng) for places, n in ((sought, most), (known, _MOST_KNOWN)))
    both = rows[np.concatenate([some, taught])]
    n_components = min(_COMPONENTS, len(both) - 1)
    if both.shape[1] > _COMPONENTS and n_components > 0:
        both = PCA(n_components, random_state=rng).fit_transform(both)
    _, seen = np.unique(codes[taught], return_inverse=True)
    return CountingTask(both[: len(some)], both[len(some) :], seen.astype(np.int64))


def _drawn(places: Codes, most: int, rng: np.random.RandomState) -> Codes:
    return places if len(places) <= most else rng.choice(places, most, replace=False)


# ---- hidden tasks


def _hidden_tasks(
    rows: Floats, codes: Codes, share: float, rng: np.random.RandomState
) -> Iterator[tuple[HiddenTask, CountingTask]]:
    """Hide a few to many of the known classes, each time others."""
    known = np.unique(codes[codes >= 0])
    for n_hidden in _numbers_hidden(len(known), rng):
        hidden = HiddenTask.hide(codes, rng.choice(known, n_hidden, replace=False).tolist())
        if len(hidden.hidden) >= _FEWEST_ROWS:
            yield hidden, _drawn_task(rows, codes, hidden.hidden, hidden.known, _MOST_HIDDEN_ROWS, share, rng)


def _numbers_hidden(n_known: int, rng: np.random.RandomState) -> Codes:
    """How many known classes each task hides: evenly from 2 up, and some of these numbers again."""
    highest = n_known - 1 if n_known <= 5 else min(n_known - 2, _MOST_HIDDEN)
    numbers = np.unique(np.linspace(2, highest, _TASKS).round().astype(np.int64))
    return np.concatenate([numbers, rng.choice(numbers, _TASKS - len(numbers))])


def _tuned(
    weights: Mapping[str, float],
    tasks: Sequence[tuple[HiddenTask, CountingTask]],
    rng: np.random.RandomState,
    deadline: Deadline,
) -> tuple[dict[str, float], Rehearsals]:
    """Shift weights towards those under which the numbers of hidden classes are probable; and say how they fare."""
    names, start = list(weights), np.array(list(weights.values()))
    examples: list[tuple[Floats, Floats, Floats]] = []
    for hidden, task in tasks:
        if deadline.passed:
            break
        n_classes = _countable(task.unlabelled, SCALED)
        if len(n_classes) < hidden.n_hidden:
            continue
        curves = criteria_curves(task, n_classes, rng)
        prior = _HIDDEN_PRIOR.curve(n_classes, hidden.n_known) + _fixed(curves)
        aim = _target(n_classes, hidden.n_hidden)
        examples.append((np.stack([curves[name] for name in names], axis=1), prior, aim))

    def misfit(now: Floats) -> tuple[float, Floats]:
        loss, slope = _FIRMNESS / 2 * float(np.square(now - start).sum()), _FIRMNESS * (now - start)
        for features, prior, target in examples:
            log = log_softmax(features @ now + prior)
            loss -= float(target @ log)
            slope += features.T @ (np.exp(log) - target)
        return loss, slope

    found = minimize(misfit, start, jac=True, method="L-BFGS-B")
    counts = [_median(np.exp(log_softmax(features @ found.x + prior))) for features, prior, _ in examples]
    return dict(zip(names, map(float, found.x), strict=True)), Rehearsals(len(counts), counts.count(1))


def _target(n_classes: Codes, truth: int) -> Floats:
    """Probabilities to aim at: next to the truth is better than anywhere else; shape (K,)."""
    off = np.abs(n_classes - truth)
    target = np.where(off <= 1, np.exp(-off.astype(np.float64)), 0.0)
    share: Floats = target / target.sum()
    return share


def _fixed(curves: Curves) -> Floats:
    fixed: Floats = np.sum([weight * curves[name] for name, weight in _FIXED_WEIGHTS.items()], axis=0)
    return fixed


# ---- the estimate


def _conclude(prior: Floats, curves: Curves, weights: Mapping[str, float], probability: Floats) -> NClassesEstimate:
    """Make an estimate of a probability (K,), and show the prior (K,) and the weighted curves (K,) behind it."""
    chosen = _median(probability)
    expected = _median(np.exp(log_softmax(prior)))
    shown = {"prior": prior - prior.max(), **{name: curves[name] for name in weights if name in curves}}
    curve = Records(
        {"k": k + 1, "combined": float(probability[k])} | {name: float(values[k]) for name, values in shown.items()}
        for k in range(len(prior))
    )
    criteria = Records(
        {
            "criterion": name,
            "n_classes": expected if name == "prior" else _preferred(values, expected),
            "weight": 1.0 if name == "prior" else float(weights[name]),
        }
        for name, values in shown.items()
    )
    return NClassesEstimate(chosen, _interval(probability, chosen), curve, criteria)


def _conclude_network(probability: Floats) -> NClassesEstimate:
    """Make an estimate of the network's probabilities (K,)."""
    chosen = _median(probability)
    curve = Records(
        {"k": k, "combined": float(share), _NETWORK: float(np.log(share))} for k, share in enumerate(probability, 1)
    )
    criteria = Records([{"criterion": _NETWORK, "n_classes": chosen, "weight": 1.0}])
    return NClassesEstimate(chosen, _interval(probability, chosen), curve, criteria)


def _median(probability: Floats) -> int:
    return int(np.searchsorted(probability.cumsum(), 0.5 * probability.sum())) + 1


def _preferred(curve: Floats, otherwise: int) -> int:
    """Find the number of classes a criterion prefers.

    A criterion that is content with all small numbers says the largest of them, one that is content with all large
    ones the smallest.
    """
    best = np.flatnonzero(curve >= curve.max() - 1e-9)
    if len(best) == len(curve):
        return otherwise
    return int(best[-1] if best[0] == 0 else best[0]) + 1


def _interval(probability: Floats, chosen: int) -> tuple[int, int]:
    """Widen the range around the estimate by the more probable neighbour until it has the wanted probability."""
    low = high = chosen - 1
    while probability[low : high + 1].sum() < _MASS:
        below = probability[low - 1] if low else -1.0
        above = probability[high + 1] if high + 1 < len(probability) else -1.0
        low, high = (low - 1, high) if below >= above else (low, high + 1)
    return low + 1, high + 1
