"""How well found classes agree with true ones.

Found classes have no names of their own, so scores do not depend on how they are named. ACC and BACC first pair each
found class with at most one true class (the Hungarian method); NMI and ARI need no pairing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, roc_auc_score
from sklearn.metrics.cluster import contingency_matrix

from newfound.errors import InputError
from newfound.parameters import check_weights

__all__ = [
    "ClassMatching",
    "balanced_clustering_accuracy",
    "clustering_accuracy",
    "expected_calibration_error",
    "match_classes",
    "match_novel_classes",
    "novel_scores",
    "open_world_accuracy",
    "open_world_scores",
]


@dataclass(frozen=True, eq=False)
class ClassMatching:
    """The one-to-one pairing of two partitions that shares the most rows.

    Attributes
    ----------
    true_classes : ndarray of shape (n_true,)
        Distinct labels of the first partition, sorted.
    pred_classes : ndarray of shape (n_pred,)
        Distinct labels of the second partition, sorted.
    counts : ndarray of shape (n_true, n_pred)
        Rows shared by each true and each found class.
    pred_of_true : ndarray of shape (n_true,)
        Index into ``pred_classes`` of the partner of each true class, -1 where it has none.
    true_of_pred : ndarray of shape (n_pred,)
        Index into ``true_classes`` of the partner of each found class, -1 where it has none.

    Notes
    -----
    Exactly ``min(n_true, n_pred)`` pairs are made, so a pair may share no row at all. Between pairings that share
    equally many rows the choice is arbitrary, but the same input gives the same pairing.
    """

    true_classes: NDArray[Any]
    pred_classes: NDArray[Any]
    counts: NDArray[np.int64]
    pred_of_true: NDArray[np.intp]
    true_of_pred: NDArray[np.intp]

    @property
    def matched_counts(self) -> NDArray[np.int64]:
        """Rows each true class shares with its partner, shape (n_true,); 0 where it has none."""
        shared = self.counts[np.arange(len(self.true_classes)), self.pred_of_true]
        return np.where(self.pred_of_true >= 0, shared, 0)


def match_classes(y_true: ArrayLike, y_pred: ArrayLike) -> ClassMatching:
    """Pair the classes of two partitions of the same rows so that the pairs share the most rows.

    Serves scoring (true against found classes) as well as aligning two partitions of which neither is the truth.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels of any type, not necessarily the same on both sides. No label may be missing (None, NaN); -1 is a label
        like any other.

    Returns
    -------
    ClassMatching

    Raises
    ------
    InputError
        For inputs that are empty, not one-dimensional, of different lengths, or with missing labels.

    Examples
    --------
    >>> matching = match_classes(["cat", "cat", "dog"], [7, 7, 3])
    >>> matching.pred_classes[matching.pred_of_true].tolist()
    [7, 3]
    """
    return _match(_read_pair(y_true, y_pred))


def clustering_accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Share of rows whose found class is the partner of their true class (ACC).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and found labels, as in :func:`match_classes`.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    return _accuracy(match_classes(y_true, y_pred))


def balanced_clustering_accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Mean recall over the true classes (BACC), under the matching that is best for ACC.

    The matching is the paper's: it maximises ACC, not BACC. A true class without a partner has recall 0.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and found labels, as in :func:`match_classes`.

    Returns
    -------
    float
        Between 0 and 1.

    Notes
    -----
    Where several matchings reach the same ACC, BACC may depend on which of them is chosen; see :class:`ClassMatching`.

    Examples
    --------
    >>> balanced_clustering_accuracy([0, 0, 0, 1], [5, 5, 5, 5])
    0.5
    """
    return _balanced_accuracy(match_classes(y_true, y_pred))


