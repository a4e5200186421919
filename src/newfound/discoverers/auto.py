"""AutoDiscoverer: no knobs; the known classes choose how to look for the novel ones."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from newfound.deadline import Deadline
from newfound.discoverers.fitted import Arrays, Codes, Discovery, Floats
from newfound.discoverers.network import NetworkDiscoverer
from newfound.discoverers.parameters import check_integer, check_real, pick_device
from newfound.discoverers.preparation import Preparation
from newfound.errors import InputError, ModelFileError
from newfound.learning.checkpoints import Checkpoints
from newfound.learning.distillation import DistillationSettings
from newfound.learning.fitted import consensus
from newfound.learning.members import MemberSettings
from newfound.learning.student import InputMap, Lesson, StudentNetworks, StudentTrainer
from newfound.learning.trainer import Trained
from newfound.records import Leaderboard
from newfound.routing.calibration import fit_temperature, rows_to_hold_out
from newfound.routing.router import Mode
from newfound.selection.chooser import Choice, Chooser
from newfound.selection.evidence import helped_by
from newfound.selection.judgement import judge, judge_learned
from newfound.selection.learned_chooser import LearnedChoice, LearnedChooser
from newfound.selection.space import Space
from newfound.tables import TableEncoder
from newfound.tables.sampling import sample_of_each
from newfound.tables.state import finite_floats
from newfound.tables.task import DiscoveryTask

_MOST_ROWS = 30_000  # of each kind, from which the networks learn
_FEW_ROWS = 10  # of every known class, however rare, from which the networks learn
# For networks to repeat a partition of up to about 1,300 rows, 100 steps are enough. Larger tables are passed over as
# often: with 100 steps, known classes of 6,000 rows of NSL-KDD were hardly learned.
_ENOUGH_STEPS, _ENOUGH_PASSES = 100, 20
_TIME_FOR_GRAPH, _TIME_FOR_TRAINING = 0.15, 0.9  # shares of the time that is left
_SECONDS_A_PAIR, _SECONDS_A_PRODUCT = 1.2e-9, 4e-11  # of distances between rows, on one slow core
_FEWEST_LEARNERS, _WIDEST = 1_000, 100  # rows; columns between which distances are measured


class AutoDiscoverer(NetworkDiscoverer):
    """Novel classes without anything to tune, and without any novel label.

    It groups the unlabelled rows in many ways (the candidates), chooses one, and trains networks to predict it together
    with the known classes. The networks vote on new rows.

    On small tables there are sixteen candidates. They use the vectors of a network that was trained on synthetic tables
    (see `InContextDiscoverer`), and simpler distances. A selector, trained on synthetic tasks, says which candidate is
    best and how likely it is right. Of tables with more than about 2,000 unlabelled rows of 20 columns, or 900 of 60,
    the network sees too small a part for that. They get a hundred candidates, one of them by the network. These are
    compared by how well they find known classes that are hidden on purpose, and by the structure of the unlabelled
    rows.

    Parameters
    ----------
    n_novel_classes : int or "auto", default="auto"
        Number of novel classes among the unlabelled rows; "auto" has it estimated.
    unlabelled : {"novel", "mixed", "auto"}, default="auto"
        What the unlabelled rows are: all of novel classes, or mixed with rows of known classes, which then get their
        known class. "auto" finds out, and ``unlabelled_reason_`` says how.
    time_limit : float or None, default=None
        Seconds that `fit` may take. None is no limit: on two cores `fit` takes about ten seconds for 2,000 rows and
        half a minute for 10,000. With a limit the result depends on the speed of the machine. About two seconds are
        taken in any case, and more where reading the table takes more.
    n_members : int, default=8
        Networks trained at once; predictions are their common vote.
    training_steps : int, default=680
        Steps in which the networks are trained, at most. Where the selector chose, they take 100, or 20 passes over
        the rows where that is more.
    encoder : TableEncoder or None, default=None
        How the table is prepared; None is ``TableEncoder()``.
    device : str, default="auto"
        "cpu", "cuda", or "auto" for a GPU where there is one.
    random_state : int, RandomState or None, default=None
        Seed.
    verbose : int, default=0
        1 shows a progress bar of the choice of a partition, then one of the training.

    Attributes
    ----------
    classes_, known_classes_, novel_classes_ : ndarray
        All classes, the known ones, then the novel ones (the largest first).
    labels_ : ndarray of shape (n,)
        Class of each training row: its known class, or the novel class found for it.
    leaderboard_ : Leaderboard
        The candidates, best first: representation, method, and score. On small tables, ``score`` is how much better
        than the others the selector expects a candidate to be; ``likelihood`` is the network's likelihood of the pairs
        of rows, ``within`` the share of nearest neighbours in the same class, ``agreement`` that with the other
        candidates. On larger tables there are accuracy on hidden classes, information and share of the unlabelled rows'
        neighbours, and agreement.
        ``print`` shows the first ten as a table, ``print(leaderboard_[:])`` all of them; ``to_frame()`` makes a data
        frame.
    confidence_ : float
        From 0 to 1. On small tables: the chance that more than four in five unlabelled rows are in the right class, as
        learned on synthetic tasks. On larger tables: how far the best candidates agree with the classes found. If there
        is only one novel class: the probability of that number if it was estimated, else 1.
    class_confidence_ : ndarray of shape (n_novel_classes,)
        How far the best candidates agree with each novel class.
    weaknesses_ : list of str
        Reasons to doubt the result, in words; empty if there are none.
    n_classes_estimate_ : NClassesEstimate
        How many novel classes there may be, where ``n_novel_classes`` is "auto"; model files do not keep it.
    member_labels_ : ndarray of shape (n_members, n)
        Class of each training row according to each member alone.
    history_ : list of dict
        Losses of the training.

    Examples
    --------
    >>> from newfound import AutoDiscoverer
    >>> from newfound.datasets import make_table
    >>> data = make_table(600, random_state=0)
    >>> model = AutoDiscoverer(n_novel_classes=3, training_steps=100, random_state=0)
    >>> model.fit(data.X_train, data.y_train).n_novel_classes_
    3
    """

    leaderboard_: Leaderboard
    confidence_: float
    class_confidence_: Floats

    _state: StudentNetworks
    _search_space: ClassVar[Mapping[str, Space]] = {}  # it makes its choices itself
    _class_facts = ("class_confidence_",)

    def __init__(
        self,
        n_novel_classes: int | Literal["auto"] = "auto",
        *,
        unlabelled: Mode = "auto",
        time_limit: float | None = None,
        n_members: int = 8,
        training_steps: int = 680,
        encoder: TableEncoder | None = None,
        device: Any = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_novel_classes = n_novel_classes
        self.unlabelled = unlabelled
        self.time_limit = time_limit
        self.n_members = n_members
        self.training_steps = training_steps
        self.encoder = encoder
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.time_limit is not None:
            check_real("time_limit", self.time_limit, low=0, open_low=True)
        check_integer("training_steps", self.training_steps, low=0)

    # ---- discovery

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        calibrate: bool = True,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        resume: bool = True,
        checkpoint_every: float = 60.0,
        executor: Executor | None = None,
    ) -> Self:
        """Find the novel classes of a partly labelled table.

        Parameters
        ----------
        X, y, calibrate, checkpoint_dir, resume, checkpoint_every
            As for every discoverer that trains networks, see `TabularNCD.fit`.
        executor : concurrent.futures.Executor or None, default=None
            Where the candidates of a large table look for hidden classes side by side, such as
            `newfound.scale.RayExecutor` or a pool of processes; the result is the same. None is the threads that torch
            may use.

        Returns
        -------
        self
        """
        if executor is not None and not isinstance(executor, Executor):
            raise InputError.of("executor", executor, "None, or an executor such as those of concurrent.futures")
        kept: dict[str, Any] = {
            "checkpoint_dir": checkpoint_dir,
            "resume": resume,
            "checkpoint_every": checkpoint_every,
        }
        with helped_by(executor):
            return super().fit(X, y, calibrate=calibrate, **kept)

    def _discover(self, prepared: Preparation) -> Discovery:
        task, rng = prepared.task, prepared.rng
        most = _most_learners(task.layout.n_columns, prepared.deadline)
        learners = np.union1d(sample_of_each(task.codes, most, rng), _some_of_each_class(task.codes))
        device = pick_device(self.device)
        asked, deadline = task.take(learners), prepared.deadline
        seen = LearnedChooser(device, self.verbose, deadline).choose(asked, rng)
        choice = Chooser(device, self.verbose, deadline).choose(asked, rng) if seen is None else seen
        deadline, n_free = deadline.part(_TIME_FOR_TRAINING), int((task.codes < 0).sum())
        if isinstance(choice, LearnedChoice):
            # To sharpen a partition that the selector chose gained nothing on the development tables.
            lesson = Lesson(
                choice.partition, False, deadline, _enough_steps(len(learners)), levelled=True, n_rows=n_free
            )
        else:
            lesson = Lesson(choice.partition, choice.gains_by_sharpening, deadline, n_rows=n_free)
        trainer = StudentTrainer(self._member_settings(), device, lesson)
        seeds = rng.randint(2**31 - 1, size=self.n_members).tolist()
        # The networks alone do without the rows that are held out, not the choice of a partition.
        held_out = rows_to_hold_out(task.codes, rng) if prepared.calibrate else np.empty(0, dtype=np.intp)
        trained = _taught(trainer, task, np.setdiff1d(learners, held_out), seeds, prepared.checkpoints)
        temperature = 1.0
        if len(held_out):
            temperature = fit_temperature(trained.state.proba(task.rows[held_out]), task.codes[held_out])
        share = len(trained.history) / trainer.n_epochs if trainer.n_epochs else 1.0
        facts = self._judged(prepared, choice, learners, trained.found, share)
        return Discovery(trained.state, trained.found, temperature, trained.history, trained.member_found, facts)

    def _judged(
        self,
        prepared: Preparation,
        choice: Choice | LearnedChoice,
        learners: NDArray[np.intp],
        found: Codes,
        trained: float,
    ) -> dict[str, Any]:
        """Say how sure the result is; returns the attributes that say so."""
        unlabelled = np.flatnonzero(prepared.task.codes < 0)
        compared = np.intersect1d(unlabelled, learners[choice.compared])
        there = found[np.searchsorted(unlabelled, compared)]
        if isinstance(choice, LearnedChoice):
            judgement = judge_learned(choice, there, prepared.task.take(compared), trained=trained)
            leaderboard = choice.jury.leaderboard()
        else:
            leaderboard = choice.ranking.leaderboard
            judgement = judge(
                choice.ranking,
                there,
                prepared.task.n_novel,
                n_known=prepared.task.n_known,
                estimate=prepared.estimate,
                trained=trained,
            )
        return {
            "leaderboard_": Leaderboard(leaderboard),
            "confidence_": judgement.confidence,
            "class_confidence_": judgement.class_confidence,
            "weaknesses_": judgement.weaknesses,
        }

    def _trainer(self, settings: MemberSettings) -> StudentTrainer:
        return StudentTrainer(settings, pick_device(self.device))

    # ---- the model file

    def _restore_state(self, arrays: Mapping[str, NDArray[Any]]) -> StudentNetworks:
        inputs = InputMap.restore(arrays, self.encoder_.layout_.n_columns)
        trainer = self._trainer(self._member_settings())
        networks = trainer.restore(arrays, len(self.known_classes_), self._n_found, inputs.projection.shape[1])
        return StudentNetworks.of(networks, inputs)

    def _fitted_arrays(self) -> Arrays:
        confidence = {"class_confidence": self.class_confidence_, "confidence": np.array([self.confidence_])}
        return super()._fitted_arrays() | confidence

    def _restore_fitted(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super()._restore_fitted(arrays)
        self.class_confidence_ = _shares(arrays, "class_confidence", len(self.novel_classes_))
        self.confidence_ = float(_shares(arrays, "confidence", 1)[0])

    def _facts(self) -> dict[str, list[Any]]:
        return {"leaderboard": self.leaderboard_, **super()._facts()}

    def _restore_facts(self, facts: Mapping[str, list[Any]]) -> None:
        super()._restore_facts(facts)
        leaderboard = facts.get("leaderboard")
        if leaderboard is None or not all(isinstance(record, dict) for record in leaderboard):
            raise ModelFileError("the leaderboard must be a list of dicts.")
        self.leaderboard_ = Leaderboard(leaderboard)


def _taught(
    trainer: StudentTrainer,
    task: DiscoveryTask,
    rows: NDArray[np.intp],
    seeds: list[int],
    checkpoints: Checkpoints | None,
) -> Trained:
    """Train the student on some rows of a task, and let it vote on all unlabelled ones."""
    inputs = InputMap.fit(task)
    lesson = task.take(rows)
    mapped = replace(lesson, rows=inputs.transform(lesson.rows))
    parameters, progress = trainer.train_members(mapped, seeds, checkpoints)
    student = StudentNetworks.of(trainer.freeze(parameters, task.n_known, task.n_novel), inputs)
    state, found, member_found = consensus(student, task.unlabelled_rows)
    return Trained(state, found, member_found, progress.history)


def _shares(arrays: Mapping[str, NDArray[Any]], name: str, n: int) -> Floats:
    """Return a saved array of n numbers from 0 to 1."""
    shares = finite_floats(arrays, name, (n,))
    if ((shares < 0) | (shares > 1)).any():
        raise ModelFileError(f"array {name!r} must hold numbers from 0 to 1.")
    return shares


def _enough_steps(n_rows: int) -> int:
    return max(_ENOUGH_STEPS, math.ceil(_ENOUGH_PASSES * n_rows / DistillationSettings.batch_size))


def _most_learners(n_columns: int, deadline: Deadline) -> int:
    """Return how many rows of each kind there is time for: distances between all of them are measured."""
    seconds = _SECONDS_A_PAIR + _SECONDS_A_PRODUCT * min(n_columns, _WIDEST)
    affordable = math.sqrt(_TIME_FOR_GRAPH * deadline.room / seconds)
    return _MOST_ROWS if affordable >= _MOST_ROWS else max(min(_FEWEST_LEARNERS, _MOST_ROWS), int(affordable))


def _some_of_each_class(codes: Codes) -> NDArray[np.intp]:
    """Row numbers of a few rows of every known class, so that no sample misses one."""
    return np.concatenate([np.flatnonzero(codes == known)[:_FEW_ROWS] for known in range(codes.max(initial=-1) + 1)])
