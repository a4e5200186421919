"""What a discoverer is made of once it is fitted: a frozen state, and what was found on the way to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from newfound.tables.labels import Labels

Arrays = dict[str, NDArray[Any]]
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


class FittedState(Protocol):
    """What a discoverer has learned: a frozen function of encoded rows (n, d).

    It speaks of the classes that were found: the known ones first, then the novel ones, the largest first. Names, and
    what people merged or split since, are none of its business.
    """

    def proba(self, rows: Floats) -> Floats:
        """Probabilities of the known, then the novel classes; (n, n_classes)."""

    def novel_proba(self, rows: Floats) -> Floats:
        """Probabilities of the novel classes for rows that are of one of them; (n, n_novel)."""

    def latent(self, rows: Floats) -> Floats:
        """Representation in which the classes are told apart; (n, n_latent)."""

    def arrays(self) -> Arrays:
        """Everything in it, for the model file."""


@dataclass(frozen=True, eq=False)
class Discovery:
    """What a discoverer made of a task.

    Attributes
    ----------
    state : FittedState
    found : ndarray of shape (n_unlabelled,), int64
        Novel class of each unlabelled row, from 0 on. Class 0 should be the largest: names follow this order.
    temperature : float
        Of the probabilities, fitted to known rows that were held out; 1.0 where there was none.
    history : list of dict
        Losses of each epoch, where there was training.
    member_found : ndarray of shape (n_members, n_unlabelled), int64, or None
        Novel class of each unlabelled row according to each member alone.
    labels : Labels or None
        Where the discoverer itself says which unlabelled rows are of known classes: these have theirs, and ``found`` is
        about the others.
    facts : dict
        Further fitted attributes of the discoverer, by their names.
    """

    state: FittedState
    found: Codes
    temperature: float = 1.0
    history: list[dict[str, Any]] = field(default_factory=list)
    member_found: Codes | None = None
    labels: Labels | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
