"""InContextDiscoverer: no training; a network that has seen many tables looks at this one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.discoverers.base import BaseDiscoverer
from newfound.discoverers.fitted import Arrays, Codes, Discovery, Floats
from newfound.discoverers.parameters import check_integer, pick_device
from newfound.discoverers.preparation import Preparation
from newfound.errors import ModelFileError
from newfound.progress import ProgressBar
from newfound.records import Records
from newfound.routing.calibration import fit_temperature
from newfound.routing.forest import Forest
from newfound.routing.router import Mode
from newfound.selection.choose import Choice, choose
from newfound.selection.space import Space
from newfound.tables import Labels, TableEncoder
from newfound.tables.sampling import sample_in_proportion
from newfound.tables.state import Entries

_N_LATENT = 8  # directions of the network's embedding that new rows get
_MOST_TAUGHT = 40_000  # rows that the forest of all classes learns from
_FEWEST_TAUGHT = 1_000  # however little time there is
_FEWEST_OF_CLASS = 3
# Seconds that growing the forest takes on one slow core: for each row, and for each column that is tried at a cut.
_SECONDS_A_ROW, _SECONDS_A_CELL = 6e-5, 2.5e-5
_TIME, _LONG = 0.5, 1e6  # share of the time that is left; seconds that stand for no limit
_GRAIN = 20  # to how many parts of a whole the router's probabilities are rounded, so that trees can share leaves
LEAST_WEIGHT = 1e-6  # weight of a class that no tree speaks for


@dataclass(frozen=True, eq=False)
class ForestState:
    """Two forests that answer for the network, so that new rows need no context.

    Attributes
    ----------
    classes : Forest
        Probabilities of the known, then the novel classes.
    directions : Forest
        Where rows lie in the main directions of the network's embedding.
    n_known : int
    """

    classes: Forest
    directions: Forest
    n_known: int

    def proba(self, rows: Floats) -> Floats:
        """Probabilities of the known, then the novel classes; (n, d) to (n, n_classes)."""
        return _shares(self.classes.proba(rows))

    def novel_proba(self, rows: Floats) -> Floats:
        """Probabilities of the novel classes alone; (n, d) to (n, n_novel)."""
        return _shares(self.classes.proba(rows)[:, self.n_known :])

    def latent(self, rows: Floats) -> Floats:
        """Rows in the directions of the embedding; (n, d) to (n, n_latent)."""
        return self.directions.proba(rows)

    def arrays(self) -> Arrays:
        """Arrays for the model file."""
        return self.classes.arrays("classes.") | self.directions.arrays("directions.")


def _shares(weights: Floats) -> Floats:
    """Weights (n, m) as shares of their sums, all alike where there is none."""
    some = weights + LEAST_WEIGHT
    shares: Floats = some / some.sum(axis=1, keepdims=True)
    return shares


class Judged(NamedTuple):
    """What trees say of rows that they have not seen.

    Attributes
    ----------
    unseen : ndarray of shape (n, n_classes)
        Probabilities of the classes for unlabelled rows.
    codes : ndarray of shape (n,), int64
        The class that each of them has got.
    known_right : float
        Share of the labelled rows that are put into their class.
    order : ndarray of shape (n_novel,), int64
        The class of the partition that each novel class comes from.
    """

    unseen: Floats
    codes: Codes
    known_right: float
    order: Codes


class InContextDiscoverer(BaseDiscoverer):
    """Novel classes at a look: nothing is trained on the table.

    A network that was trained on synthetic tables alone is shown the labelled and the unlabelled rows together, and
    gives each row a vector: rows of one class lie in one direction. The unlabelled rows are grouped by these vectors.
    Of large tables the network sees a sample. A forest learns what was found, so that all other rows, and new ones,
    get their classes without another look.

    Parameters
    ----------
    n_novel_classes : int or "auto", default="auto"
        Number of novel classes among the unlabelled rows; "auto" has the network estimate it.
    unlabelled : {"novel", "mixed", "auto"}, default="auto"
        What the unlabelled rows are: all of novel classes, or mixed with rows of known classes, which then get their
        known class. "auto" finds out, and ``unlabelled_reason_`` says how.
    n_views : int, default=2
        How often the network looks, each time with other random names for columns, levels and classes.
    encoder : TableEncoder or None, default=None
        How the table is prepared; None is ``TableEncoder()``.
    device : str, default="auto"
        "cpu", "cuda", or "auto" for a GPU where there is one.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    classes_, known_classes_, novel_classes_ : ndarray
        All classes, the known ones, then the novel ones (the largest first).
    labels_ : ndarray of shape (n,)
        Class of each training row: its known class, or the novel class found for it.
    n_classes_estimate_ : NClassesEstimate
        How many novel classes there may be, where ``n_novel_classes`` is "auto".
    known_accuracy_ : Records
        For each known class its labelled ``rows``, and the share of them that was ``right`` by trees that had not seen
        them.

    Notes
    -----
    The network is shown at most 64 known classes, drawn at random where there are more. Without time to look, rows are
    grouped by distances in a space that the known classes made round. What the network was trained on, and what it
    cannot do, is in its card: ``newfound.incontext.weights.weights_card()``.

    Examples
    --------
    >>> from newfound import InContextDiscoverer
    >>> from newfound.datasets import make_table
    >>> data = make_table(300, random_state=0)
    >>> model = InContextDiscoverer(n_novel_classes=3, random_state=0).fit(data.X_train, data.y_train)
    >>> model.n_novel_classes_
    3
    """

    _search_space: ClassVar[Mapping[str, Space]] = {}
    _looks = True
    verbose: int = 0

    known_accuracy_: Records

    _state: ForestState

    def __init__(
        self,
        n_novel_classes: int | Literal["auto"] = "auto",
        *,
        unlabelled: Mode = "auto",
        n_views: int = 2,
        encoder: TableEncoder | None = None,
        device: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_novel_classes = n_novel_classes
        self.unlabelled = unlabelled
        self.n_views = n_views
        self.encoder = encoder
        self.device = device
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_integer("n_views", self.n_views, low=1)
        pick_device(self.device)

    def _discover(self, prepared: Preparation) -> Discovery:
        with ProgressBar(2, shown=self.verbose > 0, start="grouping rows") as bar:
            choice = self._choose(prepared)
            bar.show("learning the classes", done=1)
            return self._learned(prepared, choice)

    def _learned(self, prepared: Preparation, choice: Choice) -> Discovery:
        """Grow the forest that predicts all classes, and let it judge rows that it has not seen."""
        task, rng = prepared.task, prepared.rng
        seed = int(rng.randint(2**31 - 1))
        targets = _targets(prepared, choice.partition, seed)
        whole = prepared.whole
        seconds = _SECONDS_A_CELL * Forest.n_tried(whole.rows.shape[1]) + _SECONDS_A_ROW
        most = int(min(_MOST_TAUGHT, max(_FEWEST_TAUGHT, min(_TIME * prepared.deadline.room, _LONG) / seconds)))
        taught = sample_in_proportion(whole.codes, most, _FEWEST_OF_CLASS, rng)
        forest, proba = Forest.grow_and_judge(whole.rows[taught], targets[taught], seed)
        free = whole.codes < 0
        # Rows of the fit get what the model predicts for them, so that `labels_` and `predict` agree.
        codes = _shares(forest.proba(whole.rows[free])).argmax(axis=1)
        order = _by_size(codes, task.n_known, task.n_novel)
        forest, codes, unseen = forest.reordered(order), np.argsort(order)[codes], _shares(proba[:, order])
        known = whole.codes[taught]
        labels = prepared.labels.codes.copy()
        labels[free] = np.where(codes < task.n_known, codes, -1)
        shown = np.searchsorted(np.flatnonzero(free), taught[known < 0])
        right = (unseen.argmax(axis=1) == known)[known >= 0]
        judged = Judged(
            unseen[known < 0],
            codes[shown],
            float(right.mean()) if len(right) else 0.0,
            order[task.n_known :] - task.n_known,
        )
        facts = {"known_accuracy_": _known_accuracy(prepared.labels, known[known >= 0], right)}
        return Discovery(
            ForestState(forest, self._directions(prepared, seed), task.n_known),
            codes[codes >= task.n_known] - task.n_known,
            fit_temperature(unseen[known >= 0], known[known >= 0]) if prepared.calibrate else 1.0,
            labels=replace(prepared.labels, codes=labels),
            facts=facts | self._judged(prepared, choice, judged),
        )

    def _choose(self, prepared: Preparation) -> Choice:
        """Choose a partition of the unlabelled rows that are left."""
        device = pick_device(self.device)
        return choose(prepared.task, prepared.look, prepared.rng, with_graphs=False, device=device)

    def _judged(self, prepared: Preparation, choice: Choice, judged: Judged) -> dict[str, Any]:
        """Say how sure the result is; returns the attributes that say so."""
        return {}

    def _directions(self, prepared: Preparation, seed: int) -> Forest:
        """Grow a forest that places rows in the main directions of the network's vectors."""
        look, rows = prepared.look, prepared.task.rows
        if look is None:
            centred = rows - rows.mean(axis=0)
            return Forest.grow(rows[:_MOST_TAUGHT], _main_directions(centred[:_MOST_TAUGHT]), seed)
        return Forest.grow(rows[look.places], _main_directions(look.embedding), seed)

    def _facts(self) -> dict[str, list[Any]]:
        own = {"known_accuracy": list(self.known_accuracy_)} if hasattr(self, "known_accuracy_") else {}
        return own | super()._facts()

    def _restore_facts(self, facts: Mapping[str, list[Any]]) -> None:
        super()._restore_facts(facts)
        if "known_accuracy" in facts:  # older files have none
            self.known_accuracy_ = _checked_accuracy(facts["known_accuracy"])

    def _restore_state(self, arrays: Mapping[str, NDArray[Any]]) -> ForestState:
        n_known, n_columns = len(self.known_classes_), self.encoder_.layout_.n_columns
        classes = Forest.restore(arrays, "classes.", n_columns, n_known + self._n_found)
        return ForestState(classes, Forest.restore(arrays, "directions.", n_columns, None), n_known)


