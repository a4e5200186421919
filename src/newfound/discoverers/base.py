"""What all discoverers share: reading tables and labels, naming classes, predicting, and their saved state."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from newfound.discoverers.parameters import check_integer, pick_generator
from newfound.errors import InputError, ModelFileError, warn_user
from newfound.selection.n_classes import NClassesEstimate, estimate_from_rows
from newfound.selection.space import ENCODINGS, Space
from newfound.tables import Labels, Table, TableEncoder, all_classes, novel_class_names, read_labels, read_table
from newfound.tables.cells import missing_mask
from newfound.tables.state import checked_array

Arrays = dict[str, NDArray[Any]]
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


class NotFittedError(InputError, SklearnNotFittedError):
    """The discoverer was asked to predict before `fit`."""


class BaseDiscoverer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):
    """Base of every discoverer.

    A discoverer finds novel classes among the unlabelled rows of a table and predicts known or novel classes for new
    rows. A subclass implements `_check_parameters`, `_discover`, `_proba`, `_novel_proba` and `_latent`, which see
    encoded rows and class codes only, and the pairs `_fitted_state`, `_restore_fitted` and, where it has something to
    tell, `_facts`, `_restore_facts` for saving and loading.
    """

    _needs_known_classes: ClassVar[bool] = True
    _search_space: ClassVar[Mapping[str, Space]] = ENCODINGS

    n_novel_classes: int | Literal["auto"]
    encoder: TableEncoder | None
    random_state: Any

    encoder_: TableEncoder
    known_classes_: NDArray[Any]
    novel_classes_: NDArray[Any]
    classes_: NDArray[Any]
    labels_: NDArray[Any]
    history_: list[dict[str, Any]]
    n_classes_estimate_: NClassesEstimate
    n_features_in_: int

    # ---- what users call

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the novel classes of a partly labelled table.

        Parameters
        ----------
        X : pandas, polars or pyarrow table, or numpy array, of shape (n, n_columns)
            The table.
        y : labels of shape (n,)
            Known classes as integers, strings, booleans or categories; -1, None or NaN where a row is unlabelled.

        Returns
        -------
        self
            On an error the discoverer is left as it was.
        """
        before = dict(self.__dict__)
        try:
            self._fit(X, y)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict a known or a novel class for each row; shape (n,)."""
        best = self.predict_proba(X).argmax(axis=1)
        classes: NDArray[Any] = self.classes_[best]
        return classes

    def predict_novel(self, X: Any) -> NDArray[Any]:
        """Predict a novel class for each row, for rows known to be of no known class; shape (n,)."""
        rows = self._encode(X)
        if not len(self.novel_classes_):
            raise InputError(
                "There is no novel class to predict: fit saw no unlabelled rows. "
                "Fit with some labels missing (-1, None or NaN), or use predict."
            )
        found: NDArray[Any] = self.novel_classes_[self._novel_proba(rows).argmax(axis=1)]
        return found

    def predict_proba(self, X: Any) -> Floats:
        """Predict the probability of each class; shape (n, n_classes), columns in the order of ``classes_``."""
        return self._proba(self._encode(X))

    def transform(self, X: Any) -> Floats:
        """Map rows to the representation in which the classes are told apart; shape (n, n_latent)."""
        return self._latent(self._encode(X))

    def search_space(self) -> dict[str, Space]:
        """Return what `newfound.tune` tries: parameters, each with the values that are worth trying."""
        return dict(self._search_space)

    @property
    def n_novel_classes_(self) -> int:
        """Number of novel classes."""
        if not self._is_fitted():
            self._refuse()
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

    def _fit(self, X: Any, y: Any) -> None:
        rows, labels, n_novel, rng = self._prepare(X, y)
        self._conclude(labels, self._discover(rows, labels.codes, n_novel, rng))

    def _prepare(self, X: Any, y: Any) -> tuple[Floats, Labels, int, np.random.RandomState]:
        """Check everything, fit the encoder and name the classes; returns what `_discover` needs."""
        self._forget()
        self._check_parameters()
        self._check_n_novel_classes()
        self._check_encoder()
        rng = pick_generator(self.random_state)
        if y is None and self._needs_known_classes:
            raise self._no_known_classes("requires y to be passed, but the target y is None")
        table = read_table(X)
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
        return rows, labels, n_novel, rng

    def _conclude(self, labels: Labels, found: Codes) -> None:
        """Keep what was found for the unlabelled rows."""
        codes, n_novel = labels.codes.copy(), len(self.novel_classes_)
        codes[labels.unlabelled] = labels.n_known + found
        self.labels_ = self.classes_[codes]
        self._warn_of_empty_classes(n_novel - len(np.unique(found)), n_novel)

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

    def _codes_from(self, arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> NDArray[np.int32]:
        """Read saved class codes; -1 in the shape stands for any length of at least 1."""
        codes = checked_array(arrays, name, np.int32, shape)
        if not 0 <= codes.min() <= codes.max() < len(self.classes_):
            raise ModelFileError(f"array {name!r} holds codes of classes that do not exist.")
        return codes

    def _encode(self, X: Any) -> Floats:
        if not self._is_fitted():
            self._refuse()
        return self.encoder_.transform_table(read_table(X), estimator_name=type(self).__name__)

    def _is_fitted(self) -> bool:
        return hasattr(self, "classes_")

    def _refuse(self) -> Any:
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
