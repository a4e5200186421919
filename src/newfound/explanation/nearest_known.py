"""Which known class a novel class is closest to, in the space in which the model tells classes apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from newfound.explanation.columns import Codes, Floats
from newfound.explanation.wording import class_name

_FAR = 10.0  # from here on more standard deviations say nothing more
FARTHEST = 1e6  # said of classes that do not scatter at all


@dataclass(frozen=True)
class NearestKnown:
    """The nearest known class.

    Attributes
    ----------
    name : int, float or str
    distance : float
        Between the means of both classes in the model's latent space, in standard deviations within the classes along
        the line that joins them.
    """

    name: Any
    distance: float

    @property
    def text(self) -> str:
        """The finding in words."""
        name = class_name(self.name)
        if self.distance < 2:
            return f"{name}, with which it overlaps ({self.distance:.1f} standard deviations away)"
        far = "far away" if self.distance >= _FAR else f"{self.distance:.1f} standard deviations away"
        return f"{name} ({far})"

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain values."""
        return {"name": self.name, "distance": self.distance, "text": self.text}


def separation(ours: Floats, theirs: Floats) -> float:
    """Return how far apart two sets of rows (n, d), (m, d) lie, in standard deviations within them.

    It is measured along the line through their means: the distance of the means by the pooled standard deviation there.

    Examples
    --------
    >>> separation(np.array([[-1.0], [1.0]]), np.array([[4.0], [6.0]]))
    5.0
    """
    gap = theirs.mean(axis=0) - ours.mean(axis=0)
    length = float(np.sqrt(np.square(gap).sum()))
    if length == 0:
        return 0.0
    direction = gap / length
    squares = sum(float(np.square((rows - rows.mean(axis=0)) @ direction).sum()) for rows in (ours, theirs))
    spread = float(np.sqrt(squares / (len(ours) + len(theirs))))
    return min(length / spread, FARTHEST) if spread > 0 else FARTHEST


def nearest_known(latent: Floats, codes: Codes, own: int, known: Codes) -> tuple[int, float] | None:
    """Return the code of the known class nearest to class ``own`` and its distance; None without rows of either.

    Parameters
    ----------
    latent : ndarray of shape (n, d)
    codes : ndarray of shape (n,)
        Class of each row.
    own : int
    known : ndarray of int
        Codes of the known classes.
    """
    ours = latent[codes == own]
    present = [int(code) for code in known if (codes == code).any()]
    if not len(ours) or not present:
        return None
    distance, code = min((separation(ours, latent[codes == code]), code) for code in present)
    return code, distance
