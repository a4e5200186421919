"""What all discoverers share: reading tables and labels, naming classes, predicting, and their saved state."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from newfound.discoverers.curatable import Curatable, TrainingRows
from newfound.discoverers.curation import Curation
from newfound.discoverers.naming import carried_names
from newfound.discoverers.open_world import at_temperature, fit_temperature, rows_to_hold_out
from newfound.discoverers.parameters import check_integer, check_real, pick_generator
from newfound.discoverers.reading import Reading
from newfound.errors import InputError, ModelFileError, warn_user
from newfound.selection.n_classes import NClassesEstimate, estimate_from_rows
from newfound.selection.space import ENCODINGS, Space
from newfound.tables import Labels, Table, TableEncoder, all_classes, as_table, novel_class_names, read_labels
from newfound.tables.cells import missing_mask
from newfound.tables.labels import mark_unlabelled
from newfound.tables.state import checked_array

Arrays = dict[str, NDArray[Any]]
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


class NotFittedError(InputError, SklearnNotFittedError):
    """The discoverer was asked to predict before `fit`."""


class BaseDiscoverer(Curatable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):
    """Base of every discoverer.

    A discoverer finds novel classes among the unlabelled rows of a table and predicts known or novel classes for new
    rows. A subclass implements `_check_parameters`, `_discover`, `_proba`, `_novel_proba` and `_latent`, which see
    encoded rows and class codes only, and the pairs `_fitted_state`, `_restore_fitted` and, where it has something to
    tell, `_facts`, `_restore_facts` for saving and loading.

    All of these speak of the `_n_found` novel classes that the discoverer found. What people made of them since is
    added here, on the way out, as is the temperature.

    Attributes
    ----------
    temperature_ : float
        Temperature of the probabilities, fitted to known rows that were held out; 1.0 where there was none.
    curation_ : Curation
        What was merged and split since `fit`.
    """

    _needs_known_classes: ClassVar[bool] = True
    # Whether rows to calibrate by are held out of `_discover`. A discoverer that chooses them itself says False, and
    # sets `temperature_` in its `_discover` if `_calibrates`.
    _holds_out: ClassVar[bool] = True
    _calibrates: bool = False  # what fit was asked, while it runs
    _search_space: ClassVar[Mapping[str, Space]] = ENCODINGS

    n_novel_classes: int | Literal["auto"]
    encoder: TableEncoder | None
    random_state: Any

    encoder_: TableEncoder
    temperature_: float
    history_: list[dict[str, Any]]
    n_classes_estimate_: NClassesEstimate
    n_features_in_: int

    # ---- what users call

    def fit(self, X: Any, y: Any = None, *, calibrate: bool = True) -> Self:
        """Find the novel classes of a partly labelled table.

        Parameters
        ----------
        X : pandas, polars or pyarrow table, or numpy array, of shape (n, n_columns)
            The table.
        y : labels of shape (n,)
            Known classes as integers, strings, booleans or categories; -1, None or NaN where a row is unlabelled.
        calibrate : bool, default=True
            Whether a tenth of the known rows, where there are enough, is held out of the training, so that
            probabilities can be compared with what happens and corrected. False learns from all rows.

        Returns
        -------
        self
            On an error the discoverer is left as it was. Where it was fitted before, a novel class of mostly the same
            rows as an earlier one keeps its name, and no other gets a name that was used before.
        """
        if not isinstance(calibrate, (bool, np.bool_)):
            raise InputError(f"Got calibrate={calibrate!r}, but expected True or False.")
        before = dict(self.__dict__)
        try:
            self._calibrates = bool(calibrate)
            self._fit(X, y)
            del self._calibrates
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

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

    def predict_novel(self, X: Any) -> NDArray[Any]:
        """Predict a novel class for each row, for rows known to be of no known class; shape (n,)."""
        rows = self._encode(X)
        if not len(self.novel_classes_):
            reason = "all were merged with known classes" if self._n_found else "fit saw no unlabelled rows"
            raise InputError(
                f"There is no novel class to predict: {reason}. "
                "Fit with some labels missing (-1, None or NaN), or use predict."
            )
        found: NDArray[Any] = self.novel_classes_[self._curated_novel_proba(rows).argmax(axis=1)]
        return found

    def predict_proba(self, X: Any) -> Floats:
        """Predict the probability of each class; shape (n, n_classes), columns in the order of ``classes_``."""
        return X.proba if isinstance(X, Reading) and X.model is self else self._curated_proba(self._encode(X))

    def novelty_score(self, X: Any) -> Floats:
        """Probability that a row is of any novel class, from 0 to 1; shape (n,)."""
        novel: Floats = self.predict_proba(X)[:, len(self.known_classes_) :].sum(axis=1)
        return np.minimum(novel, 1.0)  # sums are rounded

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

    def _discover(self, rows: Floats, codes: Codes, n_novel: int, rng: np.random.RandomState) -> Codes:
        """Learn from encoded rows (n, d) and known codes (n,); return the novel class 0.. of each unlabelled row."""
        raise NotImplementedError

    def _proba(self, rows: Floats) -> Floats:
        """Probabilities of the known, then the novel classes; (n, d) to (n, n_classes)."""
        raise NotImplementedError

    def _novel_proba(self, rows: Floats) -> Floats:
        """Probabilities of the novel classes alone; (n, d) to (n, n_novel)."""
        raise NotImplementedError

    def _latent(self, rows: Floats) -> Floats:
        """Latent representation; (n, d) to (n, n_latent)."""
        raise NotImplementedError

    def _fitted_state(self) -> Arrays:
        """Arrays that hold what `_discover` learned."""
        raise NotImplementedError

    def _restore_fitted(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `_discover` learned; ModelFileError where arrays and classes do not fit together."""
        raise NotImplementedError

    def _facts(self) -> dict[str, list[Any]]:
        """Return lists for users that are saved with the discoverer: of texts, or of dicts of numbers and texts."""
        return {}

    def _restore_facts(self, facts: Mapping[str, list[Any]]) -> None:
        """Restore `_facts`; ModelFileError where one is missing or of another kind."""

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
    def _n_found(self) -> int:
        """Number of novel classes that were found, before anybody merged or split them."""
        return self.curation_.n_found

    def _fit(self, X: Any, y: Any) -> None:
        earlier = copy.copy(self) if self._is_fitted() else None
        rows, labels, n_novel, rng = self._prepare(X, y)
        found = self._discover_calibrated(rows, labels.codes, n_novel, rng)
        self._conclude(labels, found)
        self._training_rows = TrainingRows.sample(rows, np.flatnonzero(labels.unlabelled))
        if earlier is not None:
            self._carry_names(earlier, X, labels, found)

    def _discover_calibrated(self, rows: Floats, codes: Codes, n_novel: int, rng: np.random.RandomState) -> Codes:
        """As `_discover`, and fit the temperature to rows that were held out of it."""
        held_out = rows_to_hold_out(codes, rng) if self._calibrates and self._holds_out else np.empty(0, dtype=np.intp)
        if not len(held_out):
            return self._discover(rows, codes, n_novel, rng)
        learned = np.setdiff1d(np.arange(len(rows)), held_out)
        found = self._discover(rows[learned], codes[learned], n_novel, rng)
        self.temperature_ = fit_temperature(self._proba(rows[held_out]), codes[held_out])
        return found

    def _prepare(self, X: Any, y: Any) -> tuple[Floats, Labels, int, np.random.RandomState]:
        """Check everything, fit the encoder and name the classes; returns what `_discover` needs."""
        self._forget()
        self._check_parameters()
        self._check_n_novel_classes()
        self._check_encoder()
        rng = pick_generator(self.random_state)
        if y is None and self._needs_known_classes:
            raise self._no_known_classes("requires y to be passed, but the target y is None")
        table = as_table(X)
        labels = read_labels(y, table.n_rows)
        if table.n_rows < 2:
            raise InputError(
                f"X has 1 sample (n_samples = {table.n_rows}), but at least 2 rows are needed; pass more rows."
            )
        self._check_labels(labels.n_known, int(labels.unlabelled.sum()))
        _warn_of_the_target(table, labels)
        self.encoder_ = TableEncoder() if self.encoder is None else clone(self.encoder)
        rows = self.encoder_.fit_table(table).transform_table(table)
        self._copy_features_in()
        n_novel = self._count_novel(rows, labels.codes, rng)
        self._name_classes(labels.known_classes, n_novel)
        self.history_ = []
        self.temperature_ = 1.0
        return rows, labels, n_novel, rng

    def _conclude(self, labels: Labels, found: Codes) -> None:
        """Keep what was found for the unlabelled rows."""
        codes, n_novel = labels.codes.copy(), len(self.novel_classes_)
        codes[labels.unlabelled] = labels.n_known + found
        self.labels_ = self.classes_[codes]
        self._used_names = tuple(self.novel_classes_.tolist())
        self._warn_of_empty_classes(n_novel - len(np.unique(found)), n_novel)

    def _carry_names(self, earlier: Self, X: Any, labels: Labels, found: Codes) -> None:
        """Call novel classes as an earlier fit did where they have mostly the same rows."""
        kinds = [(one.known_classes_.dtype.kind, one.novel_classes_.dtype.kind) for one in (self, earlier)]
        if kinds[0] != kinds[1]:
            return
        before = earlier.novel_classes_[:0]
        if len(earlier.novel_classes_) and len(found):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    before = earlier.predict_novel(X)[labels.unlabelled]
            except InputError:  # the table has other columns
                return
        names = carried_names(before, found, self._n_found, self.known_classes_, earlier._used_names)
        self._used_names = earlier._used_names
        self._adopt(names.tolist())

    def _forget(self) -> None:
        """Drop what an earlier fit learned."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)

    def _check_n_novel_classes(self) -> None:
        if isinstance(self.n_novel_classes, str) and self.n_novel_classes == "auto":
            return
        try:
            check_integer("n_novel_classes", self.n_novel_classes, low=1)
        except InputError as error:
            raise InputError(f"{str(error)[:-1]}, or 'auto' to have the number estimated.") from None

    def _check_encoder(self) -> None:
        if self.encoder is not None and not isinstance(self.encoder, TableEncoder):
            raise InputError(f"Got encoder={self.encoder!r}, but expected None or a TableEncoder, e.g. TableEncoder().")

    def _check_labels(self, n_known: int, n_unlabelled: int) -> None:
        """Refuse or warn about labels from which little can be learned."""
        name = type(self).__name__
        if self._needs_known_classes and n_known == 0:
            raise self._no_known_classes("learns from known classes, but y has no labelled rows")
        if n_unlabelled == 0:
            warn_user(
                f"y has no unlabelled rows, so there is nothing to discover; {name} becomes a classifier of the "
                f"{n_known} known classes. Mark rows of unknown class with -1, None or NaN."
            )
        elif self.n_novel_classes != "auto" and self.n_novel_classes > n_unlabelled:
            raise InputError(
                f"Got n_novel_classes={self.n_novel_classes}, but there are only {n_unlabelled} unlabelled rows. "
                "Ask for fewer novel classes, or 'auto'."
            )
        if self._needs_known_classes and n_known == 1:
            warn_user(
                "y has one class among its labelled rows: one known class says little about what makes a class, so the "
                "novel classes rest on the unlabelled rows alone."
            )

    def _no_known_classes(self, problem: str) -> InputError:
        return InputError(
            f"{type(self).__name__} {problem}. Pass the known classes in y, with -1, None or NaN where a row is "
            "unlabelled, or use KMeansDiscoverer or SpectralDiscoverer, which need no labels."
        )

    @staticmethod
    def _warn_of_empty_classes(n_empty: int, n_novel: int) -> None:
        if n_empty:
            warn_user(
                f"{n_empty} of the {n_novel} novel classes have no rows: fewer were found among the unlabelled rows. "
                "Lower n_novel_classes, or fit again with another random_state or other settings."
            )

    def _count_novel(self, rows: Floats, codes: Codes, rng: np.random.RandomState) -> int:
        if (codes >= 0).all():
            return 0
        if self.n_novel_classes == "auto":
            self.n_classes_estimate_ = estimate_from_rows(rows, codes, int(rng.randint(2**31 - 1)))
            return self.n_classes_estimate_.n_classes
        return int(self.n_novel_classes)

    def _name_classes(self, known_classes: NDArray[Any], n_novel: int) -> None:
        self.curation_ = Curation(len(known_classes), n_novel)
        self.known_classes_ = known_classes
        self.novel_classes_ = novel_class_names(known_classes, n_novel)
        self.classes_ = all_classes(known_classes, self.novel_classes_)

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

    def _curated_proba(self, rows: Floats) -> Floats:
        """Probabilities of all classes as users know them; (n, d) to (n, n_classes)."""
        found = at_temperature(self._proba(rows), self.temperature_)
        return self.curation_.proba(found, self._latent(rows) if self.curation_.splits else None)

    def _curated_novel_proba(self, rows: Floats) -> Floats:
        """Shares of the novel classes as users know them; (n, d) to (n, n_novel)."""
        n_known = len(self.known_classes_)
        found = np.hstack([np.zeros((len(rows), n_known)), self._novel_proba(rows)])
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
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = self._needs_known_classes
        tags.non_deterministic = False
        return tags


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
            warn_user(f"Column {name!r} of X says what y says. If it is the target, leave it out of X.")
