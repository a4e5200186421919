"""Hidden classes: labels of known classes are hidden on purpose, to score a discoverer without any novel label."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from newfound.errors import LABELS, InputError, Message, TrainingInterrupted, warn_user
from newfound.metrics import novel_scores
from newfound.parameters import check_choice, check_integer, check_real, pick_generator
from newfound.records import Records
from newfound.selection.hidden_task import HiddenTask
from newfound.selection.packs import Discoverer, check_discoverer, fit_pack
from newfound.selection.space import with_settings
from newfound.tables import Labels, Table, as_table, read_labels
from newfound.tables.sampling import sample_in_proportion

Indices = NDArray[np.intp]
Scores = dict[str, float]

METRICS = ("f1", "acc", "bacc", "nmi", "ari")
HELD_OUT = 0.25
FEWEST_KNOWN = 3
"""Known classes of which two can be hidden while one stays known."""

_MOST_SPLITS = 5  # unless more are asked for: each is a fit
_REDRAWS = 20
_MOST_WATCHED = 5_000
_FEW_ROWS = 10  # of every class, however rare, that a sample has


class HiddenClassKFold:
    """Splits that hide some of the known classes in turn.

    In each split all rows of some known classes lose their labels. A discoverer that is fitted on such a table has to
    find the hidden classes as if they were novel, and since their labels are known after all, it can be scored.

    Parameters
    ----------
    n_splits : int or None, default=None
        Number of splits. None is as many as it takes to hide every known class once, but at least 3 and at most 5.
    n_hidden : int or None, default=None
        Known classes that a split hides. None is a third of them, at least 2; `hidden_class_score` and `tune` take as
        many as there are novel classes, at least 2 and at most half of the known ones. One hidden class alone tells
        little: a discoverer that throws everything together finds it, too.
    random_state : int, RandomState or None, default=None
        Seed. Classes are dealt at random, each about equally often.

    Examples
    --------
    >>> y = ["ant", "ant", "bee", "cat", "dog", None, None]
    >>> for train, hidden in HiddenClassKFold(2, n_hidden=2, random_state=0).split(range(7), y):
    ...     print(train, hidden)
    [0 1 2 5 6] [3 4]
    [3 4 5 6] [0 1 2]
    """

    def __init__(self, n_splits: int | None = None, *, n_hidden: int | None = None, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.n_hidden = n_hidden
        self.random_state = random_state

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield the rows of each split.

        Parameters
        ----------
        X : table of shape (n, n_columns)
            Only its length counts.
        y : labels of shape (n,)
            Known classes; -1, None or NaN where a row is unlabelled.
        groups : ignored
            It is there because scikit-learn's splitters have it.

        Yields
        ------
        train : ndarray of int
            Rows that stay as they are, of known classes and unlabelled.
        hidden : ndarray of int
            Rows of the hidden classes, all of them.
        """
        labels = read_labels(y, len(y if X is None else X))
        n_splits, n_hidden = self._sizes(labels.n_known)
        for fold in deal_classes(labels.n_known, n_hidden, n_splits, pick_generator(self.random_state)):
            hidden = HiddenTask.hide(labels.codes, fold).hidden
            yield np.setdiff1d(np.arange(len(labels.codes)), hidden), hidden

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits, which depends on the known classes in `y` unless it was given."""
        if y is None:
            if self.n_splits is None:
                problem = "but without n_splits the number of splits depends on it"
                raise InputError.of("y", None, problem=problem, cure="pass y")
            return check_integer("n_splits", self.n_splits, low=1)
        return self._sizes(read_labels(y, len(y)).n_known)[0]

    def __repr__(self) -> str:
        return (
            f"HiddenClassKFold(n_splits={self.n_splits}, n_hidden={self.n_hidden}, random_state={self.random_state!r})"
        )

    def _sizes(self, n_known: int) -> tuple[int, int]:
        """Count the splits, and the hidden classes in each."""
        n_hidden = self._n_hidden(n_known)
        n_ways = math.comb(n_known, n_hidden)
        if self.n_splits is None:
            return min(max(3, -(-n_known // n_hidden)), _MOST_SPLITS, n_ways), n_hidden
        n_splits = check_integer("n_splits", self.n_splits, low=1)
        if n_splits > n_ways:
            raise InputError.of(
                "n_splits",
                n_splits,
                problem=f"but there are only {n_ways} ways to hide {n_hidden} of {n_known} known classes",
                cure=f"ask for at most {n_ways} splits",
            )
        return n_splits, n_hidden

    def _n_hidden(self, n_known: int) -> int:
        if self.n_hidden is None:
            return n_hidden_classes(n_known)
        n_hidden = check_integer("n_hidden", self.n_hidden, low=1)
        if n_hidden >= n_known:
            classes = f" has {n_known} known classes, of which at least one must stay known"
            raise InputError.of("n_hidden", n_hidden, problem=Message("but ", LABELS, classes), cure="hide fewer")
        return n_hidden


def n_hidden_classes(n_known: int, n_novel: int | None = None) -> int:
    """Count the known classes that a split should hide.

    Parameters
    ----------
    n_known : int
        Number of known classes.
    n_novel : int or None, default=None
        Number of novel classes, where it is known: the hidden classes are to be a task of the same kind.

    Returns
    -------
    int
        At least 2, since one class cannot be confused with another; at most half of the known classes, so that
        something is left to learn from (of three known classes, one).

    Examples
    --------
    >>> n_hidden_classes(10, 3), n_hidden_classes(10, 9), n_hidden_classes(3, 5)
    (3, 5, 2)
    """
    if n_known < FEWEST_KNOWN:
        raise InputError.about(
            "y",
            f"has {n_known} known class{'es' * (n_known != 1)}, but at least {FEWEST_KNOWN} are needed to hide two and "
            "keep one",
            "Label rows of more classes, or fit a discoverer with its default settings, which needs no hidden classes.",
        )
    wanted = n_known // 3 if n_novel is None else n_novel
    return max(2, min(wanted, n_known // 2))


def deal_classes(n_known: int, n_hidden: int, n_splits: int, rng: np.random.RandomState) -> list[tuple[int, ...]]:
    """Deal the codes of the known classes into splits, those first that were hidden least often."""
    times = np.zeros(n_known, dtype=np.int64)
    dealt: list[tuple[int, ...]] = []
    for _ in range(n_splits):
        for _ in range(_REDRAWS):
            order = np.lexsort((rng.permutation(n_known), times))
            fold = tuple(sorted(order[:n_hidden].tolist()))
            if fold not in dealt:
                break
        dealt.append(fold)
        times[list(fold)] += 1
    return dealt


# ---- scores


def hidden_class_score(
    discoverer: Discoverer,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    metric: Literal["f1", "acc", "bacc", "nmi", "ari"] = "f1",
    with_unlabelled: bool = True,
    held_out: float = HELD_OUT,
    random_state: Any = None,
) -> float:
    """Score a discoverer without any novel label, by how well it finds hidden classes.

    In each split, some known classes are hidden. An unfitted copy of the discoverer is fitted on a table in which their
    rows are unlabelled, and so looks for them together with the novel classes. It is scored on rows of the hidden
    classes that were held out, after the best matching of found and hidden classes.

    Parameters
    ----------
    discoverer : Discoverer
        Left as it is. If ``n_novel_classes`` is "auto", the number is estimated once.
    X : table of shape (n, n_columns)
    y : labels of shape (n,)
        Known classes, at least 3; -1, None or NaN where a row is unlabelled.
    cv : HiddenClassKFold, int or None, default=None
        The splits, or their number. None is ``HiddenClassKFold()``, hiding as many classes as there are novel ones,
        within its limits. Anything with a ``split(X, y)`` that yields rows to keep and rows to hide will do.
    metric : {"f1", "acc", "bacc", "nmi", "ari"}, default="f1"
        "f1" is the mean F1 of the hidden classes, each with the found class that is matched to it. Unlabelled rows in
        that found class count as mistakes, since they are of no known class; the other metrics look at rows of hidden
        classes alone (see :func:`newfound.metrics.novel_scores`), so that a discoverer which throws hidden and novel
        classes together looks better than it is.
    with_unlabelled : bool, default=True
        Whether the unlabelled rows stay in the table, and the novel classes are sought beside the hidden ones. Without
        them a fit is quicker, but "f1" cannot tell whether the hidden classes are kept apart from others.
    held_out : float, default=0.25
        Share of the rows of each hidden class that are scored and not fitted. With 0, the rows that were fitted are
        scored.
    random_state : int, RandomState or None, default=None
        Seed of the splits and of the rows held out, and of the discoverer if it has none of its own.

    Returns
    -------
    float
        Mean over the splits.

    Examples
    --------
    >>> import numpy as np
    >>> from newfound import KMeansDiscoverer, hidden_class_score
    >>> X = np.repeat(np.eye(6), 8, axis=0)
    >>> y = np.repeat([0, 1, 2, 3, -1, -1], 8)
    >>> hidden_class_score(KMeansDiscoverer(n_novel_classes=2, random_state=0), X, y, random_state=0)
    1.0
    """
    check_choice("metric", metric, METRICS)
    scored = hidden_class_scores(
        discoverer, X, y, cv=cv, with_unlabelled=with_unlabelled, held_out=held_out, random_state=random_state
    )
    return float(np.mean([scores[metric] for scores in scored]))


def hidden_class_scores(
    discoverer: Discoverer,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    with_unlabelled: bool = True,
    held_out: float = HELD_OUT,
    random_state: Any = None,
) -> Records:
    """Score a discoverer on hidden classes, split by split; parameters as in :func:`hidden_class_score`.

    Returns
    -------
    Records
        For each split: ``hidden`` (names of the classes), ``n_known`` (classes left), ``n_sought`` (classes to find
        among the unlabelled rows), ``n_scored`` (rows), ``f1``, ``acc``, ``bacc``, ``nmi``, ``ari`` and ``seconds``.
    """
    check_discoverer(discoverer)
    rng = pick_generator(random_state)
    table = HiddenTable(X, y)
    n_novel = table.count_novel(discoverer, rng)
    seed = int(rng.randint(2**31 - 1))
    records = Records()
    for task in table.tasks(n_novel, cv=cv, with_unlabelled=with_unlabelled, held_out=held_out, rng=rng):
        start = time.perf_counter()
        (scores,) = task.score([task.prepared(discoverer, seed)])
        if isinstance(scores, InputError):
            raise scores
        records.append(task.facts() | scores | {"seconds": time.perf_counter() - start})
    return records


class HiddenTable:
    """A table and its labels, of which some are to be hidden.

    Parameters
    ----------
    X : table of shape (n, n_columns)
    y : labels of shape (n,)
    """

    def __init__(self, X: Any, y: Any) -> None:
        self.table: Table = as_table(X)
        self.labels: Labels = read_labels(y, self.table.n_rows)

    def sample(self, most: int, rng: np.random.RandomState) -> HiddenTable:
        """Draw about so many rows, some of every class; itself where it has no more."""
        if self.table.n_rows <= most:
            return self
        rows = sample_in_proportion(self.labels.codes, most, _FEW_ROWS, rng)
        return HiddenTable(self.table.take(rows), self.labels.codes[rows])

    def count_novel(self, discoverer: Any, rng: np.random.RandomState) -> int:
        """Count the novel classes: what the discoverer was told, or an estimate."""
        if not self.labels.unlabelled.any():
            return 0
        if isinstance(discoverer.n_novel_classes, str) and discoverer.n_novel_classes == "auto":
            from newfound.selection.n_classes import estimate_n_novel_classes

            encoder = discoverer.get_params(deep=False).get("encoder")
            seed = int(rng.randint(2**31 - 1))
            estimate = estimate_n_novel_classes(self.table, self.labels.codes, encoder=encoder, random_state=seed)
            return int(estimate.n_classes)
        return check_integer("n_novel_classes", discoverer.n_novel_classes, low=1)

    def tasks(
        self, n_novel: int, *, cv: Any, with_unlabelled: bool, held_out: float, rng: np.random.RandomState
    ) -> list[ScoringTask]:
        """Make a task of each split; parameters as in :func:`hidden_class_score`."""
        if check_real("held_out", held_out, low=0, high=1) == 1:
            raise InputError.of("held_out", 1, "a share from 0 to below 1", problem="which leaves no rows to find")
        codes = self.labels.codes
        unlabelled = np.flatnonzero(self.labels.unlabelled)
        tasks = []
        for train, hidden in self._splits(cv, n_novel, rng):
            base = np.union1d(train, hidden)
            base = base if with_unlabelled else base[codes[base] >= 0]
            held = _hold_out(hidden, codes, held_out, rng)
            # the only row of a class is both fitted and scored
            alone = held[np.bincount(codes[hidden])[codes[held]] == 1]
            fitted = np.setdiff1d(base, np.setdiff1d(held, alone)) if held_out else base
            n_sought = len(np.unique(codes[hidden])) + n_novel * with_unlabelled
            watched, weight = np.empty(0, dtype=np.intp), 0.0
            if with_unlabelled and len(unlabelled):
                watched = rng.permutation(unlabelled)[:_MOST_WATCHED]
                weight = len(unlabelled) / len(watched) * len(held) / len(hidden)
            tasks.append(ScoringTask(self, self._task(hidden), fitted, held, watched, weight, n_sought))
        if not tasks:
            raise InputError.of("cv", cv, problem="which made no splits")
        fewest = min(task.task.n_known for task in tasks)
        if fewest < 2:
            warn_user(
                Message(
                    LABELS,
                    f" has only {self.labels.n_known} known classes: with some of them hidden, {fewest} remains to "
                    "learn from, so the scores say little about the novel classes.",
                )
            )
        return tasks

    def _task(self, hidden: Indices) -> HiddenTask:
        known = np.setdiff1d(np.flatnonzero(self.labels.labelled), hidden)
        return HiddenTask(self.labels.codes, known, hidden)

    def _splits(self, cv: Any, n_novel: int, rng: np.random.RandomState) -> Iterable[tuple[Indices, Indices]]:
        if cv is None or isinstance(cv, int):
            n_hidden = n_hidden_classes(self.labels.n_known, n_novel or None)
            cv = HiddenClassKFold(cv, n_hidden=n_hidden, random_state=rng)
        if isinstance(cv, str) or not hasattr(cv, "split"):
            raise InputError.of("cv", cv, "a HiddenClassKFold, a number of splits or None")
        for train, hidden in cv.split(np.arange(len(self.labels.codes)), self.labels.codes):
            if not (self.labels.codes[hidden] >= 0).all() or not len(hidden):
                problem = "which hides rows without a label, or none"
                raise InputError.of("cv", cv, problem=problem, cure="use HiddenClassKFold")
            yield train, hidden


@dataclass(frozen=True, eq=False)
class ScoringTask:
    """A task of hidden classes, as a table to fit and rows to score.

    Attributes
    ----------
    source : HiddenTable
    task : HiddenTask
    fitted : ndarray of int
        Rows to fit.
    scored : ndarray of int
        Hidden rows that are scored.
    watched : ndarray of int
        Unlabelled rows, which should not be taken for rows of hidden classes.
    weight : float
        What one of these counts, so that they and the scored rows are in the proportion of the table.
    n_sought : int
        Classes to find among the rows without a label.
    """

    source: HiddenTable
    task: HiddenTask
    fitted: Indices
    scored: Indices
    watched: Indices
    weight: float
    n_sought: int

    @property
    def codes(self) -> NDArray[np.int64]:
        """Codes of the known classes for all rows, -1 where there is no label or it is hidden; shape (n,)."""
        codes = self.source.labels.codes.copy()
        codes[self.task.hidden] = -1
        return codes

    def facts(self) -> dict[str, Any]:
        """Say what the task is, for people."""
        labels = self.source.labels
        names = labels.known_classes[np.unique(labels.codes[self.task.hidden])].tolist()
        return {"hidden": names, "n_known": self.task.n_known, "n_sought": self.n_sought, "n_scored": len(self.scored)}

    def prepared(self, discoverer: Any, seed: int) -> Any:
        """Return an unfitted copy that looks for the right number of classes, silently; the seed is for want of one."""
        present = discoverer.get_params(deep=False)
        settings: dict[str, Any] = {"n_novel_classes": self.n_sought}
        if "random_state" in present and present["random_state"] is None:
            settings["random_state"] = seed
        if "verbose" in present:
            settings["verbose"] = 0
        if "unlabelled" in present:
            settings["unlabelled"] = "novel"  # nothing is left to find out: hidden classes are no known ones
        return with_settings(discoverer, settings)

    def score(self, discoverers: Sequence[Any]) -> list[Scores | InputError]:
        """Fit and score discoverers.

        Parameters
        ----------
        discoverers : sequence of Discoverer
            One that was prepared, or several that can be fitted at once.

        Returns
        -------
        list of dict or InputError
            For each its scores, or why it cannot be fitted.
        """
        X, y = self.source.table.take(self.fitted), self.codes[self.fitted]
        X_seen = self.source.table.take(np.concatenate([self.scored, self.watched]))
        with _quiet():
            fitted = _fit_all(discoverers, X, y)
            found = [model if isinstance(model, InputError) else model.predict_novel(X_seen) for model in fitted]
        return [labels if isinstance(labels, InputError) else self._scores_of(labels) for labels in found]

    def _scores_of(self, found: NDArray[Any]) -> Scores:
        truth, n_scored = self.source.labels.codes[self.scored], len(self.scored)
        f1 = matched_f1(truth, found[:n_scored], found[n_scored:], self.weight)
        return {"f1": f1} | novel_scores(truth, found[:n_scored])


def matched_f1(y_true: NDArray[Any], y_pred: NDArray[Any], others: NDArray[Any], weight: float) -> float:
    """Score how well classes are found, and how well they are kept apart from rows that belong to none of them.

    Parameters
    ----------
    y_true, y_pred : ndarray of shape (n,)
        True and found classes of rows.
    others : ndarray of shape (m,)
        Found classes of rows that belong to none of the true classes.
    weight : float
        What one of these rows counts.

    Returns
    -------
    float
        From 0 to 1. The F1 of a true and a found class is twice the number of rows that they share, over the sum of
        their sizes. Classes are matched one to one so that the mean F1 of the true classes is largest; one without a
        partner has 0.

    Examples
    --------
    >>> a, b = np.array(["a", "a"]), np.array([1, 1])
    >>> matched_f1(a, b, np.array([2, 2]), 1.0), matched_f1(a, b, np.array([1, 1]), 1.0)
    (1.0, 0.6666666666666666)
    """
    true_codes = np.unique(y_true, return_inverse=True)[1]
    found_codes = np.unique(np.concatenate([y_pred, others]), return_inverse=True)[1]
    counts = np.zeros((true_codes.max() + 1, found_codes.max() + 1))
    np.add.at(counts, (true_codes, found_codes[: len(y_pred)]), 1.0)
    foreign = weight * np.bincount(found_codes[len(y_pred) :], minlength=counts.shape[1])
    f1 = 2 * counts / (counts.sum(axis=1, keepdims=True) + counts.sum(axis=0) + foreign)
    pairs = linear_sum_assignment(f1, maximize=True)
    return float(f1[pairs].sum() / len(f1))


def _fit_all(discoverers: Sequence[Any], X: Table, y: NDArray[np.int64]) -> list[Any]:
    """Fit discoverers of one pack; where one of them fails, the others do not."""
    try:
        return fit_pack(discoverers, X, y)
    except InputError as error:
        if len(discoverers) == 1:
            return [error]
    return [model for discoverer in discoverers for model in _fit_all([discoverer], X, y)]


def _hold_out(hidden: Indices, codes: NDArray[np.int64], share: float, rng: np.random.RandomState) -> Indices:
    """Draw the rows of hidden classes that are scored; at least one of each, and not all of them if it has two."""
    if not share:
        return hidden
    held = []
    for code in np.unique(codes[hidden]):
        rows = rng.permutation(hidden[codes[hidden] == code])
        held.append(rows[: min(max(1, round(share * len(rows))), max(1, len(rows) - 1))])
    return np.sort(np.concatenate(held))


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep warnings about tables that the user did not make to ourselves, and let Ctrl-C end everything."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", TrainingInterrupted)  # half a training is no result
        try:
            yield
        except TrainingInterrupted:
            raise KeyboardInterrupt from None
