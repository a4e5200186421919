"""How a column of numbers is brought to the scale of a network's input."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

NumericScaling = Literal["standard", "signed_log", "quantile", "none"]
NUMERIC_SCALINGS: tuple[NumericScaling, ...] = get_args(NumericScaling)

MAX_QUANTILES = 1000
# A row this many standard deviations away is an accident; unbounded, it would overflow a float32 network.
MAX_DEVIATION = 1e6
# Numbers that are not scaled: their squares, and those of their squares, are finite, and 32 bits hold them.
MAX_UNSCALED = 1e30
# Squares and sums of numbers within 2**±400 neither overflow nor vanish.
_SAFE_EXPONENT = 400
_SMALLEST = 1e-290
# A uniform variable between 0 and 1 has variance 1/12.
UNIFORM_SCALE = float(np.sqrt(12))

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NumberScaler:
    """A scaling fitted to one column.

    Attributes
    ----------
    scaling : {"standard", "signed_log", "quantile", "none"}
    unit : float
        A power of two by which numbers (or their logs) are divided first; 1 unless they are huge or tiny.
    centre, spread : float
        Mean and standard deviation, in that unit, of what is standardised; 0 and 1 where nothing is.
    neutral : float
        What a missing cell becomes.
    references, levels : ndarray of shape (n_quantiles,)
        Increasing column values and their place between 0 and 1; empty unless `scaling` is "quantile".
    """

    scaling: NumericScaling
    unit: float
    centre: float
    spread: float
    neutral: float
    references: Floats
    levels: Floats

    @classmethod
    def fit(cls, present: Floats, scaling: NumericScaling) -> NumberScaler:
        """Fit to the cells that are not missing, shape (m,), which may be none at all."""
        values = signed_log(present) if scaling == "signed_log" else present
        unit = _unit_of(values)
        values = values / unit
        empty = np.empty(0)
        if scaling == "quantile":
            return cls(scaling, unit, 0.0, 1.0, 0.0, *_quantiles(values))
        if scaling == "none":
            mean = float(np.clip(values.mean() * unit, -MAX_UNSCALED, MAX_UNSCALED)) if len(values) else 0.0
            return cls(scaling, unit, 0.0, 1.0, mean, empty, empty)
        return cls(scaling, unit, *centre_and_spread(values), 0.0, empty, empty)

    def refined(self, centre: float, spread: float) -> NumberScaler:
        """Return the same scaling with the mean and the deviation of more numbers than it was fitted to."""
        if self.unit != 1.0 or self.scaling == "quantile":  # what such a scaling needs is not known of more numbers
            return self
        if not math.isfinite(centre) or not math.isfinite(spread):  # a number among them is too large for its square
            return self
        if self.scaling == "none":
            return replace(self, neutral=min(max(centre, -MAX_UNSCALED), MAX_UNSCALED))
        return replace(self, centre=centre, spread=spread)

    def apply(self, values: Floats) -> Floats:
        """Scale numbers, shape (n,); NaN becomes the neutral value and everything else stays finite."""
        with np.errstate(over="ignore"):  # what overflows is clipped
            scaled = self._scale(values)
        scaled[np.isnan(values)] = self.neutral
        return scaled

    def _scale(self, values: Floats) -> Floats:
        if self.scaling == "none":
            return np.clip(values, -MAX_UNSCALED, MAX_UNSCALED)
        if self.scaling == "quantile":
            places: Floats = np.interp(values / self.unit, self.references, self.levels)
            np.clip(places, 0.0, 1.0, out=places)
            places -= 0.5
            places *= UNIFORM_SCALE
            return places
        scaled = (signed_log(values) if self.scaling == "signed_log" else values) / self.unit
        scaled -= self.centre
        scaled /= self.spread
        # For a single row, the two take a fraction of the time of numpy.clip.
        np.maximum(scaled, -MAX_DEVIATION, out=scaled)
        return np.minimum(scaled, MAX_DEVIATION, out=scaled)


def centre_and_spread(values: Floats) -> tuple[float, float]:
    """Return mean and standard deviation, shape (m,) in; a constant or empty column has spread 1."""
    if len(values) == 0:
        return 0.0, 1.0
    # Told apart by comparison: rounding gives a constant column a tiny deviation, and dividing by it only noise.
    if values.min() == values.max():
        return float(values[0]), 1.0
    return float(values.mean()), float(values.std())


def _unit_of(present: Floats) -> float:
    largest = max(abs(float(present.min())), abs(float(present.max()))) if len(present) else 0.0
    exponent = int(np.frexp(largest)[1])
    return 1.0 if abs(exponent) <= _SAFE_EXPONENT else 2.0 ** (exponent - 1)


def signed_log(values: Floats) -> Floats:
    """Return the logarithm of 1 + |x| with the sign of x, shape (n,)."""
    return np.copysign(np.log1p(np.abs(values)), values)


def _quantiles(values: Floats) -> tuple[Floats, Floats]:
    if len(values) == 0:
        return np.zeros(1), np.full(1, 0.5)
    # Nothing lies so near 0 that the slope to the next quantile overflows.
    values = np.where(np.abs(values) < _SMALLEST, 0.0, values)
    probabilities = np.linspace(0.0, 1.0, min(MAX_QUANTILES, len(values)))
    quantiles = np.quantile(values, probabilities, method="nearest")
    references, ties = np.unique(quantiles, return_inverse=True)
    # A value that fills many quantiles stands in the middle of them.
    return references, np.bincount(ties, weights=probabilities) / np.bincount(ties)
