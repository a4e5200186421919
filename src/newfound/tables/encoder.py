"""TableEncoder: a table of mixed columns in, one matrix of float64 out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from newfound.errors import InputError, ModelFileError
from newfound.parameters import check_choice, check_integer
from newfound.tables import state
from newfound.tables.blocks import Block, fit_block, refined
from newfound.tables.frame import Table, as_table, chunks, refuse_infinite
from newfound.tables.layout import Layout, unique_names
from newfound.tables.matching import match_columns
from newfound.tables.scaling import MAX_UNSCALED, NUMERIC_SCALINGS, NumericScaling, centre_and_spread
from newfound.tables.schema import Kind, Schema, infer_schema
from newfound.tables.statistics import ColumnStatistics

__all__ = ["CategoricalScaling", "Layout", "TableEncoder"]

CategoricalScaling = Literal["none", "standard"]
CATEGORICAL_SCALINGS: tuple[CategoricalScaling, ...] = get_args(CategoricalScaling)

Floats = NDArray[np.float64]


class TableEncoder(TransformerMixin, BaseEstimator):
    """Encode a table of numbers, categories, booleans, dates and times of day as one matrix.

    Parameters
    ----------
    kinds : mapping of column name to kind, optional
        "numeric", "categorical", "boolean", "date", "time" (of the day, such as 20:40) or "ignored", for columns whose
        kind should not be inferred.
        The columns of a numpy array are called "x0", "x1", ...
    numeric_scaling : {"standard", "signed_log", "quantile", "none"}, default="standard"
        How numbers are scaled: to mean 0 and variance 1; the same after ``sign(x) * log(1 + |x|)``; to a uniform
        distribution of mean 0 and variance 1; or not at all. Dates and times are always standardised.
    categorical_scaling : {"none", "standard"}, default="none"
        Whether one-hot, boolean and missing-indicator columns stay 0/1 or are standardised too.
    max_categories : int, default=30
        Number of categories of a column that get an output column each; the rarer ones share one.

    Attributes
    ----------
    schema_ : Schema
        The kind of every column.
    layout_ : Layout
        Names, source columns and types of the output columns.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, shape (n_columns,)
        Only if the table had column names.

    Notes
    -----
    Text that spells dates (2024-12-31, 31.12.2024, 2024/12/31, also with a time) or times of day (20:40, 8:40 pm) is
    read as such where all cells of a column can be. A time is the number of hours since the day's emptiest hour.

    A missing number becomes the neutral value 0 after scaling (the mean if there is none), a missing boolean 0.5. If a
    column had missing cells at fit, it also has an indicator column. A category first seen after fit counts as one of
    the rarer ones, or leaves its block zero if there are none.

    Examples
    --------
    >>> encoder = TableEncoder().fit([[1.0, "a"], [3.0, "b"], [None, "a"]])
    >>> encoder.layout_.names
    ('x0', 'x0=missing', 'x1=a', 'x1=b')
    >>> encoder.transform([[3.0, "c"]])
    array([[1., 0., 0., 0.]])
    """

    def __init__(
        self,
        kinds: Mapping[str, Kind] | None = None,
        *,
        numeric_scaling: NumericScaling = "standard",
        categorical_scaling: CategoricalScaling = "none",
        max_categories: int = 30,
    ) -> None:
        self.kinds = kinds
        self.numeric_scaling = numeric_scaling
        self.categorical_scaling = categorical_scaling
        self.max_categories = max_categories

    # ---- scikit-learn's methods

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn kinds, scales and categories from a table; `y` is not used."""
        return self.fit_table(as_table(X))

    def transform(self, X: Any) -> Floats:
        """Encode a table; returns shape (n_rows, d), C-contiguous and finite."""
        check_is_fitted(self)
        return self.transform_table(as_table(X))

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Fit to a table and encode it, reading it once."""
        table = as_table(X)
        return self.fit_table(table).transform_table(table)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the names of the output columns; `input_features`, if given, must be the columns of fit."""
        check_is_fitted(self)
        given = self.schema_.names if input_features is None else tuple(np.asarray(input_features).tolist())
        if len(given) != self.n_features_in_:
            raise InputError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(given)}; leave it out, since the encoder knows its columns."
            )
        if self._named and given != self.schema_.names:
            raise InputError("input_features is not equal to feature_names_in_; leave it out.")
        return np.array(self.layout_.names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    # ---- for callers that have read the table already

    def fit_table(self, table: Table, row_numbers: Collection[str] = ()) -> Self:
        """Fit to a table that has been read; on an error the encoder is as before.

        Of a sample, `row_numbers` names the columns that are known to number the rows of the whole table.
        """
        self._check_parameters()
        schema = infer_schema(table, self.kinds, row_numbers)
        blocks = [
            fit_block(column, table.columns[column.name], self.numeric_scaling, self.max_categories)
            for column in schema.used
        ]
        layout = _layout_of(blocks)
        shift, scale = self._fit_categorical_scaling(table, schema, blocks, layout)
        self._set_fitted(schema, blocks, layout, shift, scale, named=table.named)
        return self

    def refine(self, sample: Table, statistics: Mapping[str, ColumnStatistics]) -> Self:
        """Replace what was learned from a sample by what is known of all rows.

        Parameters
        ----------
        sample : Table
            What the encoder was fitted to.
        statistics : dict of str to ColumnStatistics
            Of all rows, for each column.
        """
        check_is_fitted(self)
        blocks = [refined(block, statistics[block.column.name], self.max_categories) for block in self._blocks]
        layout = _layout_of(blocks)
        shift, scale = self._fit_categorical_scaling(sample, self.schema_, blocks, layout)
        self._set_fitted(self.schema_, blocks, layout, shift, scale, named=self._named)
        return self

    def transform_table(self, table: Table, *, estimator_name: str | None = None) -> Floats:
        """Encode a table that has been read; `estimator_name` is who speaks in messages."""
        return self.encode_columns(self.used_columns(table, estimator_name=estimator_name), slice(table.n_rows))

    def used_columns(self, table: Table, *, estimator_name: str | None = None) -> dict[str, NDArray[Any]]:
        """Return the columns that are encoded, under the names they had at fit; infinite numbers are refused."""
        check_is_fitted(self)
        columns = match_columns(
            table,
            self.schema_.names,
            [column.name for column in self.schema_.used],
            named=self._named,
            estimator_name=estimator_name or type(self).__name__,
        )
        refuse_infinite(Table(columns, table.n_rows, table.named), columns)
        return columns

    def encode_columns(self, columns: Mapping[str, NDArray[Any]], rows: slice) -> Floats:
        """Encode some rows of `used_columns`."""
        start, stop = rows.start or 0, rows.stop
        encoded = np.zeros((stop - start, self.layout_.n_columns))
        work = list(zip(columns.values(), self._blocks, _places(self._blocks), strict=True))
        for part in chunks(stop - start):
            source = slice(start + part.start, start + part.stop)
            for values, block, place in work:
                block.encode(values[source], encoded[part, place])
            self._scale_categorical(encoded[part])
        return encoded

    # ---- persistence

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the fitted encoder as a dict that JSON can hold, and arrays."""
        check_is_fitted(self)
        header = {
            "kinds": None if self.kinds is None else {str(name): kind for name, kind in self.kinds.items()},
            "numeric_scaling": self.numeric_scaling,
            "categorical_scaling": self.categorical_scaling,
            "max_categories": int(self.max_categories),
            "named": self._named,
            "schema": self.schema_.to_json(),
        }
        blocks, arrays = state.blocks_to_state(self._blocks)
        return {**header, "blocks": blocks}, {**arrays, "shift": self._shift, "scale": self._scale}

    @classmethod
    def from_state(cls, header: Any, arrays: Mapping[str, NDArray[Any]]) -> TableEncoder:
        """Build an encoder from :meth:`to_state`, whose output is equal to the bit.

        Raises
        ------
        ModelFileError
            If anything is missing, of the wrong type or shape, not finite, or not consistent.
        """
        entries = state.Entries(header, "the encoder")
        encoder = cls(
            entries.kinds("kinds"),
            numeric_scaling=entries.one_of("numeric_scaling", NUMERIC_SCALINGS),
            categorical_scaling=entries.one_of("categorical_scaling", CATEGORICAL_SCALINGS),
            max_categories=entries.positive("max_categories"),
        )
        schema = Schema.from_json(entries.get("schema", list))
        blocks = state.blocks_from_state(
            schema.used, entries.get("blocks", list), arrays, encoder.numeric_scaling, encoder.max_categories
        )
        layout = _layout_of(blocks)
        shift = state.finite_floats(arrays, "shift", (layout.n_columns,))
        scale = state.finite_floats(arrays, "scale", (layout.n_columns,), positive=True)
        if not (np.abs(shift) + 1 <= MAX_UNSCALED * np.minimum(scale, 1.0)).all():
            raise ModelFileError("arrays 'shift' and 'scale' would make huge numbers of 0 and 1.")
        encoder._set_fitted(schema, blocks, layout, shift, scale, named=entries.get("named", bool))
        return encoder

    # ---- inside

    def _check_parameters(self) -> None:
        for name, accepted in (("numeric_scaling", NUMERIC_SCALINGS), ("categorical_scaling", CATEGORICAL_SCALINGS)):
            check_choice(name, getattr(self, name), accepted)
        check_integer("max_categories", self.max_categories, low=1)

    def _fit_categorical_scaling(
        self, table: Table, schema: Schema, blocks: Sequence[Block], layout: Layout
    ) -> tuple[Floats, Floats]:
        shift, scale = np.zeros(layout.n_columns), np.ones(layout.n_columns)
        if self.categorical_scaling == "none":
            return shift, scale
        for column, block, place in zip(schema.used, blocks, _places(blocks), strict=True):
            categorical = np.flatnonzero(block.categorical)
            if len(categorical) == 0:
                continue
            encoded = np.zeros((table.n_rows, len(block.names)))
            block.encode(table.columns[column.name], encoded)
            for j in categorical:
                values = np.ascontiguousarray(encoded[:, j])
                if values.min() != values.max():  # a constant column is left as it is
                    shift[place.start + j], scale[place.start + j] = centre_and_spread(values)
        return shift, scale

    def _scale_categorical(self, encoded: Floats) -> None:
        for j in np.flatnonzero((self._shift != 0) | (self._scale != 1)):
            encoded[:, j] = (encoded[:, j] - self._shift[j]) / self._scale[j]

    def _set_fitted(
        self, schema: Schema, blocks: Sequence[Block], layout: Layout, shift: Floats, scale: Floats, *, named: bool
    ) -> None:
        self._blocks = tuple(blocks)
        self._named = named
        self._shift, self._scale = shift, scale
        self.schema_ = schema
        self.layout_ = layout
        self.n_features_in_ = len(schema.columns)
        if named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_


def _layout_of(blocks: Sequence[Block]) -> Layout:
    widths = [len(block.names) for block in blocks]
    return Layout(
        names=unique_names([name for block in blocks for name in block.names]),
        groups=np.repeat(np.arange(len(blocks), dtype=np.intp), widths),
        categorical=np.array([flag for block in blocks for flag in block.categorical], dtype=np.bool_),
    )


def _places(blocks: Sequence[Block]) -> list[slice]:
    ends = np.cumsum([len(block.names) for block in blocks]).tolist()
    return [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
