"""Networks of an AutoDiscoverer that an earlier version of newfound saved: they still predict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from newfound.learning.fitted import Arrays, FittedNetworks, Floats, load_network, parameters_in
from newfound.nn import DiscoveryNetwork, PackedMLP
from newfound.tables.state import finite_floats


@dataclass(frozen=True)
class InputMap:
    """From encoded rows to the networks' input: heavy tails squashed, then whitened by the known classes.

    Attributes
    ----------
    heavy : ndarray of shape (d,), bool
        Columns with a heavy tail.
    centre : ndarray of shape (d,)
        Mean of each column, squashed where it is heavy.
    projection : ndarray of shape (d, m)
    """

    heavy: NDArray[np.bool_]
    centre: Floats
    projection: Floats

    def transform(self, rows: Floats) -> Floats:
        """Map rows (n, d) to (n, m)."""
        squashed = rows.copy()
        squashed[:, self.heavy] = np.arcsinh(rows[:, self.heavy])
        mapped: Floats = (squashed - self.centre) @ self.projection
        return mapped

    def arrays(self) -> Arrays:
        """Arrays for the model file."""
        return {
            "input.heavy": self.heavy.astype(np.float64),
            "input.centre": self.centre,
            "input.projection": self.projection,
        }

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]], n_columns: int) -> InputMap:
        """Read `arrays`; ModelFileError where they do not fit the columns."""
        return cls(
            finite_floats(arrays, "input.heavy", (n_columns,)) > 0,
            finite_floats(arrays, "input.centre", (n_columns,)),
            finite_floats(arrays, "input.projection", (n_columns, -1)),
        )


@dataclass(frozen=True, eq=False)
class StudentNetworks(FittedNetworks):
    """Networks that see rows through an `InputMap`.

    Attributes
    ----------
    inputs : InputMap
    """

    inputs: InputMap

    @classmethod
    def restore(
        cls, arrays: Mapping[str, NDArray[Any]], n_columns: int, n_known: int, n_novel: int, n_members: int
    ) -> StudentNetworks:
        """Read `arrays`; ModelFileError where they are no such networks."""

        def build(widths: list[int], n_known: int, n_novel: int) -> DiscoveryNetwork:
            encoder = PackedMLP(n_members, widths, dropout=0.0, activate_last=True, batch_norm=True, streams=None)
            return DiscoveryNetwork(encoder, n_members, widths[-1], n_known, n_novel, None)

        inputs = InputMap.restore(arrays, n_columns)
        n_inputs = inputs.projection.shape[1]
        network = load_network(parameters_in(arrays), build, n_known, n_novel, n_inputs=n_inputs)
        return cls(network, n_known, n_novel, torch.device("cpu"), inputs)

    def run(
        self, rows: Floats, compute: Callable[[DiscoveryNetwork, Tensor], tuple[Tensor, ...]]
    ) -> tuple[Floats, ...]:
        """Apply the network to mapped rows in chunks; results are (n_members, n, ...)."""
        return super().run(self.inputs.transform(rows), compute)

    def arrays(self) -> Arrays:
        """Arrays for the model file."""
        return super().arrays() | self.inputs.arrays()
