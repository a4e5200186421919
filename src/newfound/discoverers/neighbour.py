"""What discoverers share that keep training rows, by which they place new ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.discoverers.base import BaseDiscoverer
from newfound.discoverers.fitted import Codes, Floats
from newfound.discoverers.parameters import check_integer
from newfound.errors import InputError, ModelFileError
from newfound.tables.sampling import sample
from newfound.tables.state import finite_floats


class NeighbourDiscoverer(BaseDiscoverer):
    """Base of discoverers in which the nearest training rows say what a new row is: they vote."""

    n_neighbors: int
    max_rows: int

    def _check_parameters(self) -> None:
        check_integer("n_neighbors", self.n_neighbors, low=1)
        check_integer("max_rows", self.max_rows, low=2)

    def _sample(
        self, codes: Codes, n_novel: int, rng: np.random.RandomState
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Numbers of the labelled and of the unlabelled rows to learn from, at most ``max_rows`` of either kind."""
        if n_novel > self.max_rows:
            problem = f"which is too few for {n_novel} novel classes"
            raise InputError.of("max_rows", self.max_rows, problem=problem, cure="raise it")
        labelled, unlabelled = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
        return sample(labelled, self.max_rows, rng), sample(unlabelled, self.max_rows, rng)

    def _restore_voters(self, arrays: Mapping[str, NDArray[Any]]) -> tuple[Floats, Codes]:
        """Rows (m, d) that vote and their classes (m,), from a model file."""
        codes = self._codes_from(arrays, "voter_codes", (-1,), len(self.known_classes_) + self._n_found)
        if len(codes) > len(self.labels_):
            raise ModelFileError(f"{len(codes)} rows vote, but only {len(self.labels_)} were there to learn from.")
        if self._n_found and codes.max() < len(self.known_classes_):
            raise ModelFileError("no row votes for a novel class.")
        rows = finite_floats(arrays, "voters", (len(codes), self.encoder_.layout_.n_columns))
        return rows, codes.astype(np.int64)
