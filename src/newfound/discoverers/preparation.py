"""The first steps of every fit: read the table and the labels, route the rows, count the novel classes, warn."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

import newfound
from newfound.counting import counted
from newfound.deadline import Deadline
from newfound.discoverers.parameters import pick_device
from newfound.errors import LABELS, TABLE, InputError, Message, Parameter, warn_user
from newfound.incontext import ALL_NOVEL, MIXED, UNKNOWN
from newfound.incontext.context import MAX_CLASSES
from newfound.incontext.look import N_VIEWS, Look, look_at
from newfound.learning.checkpoints import Checkpoints
from newfound.parameters import pick_generator
from newfound.progress import ProgressBar
from newfound.registry import needs_known_classes, registered
from newfound.routing import Forest, Routing, route
from newfound.selection.n_classes import NClassesEstimate, estimate_from_task
from newfound.selection.separating import separating_column
from newfound.selection.source_columns import SourceColumns
from newfound.tables import Labels, Table, TableEncoder, as_table, novel_class_names, read_labels
from newfound.tables.cells import missing_mask
from newfound.tables.streams import Summary
from newfound.tables.task import DiscoveryTask

_TIME_FOR_LOOK, _TIME_FOR_ROUTING, _TIME_FOR_COUNTING = 0.3, 0.3, 0.15  # shares of the time that is left
_SAID: dict[str, int] = {"novel": ALL_NOVEL, "mixed": MIXED, "auto": UNKNOWN}  # of the unlabelled rows to the network


@dataclass(frozen=True, eq=False)
class Preparation:
    """A table and its labels, ready to discover in.

    Attributes
    ----------
    encoder : TableEncoder
        Fitted to the table.
    labels : Labels
        Where known and novel rows are mixed, unlabelled rows of known classes have theirs.
    novel_classes : ndarray of shape (n_novel,)
        Names for the novel classes.
    task : DiscoveryTask
        The rows that came with a label, and those in which novel classes are sought.
    whole : DiscoveryTask
        All rows.
    look : Look or None
        What the in-context network says of the rows of the task; None where it was not asked.
    routing : Routing or None
        What the router says of the unlabelled rows, where it was asked.
    estimate : NClassesEstimate or None
        How many novel classes there may be, where that had to be estimated.
    rng : RandomState
        For every random choice that follows.
    calibrate : bool
        Whether known rows are held out to fit the temperature of the discoverer's own probabilities to.
    deadline : Deadline
        At which `fit` has to end, where the discoverer has a time limit.
    separating : str or None
        A column that alone tells labelled from unlabelled rows.
    checkpoints : Checkpoints or None
        Where a training is kept while it goes on.
    stream : Summary or None
        The table that the task is a sample of, where it does not fit into memory.
    """

    encoder: TableEncoder
    labels: Labels
    novel_classes: NDArray[Any]
    task: DiscoveryTask
    whole: DiscoveryTask
    look: Look | None
    routing: Routing | None
    estimate: NClassesEstimate | None
    rng: np.random.RandomState
    calibrate: bool
    deadline: Deadline
    separating: str | None
    checkpoints: Checkpoints | None = None
    stream: Summary | None = None

    @property
    def routed(self) -> Routing | None:
        """What the router said, where known and novel rows are mixed."""
        return self.routing if self.routing is not None and self.routing.unlabelled == "mixed" else None

    @property
    def forest(self) -> Forest | None:
        """The forest of the router, where known and novel rows are mixed."""
        return None if self.routed is None else self.routed.forest


def prepare(
    discoverer: Any,
    X: Any,
    y: Any,
    *,
    calibrate: bool,
    checkpoints: Checkpoints | None = None,
    deadline: Deadline | None = None,
) -> Preparation:
    """Read table and labels as a discoverer's parameters say; InputError for what cannot be used.

    Its time limit begins now, where no deadline says that it began before.
    """
    deadline = deadline or Deadline.after(getattr(discoverer, "time_limit", None))
    rng = pick_generator(discoverer.random_state)
    if y is None and not isinstance(X, Summary) and needs_known_classes(type(discoverer)):
        raise _no_known_classes(discoverer, "requires y to be passed, but the target y is None")
    stream = X if isinstance(X, Summary) else None
    table = as_table(X) if stream is None else stream.sample
    labels = read_labels(y, table.n_rows) if stream is None else stream.labels
    if table.n_rows < 2:
        problem = f" has 1 sample (n_samples = {table.n_rows}), but at least 2 rows are needed; pass more rows."
        raise InputError(Message(TABLE, problem), expected="at least 2 rows", cure="pass more rows")
    _check_labels(discoverer, labels)
    _warn_of_the_target(table, labels)
    encoder = TableEncoder() if discoverer.encoder is None else clone(discoverer.encoder)
    encoder = encoder.fit_table(table) if stream is None else stream.fit_encoder(encoder)
    rows = encoder.transform_table(table)
    if checkpoints is not None:  # before anything is drawn from the generator
        checkpoints.open(run_facts(discoverer, rows, labels, calibrate), rng)
    task = DiscoveryTask(rows, labels.codes, labels.n_known, 0, encoder.layout_)
    columns = SourceColumns.of(encoder)
    separating = separating_column(columns, rows, labels.codes)
    whole, look, routing = task, None, None
    routes = bool(discoverer.unlabelled != "novel" and labels.n_known and labels.unlabelled.any())
    looks = labels.unlabelled.any() and (routes or discoverer.n_novel_classes == "auto" or discoverer._looks)
    # Drawn only where it is used, so that fits without a look follow their seed alone.
    own = pick_generator(_seed_of_the_look(discoverer.random_state, rng)) if looks else rng
    # With more known classes than the network takes, it is asked once their unlabelled rows are out.
    at_once = labels.n_known <= MAX_CLASSES
    if looks and at_once:
        look = _shown(discoverer, task, own, deadline)
    if routes:
        routing = route(task, look, discoverer.unlabelled, rng, deadline.part(_TIME_FOR_ROUTING))
        if routing.unlabelled == "mixed":
            labels, kept = _routed(labels, routing.whole_proba(task, exact=discoverer._looks), routing)
            task, look = task.take(kept), None if look is None else look.of(kept)
            calibrate = calibrate and discoverer._looks  # the router's probabilities are calibrated already
    if looks and not at_once and labels.unlabelled.any():
        look = _shown(discoverer, task, own, deadline)
    estimate, n_novel = None, 0
    if labels.unlabelled.any():
        if discoverer.n_novel_classes == "auto":
            until = deadline.part(_TIME_FOR_COUNTING)
            estimate = estimate_from_task(task, look, own, columns=columns, deadline=until)
        n_novel = _within_reach(discoverer.n_novel_classes if estimate is None else estimate.n_classes, labels)
    names = novel_class_names(labels.known_classes, n_novel)
    return Preparation(
        encoder,
        labels,
        names,
        replace(task, n_novel=n_novel),
        replace(whole, n_novel=n_novel),
        look,
        routing,
        estimate,
        rng,
        calibrate,
        deadline,
        separating,
        checkpoints,
        stream,
    )


def _shown(discoverer: Any, task: DiscoveryTask, rng: np.random.RandomState, deadline: Deadline) -> Look | None:
    """Show a task to the in-context network, as a discoverer's parameters say."""
    with ProgressBar(1, shown=discoverer._looks and discoverer.verbose > 0, start="looking at the table"):
        return look_at(
            task,
            rng,
            unlabelled=_SAID[discoverer.unlabelled],
            n_views=getattr(discoverer, "n_views", N_VIEWS),
            seconds=deadline.part(_TIME_FOR_LOOK).room,
            device=pick_device(getattr(discoverer, "device", "cpu")),
        )