def _targets(prepared: Preparation, partition: Codes, seed: int) -> Floats:
    """Probabilities of all classes for all rows: labels, what the router said, and the partition; (n, n_classes)."""
    task, whole, routing = prepared.task, prepared.whole, prepared.routed
    n_known, n_novel = task.n_known, task.n_novel
    targets = np.zeros((len(whole.codes), n_known + n_novel))
    labelled, free = np.flatnonzero(whole.codes >= 0), np.flatnonzero(whole.codes < 0)
    targets[labelled, whole.codes[labelled]] = 1.0
    if routing is None:
        targets[free, n_known + partition] = 1.0
        return targets
    routed = routing.whole_proba(whole, exact=True)
    novel = np.zeros((len(free), n_novel))
    left = prepared.labels.unlabelled[free]  # the rows of which the partition is
    if n_novel:
        novel[left] = np.eye(n_novel)[partition]
        if not left.all():  # if they were novel after all
            novel[~left] = Forest.grow(whole.rows[free[left]], novel[left], seed).proba(whole.rows[free[~left]])
    else:
        routed = routed[:, :-1] / np.maximum(routed[:, :-1].sum(axis=1, keepdims=True), LEAST_WEIGHT)
    targets[free] = np.hstack([routed[:, :n_known], routed[:, n_known:] * novel])
    return np.round(targets * _GRAIN) / _GRAIN


