"""Methods of the benchmark, and what somebody else's has to answer.

A method is a function ``answer(X_train, y_train, X_test, n_novel, seed)``:

- `X_train` and `X_test` are data frames; `y_train` (n,) holds the names of known classes, None for unlabelled rows;
- `n_novel` is the number of novel classes among the training rows, or None where the method has to find it;
- `seed` is a whole number.

It returns an `Answer`, or a tuple with the first three of its values.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.ensemble import ExtraTreesClassifier

import newfound as nf
from newfound.errors import InputError

__all__ = ["METHODS", "Answer", "Method", "method_named"]

_N_TREES = 300


class Answer(NamedTuple):
    """What a method says.

    Attributes
    ----------
    predicted : ndarray of shape (m,)
        Class of each test row: the name of a known class, or any other name for a novel one.
    novelty : ndarray of shape (m,)
        Probability that the row is of a novel class; only the order of the rows counts.
    told_novel : ndarray of shape (m,)
        The novel class of each row if it is known to be novel.
    told_known : ndarray of shape (m,), optional
        The known class of each row if it is known to be of a known one.
    labels : ndarray of shape (n,), optional
        Class of each training row.
    confidence : float, optional
        The method's own chance that more than four in five of the unlabelled training rows have the right class.
    fit_seconds : float, optional
        How long the fit took; the whole of the method's time where it does not say.
    """

    predicted: NDArray[Any]
    novelty: NDArray[np.float64]
    told_novel: NDArray[Any]
    told_known: NDArray[Any] | None = None
    labels: NDArray[Any] | None = None
    confidence: float | None = None
    fit_seconds: float | None = None


@dataclass(frozen=True)
class Method:
    """A method and its name.

    Attributes
    ----------
    name : str
    answer : function
        As the module describes it.
    told_truth : bool
        Whether it gets the classes of all training rows, as the argument `truth`: an upper bound and no competitor.
    """

    name: str
    answer: Callable[..., Answer]
    told_truth: bool = False


def by_hand(X_train: Any, y_train: NDArray[Any], X_test: Any, n_novel: int | None, seed: int) -> Answer:
    """Group the unlabelled rows by k-means; a forest learns the labels and the groups.

    It takes all unlabelled rows for novel, also where they are mixed with rows of known classes.
    """
    start = time.perf_counter()
    encoder = nf.TableEncoder().fit(X_train)
    rows = encoder.transform(X_train)
    unlabelled = _without_label(y_train)
    k = n_novel
    if k is None:
        k = nf.estimate_n_novel_classes(X_train, y_train, random_state=seed).n_classes
    groups = KMeans(k, n_init=10, random_state=seed).fit_predict(rows[unlabelled])
    labels = np.array(y_train, dtype=object)
    labels[unlabelled] = [f"novel_{group}" for group in groups]
    forest = ExtraTreesClassifier(_N_TREES, random_state=seed).fit(rows, labels.astype(str))
    seconds = time.perf_counter() - start
    answer = _of_forest(forest, encoder.transform(X_test), y_train[~unlabelled])
    return answer._replace(labels=labels, fit_seconds=seconds)


def forest_told(
    X_train: Any, y_train: NDArray[Any], X_test: Any, n_novel: int | None, seed: int, truth: NDArray[Any]
) -> Answer:
    """Learn the true classes of all training rows by a forest."""
    start = time.perf_counter()
    encoder = nf.TableEncoder().fit(X_train)
    forest = ExtraTreesClassifier(_N_TREES, random_state=seed).fit(encoder.transform(X_train), truth.astype(str))
    seconds = time.perf_counter() - start
    answer = _of_forest(forest, encoder.transform(X_test), y_train[~_without_label(y_train)])
    return answer._replace(fit_seconds=seconds)


def _discoverer(build: Callable[..., Any]) -> Callable[..., Answer]:
    """Make a method of a discoverer, which finds out itself what the unlabelled rows are."""

    def answer(X_train: Any, y_train: NDArray[Any], X_test: Any, n_novel: int | None, seed: int) -> Answer:
        start = time.perf_counter()
        model = build("auto" if n_novel is None else n_novel, unlabelled="auto", random_state=seed)
        model.fit(X_train, y_train)
        seconds = time.perf_counter() - start
        proba, n_known = model.predict_proba(X_test), len(model.known_classes_)
        predicted = model.classes_[proba.argmax(axis=1)]
        return Answer(
            predicted,
            model.novelty_score(X_test),
            model.predict_novel(X_test) if len(model.novel_classes_) else predicted,
            model.known_classes_[proba[:, :n_known].argmax(axis=1)] if n_known else None,
            model.labels_,
            getattr(model, "confidence_", None),
            seconds,
        )

    return answer


METHODS = {
    method.name: method
    for method in (
        Method("by hand", by_hand),
        Method("k-means", _discoverer(nf.KMeansDiscoverer)),
        Method("WhitenedKMeans", _discoverer(nf.WhitenedKMeans)),
        Method("InContextDiscoverer", _discoverer(nf.InContextDiscoverer)),
        Method("AutoDiscoverer", _discoverer(nf.AutoDiscoverer)),
        Method("forest told every label", forest_told, told_truth=True),
    )
}
"""The methods that come with the benchmark, by name."""


def method_named(name: str) -> Method:
    """Return a method of the benchmark, or somebody else's from a file.

    Parameters
    ----------
    name : str
        One of ``METHODS``, or a Python file and a function in it, such as "mine.py:answer". That method is called
        "mine:answer".

    Raises
    ------
    InputError
        For any other name, and where the file has no such function.
    """
    if name in METHODS:
        return METHODS[name]
    file, colon, function = name.rpartition(":")
    path = Path(file)
    if not colon or not path.is_file():
        raise InputError(
            f"Got the method {name!r}, but expected some of {', '.join(METHODS)}, or a Python file and a function in "
            "it, such as mine.py:answer."
        )
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputError(f"Got the method {name!r}, but {file} is no Python file; its name has to end in .py.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    answer = getattr(module, function, None)
    if not callable(answer):
        raise InputError(f"Got the method {name!r}, but {file} has no function {function}.")
    return Method(f"{path.stem}:{function}", answer)


def _of_forest(forest: ExtraTreesClassifier, rows: NDArray[np.float64], known: NDArray[Any]) -> Answer:
    """Answer from the probabilities of a forest for test rows (m, d), of whose classes some are known."""
    proba, classes = forest.predict_proba(rows), forest.classes_
    of_known = np.isin(classes, known.astype(str))
    return Answer(
        classes[proba.argmax(axis=1)],
        proba[:, ~of_known].sum(axis=1),
        classes[~of_known][proba[:, ~of_known].argmax(axis=1)],
        classes[of_known][proba[:, of_known].argmax(axis=1)],
    )


def _without_label(y_train: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([label is None for label in y_train], dtype=np.bool_)
