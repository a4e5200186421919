"""AutoDiscoverer: nothing to tune; the in-context network looks at the table, and graphs of its rows have a say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from newfound.discoverers.fitted import Arrays, Floats
from newfound.discoverers.in_context import ForestState, InContextDiscoverer, Judged
from newfound.discoverers.parameters import check_real, pick_device
from newfound.discoverers.preparation import Preparation
from newfound.errors import ModelFileError, warn_user
from newfound.learning.student import StudentNetworks
from newfound.records import Leaderboard
from newfound.routing.router import Mode
from newfound.selection.choose import Choice, choose
from newfound.selection.confidence import confidence, doubts, signs_of
from newfound.tables import TableEncoder
from newfound.tables.state import finite_floats


class AutoDiscoverer(InContextDiscoverer):
    """Novel classes without anything to tune, and without any novel label.

    The in-context network (see `InContextDiscoverer`) looks at the table once. That look says which unlabelled rows are
    of known classes, how many novel classes there are, and which rows belong together: its vectors are grouped by
    k-means. Graphs that join each row to its nearest neighbours have a say as far as they tell the known classes apart:
    vectors are smoothed along them, and where they hardly make a mistake about the known classes, a cut of the graphs
    may replace the groups. A forest learns all classes, and predicts new rows.

    It differs from `InContextDiscoverer` by the graphs, a time limit, and by saying how sure it is.

    Parameters
    ----------
    n_novel_classes : int or "auto", default="auto"
        Number of novel classes among the unlabelled rows; "auto" has it estimated.
    unlabelled : {"novel", "mixed", "auto"}, default="auto"
        What the unlabelled rows are: all of novel classes, or mixed with rows of known classes, which then get their
        known class. "auto" finds out, and ``unlabelled_reason_`` says how.
    time_limit : float or None, default=None
        Seconds that `fit` may take. None is no limit: on two cores `fit` takes a few seconds for 2,000 rows and about
        ten for 10,000. With a limit the result depends on the speed of the machine.
    n_members, training_steps : int or None, default=None
        Without effect since version 0.3, as no network is trained any more; they will be removed.
    encoder : TableEncoder or None, default=None
        How the table is prepared; None is ``TableEncoder()``.
    device : str, default="auto"
        "cpu", "cuda", or "auto" for a GPU where there is one.
    random_state : int, RandomState or None, default=None
        Seed.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    classes_, known_classes_, novel_classes_ : ndarray
        All classes, the known ones, then the novel ones (the largest first).
    labels_ : ndarray of shape (n,)
        Class of each training row: its label, or what the model predicts for it.
    leaderboard_ : Leaderboard
        The partitions that were compared, the chosen one first: how distances were measured (``representation``), the
        ``method``, and the ``agreement`` with the chosen one (adjusted Rand index). Where graphs had a say,
        ``information`` is what their edges tell of the classes, ``within`` the share of edges within a class, and the
        ``score`` decides. ``to_frame()`` makes a data frame.
    confidence_ : float
        Chance that more than four in five of the unlabelled rows have the right class, known or novel, as learned on
        synthetic tables.
    class_confidence_ : ndarray of shape (n_novel_classes,)
        How far each view of the network alone finds the same class: the mean overlap of rows.
    weaknesses_ : list of str
        Reasons to doubt the result, in words; empty if there are none.
    n_classes_estimate_ : NClassesEstimate
        How many novel classes there may be, where ``n_novel_classes`` is "auto".

    Examples
    --------
    >>> from newfound import AutoDiscoverer
    >>> from newfound.datasets import make_table
    >>> data = make_table(600, random_state=0)
    >>> model = AutoDiscoverer(n_novel_classes=3, random_state=0)
    >>> model.fit(data.X_train, data.y_train).n_novel_classes_
    3
    """

    leaderboard_: Leaderboard
    confidence_: float
    class_confidence_: Floats

    _state: ForestState | StudentNetworks  # type: ignore[assignment]
    _class_facts = ("class_confidence_",)

    def __init__(
        self,
        n_novel_classes: int | Literal["auto"] = "auto",
        *,
        unlabelled: Mode = "auto",
        time_limit: float | None = None,
        n_members: int | None = None,
        training_steps: int | None = None,
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
        pick_device(self.device)
        if self.time_limit is not None:
            check_real("time_limit", self.time_limit, low=0, open_low=True)
        given = [name for name in ("n_members", "training_steps") if getattr(self, name) is not None]
        if given:
            warn_user(
                f"{' and '.join(given)} of AutoDiscoverer have no effect, as it trains no networks any more; "
                "leave them out.",
                FutureWarning,
            )

    # ---- discovery

    def _choose(self, prepared: Preparation) -> Choice:
        deadline, device = prepared.deadline, pick_device(self.device)
        return choose(prepared.task, prepared.look, prepared.rng, deadline=deadline, device=device)

    def _judged(self, prepared: Preparation, choice: Choice, judged: Judged) -> dict[str, Any]:
        task, (unseen, codes, known_right, order) = prepared.task, judged
        sure = 1.0  # without an unlabelled row nothing can be wrong
        if len(codes):
            sure = confidence(signs_of(task, prepared.look, choice, unseen, codes, known_right, prepared.rng))
        return {
            "leaderboard_": Leaderboard(choice.leaderboard),
            "confidence_": sure,
            "class_confidence_": choice.class_agreement(task.n_novel)[order],
            "weaknesses_": doubts(sure, choice.partition, task),
        }

    # ---- the model file

    def _restore_state(self, arrays: Mapping[str, NDArray[Any]]) -> ForestState | StudentNetworks:  # type: ignore[override]
        if "input.heavy" not in arrays:
            return super()._restore_state(arrays)
        n_members = self.n_members or 1
        n_columns, n_known = self.encoder_.layout_.n_columns, len(self.known_classes_)
        return StudentNetworks.restore(arrays, n_columns, n_known, self._n_found, n_members)

    def _fitted_arrays(self) -> Arrays:
        own = {"class_confidence": self.class_confidence_, "confidence": np.array([self.confidence_])}
        if isinstance(self._state, StudentNetworks):
            own["member_codes"] = self._codes_of(self.member_labels_)
        return super()._fitted_arrays() | own

    def _restore_fitted(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super()._restore_fitted(arrays)
        if isinstance(self._state, StudentNetworks):
            shape = (self._state.n_members, len(self.labels_))
            self.member_labels_ = self.classes_[self._codes_from(arrays, "member_codes", shape, len(self.classes_))]
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


def _shares(arrays: Mapping[str, NDArray[Any]], name: str, n: int) -> Floats:
    """Return a saved array of n numbers from 0 to 1."""
    shares = finite_floats(arrays, name, (n,))
    if ((shares < 0) | (shares > 1)).any():
        raise ModelFileError(f"array {name!r} must hold numbers from 0 to 1.")
    return shares