def novel_scores(y_true: ArrayLike, y_pred: ArrayLike) -> dict[str, float]:
    """Score found classes against true ones in the four ways the paper reports.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and found labels, as in :func:`match_classes`.

    Returns
    -------
    dict
        ``acc``, ``bacc`` and ``nmi`` between 0 and 1; ``ari`` at most 1, and below 0 for agreement worse than chance.

    Examples
    --------
    >>> novel_scores([0, 0, 1, 1], ["x", "x", "y", "y"])
    {'acc': 1.0, 'bacc': 1.0, 'nmi': 1.0, 'ari': 1.0}
    """
    pair = _read_pair(y_true, y_pred)
    matching = _match(pair)
    nmi = float(normalized_mutual_info_score(pair.true_codes, pair.pred_codes))
    return {
        "acc": _accuracy(matching),
        "bacc": _balanced_accuracy(matching),
        # rounding inside scikit-learn can leave the unit interval by an ulp
        "nmi": min(max(nmi, 0.0), 1.0),
        "ari": float(adjusted_rand_score(pair.true_codes, pair.pred_codes)),
    }


def open_world_scores(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    known_classes: ArrayLike,
    *,
    novelty: ArrayLike | None = None,
    told_novel: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
) -> dict[str, Any]:
    """Score predictions of rows of which some are of known and some of novel classes.

    Known classes have names: a row is right where it gets the name of its class. Novel classes have none, so each found
    one is first paired with at most one true class, as in :func:`match_classes`; a novel row that is taken for one of
    a known class is wrong, and so is a known row that is taken for a novel one.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted classes, of one type.
    known_classes : array-like of shape (n_known,)
        The classes that were known; all others in `y_true` are novel.
    novelty : array-like of shape (n,), optional
        How novel each row looks, for ``auroc``.
    told_novel : array-like of shape (n,), optional
        The novel class that each row gets if it is known to be novel, for ``told_novel``; not read in known rows.
    confidence : array-like of shape (n,), optional
        Probability of the predicted class of each row, for ``ece``.

    Returns
    -------
    dict
        ``known``, ``novel`` and ``all``, each with ``rows``, ``acc``, ``bacc``, ``nmi``, ``ari`` and, with
        `confidence`, ``ece`` (:func:`expected_calibration_error`), or None without such rows; ``auroc``, the
        probability that a novel row looks more novel than a known one, None unless there are both; ``told_novel``,
        scores of the novel rows if they are known to be novel, or None.

    Examples
    --------
    >>> scores = open_world_scores(["a", "a", "b", "b"], ["a", "a", "novel_0", "a"], ["a"])
    >>> scores["known"]["acc"], scores["novel"]["acc"], scores["all"]["acc"]
    (1.0, 0.5, 0.75)
    """
    truth, found = _read_labels(y_true, "y_true"), _read_labels(y_pred, "y_pred")
    _check_lengths(truth, found)
    known = np.asarray(known_classes)
    novel, right = ~np.isin(truth, known), _right(truth, found, known)
    by_rows = {"known": ~novel, "novel": novel, "all": np.ones(len(truth), dtype=np.bool_)}
    scores: dict[str, Any] = {
        name: _scores_of(truth[rows], found[rows], right[rows]) if rows.any() else None
        for name, rows in by_rows.items()
    }
    if confidence is not None:
        sure = np.asarray(confidence)
        for name, rows in by_rows.items():
            if rows.any():
                scores[name]["ece"] = expected_calibration_error(sure[rows], right[rows])
    scores["auroc"] = None
    if novelty is not None and 0 < novel.sum() < len(novel):
        scores["auroc"] = float(roc_auc_score(novel, np.asarray(novelty)))
    scores["told_novel"] = None
    if told_novel is not None and novel.any():
        told = np.asarray(told_novel)[novel]
        scores["told_novel"] = {"rows": int(novel.sum()), **novel_scores(truth[novel], told)}
    return scores


def match_novel_classes(y_true: ArrayLike, y_pred: ArrayLike, known_classes: ArrayLike) -> dict[Any, Any]:
    """Say which true class each found novel class was paired with, as in :func:`open_world_scores`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted classes, of one type.
    known_classes : array-like of shape (n_known,)
        The classes that were known; all others are novel.

    Returns
    -------
    dict
        Each found novel class and its true class; None where it shares no row with one that is left for it.

    Examples
    --------
    >>> match_novel_classes(["a", "b", "b", "a"], ["a", "novel_0", "novel_0", "novel_1"], ["a"])
    {'novel_0': 'b', 'novel_1': None}
    """
    truth, found = _read_labels(y_true, "y_true"), _read_labels(y_pred, "y_pred")
    _check_lengths(truth, found)
    known = np.asarray(known_classes)
    new = ~np.isin(found, known)
    partners: dict[Any, Any] = dict.fromkeys(np.unique(found[new]).tolist())
    both = new & ~np.isin(truth, known)
    if both.any():
        matching = match_classes(truth[both], found[both])
        names = matching.true_classes.tolist()
        for pred, (name, true) in enumerate(
            zip(matching.pred_classes.tolist(), matching.true_of_pred.tolist(), strict=True)
        ):
            if true >= 0 and matching.counts[true, pred]:
                partners[name] = names[true]
    return partners


