"""What discoverers share that keep training rows, by which they place new ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.discoverers.base import Arrays, BaseDiscoverer, Codes, Floats
from newfound.discoverers.parameters import check_integer
from newfound.errors import InputError, ModelFileError
from newfound.selection.sampling import sample
from newfound.tables.state import finite_floats


class NeighbourDiscoverer(BaseDiscoverer):
    """Base of discoverers in which the nearest training rows say what a new row is: they vote."""

    n_neighbors: int
    max_rows: int

    _n_voters: int
    _voters: Floats
    _voter_codes: Codes

    def _check_parameters(self) -> None:
        check_integer("n_neighbors", self.n_neighbors, low=1)
        check_integer("max_rows", self.max_rows, low=2)

    def _sample(
        self, codes: Codes, n_novel: int, rng: np.random.RandomState
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Numbers of the labelled and of the unlabelled rows to learn from, at most ``max_rows`` of either kind."""
        if n_novel > self.max_rows:
            raise InputError(f"Got max_rows={self.max_rows}, which is too few for {n_novel} novel classes; raise it.")
        labelled, unlabelled = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
        return sample(labelled, self.max_rows, rng), sample(unlabelled, self.max_rows, rng)

    def _keep_voters(self, rows: Floats, codes: Codes) -> None:
        """Keep rows (m, d) that vote, and their classes (m,), known or novel."""
        self._n_voters = self.n_neighbors  # kept, since a parameter set after fit counts from the next fit on
        self._voters, self._voter_codes = rows, codes

    def _fitted_state(self) -> Arrays:
        return {"voters": self._voters, "voter_codes": self._voter_codes.astype(np.int32)}

    def _restore_fitted(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        codes = self._codes_from(arrays, "voter_codes", (-1,), len(self.known_classes_) + self._n_found)
        if len(codes) > len(self.labels_):
            raise ModelFileError(f"{len(codes)} rows vote, but only {len(self.labels_)} were there to learn from.")
        if self._n_found and codes.max() < len(self.known_classes_):
            raise ModelFileError("no row votes for a novel class.")
        rows = finite_floats(arrays, "voters", (len(codes), self.encoder_.layout_.n_columns))
        self._keep_voters(rows, codes.astype(np.int64))