def run_facts(discoverer: Any, rows: NDArray[np.float64], labels: Labels, calibrate: bool) -> dict[str, Any]:
    """Return what a training follows from besides its random generator, for checkpoints.

    Parameters
    ----------
    discoverer : BaseDiscoverer
    rows : ndarray of shape (n, d)
        Encoded rows.
    labels : Labels
    calibrate : bool

    Returns
    -------
    dict
        JSON-able: versions, the parameters as texts, and digests of table and labels.
    """
    parameters = {name: _spelled(value) for name, value in discoverer.get_params().items() if name != "verbose"}
    parameters["device"] = pick_device(discoverer.device).type
    known = repr(labels.known_classes.tolist()).encode()
    return {
        "version of newfound": newfound.__version__,
        "discoverer": type(discoverer).__name__,
        "parameters": {**parameters, "calibrate": repr(calibrate)},
        "table": _digest(repr(rows.shape).encode(), rows),
        "labels": _digest(known, labels.codes),
    }


def _spelled(value: Any) -> str:
    """Spell a parameter, the same way in every process."""
    if isinstance(value, (BaseEstimator, np.random.RandomState)):  # an encoder's own parameters are there one by one
        return type(value).__name__
    return repr(sorted(value)) if isinstance(value, (set, frozenset)) else repr(value)


def _digest(name: bytes, array: NDArray[Any]) -> str:
    digest = hashlib.sha256(name)
    digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _all_rows(n: int) -> str:
    return "the only unlabelled row was" if n == 1 else f"all {n:,} unlabelled rows were"


