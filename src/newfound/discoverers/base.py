"""What all discoverers share: reading tables and labels, naming classes, predicting, and their saved state."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from newfound.deadline import NEVER, Deadline
from newfound.discoverers.curatable import labels_of_another_type
from newfound.discoverers.curation import Curation
from newfound.discoverers.display import NotebookDisplay
from newfound.discoverers.fitted import Arrays, Discovery, FittedState, Floats
from newfound.discoverers.living import Living
from newfound.discoverers.parameters import check_choice, check_integer, check_real
from newfound.discoverers.preparation import Preparation, prepare
from newfound.discoverers.reading import Reading
from newfound.discoverers.routed import RoutedState, restore_forest, routing_from_facts, routing_to_facts
from newfound.discoverers.update import check_records
from newfound.discoverers.weaknesses import weaknesses_of
from newfound.errors import LABELS, InputError, Message, ModelFileError, Parameter, WeakEvidence, warn_user
from newfound.learning.checkpoints import Checkpoints
from newfound.learning.machine import in_parallel, threads_for_table
from newfound.metrics import open_world_accuracy
from newfound.parameters import check_weights
from newfound.registry import needs_known_classes
from newfound.routing import Forest, KnownShare
from newfound.routing.calibration import at_temperature, fit_temperature, rows_to_hold_out
from newfound.routing.router import Mode
from newfound.selection.n_classes import NClassesEstimate
from newfound.selection.space import ENCODINGS, Space
from newfound.tables import TableEncoder, all_classes, as_table, read_labels
from newfound.tables.frame import chunks
from newfound.tables.labels import holds_text, mark_unlabelled
from newfound.tables.state import checked_array
from newfound.tables.streams import Summary, is_stream, open_stream, summarise
from newfound.tables.task import DiscoveryTask

MODES: tuple[Mode, ...] = ("novel", "mixed", "auto")
"""What the parameter `unlabelled` may be."""

HALF = 0.5
"""Probability below which a class does not fit a row."""


_ROWS_AT_A_TIME = 8_192  # that are encoded and predicted together, in one thread; they stay in its cache


class NotFittedError(InputError, SklearnNotFittedError):
    """The discoverer was asked to predict before `fit`."""


class BaseDiscoverer(Living, NotebookDisplay, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of every discoverer.

    A discoverer finds novel classes among the unlabelled rows of a table and predicts known or novel classes for new
    rows. A subclass implements three things: `_check_parameters`; `_learn`, which makes a `Discovery` of a task; and
    `_restore_state`, which reads the arrays of that discovery's state back from a model file. Tables, labels and names
    are handled here, and so is what people make of the classes after `fit`.

    Attributes
    ----------
    temperature_ : float
        Temperature of the probabilities, fitted to known rows that were held out; 1.0 where there was none. Where known
        and novel rows are mixed, it is that of the router.
    curation_ : Curation
        What was merged and split since `fit`.
    weaknesses_ : list of str
        Reasons to doubt the novel classes, in words; empty if there are none.
    unlabelled_ : {"novel", "mixed"}
        What the unlabelled rows were taken for: all of novel classes, or mixed with rows of known ones. This attribute
        and the next two are there where the parameter `unlabelled` is not "novel", and `fit` saw both labelled and
        unlabelled rows.
    unlabelled_reason_ : str
        Why, in words.
    known_share_ : KnownShare
        Share of the unlabelled rows that are of known classes: a float with a 90 % ``interval``.
    sampled_rows_ : ndarray of shape (n,), int64
        Where `fit` read files or batches: the places of the rows of ``labels_`` in the table, counted from 0.
    """

    _search_space: ClassVar[Mapping[str, Space]] = ENCODINGS
    _most_known: ClassVar[int | None] = None  # known classes that it can take, where there is a limit
    _looks: ClassVar[bool] = False  # whether it goes by the in-context network, and needs no router beside it

    n_novel_classes: int | Literal["auto"]
    # Constructor parameters that a discoverer need not have.
    unlabelled: Mode = "novel"
    encoder: TableEncoder | None = None
    random_state: Any = None

    encoder_: TableEncoder
    temperature_: float
    history_: list[dict[str, Any]]
    weaknesses_: list[str]
    n_classes_estimate_: NClassesEstimate
    n_features_in_: int
    unlabelled_: str
    unlabelled_reason_: str
    known_share_: KnownShare
    sampled_rows_: NDArray[np.int64]

    _state: FittedState
    _forest: Forest | None = None  # of the router, where known and novel rows were mixed

    # ---- what users call

    def fit(self, X: Any, y: Any = None, *, calibrate: bool = True) -> Self:
        """Find the novel classes of a partly labelled table.

        Parameters
        ----------
        X : pandas, polars or pyarrow table, or numpy array, of shape (n, n_columns)
            The table. It may also be larger than memory: the path of a Parquet file, a folder of them, a pattern such
            as ``"2026-*.parquet"``, or an iterator of pyarrow batches. A bounded random sample of its rows is then
            learned from; ``labels_`` are those of the sample, whose places ``sampled_rows_`` has.
        y : labels of shape (n,), or str
            Known classes as integers, strings, booleans or categories; -1, None or NaN where a row is unlabelled. For a
            table that is read from files or batches, the name of the column of the labels.
        calibrate : bool, default=True
            Whether a tenth of the known rows, where there are enough, is held out of the training, so that
            probabilities can be compared with what happens and corrected. False learns from all rows. Where known and
            novel rows are mixed, nothing has to be held out, and it makes no difference.

        Returns
        -------
        self
            An earlier fit leaves no trace; `keep_names` carries its names over. On an error the discoverer is left as
            it was.
        """
        return self._fit(X, y, calibrate)

    def _fit(self, X: Any, y: Any, calibrate: bool, checkpoints: Checkpoints | None = None) -> Self:
        if not isinstance(calibrate, (bool, np.bool_)):
            raise InputError.of("calibrate", calibrate, "True or False")
        self._check_all_parameters()
        with nullcontext() if checkpoints is None else closing(checkpoints):
            if is_stream(X):
                deadline, encoder = Deadline.after(getattr(self, "time_limit", None)), self._encoder_of_stream(y)
                with open_stream(X, y) as stream:
                    return self._fit_stream(summarise(stream, encoder), bool(calibrate), checkpoints, deadline=deadline)
            prepared = prepare(self, X, y, calibrate=bool(calibrate), checkpoints=checkpoints)
            return self._conclude(prepared, self._discovered(prepared))

    def _fit_stream(
        self, summary: Summary, calibrate: bool, checkpoints: Checkpoints | None = None, *, deadline: Deadline = NEVER
    ) -> Self:
        """Fit to the sample that the first pass over a stream drew."""
        # A clock of its own: what reading waits for the disk says nothing about the speed of what follows.
        deadline = Deadline.after(deadline.left) if deadline.is_set else deadline
        prepared = prepare(self, summary, None, calibrate=calibrate, checkpoints=checkpoints, deadline=deadline)
        return self._conclude(prepared, self._discovered(prepared))

    def _discovered(self, prepared: Preparation) -> Discovery:
        with threads_for_table(*prepared.task.rows.shape):
            return self._discover(prepared)

    def fit_predict(self, X: Any, y: Any = None, *, calibrate: bool = True) -> NDArray[Any]:
        """Find the novel classes, and return the class of each row: ``labels_``; parameters as in `fit`."""
        return self.fit(X, y, calibrate=calibrate).labels_

    def predict(self, X: Any, *, abstain: float | None = None) -> NDArray[Any]:
        """Predict a known or a novel class for each row.

        Parameters
        ----------
        X : table of shape (n, n_columns)
        abstain : float, optional
            Say nothing about rows of which no class has at least this probability, from 0 to 1.

        Returns
        -------
        ndarray of shape (n,)
            Classes. Where `abstain` is given, rows without one are marked as unlabelled rows are: with -1 among
            integers, NaN among floats, None among text and booleans.
        """
        if abstain is not None:
            check_real("abstain", abstain, low=0, high=1)
        proba = self.predict_proba(X)
        classes: NDArray[Any] = self.classes_[proba.argmax(axis=1)]
        return classes if abstain is None else mark_unlabelled(classes, proba.max(axis=1) < abstain)

    def unsure(self, X: Any) -> NDArray[np.bool_]:
        """Rows for which no class has a probability of one half; shape (n,).

        They are those that ``predict(X, abstain=0.5)`` says nothing about.
        """
        found: NDArray[np.bool_] = self.predict_proba(X).max(axis=1) < HALF
        return found

    def predict_novel(self, X: Any) -> NDArray[Any]:
        """Predict a novel class for each row, for rows known to be of no known class; shape (n,)."""
        rows = self._encode(X)
        if not len(self.novel_classes_):
            raise InputError(f"There is no novel class to predict: {self._why_none()}, or use predict.")
        found: NDArray[Any] = self.novel_classes_[self._curated_novel_proba(rows).argmax(axis=1)]
        return found

    def predict_proba(self, X: Any) -> Floats:
        """Predict the probability of each class; shape (n, n_classes), columns in the order of ``classes_``."""
        if isinstance(X, Reading):
            return X.proba if X.model is self else self._curated_proba(self._encode(X))
        self._check_is_fitted()
        table, encoder = as_table(X), self.encoder_
        columns = encoder.used_columns(table, estimator_name=type(self).__name__)
        proba = np.empty((table.n_rows, len(self.classes_)))

        def predict_part(rows: slice) -> None:
            proba[rows] = self._curated_proba(encoder.encode_columns(columns, rows))

        in_parallel(predict_part, list(chunks(table.n_rows, _ROWS_AT_A_TIME)))
        return proba

    def novelty_score(self, X: Any) -> Floats:
        """Probability that a row is of any novel class, from 0 to 1; shape (n,)."""
        novel: Floats = self.predict_proba(X)[:, len(self.known_classes_) :].sum(axis=1)
        return np.minimum(novel, 1.0)  # sums are rounded

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose class is predicted correctly: known classes by name, novel ones after a matching.

        A label in `y` that was known to `fit` must be predicted by its name. All other labels are true novel classes:
        each novel class of the discoverer is paired with at most one of them, as in
        :func:`newfound.metrics.match_classes`. Unlabelled rows of `y` are left out.

        Parameters
        ----------
        X : table of shape (n, n_columns)
        y : labels of shape (n,)
            True classes, in the type of the labels that `fit` took; -1, None or NaN where a row's class is not known.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows in the share, none below 0; the matching counts rows.

        Returns
        -------
        float
            From 0 to 1; NaN, with a warning, where `y` has no labelled row.

        Notes
        -----
        Scikit-learn's ``cross_val_score`` and ``GridSearchCV`` use it. Their folds follow the order of the rows, so
        where that is the order of the classes, shuffle: ``cv=KFold(5, shuffle=True)``. ``cross_val_predict`` with
        ``method="predict_proba"`` numbers the labels anew before `fit` sees them, which makes a known class of the
        unlabelled rows; without that method it leaves them alone.

        Examples
        --------
        >>> from newfound import KMeansDiscoverer
        >>> X, y = [[0.0], [1.0], [9.0], [5.0]], ["ant", "ant", None, None]
        >>> KMeansDiscoverer(2, random_state=0).fit(X, y).score(X, ["ant", "ant", "bee", "wasp"])
        1.0
        """
        predicted = self.predict(X)
        labels = read_labels(y, len(predicted))
        if not labels.labelled.any():
            warn_user(Message(LABELS, " has no labelled rows to score; the score is NaN."))
            return float("nan")
        text, known_text = (holds_text(classes) for classes in (labels.known_classes, self.known_classes_))
        if len(self.known_classes_) and text != known_text:
            raise labels_of_another_type(labels.known_classes, self.known_classes_)
        truth = labels.known_classes[labels.codes[labels.labelled]]
        weights = None
        if sample_weight is not None:
            weights = check_weights(sample_weight, len(predicted))[labels.labelled]
        return open_world_accuracy(truth, predicted[labels.labelled], self.known_classes_, sample_weight=weights)

    def transform(self, X: Any) -> Floats:
        """Map rows to the representation in which the classes are told apart; shape (n, n_latent)."""
        return self._latent(self._encode(X))

    def search_space(self) -> dict[str, Space]:
        """Return what `newfound.tune` tries: parameters, each with the values that are worth trying."""
        return dict(self._search_space)

    @property
    def n_novel_classes_(self) -> int:
        """Number of novel classes."""
        self._check_is_fitted()
        return len(self.novel_classes_)

    # ---- what subclasses implement

    def _check_parameters(self) -> None:
        """Raise InputError for a parameter that cannot be used."""
        raise NotImplementedError

    def _learn(self, task: DiscoveryTask, rng: np.random.RandomState) -> Discovery:
        """Find the novel classes of a task."""
        raise NotImplementedError

    def _restore_state(self, arrays: Mapping[str, NDArray[Any]]) -> FittedState:
        """Read `FittedState.arrays` back; ModelFileError where arrays, parameters and classes do not fit together."""
        raise NotImplementedError

    # ---- what subclasses may add

    def _discover(self, prepared: Preparation) -> Discovery:
        """Find the novel classes, and fit the temperature to rows that were held out of it."""
        task = prepared.task
        held_out = rows_to_hold_out(task.codes, prepared.rng) if prepared.calibrate else np.empty(0, dtype=np.intp)
        if not len(held_out):
            return self._learn_from(task, prepared)
        learned = np.setdiff1d(np.arange(len(task.rows)), held_out)
        discovery = self._learn_from(task.take(learned), prepared)
        proba = discovery.state.proba(task.rows[held_out])
        return replace(discovery, temperature=fit_temperature(proba, task.codes[held_out]))

    def _learn_from(self, task: DiscoveryTask, prepared: Preparation) -> Discovery:
        """Find the novel classes of a task, which is all or a part of what was prepared."""
        return self._learn(task, prepared.rng)

    def _fitted_arrays(self) -> Arrays:
        """Arrays for the model file."""
        return self._predicting.arrays()

    def _restore_fitted(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Read `_fitted_arrays` back."""
        first = self._before_updates(arrays)
        self._state = first._restore_state(arrays)
        self._forest = restore_forest(arrays, self.encoder_.layout_.n_columns, len(first.known_classes_))
        self._restore_updated(arrays)

    def _facts(self) -> dict[str, list[Any]]:
        """Return lists for users that are saved with the discoverer: of texts, or of dicts of numbers and texts."""
        found: dict[str, list[Any]] = {"weaknesses": self.weaknesses_}
        if hasattr(self, "known_share_"):
            found["routing"] = routing_to_facts(self.unlabelled_, self.unlabelled_reason_, self.known_share_)
        if self.batches_:
            found["batches"] = self.batches_
        if hasattr(self, "n_classes_estimate_"):
            found |= self.n_classes_estimate_.to_facts()
        return found

    def _restore_facts(self, facts: Mapping[str, list[Any]]) -> None:
        """Restore `_facts`; ModelFileError where one is missing or of another kind."""
        weaknesses = facts.get("weaknesses", [])  # older files of most discoverers have none
        if not all(isinstance(reason, str) for reason in weaknesses):
            raise ModelFileError("the weaknesses must be a list of texts.")
        self.weaknesses_ = list(weaknesses)
        self.batches_ = check_records(facts.get("batches", []))
        if "routing" in facts:
            self.unlabelled_, self.unlabelled_reason_, self.known_share_ = routing_from_facts(facts["routing"])
        if "count" in facts:  # older files have none
            self.n_classes_estimate_ = NClassesEstimate.from_facts(facts)
        routed = getattr(self, "unlabelled_", "novel") == "mixed" and self._updated is None
        if routed != (self._forest is not None) and not self._looks:
            raise ModelFileError(
                "it must hold a router's forest where known and novel rows were mixed, and only there."
            )

    def _together_key(self) -> Hashable:
        """Discoverers of one key can be fitted by one `_fit_together`; None if it can only be fitted alone."""
        return None

    def _fit_together(self, discoverers: Sequence[Any], X: Any, y: Any) -> list[Any]:
        """Return fitted copies of discoverers that have one key."""
        raise NotImplementedError

    # ---- inside

    @property
    def _n_features_out(self) -> int:
        width: int = self._latent(np.zeros((1, self.encoder_.layout_.n_columns))).shape[1]
        return width

    @property
    def _predicting(self) -> FittedState:
        """What predicts: the discoverer's own state, behind the router where there is one, until an update."""
        if self._updated is not None:
            return self._updated
        if self._forest is None:
            return self._state
        return RoutedState(self._state, self._forest, self._n_found, self.temperature_)

    @property
    def _n_found(self) -> int:
        """Number of novel classes that were found, before anybody merged or split them."""
        return self.curation_.n_found

    def _conclude(self, prepared: Preparation, discovery: Discovery) -> Self:
        """Take over what was found, all at once."""
        labels = prepared.labels if discovery.labels is None else discovery.labels
        n_novel = prepared.task.n_novel
        n_empty = n_novel - len(np.unique(discovery.found))
        if n_empty:
            warn_user(
                Message(
                    f"{n_empty} of the {n_novel} novel classes have no rows: fewer were found among the unlabelled "
                    "rows. Fit with ",
                    Parameter("n_novel_classes", n_novel - n_empty),
                    ", or again with another ",
                    Parameter("random_state"),
                    " or other settings.",
                )
            )
        weaknesses = weaknesses_of(prepared, discovery)
        if weaknesses:
            warn_user(f"The evidence for these novel classes is weak: {'; '.join(weaknesses)}.", WeakEvidence)
        self._forget()
        self.encoder_ = prepared.encoder
        self._copy_features_in()
        if prepared.estimate is not None:
            self.n_classes_estimate_ = prepared.estimate
        self.curation_ = Curation(labels.n_known, n_novel)
        self.known_classes_ = labels.known_classes
        self.novel_classes_ = prepared.novel_classes
        self.classes_ = all_classes(labels.known_classes, self.novel_classes_)
        self._used_names = tuple(self.novel_classes_.tolist())
        self.labels_ = self.classes_[labels.codes_with(discovery.found)]
        if discovery.member_found is not None:
            self.member_labels_ = self.classes_[labels.codes_with(discovery.member_found)]
        self._forest = None if self._looks else prepared.forest
        routed = prepared.routed if self._forest is not None else None
        self.temperature_ = discovery.temperature if routed is None else routed.temperature
        self.history_ = discovery.history
        self._state = discovery.state
        if prepared.routing is not None:
            self.unlabelled_, self.unlabelled_reason_ = prepared.routing.unlabelled, prepared.routing.reason
            self.known_share_ = prepared.routing.known_share
        if prepared.stream is not None:
            self.sampled_rows_ = prepared.stream.rows
        for name, fact in discovery.facts.items():
            setattr(self, name, fact)
        self.weaknesses_ = weaknesses
        self._remember(prepared.whole, labels.codes_with(discovery.found))
        return self

    def _forget(self) -> None:
        """Drop what an earlier fit learned."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)

    def _check_all_parameters(self) -> None:
        self._check_parameters()
        self._check_n_novel_classes()
        check_choice("unlabelled", self.unlabelled, MODES)
        if self.encoder is not None and not isinstance(self.encoder, TableEncoder):
            raise InputError.of("encoder", self.encoder, "None or a TableEncoder, e.g. TableEncoder()")

    def _encoder_of_stream(self, y: Any) -> TableEncoder:
        """Return the encoder, not fitted, after checks of what a stream needs."""
        if not isinstance(y, str) and (y is not None or needs_known_classes(type(self))):
            expected = "the name of the column of the labels, where X is read from files or batches"
            cure = "name it, or read the table first, for example with newfound.read_table"
            raise InputError.of("y", y, expected, cure=cure)
        self._check_all_parameters()
        return TableEncoder() if self.encoder is None else self.encoder

    def _check_n_novel_classes(self) -> None:
        if isinstance(self.n_novel_classes, str) and self.n_novel_classes == "auto":
            return
        check_integer("n_novel_classes", self.n_novel_classes, low=1, or_else=", or 'auto' to have it estimated")

    def _why_none(self) -> str:
        """Say why there is no novel class, and what to do about it."""
        if self._n_found:
            return "all were merged with known classes. Fit again"
        if getattr(self, "unlabelled_", "novel") == "mixed":
            return "all unlabelled rows were taken for known classes. Fit with unlabelled='novel' if they are not"
        return "fit saw no unlabelled rows. Fit with some labels missing (-1, None or NaN)"

    def _copy_features_in(self) -> None:
        self.n_features_in_ = self.encoder_.n_features_in_
        if hasattr(self.encoder_, "feature_names_in_"):
            self.feature_names_in_ = self.encoder_.feature_names_in_

    def _codes_of(self, labels: NDArray[Any]) -> NDArray[np.int32]:
        """Place of each label in ``classes_``."""
        order = np.argsort(self.classes_)
        return order[np.searchsorted(self.classes_, labels, sorter=order)].astype(np.int32)

    @staticmethod
    def _codes_from(
        arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...], n_classes: int
    ) -> NDArray[np.int32]:
        """Read saved codes of classes; -1 in the shape stands for any length of at least 1."""
        codes = checked_array(arrays, name, np.int32, shape)
        if not 0 <= codes.min() <= codes.max() < n_classes:
            raise ModelFileError(f"array {name!r} holds codes of classes that do not exist.")
        return codes

    def _latent(self, rows: Floats) -> Floats:
        """Latent representation; (n, d) to (n, n_latent)."""
        return self._state.latent(rows)

    def _curated_proba(self, rows: Floats) -> Floats:
        """Probabilities of all classes as users know them; (n, d) to (n, n_classes)."""
        found = self._predicting.proba(rows)
        if self._forest is None:
            found = at_temperature(found, self.temperature_)
        found = self.curation_.proba(found, self._latent(rows) if self.curation_.splits else None)
        if not np.isfinite(found).all():  # of weights or centroids that are far too large
            cure = "Fit it again, with other numeric_scaling or lower learning rates, or get another model."
            raise InputError(f"This {type(self).__name__} has no probabilities for some rows. {cure}", cure=cure)
        return found

    def _curated_novel_proba(self, rows: Floats) -> Floats:
        """Shares of the novel classes as users know them; (n, d) to (n, n_novel)."""
        n_known = len(self.known_classes_)
        found = np.hstack([np.zeros((len(rows), n_known)), self._predicting.novel_proba(rows)])
        return self.curation_.proba(found, self._latent(rows) if self.curation_.splits else None)[:, n_known:]

    def _encode(self, X: Any) -> Floats:
        self._check_is_fitted()
        if isinstance(X, Reading):
            return X.rows_for(self)
        return self.encoder_.transform_table(as_table(X), estimator_name=type(self).__name__)

    def _is_fitted(self) -> bool:
        return hasattr(self, "classes_")

    def _check_is_fitted(self) -> None:
        if not self._is_fitted():
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet; call fit(X, y) first, or load a saved one with "
                "newfound.load(path)."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def __sklearn_tags__(self) -> Any:
        # Not a classifier in scikit-learn's sense: stratified folds and label checks fail on missing labels.
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = needs_known_classes(type(self))
        tags.non_deterministic = False
        return tags
