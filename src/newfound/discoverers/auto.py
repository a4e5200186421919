"""AutoDiscoverer: no knobs; the known classes choose how to look for the novel ones."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from newfound.clustering.representations import principal_axes
from newfound.clustering.whitening import whitening_map, within_class_covariance
from newfound.discoverers.base import Arrays, Codes, Floats
from newfound.discoverers.open_world import fit_temperature, rows_to_hold_out
from newfound.discoverers.packed import PackedDiscoverer
from newfound.discoverers.parameters import check_integer, check_real, pick_device
from newfound.errors import ModelFileError, warn_user
from newfound.learning.distillation import STEPS_IN_EPOCH, DistillationSettings, distil
from newfound.learning.machine import one_thread
from newfound.learning.neighbours import neighbours_within
from newfound.learning.progress import Progress
from newfound.nn import DiscoveryNetwork, MemberStreams, PackedMLP
from newfound.records import Records
from newfound.selection.evidence import Evidence, gather_evidence
from newfound.selection.hidden_classes import FEWEST_KNOWN
from newfound.selection.portfolio import build_portfolio
from newfound.selection.ranking import Ranking, rank, remake
from newfound.selection.sampling import sample_of_each
from newfound.selection.space import Space
from newfound.tables import Layout, TableEncoder
from newfound.tables.state import finite_floats

_LAYERS = [256, 256, 64]
_DROPOUT = 0.1
_HEAVY = 8.0  # standard deviations from which on a column has a heavy tail
_RIDGE = 1.0
_PORTFOLIO_ROWS = 3_000
_MOST_ROWS = 30_000  # of each kind, from which the networks learn
_FEW_ROWS = 10  # of every known class, however rare, from which the networks learn
_N_TASKS = 8
_IMITATION = 0.375  # share of the steps
_N_NEIGHBOURS = 10
_N_BEST = 4  # candidates that are made anew with more rows, and whose agreement is the confidence
_UNSURE = 0.5
_LITTLE_TRUST = 0.2
_WIDE = 1.0  # width of the interval for the number of classes, as a share of the number, from which on it is doubtful
_LESS_APART = 0.1  # share of edges within classes by which the novel ones may stay behind the hidden ones
_ENOUGH_TRAINING = 0.5  # share of the epochs
_FOUND_BY_ALL = 0.9  # mean hidden accuracy from which on it matters little which candidate is chosen
# Shares of the time limit at which each step is to have ended; the networks get the rest.
_TIME_FOR_PORTFOLIO, _TIME_FOR_EVIDENCE, _TIME_FOR_TRAINING = 0.25, 0.5, 0.93


class AutoDiscoverer(PackedDiscoverer):
    """Novel classes without a single knob to tune, and without a single novel label.

    A portfolio of partitions of the unlabelled rows is made: many ways to measure distances, some of them learned from
    the known classes, times many ways to cut. Known classes are then hidden, to see which candidates find them; that
    and the structure of the unlabelled rows choose the partition. Packed networks learn it together with the known
    classes, sharpen it, and predict new rows by their common vote.

    Parameters
    ----------
    n_novel_classes : int or "auto", default="auto"
        Number of novel classes among the unlabelled rows; "auto" has it estimated.
    time_limit : float or None, default=None
        Seconds that `fit` may take; None for as long as it takes, about a minute for 10,000 rows. With a limit the
        result depends on the speed of the machine.
    n_members : int, default=8
        Networks trained at once; predictions are their common vote.
    training_steps : int, default=800
        Steps in which the networks are trained.
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
    leaderboard_ : Records
        The candidates, best first: representation, method, score, accuracy on hidden classes, information of the
        unlabelled rows' neighbours, share of these within classes, and agreement with the other candidates. ``print``
        shows it as a table, ``to_frame()`` makes a data frame.
    confidence_ : float
        From 0 to 1: how far the best candidates agree with the classes that were found. Always 1 where there is but one
        novel class, as there is nothing to choose.
    class_confidence_ : ndarray of shape (n_novel_classes,)
        The same for each novel class.
    weaknesses_ : list of str
        Why the result should be doubted, in words; empty where nothing speaks against it.
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

    hidden_layers = None
    _search_space: ClassVar[Mapping[str, Space]] = {}  # it makes its choices itself
    _class_facts = ("class_confidence_",)
    _holds_out = False  # the networks alone do without some rows, not the choice of a partition
    _sharpens = True

    def __init__(
        self,
        n_novel_classes: int | Literal["auto"] = "auto",
        *,
        time_limit: float | None = None,
        n_members: int = 8,
        training_steps: int = 800,
        encoder: TableEncoder | None = None,
        device: Any = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_novel_classes = n_novel_classes
        self.time_limit = time_limit
        self.n_members = n_members
        self.training_steps = training_steps
        self.encoder = encoder
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    leaderboard_: Records
    confidence_: float
    class_confidence_: Floats
    weaknesses_: list[str]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.time_limit is not None:
            check_real("time_limit", self.time_limit, low=0, open_low=True)
        check_integer("training_steps", self.training_steps, low=0)

    def _together_key(self) -> None:
        return None  # the networks are but the last step of what each has to do by itself

    # ---- discovery

    def _fit(self, X: Any, y: Any) -> None:
        self._start = time.monotonic()
        try:
            super()._fit(X, y)
        finally:
            for name in ("_start", "_taught", "_sharpens"):
                self.__dict__.pop(name, None)

    def _discover(self, rows: Floats, codes: Codes, n_novel: int, rng: np.random.RandomState) -> Codes:
        self.input_ = InputMap.fit(rows, codes, self.encoder_.layout_)
        learners = np.union1d(sample_of_each(codes, _MOST_ROWS, rng), _some_of_each_class(codes))
        choice, some, self._taught = self._choose(rows[learners], codes[learners], n_novel, rng)
        self._sharpens = not choice.is_lopsided
        seeds = rng.randint(2**31 - 1, size=self.n_members).tolist()
        held_out = rows_to_hold_out(codes, rng) if self._calibrates else np.empty(0, dtype=np.intp)
        taught = np.setdiff1d(learners, held_out)
        trained, _ = self._train_members(self.input_.transform(rows[taught]), codes[taught], n_novel, seeds)
        self.network_ = self._load(trained)
        self.temperature_ = fit_temperature(self._proba(rows[held_out]), codes[held_out]) if len(held_out) else 1.0
        found = self._agree(rows, codes, n_novel, rng)
        unlabelled = np.flatnonzero(codes < 0)
        compared = np.intersect1d(unlabelled, learners[some])
        self._judge(choice, found[np.searchsorted(unlabelled, compared)], n_novel)
        return found

    def _deadline(self, share: float) -> float:
        return math.inf if self.time_limit is None else self._start + share * self.time_limit

    def _choose(
        self, rows: Floats, codes: Codes, n_novel: int, rng: np.random.RandomState
    ) -> tuple[Ranking, NDArray[np.intp], Codes]:
        """Choose among partitions; returns the choice, the rows it was made with, and the unlabelled rows' classes."""
        layout = self.encoder_.layout_
        n_unlabelled = int((codes < 0).sum())
        if n_novel < 2 or min(n_unlabelled, _PORTFOLIO_ROWS) < n_novel + 2:  # one class, or a class for each row
            partition = np.arange(n_unlabelled) % max(1, n_novel)
            nothing_to_choose = Ranking(partition[None], [], np.empty(0), 1.0, False, False, Evidence(), Records())
            return nothing_to_choose, np.arange(len(rows)), partition
        some = sample_of_each(codes, _PORTFOLIO_ROWS, rng)
        with Progress(_N_TASKS + 2, self.verbose) as progress:
            begin = time.monotonic()
            deadline = self._deadline(_TIME_FOR_PORTFOLIO)
            with one_thread():  # of samples so small, threads that wait for each other take twice the time
                progress.announce("making candidates")
                portfolio = build_portfolio(rows[some], codes[some], layout, n_novel, rng, deadline=deadline)
                progress.advance()
                progress.announce("hiding known classes")
                evidence = gather_evidence(
                    rows,
                    codes,
                    layout,
                    n_novel,
                    rng,
                    n_tasks=_N_TASKS,
                    deadline=self._deadline(_TIME_FOR_EVIDENCE),
                    seconds_each=time.monotonic() - begin,
                    on_task=progress.advance,
                )
            choice = rank(portfolio, evidence, rng)
            progress.announce("making the best anew")
            many = (codes < 0) | np.isin(np.arange(len(codes)), some)
            device = pick_device(self.device)
            # With a time limit there is one graph of many rows, not one for each of several representations.
            n_best = _N_BEST if self.time_limit is None else 1
            shared = np.searchsorted(np.flatnonzero(codes < 0), some[codes[some] < 0])
            partition = remake(
                choice, rows[many], codes[many], layout, n_novel, rng, shared=shared, n_best=n_best, device=device
            )
            progress.advance()
        return choice, some, partition

    def _judge(self, choice: Ranking, found: Codes, n_novel: int) -> None:
        """Say how sure the result is: ``found`` are the classes of the rows that took part in the choice."""
        self.leaderboard_ = choice.leaderboard
        judges = choice.partitions[:_N_BEST]
        self.class_confidence_ = np.array([_overlap(found == j, judges) for j in range(n_novel)])
        shares = np.bincount(found, minlength=n_novel) / max(1, len(found))
        self.confidence_ = min(1.0, float(shares @ self.class_confidence_)) if n_novel else 1.0  # shares are rounded
        self.weaknesses_ = self._weaknesses(choice, len(found), n_novel) if n_novel else []
        if self.weaknesses_:
            warn_user(f"The evidence for these novel classes is weak: {'; '.join(self.weaknesses_)}.")

    def _weaknesses(self, choice: Ranking, n_rows: int, n_novel: int) -> list[str]:
        reasons = []
        if n_rows < _FEW_ROWS * n_novel:
            reasons.append(f"there are only {n_rows} unlabelled rows for {n_novel} novel classes")
        if hasattr(self, "n_classes_estimate_"):
            low, high = self.n_classes_estimate_.interval
            if high - low > _WIDE * n_novel:
                reasons.append(f"the number of novel classes is uncertain: from {low} to {high} are plausible")
        if n_novel > 1:
            reasons += self._doubts_of_the_choice(choice)
        if len(self.history_) < _ENOUGH_TRAINING * self._n_epochs():
            reasons.append("the training of the networks ended early; allow more time")
        return reasons

    def _doubts_of_the_choice(self, choice: Ranking) -> list[str]:
        reasons, evidence, n_known = [], choice.evidence, len(self.known_classes_)
        if n_known <= FEWEST_KNOWN:
            reasons.append(
                f"there {'is' if n_known == 1 else 'are'} only {n_known} known class{'es' * (n_known != 1)}, too few "
                "to see well which candidate finds hidden ones"
            )
        elif not evidence.n_folds:
            reasons.append(
                "there were too few rows, or there was no time, to hide known classes and see who finds them"
            )
        elif (
            evidence.trust_in_information + evidence.trust_in_accuracy < _LITTLE_TRUST
            and np.mean(list(evidence.accuracy.values())) < _FOUND_BY_ALL
        ):
            reasons.append("the known classes say little about how the novel ones differ")
        if evidence.n_folds and choice.within < evidence.within - _LESS_APART:
            reasons.append(
                f"the novel classes are less apart than the known ones ({choice.within:.0%} of the nearest rows are of "
                f"the same class, {evidence.within:.0%} for known classes), and may cut through larger ones"
            )
        if choice.is_holes:
            reasons.append("a novel class is little else than the rows in which one column has no value")
        if self.confidence_ < _UNSURE:
            reasons.append(f"the best candidates disagree (confidence {self.confidence_:.2f})")
        return reasons

    # ---- the networks

    def _default_layers(self, n_features: int) -> list[int]:
        return _LAYERS

    def _n_inputs(self) -> int:
        return int(self.input_.projection.shape[1])

    def _build(self, widths: list[int], n_known: int, n_novel: int, streams: MemberStreams | None) -> DiscoveryNetwork:
        encoder = PackedMLP(
            self.n_members, widths, dropout=_DROPOUT, activate_last=True, batch_norm=True, streams=streams
        )
        return DiscoveryNetwork(encoder, self.n_members, widths[-1], n_known, n_novel, streams)

    def _settings(self) -> DistillationSettings:
        # Sharpening evens out the sizes of the classes.
        imitation = round(_IMITATION * self.training_steps) if self._sharpens else self.training_steps
        return DistillationSettings(
            imitation_steps=imitation,
            refinement_steps=self.training_steps - imitation,
            deadline=self._deadline(_TIME_FOR_TRAINING),
        )

    def _n_epochs(self) -> int:
        settings = self._settings()
        return sum(-(-steps // STEPS_IN_EPOCH) for steps in (settings.imitation_steps, settings.refinement_steps))

    def _train(
        self, network: DiscoveryNetwork, rows: Tensor, codes: Tensor, streams: MemberStreams, progress: Progress
    ) -> None:
        progress.announce("neighbour search")
        neighbours = neighbours_within(rows, codes, _N_NEIGHBOURS)
        partition = torch.full_like(codes, -1)
        partition[codes < 0] = torch.as_tensor(self._taught, device=codes.device)
        distil(network, rows, neighbours, codes, partition, self._settings(), streams, progress)

    def _run(
        self, rows: Floats, compute: Callable[[DiscoveryNetwork, Tensor], tuple[Tensor, ...]]
    ) -> tuple[Floats, ...]:
        return super()._run(self.input_.transform(rows), compute)

    # ---- persistence

    def _fitted_state(self) -> Arrays:
        return super()._fitted_state() | self._shared_state()

    def _shared_state(self) -> Arrays:
        confidence = {"class_confidence": self.class_confidence_, "confidence": np.array([self.confidence_])}
        return self.input_.state() | confidence

    def _restore_fitted(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.input_ = InputMap.restore(arrays, self.encoder_.layout_)
        super()._restore_fitted(arrays)
        self.class_confidence_ = _shares(arrays, "class_confidence", len(self.novel_classes_))
        self.confidence_ = float(_shares(arrays, "confidence", 1)[0])

    def _facts(self) -> dict[str, list[Any]]:
        return {"leaderboard": self.leaderboard_, "weaknesses": self.weaknesses_}

    def _restore_facts(self, facts: Mapping[str, list[Any]]) -> None:
        leaderboard, weaknesses = facts.get("leaderboard"), facts.get("weaknesses")
        if leaderboard is None or not all(isinstance(record, dict) for record in leaderboard):
            raise ModelFileError("the leaderboard must be a list of dicts.")
        if weaknesses is None or not all(isinstance(reason, str) for reason in weaknesses):
            raise ModelFileError("the weaknesses must be a list of texts.")
        self.leaderboard_, self.weaknesses_ = Records(leaderboard), list(weaknesses)


def _shares(arrays: Mapping[str, NDArray[Any]], name: str, n: int) -> Floats:
    """Return a saved array of n numbers from 0 to 1."""
    shares = finite_floats(arrays, name, (n,))
    if ((shares < 0) | (shares > 1)).any():
        raise ModelFileError(f"array {name!r} must hold numbers from 0 to 1.")
    return shares


def _some_of_each_class(codes: Codes) -> NDArray[np.intp]:
    """Row numbers of a few rows of every known class, so that no sample misses one."""
    return np.concatenate([np.flatnonzero(codes == known)[:_FEW_ROWS] for known in range(codes.max(initial=-1) + 1)])


def _overlap(inside: NDArray[np.bool_], judges: Codes) -> float:
    """Mean over partitions of the overlap of a class, given by its rows, with the most similar class there."""
    overlaps = []
    for partition in judges:
        shared = np.bincount(partition[inside], minlength=partition.max(initial=0) + 1)
        joint = np.bincount(partition, minlength=len(shared)) + inside.sum() - shared
        overlaps.append(float((shared / np.maximum(1, joint)).max()))
    return float(np.mean(overlaps))


@dataclass(frozen=True)
class InputMap:
    """From encoded rows to the networks' input: heavy tails squashed, then whitened by the known classes.

    Attributes
    ----------
    heavy : ndarray of shape (d,), bool
        Columns with a heavy tail.
    centre : ndarray of shape (d,)
        Mean of each column, squashed where it is heavy.
    projection : ndarray of shape (d, m)
    """

    heavy: NDArray[np.bool_]
    centre: Floats
    projection: Floats

    @classmethod
    def fit(cls, rows: Floats, codes: Codes, layout: Layout) -> InputMap:
        """Fit to encoded rows (n, d) and known codes (n,)."""
        heavy = (np.abs(rows - rows.mean(axis=0)).max(axis=0) > _HEAVY * rows.std(axis=0)) & ~layout.categorical
        squashed = _squashed(rows, heavy)
        centre = squashed.mean(axis=0)
        centred = squashed - centre
        axes = principal_axes(centred)
        projection = axes @ whitening_map(within_class_covariance(centred @ axes, codes), _RIDGE)
        spread = float((centred @ projection).std())
        return cls(heavy, centre, projection / (spread if spread > 0 else 1.0))

    def transform(self, rows: Floats) -> Floats:
        """Map rows (n, d) to (n, m)."""
        mapped: Floats = (_squashed(rows, self.heavy) - self.centre) @ self.projection
        return mapped

    def state(self) -> Arrays:
        """Arrays for the model file."""
        return {
            "input.heavy": self.heavy.astype(np.float64),
            "input.centre": self.centre,
            "input.projection": self.projection,
        }

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]], layout: Layout) -> InputMap:
        """Read `state`; ModelFileError where the arrays do not fit the columns."""
        d = layout.n_columns
        return cls(
            finite_floats(arrays, "input.heavy", (d,)) > 0,
            finite_floats(arrays, "input.centre", (d,)),
            finite_floats(arrays, "input.projection", (d, -1)),
        )


def _squashed(rows: Floats, heavy: NDArray[np.bool_]) -> Floats:
    if not heavy.any():
        return rows
    squashed = rows.copy()
    squashed[:, heavy] = np.arcsinh(rows[:, heavy])
    return squashed
