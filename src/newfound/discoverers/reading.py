"""A table as a discoverer reads it: encoded once and predicted once, however often it is asked about."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.tables import Table, as_table
from newfound.tables.matching import match_columns

Floats = NDArray[np.float64]


class Reading:
    """A table that the methods of a fitted discoverer take in place of X.

    It holds for the discoverer as it is: after a fit, or after classes were merged or split, another one is needed.

    Parameters
    ----------
    model : fitted discoverer
    table : Table of n rows
        The columns of fit, under the names they had there.
    raw : Table of n rows
        All columns, as the user gave them.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
        The encoded rows.
    proba : ndarray of shape (n, n_classes)
        The probabilities of all classes; cannot be written to.
    """

    def __init__(self, model: Any, table: Table, raw: Table) -> None:
        self.model, self.table, self.raw = model, table, raw

    @classmethod
    def of(cls, model: Any, X: Any) -> Reading:
        """Read a table; a reading by the same discoverer is returned as it is.

        Parameters
        ----------
        model : fitted discoverer
        X : table of shape (n, n_columns)
        """
        if isinstance(X, Reading):
            return X if X.model is model else cls.of(model, X.raw)
        raw, encoder = as_table(X), model.encoder_
        named = hasattr(encoder, "feature_names_in_")
        names = encoder.schema_.names
        used = match_columns(
            raw,
            names,
            [column.name for column in encoder.schema_.used],
            named=named,
            estimator_name=type(model).__name__,
        )
        # Under the names of fit, so that a table without them is told so here, and not again when it is encoded.
        columns = used if named else dict(zip(names, raw.columns.values(), strict=True))
        return cls(model, Table(columns, raw.n_rows, named), raw)

    @property
    def used(self) -> dict[str, NDArray[Any]]:
        """Raw cells of the columns that the discoverer uses, each of shape (n,)."""
        return {column.name: self.table.columns[column.name] for column in self.model.encoder_.schema_.used}

    @cached_property
    def rows(self) -> Floats:
        """The encoded rows, shape (n, d)."""
        encoded: Floats = self.model.encoder_.transform_table(self.table, estimator_name=type(self.model).__name__)
        return encoded

    @cached_property
    def proba(self) -> Floats:
        """The probabilities of all classes, shape (n, n_classes)."""
        found: Floats = self.model._curated_proba(self.rows)
        found.flags.writeable = False
        return found

    def rows_for(self, model: Any) -> Floats:
        """Return the encoded rows for a discoverer that may be another one, such as a member of the first."""
        return self.rows if model.encoder_ is self.model.encoder_ else Reading.of(model, self.raw).rows

    def take(self, places: NDArray[np.intp]) -> Reading:
        """Return some rows as a reading of their own; nothing is encoded again."""
        some = Reading(self.model, self.table.take(places), self.raw.take(places))
        some.rows = self.rows[places]
        if "proba" in vars(self):
            some.proba = self.proba[places]
            some.proba.flags.writeable = False
        return some
