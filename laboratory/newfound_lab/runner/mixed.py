"""Measuring routers: unlabelled rows of known and novel classes in, known classes or discovery out."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from newfound.deadline import NEVER, Deadline
from newfound.discoverers import preparation
from newfound.discoverers.auto import AutoDiscoverer
from newfound.discoverers.base import BaseDiscoverer
from newfound.discoverers.whitened_kmeans import WhitenedKMeans
from newfound.incontext.look import Look
from newfound.metrics import open_world_scores
from newfound.routing.router import Mode, Routing, route
from newfound.tables import TableEncoder
from newfound.tables.task import DiscoveryTask
from newfound_lab.datasets.development import load_table
from newfound_lab.datasets.mixed import MixedProblem, Mixture, make_problem
from newfound_lab.runner.routers import ROUTERS, RouterTask
from newfound_lab.suites.mixed import ALL_NOVEL, AUTO, AUTO_ORACLE, ORACLE, OURS, OURS_COUNTED, OURS_MIXED
from newfound_lab.suites.trials import Trial

Lines = list[dict[str, Any]]
Labels = NDArray[Any]
Floats = NDArray[np.float64]

_DIGITS = 5
# discoverers that get all rows: what they are told of the unlabelled rows, and whether of the number of novel classes
_ALONE: dict[str, tuple[type[Any], dict[str, Any], bool]] = {
    OURS: (WhitenedKMeans, {"unlabelled": "auto"}, True),
    OURS_MIXED: (WhitenedKMeans, {"unlabelled": "mixed"}, True),
    OURS_COUNTED: (WhitenedKMeans, {"unlabelled": "auto"}, False),
    ALL_NOVEL: (WhitenedKMeans, {"unlabelled": "novel"}, True),
    AUTO: (AutoDiscoverer, {"unlabelled": "auto"}, True),
}


def load_problem(trial: Trial, data_dir: Path | None) -> MixedProblem:
    """Make the problem of a trial."""
    return make_problem(trial.dataset, *_table(trial.dataset, data_dir), trial.class_split, Mixture(**trial.settings))


@lru_cache(maxsize=1)
def _table(name: str, data_dir: Path | None) -> tuple[Any, Any]:
    return load_table(name, data_dir)


@dataclass(frozen=True)
class _Answer:
    """What a method says: classes and novelty of the unlabelled rows and of the test rows, and facts of its own."""

    labels: Labels
    novelty: Floats
    test_labels: Labels
    test_novelty: Floats
    n_found: int
    seconds: float
    facts: dict[str, Any]


def measure_mixed(trials: tuple[Trial, ...], problem: MixedProblem) -> Lines:
    """Score the methods of trials that share a problem.

    Returns
    -------
    list of dict
        For each trial: accuracies and AUROC on the unlabelled rows, and with the prefix ``test_`` on the test rows; the
        true share of known rows, and what the method says of it; numbers of novel classes; seconds.
    """
    measurement = _Measurement(problem, trials[0].seed)
    return [measurement.line(trial.method) for trial in trials]


class _RouterOnce:
    """The product's router, which answers the same question of two fits once: it takes most of their time."""

    def __init__(self) -> None:
        self.saved = 0.0  # seconds, by all answers that were there already
        self._answers: dict[str, tuple[Routing, Any, float]] = {}

    def __call__(
        self,
        task: DiscoveryTask,
        seen: Look | None,
        mode: Mode,
        rng: np.random.RandomState,
        deadline: Deadline = NEVER,
    ) -> Routing:
        if mode in self._answers:
            routing, state, seconds = self._answers[mode]
            rng.set_state(state)  # what is drawn next is what a fit of its own would draw
            self.saved += seconds
            return routing
        start = time.perf_counter()
        routing = route(task, seen, mode, rng, deadline)
        self._answers[mode] = routing, rng.get_state(), time.perf_counter() - start
        return routing