def _routed(labels: Labels, proba: NDArray[np.float64], routing: Routing) -> tuple[Labels, NDArray[np.intp]]:
    """Give unlabelled rows of known classes theirs; also return the numbers of the rows that are left."""
    unlabelled = np.flatnonzero(labels.unlabelled)
    is_known = proba[:, -1] <= 0.5 if routing.is_novel.any() else np.ones(len(proba), dtype=bool)
    known = unlabelled[is_known]
    if len(known) == len(unlabelled):
        warn_user(
            Message(
                f"No novel class: {_all_rows(len(known))} taken for rows of the "
                f"{counted(labels.n_known, 'known class', 'known classes')}. Where you know them to be novel, use ",
                Parameter("unlabelled", "novel"),
                ".",
            )
        )
    codes = labels.codes.copy()
    codes[known] = proba[is_known, :-1].argmax(axis=1)
    return replace(labels, codes=codes), np.setdiff1d(np.arange(len(codes)), known)


def _within_reach(n_novel: Any, labels: Labels) -> int:
    """Return the number of novel classes to look for, no more than there are rows to find them in."""
    n_rows = int(labels.unlabelled.sum())
    if n_novel > n_rows:
        warn_user(
            Message(
                "Got ",
                Parameter("n_novel_classes", int(n_novel)),
                f", but only {n_rows} unlabelled row{'s were' if n_rows > 1 else ' was'} taken for novel, so there are "
                "no more novel classes than that. Where you know that all unlabelled rows are novel, use ",
                Parameter("unlabelled", "novel"),
                ".",
            )
        )
    return int(min(n_novel, n_rows))


def _seed_of_the_look(random_state: Any, rng: np.random.RandomState) -> Any:
    """Return the seed itself where there is one, so that `estimate_n_novel_classes` with it gives the same answer."""
    drawn = int(rng.randint(2**31 - 1))  # in any case: what is drawn next does not depend on how the seed was given
    return random_state if isinstance(random_state, Integral) else drawn


def _check_labels(discoverer: Any, labels: Labels) -> None:
    """Refuse or warn about labels from which little can be learned."""
    name, n_unlabelled = type(discoverer).__name__, int(labels.unlabelled.sum())
    if needs_known_classes(type(discoverer)) and labels.n_known == 0:
        raise _no_known_classes(discoverer, "learns from known classes, but y has no labelled rows")
    if discoverer._most_known is not None and labels.n_known > discoverer._most_known:
        problem = f"has {labels.n_known} known classes, but {name} takes at most {discoverer._most_known}"
        raise InputError.about("y", problem, "Use AutoDiscoverer or WhitenedKMeans.")
    if n_unlabelled == 0:
        warn_user(
            Message(
                LABELS,
                f" has no unlabelled rows, so there is nothing to discover; {name} becomes a classifier of the "
                f"{labels.n_known} known classes. Mark rows of unknown class with -1, None or NaN.",
            )
        )
    elif discoverer.n_novel_classes != "auto" and discoverer.n_novel_classes > n_unlabelled:
        raise InputError.of(
            "n_novel_classes",
            discoverer.n_novel_classes,
            problem=f"but there are only {n_unlabelled} unlabelled rows",
            cure="ask for fewer novel classes, or 'auto'",
        )
    if needs_known_classes(type(discoverer)) and labels.n_known == 1:
        warn_user(
            Message(
                LABELS,
                " has one class among its labelled rows: one known class says little about what makes a class, so the "
                "novel classes rest on the unlabelled rows alone.",
            )
        )


def _no_known_classes(discoverer: Any, problem: str) -> InputError:
    others = " or ".join(entry.class_name for entry in registered().values() if not entry.needs_labels)
    cure = Message(
        "Pass the known classes in ",
        LABELS,
        f", with -1, None or NaN where a row is unlabelled, or use {others}, which need no labels.",
    )
    return InputError(Message(f"{type(discoverer).__name__} {problem}. ", cure), parameter="y", cure=cure)


def _warn_of_the_target(table: Table, labels: Labels) -> None:
    """Warn of a column that says what y says: the same classes, and missing where y is."""
    unlabelled = labels.unlabelled
    if not labels.n_known or not unlabelled.any():
        return
    first = int(unlabelled.argmax())
    for name, values in table.columns.items():
        if not missing_mask(values[first : first + 1])[0] or not np.array_equal(missing_mask(values), unlabelled):
            continue
        _, groups = np.unique(values[~unlabelled], return_inverse=True)
        pairs = np.unique(np.stack([groups, labels.codes[~unlabelled]]), axis=1)
        if pairs.shape[1] == labels.n_known == groups.max() + 1:
            told = Message(
                f"Column {name!r} of ", TABLE, " says what ", LABELS, " says. If it is the target, leave it out."
            )
            warn_user(told)
