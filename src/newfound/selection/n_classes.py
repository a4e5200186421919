"""How many novel classes the unlabelled rows of a table hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.decomposition import PCA

from newfound.deadline import NEVER, Deadline
from newfound.errors import InputError, ModelFileError
from newfound.incontext.context import ALL_NOVEL
from newfound.incontext.look import Look, look_at
from newfound.learning.machine import one_thread
from newfound.markup import Html, inline, tag
from newfound.parameters import check_integer, pick_generator
from newfound.records import Records
from newfound.selection.criteria import SCALED, Curves, criteria_curves
from newfound.selection.one_class import doubts_of_one, most_for_one, with_caution
from newfound.selection.parting import parting_column
from newfound.selection.source_columns import SourceColumns
from newfound.tables import TableEncoder, as_table, read_labels
from newfound.tables.sampling import sample
from newfound.tables.state import Entries
from newfound.tables.task import DiscoveryTask

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


# Without labels: learned by a conditional logit over 221 tasks with true novel classes, of 47 real tables.
_PRIOR = (-0.194, -1.435, -0.093)  # log odds of k classes before any row is seen: a log k + b (log k)^2 / 2 + c [k = 1]
_WEIGHTS = {
    "modularity": 1.272,
    "linked": 1.068,
    "silhouette": 0.437,
    "clear gaps": 20.0,  # not learned: where a table is so clear, which is rare, no prior may outweigh it
}

_NETWORK = "in-context network"
_LEAST = 1e-12  # probability of a number that the network rules out
_MASS = 0.8
_SHOWN_FROM = 0.01  # probability below which a number of classes is left out of a notebook
_MOST_ROWS = 1_500  # whose distances are measured
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
    probability to each number of classes up to 40; of more than 64 known classes it sees some. Without labelled rows it
    cannot be asked. Then criteria are measured for every number of classes, and combined into a probability.

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
    seen = look_at(task, rng, unlabelled=ALL_NOVEL)
    return estimate_from_task(task, seen, rng, max_classes=max_classes, columns=SourceColumns.of(used))


def estimate_from_task(
    task: DiscoveryTask,
    seen: Look | None,
    rng: np.random.RandomState,
    *,
    max_classes: int | None = None,
    columns: SourceColumns | None = None,
    deadline: Deadline = NEVER,
) -> NClassesEstimate:
    """Estimate how many novel classes a task has.

    Parameters
    ----------
    task : DiscoveryTask
        Of which at least one row is unlabelled.
    seen : Look or None
        What the in-context network says of the task. Where it was not asked, criteria are measured of the unlabelled
        rows alone.
    rng : RandomState
    max_classes, columns, deadline : as for `estimate_without_labels`

    Returns
    -------
    NClassesEstimate
    """
    if seen is None:
        rows = task.unlabelled_rows
        return estimate_without_labels(rows, rng, max_classes=max_classes, columns=columns, deadline=deadline)
    n_different = len(np.unique(task.rows[seen.places[task.codes[seen.places] < 0]], axis=0))
    probability = seen.n_novel[1 : 1 + max(1, n_different)][:max_classes] + _LEAST
    return _careful(probability / probability.sum(), _conclude_network, task.rows, task.codes, columns, rng)


def estimate_without_labels(
    rows: Floats,
    rng: np.random.RandomState,
    *,
    max_classes: int | None = None,
    columns: SourceColumns | None = None,
    deadline: Deadline = NEVER,
) -> NClassesEstimate:
    """Estimate how many classes rows hold by criteria, without looking at any label.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Encoded rows.
    rng : RandomState
    max_classes : int, optional
        20 unless told.
    columns : SourceColumns, optional
        The columns behind the rows, to look for one that parts them.
    deadline : Deadline
        Fewer rows are looked at where there is little time.

    Returns
    -------
    NClassesEstimate
    """
    most = SCALED if max_classes is None else max_classes
    # What takes longest, distances between all rows, grows with the square of their number.
    share = float(np.clip(np.sqrt(deadline.room / _SECONDS), _FEWEST_DRAWN, 1.0))
    some = _main(rows[sample(np.arange(len(rows)), round(share * _MOST_ROWS), rng)], rng)
    n_classes = _countable(some, max(most, SCALED))
    with one_thread():
        curves = criteria_curves(some, n_classes) if len(n_classes) > 1 else {}
    short = {name: curve[:most] for name, curve in curves.items()}
    log = np.log(n_classes[:most])
    prior = _PRIOR[0] * log + _PRIOR[1] * log**2 / 2 + _PRIOR[2] * (log == 0)
    probability = np.exp(log_softmax(prior + sum(_WEIGHTS[name] * curve for name, curve in short.items())))
    codes = np.full(len(rows), -1)
    return _careful(probability, partial(_conclude, prior, short), rows, codes, columns, rng)


def _careful(
    probability: Floats,
    conclude: Callable[[Floats], NClassesEstimate],
    rows: Floats,
    codes: Codes,
    columns: SourceColumns | None,
    rng: np.random.RandomState,
) -> NClassesEstimate:
    """Conclude from the probabilities of 1, 2, ... classes, with caution where that is one class; (K,)."""
    if len(probability) == 1 or _median(probability) > 1:
        return conclude(probability)
    parting = None if columns is None else parting_column(columns, rows, codes, rng)
    cautious = with_caution(probability, parting, most_for_one(parting))
    found = conclude(cautious)
    return replace(found, doubts=tuple(doubts_of_one(found.n_classes, found.interval, cautious, parting)))


def _countable(rows: Floats, most: int) -> Codes:
    """Numbers of classes that rows (n, d) could tell: at least one, and two fewer than there are different rows."""
    n_different = len(np.unique(rows, axis=0))
    return np.arange(1, max(1, min(most, n_different - 2)) + 1)


def _main(rows: Floats, rng: np.random.RandomState) -> Floats:
    """Leading principal components of rows with many columns."""
    n_components = min(_COMPONENTS, len(rows) - 1)
    if rows.shape[1] <= _COMPONENTS or n_components < 1:
        return rows
    found: Floats = PCA(n_components, random_state=rng).fit_transform(rows)
    return found


# ---- the estimate


def _conclude(prior: Floats, curves: Curves, probability: Floats) -> NClassesEstimate:
    """Make an estimate of a probability (K,), and show the prior (K,) and the weighted curves (K,) behind it."""
    chosen = _median(probability)
    expected = _median(np.exp(log_softmax(prior)))
    shown = {"prior": prior - prior.max(), **curves}
    curve = Records(
        {"k": k + 1, "combined": float(probability[k])} | {name: float(values[k]) for name, values in shown.items()}
        for k in range(len(prior))
    )
    criteria = Records(
        {
            "criterion": name,
            "n_classes": expected if name == "prior" else _preferred(values, expected),
            "weight": 1.0 if name == "prior" else _WEIGHTS[name],
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