def _known_accuracy(labels: Labels, codes: Codes, right: NDArray[np.bool_]) -> Records:
    """Count the labelled rows (n,) of each known class, and say which share was right by trees that had not seen it."""
    return Records(
        {"class": name, "rows": int((codes == code).sum()), "right": float(right[codes == code].mean())}
        for code, name in enumerate(labels.known_classes.tolist())
        if (codes == code).any()
    )


def _checked_accuracy(records: list[Any]) -> Records:
    """Read saved records of `_known_accuracy`; ModelFileError where they are none."""
    for record in records:
        entries = Entries(record, "the accuracy of known classes")
        if not 0 <= entries.number("right") <= 1 or set(record) != {"class", "rows", "right"}:
            raise ModelFileError("the accuracy of known classes must be shares from 0 to 1.")
        entries.get("rows", int)
    return Records(records)


def _by_size(codes: Codes, n_known: int, n_novel: int) -> Codes:
    """Order of all classes: the known ones as they are, then the novel ones, the largest first."""
    sizes = np.bincount(codes, minlength=n_known + n_novel)[n_known:]
    return np.concatenate([np.arange(n_known), n_known + np.argsort(-sizes, kind="stable")])


def _main_directions(embedding: Floats) -> Floats:
    """Principal components of the embedding; (n, e) to (n, n_latent)."""
    centred = embedding - embedding.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    places: Floats = centred @ directions[:_N_LATENT].T
    return places