class _Measurement:
    """Methods on one problem, which share what does not depend on the method."""

    def __init__(self, problem: MixedProblem, seed: int) -> None:
        self.problem, self.seed = problem, seed
        self.k = max(1, len(problem.novel_classes))  # where nothing is novel, what is found is wrong in any number
        self._answers: dict[str, _Answer] = {}
        self._router = _RouterOnce()
        self._task: RouterTask | None = None
        self._task_seconds = 0.0  # of encoding and of the classifier, which every router would need

    def line(self, method: str) -> dict[str, Any]:
        """Fit a method, and score what it says."""
        answer = self._answer(method)
        problem = self.problem
        return {
            **self._scores(problem.train_truth[problem.unlabelled], answer.labels, answer.novelty, ""),
            **self._scores(problem.y_test, answer.test_labels, answer.test_novelty, "test_"),
            "share": round(problem.known_share, _DIGITS),
            "n_labelled": int((~problem.unlabelled).sum()),
            "n_unlabelled": int(problem.unlabelled.sum()),
            "n_known": len(problem.known_classes),
            "n_novel": len(problem.novel_classes),
            "n_found": answer.n_found,
            "fit_seconds": round(answer.seconds, 3),
            **answer.facts,
        }

    def _scores(self, truth: Labels, found: Labels, novelty: Floats, prefix: str) -> dict[str, Any]:
        truth, found, known = (np.asarray(labels, dtype=str) for labels in (truth, found, self.problem.known_classes))
        scores = open_world_scores(truth, found, known, novelty=novelty)
        line = {
            f"{prefix}{rows}_{metric}": None if scores[rows] is None else round(scores[rows][metric], _DIGITS)
            for rows in ("all", "known", "novel")
            for metric in ("acc", "bacc")
        }
        auroc = scores["auroc"]
        return line | {f"{prefix}auroc": None if auroc is None else round(auroc, _DIGITS)}

    def _answer(self, method: str) -> _Answer:
        if method not in self._answers:
            self._answers[method] = self._new_answer(method)
        return self._answers[method]

    def _new_answer(self, method: str) -> _Answer:
        if method == OURS_MIXED and self._answer(OURS).facts["decided"] == "mixed":
            return self._answer(OURS)  # the same fit
        if method in _ALONE:
            model, settings, k_given = _ALONE[method]
            return self._alone(model(self.k if k_given else "auto", random_state=self.seed, **settings))
        if method == AUTO_ORACLE:
            return self._behind(ORACLE, AutoDiscoverer(self.k, unlabelled="novel", random_state=self.seed))
        return self._behind(method, WhitenedKMeans(self.k, unlabelled="novel", random_state=self.seed))

    def _alone(self, model: BaseDiscoverer) -> _Answer:
        """Fit a discoverer on all rows, and ask it."""
        problem = self.problem
        start, saved = time.perf_counter(), self._router.saved
        with patch.object(preparation, "route", self._router):
            model.fit(problem.X_train, problem.y_train, calibrate=False)
        novelty, test_novelty = map(model.novelty_score, (problem.X_train[problem.unlabelled], problem.X_test))
        test_labels = model.predict(problem.X_test)
        seconds = time.perf_counter() - start + self._router.saved - saved
        facts: dict[str, Any] = {}
        if model.unlabelled != "novel":
            low, high = model.known_share_.interval
            facts = {
                "decided": model.unlabelled_,
                "known_share": round(float(model.known_share_), _DIGITS),
                "share_interval": [round(low, _DIGITS), round(high, _DIGITS)],
            }
        return _Answer(
            model.labels_[problem.unlabelled],
            novelty,
            test_labels,
            test_novelty,
            n_found=model.n_novel_classes_,
            seconds=seconds,
            facts=facts,
        )

    def _behind(self, router: str, model: BaseDiscoverer) -> _Answer:
        """Give rows that a router takes for known the class of a forest; the others go on to discovery."""
        problem, task = self.problem, self.task
        start = time.perf_counter()
        routed = ROUTERS[router](task)
        known = problem.known_classes
        labels, test_labels = (known[task.classifier.predict(rows)] for rows in (task.unlabelled, task.new))
        if n_rows := int(routed.is_novel.sum()):
            learned = ~problem.unlabelled
            learned[problem.unlabelled] = routed.is_novel
            model = clone(model).set_params(n_novel_classes=min(self.k, n_rows))
            model.fit(problem.X_train[learned], problem.y_train[learned], calibrate=False)
            labels[routed.is_novel] = model.labels_[[label is None for label in problem.y_train[learned]]]
            if routed.new_is_novel.any():
                test_labels[routed.new_is_novel] = model.predict_novel(problem.X_test[routed.new_is_novel])
        seconds = time.perf_counter() - start + self._task_seconds
        return _Answer(
            labels,
            routed.novelty,
            test_labels,
            routed.new_novelty,
            n_found=model.n_novel_classes_ if n_rows else 0,
            seconds=seconds,
            facts={"known_share": round(float(1 - routed.is_novel.mean()), _DIGITS)},
        )

    @property
    def task(self) -> RouterTask:
        """What routers see."""
        if self._task is None:
            problem, start = self.problem, time.perf_counter()
            encoder = TableEncoder().fit(problem.X_train)
            rows, free = encoder.transform(problem.X_train), problem.unlabelled
            self._task = RouterTask(
                labelled=rows[~free],
                codes=np.searchsorted(problem.known_classes, problem.train_truth[~free]),
                unlabelled=rows[free],
                new=encoder.transform(problem.X_test),
                n_novel=self.k,
                is_novel=problem.is_novel,
                new_is_novel=np.isin(problem.y_test, problem.novel_classes),
                seed=self.seed,
            )
            self._task.classifier.predict(self._task.unlabelled[:1])
            self._task_seconds = time.perf_counter() - start
        return self._task