def open_world_accuracy(
    y_true: ArrayLike, y_pred: ArrayLike, known_classes: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of rows of known and novel classes that are predicted rightly, as in :func:`open_world_scores`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted classes, of one type.
    known_classes : array-like of shape (n_known,)
        The classes that were known; all others in `y_true` are novel.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows in the share, none below 0; the matching of novel classes counts rows.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> open_world_accuracy(["a", "a", "b", "b"], ["a", "a", "novel_0", "a"], ["a"])
    0.75
    """
    truth, found = _read_labels(y_true, "y_true"), _read_labels(y_pred, "y_pred")
    _check_lengths(truth, found)
    right = _right(truth, found, np.asarray(known_classes)).astype(np.float64)
    return float(np.average(right, weights=None if sample_weight is None else check_weights(sample_weight, len(right))))


def expected_calibration_error(confidence: ArrayLike, right: ArrayLike, *, n_bins: int = 15) -> float:
    """How far the probability of being right is from how often one is right (ECE).

    Rows are put into bins of equal width by the probability of their predicted class; the error is the mean distance
    of mean probability and share of right rows in a bin, each bin counting by its rows.

    Parameters
    ----------
    confidence : array-like of shape (n,)
        Probability of the predicted class of each row, from 0 to 1.
    right : array-like of shape (n,)
        Whether each predicted class is the true one.
    n_bins : int, default=15
        A bin includes its upper end.

    Returns
    -------
    float
        Between 0 and 1; 0 where the probabilities are right on average in each bin.

    Examples
    --------
    >>> expected_calibration_error([0.75, 0.75, 0.75, 0.75], [True, True, True, False])
    0.0
    """
    sure, hits = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if sure.ndim != 1 or sure.shape != hits.shape or not sure.size:
        raise InputError(
            f"Got confidence of shape {sure.shape} and right of shape {hits.shape}, but expected one value a row in "
            "both, for the same rows, and at least one row.",
            parameter="confidence",
            expected="one value a row",
        )
    if not ((sure >= 0) & (sure <= 1)).all():
        raise InputError(
            "Got confidence below 0, above 1 or missing, but expected probabilities.",
            parameter="confidence",
            expected="probabilities",
        )
    # the inner ends of the bins, each of which belongs to the bin below it
    bins = np.digitize(sure, np.linspace(0, 1, n_bins + 1)[1:-1], right=True)
    return float(np.abs(np.bincount(bins, weights=sure - hits)).sum() / len(sure))


def _right(truth: NDArray[Any], found: NDArray[Any], known: NDArray[Any]) -> NDArray[np.bool_]:
    """Rows whose predicted class has the name of the true one or, among novel classes, is its partner; shape (n,)."""
    novel = ~np.isin(truth, known)
    right: NDArray[np.bool_] = ~novel & (truth == found)
    taken_for_novel = novel & ~np.isin(found, known)
    if taken_for_novel.any():
        pair = _read_pair(truth[taken_for_novel], found[taken_for_novel])
        right[taken_for_novel] = _match(pair).true_of_pred[pair.pred_codes] == pair.true_codes
    return right


def _scores_of(truth: NDArray[Any], found: NDArray[Any], right: NDArray[np.bool_]) -> dict[str, float]:
    classes, codes = _factorise(truth, "y_true")
    scores = novel_scores(truth, found)
    recalls = np.bincount(codes, weights=right, minlength=len(classes)) / np.bincount(codes, minlength=len(classes))
    return {"rows": len(truth), **scores, "acc": float(right.mean()), "bacc": float(recalls.mean())}


class _Pair(NamedTuple):
    """Both sides of a comparison: their sorted distinct labels, and each row's index into them."""

    true_classes: NDArray[Any]
    true_codes: NDArray[np.intp]
    pred_classes: NDArray[Any]
    pred_codes: NDArray[np.intp]


def _match(pair: _Pair) -> ClassMatching:
    counts = np.asarray(contingency_matrix(pair.true_codes, pair.pred_codes, dtype=np.int64))
    rows, columns = linear_sum_assignment(counts, maximize=True)
    pred_of_true = np.full(len(pair.true_classes), -1, dtype=np.intp)
    true_of_pred = np.full(len(pair.pred_classes), -1, dtype=np.intp)
    pred_of_true[rows] = columns
    true_of_pred[columns] = rows
    return ClassMatching(pair.true_classes, pair.pred_classes, counts, pred_of_true, true_of_pred)


def _accuracy(matching: ClassMatching) -> float:
    return float(matching.matched_counts.sum() / matching.counts.sum())


def _balanced_accuracy(matching: ClassMatching) -> float:
    return float(np.mean(matching.matched_counts / matching.counts.sum(axis=1)))


def _read_pair(y_true: ArrayLike, y_pred: ArrayLike) -> _Pair:
    true_labels, pred_labels = _read_labels(y_true, "y_true"), _read_labels(y_pred, "y_pred")
    _check_lengths(true_labels, pred_labels)
    return _Pair(*_factorise(true_labels, "y_true"), *_factorise(pred_labels, "y_pred"))


def _check_lengths(true_labels: NDArray[Any], pred_labels: NDArray[Any]) -> None:
    if len(true_labels) != len(pred_labels):
        raise InputError(
            f"y_true has {len(true_labels)} labels and y_pred has {len(pred_labels)}; "
            "both must describe the same rows in the same order.",
            parameter="y_pred",
        )


def _read_labels(y: ArrayLike, name: str) -> NDArray[Any]:
    """One label a row, shape (n,), none missing; a list that mixes strings and numbers stays as it is."""
    # numpy turns [1, "a"] and ["a", nan] into strings, which would hide what is missing
    try:
        labels = np.asarray(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    except ValueError as error:
        raise _nested(name) from error
    if labels.dtype.kind == "O" and any(isinstance(label, _CONTAINERS) for label in labels.flat):
        raise _nested(name)
    if labels.ndim != 1:
        raise InputError(
            f"{name} must be one-dimensional, one label a row; got shape {labels.shape}. Pass one column, for example "
            f"{name}.ravel().",
            parameter=name,
            expected="one label a row",
        )
    if labels.size == 0:
        raise InputError(f"{name} is empty; at least one row is needed to compare labels.", parameter=name)
    missing = _missing(labels)
    if missing.any():
        raise InputError(
            f"{name} has {int(missing.sum())} missing label(s) (None or NaN), the first at row "
            f"{int(missing.argmax())}; every row needs a label. Drop these rows from both y_true and y_pred.",
            parameter=name,
            cure="Drop these rows from both y_true and y_pred.",
        )
    return labels


_CONTAINERS = (list, tuple, dict, set, frozenset, np.ndarray)


def _nested(name: str) -> InputError:
    return InputError.about(
        name, "must be one label a row; got lists or arrays inside it", "Pass a flat list or array."
    )


def _missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Missing labels: None, NaN, NaT and pandas' NA; shape (n,)."""
    if labels.dtype.kind in "fc":
        return np.asarray(np.isnan(labels))
    if labels.dtype.kind in "mM":
        return np.asarray(np.isnat(labels))
    if labels.dtype.kind != "O":
        return np.zeros(len(labels), dtype=bool)
    return np.fromiter((_is_missing(label) for label in labels), dtype=bool, count=len(labels))


def _is_missing(label: object) -> bool:
    # pandas' NA compares to NA, which has no truth value; everything else that is missing differs from itself
    return label is None or type(label).__name__ == "NAType" or bool(label != label)


def _factorise(labels: NDArray[Any], name: str) -> tuple[NDArray[Any], NDArray[np.intp]]:
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
        raise InputError(
            f"{name} mixes labels that cannot be compared with each other ({kinds}); "
            "convert them to one type, for example with str().",
            parameter=name,
        ) from error
    return classes, codes
