"""The selector: which candidate is best, and how sure that is, learned on synthetic tasks whose classes are known.

Nothing of it was set by hand, and no real table had a part in it: `newfound-lab pretrain selector` makes it. It goes
by signals that need no novel label, and knows a candidate by them alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load
from scipy.special import expit

from newfound.errors import ModelFileError
from newfound.routing.forest import Forest
from newfound.selection.candidates import Name
from newfound.selection.signals import FACTS, SIGNALS

Floats = NDArray[np.float64]

_FOLDER = "newfound.selection"
ARRAYS, CARD = "selector.safetensors", "selector.json"

REFERENCE: Name = ("network", "k-means")
"""The candidate that is chosen where no other promises more."""

FEATURES = (
    *SIGNALS,
    *(f"{signal}, lead" for signal in SIGNALS),
    "agreement",
    "agreement, lead",
    "closest",
    "worth",
    *FACTS,
)
"""What the selector reads of a candidate."""


def features_of(signals: Floats, facts: Floats, agreement: Floats, worth: Floats) -> Floats:
    """Gather what the selector reads.

    Parameters
    ----------
    signals : ndarray of shape (c, n_signals)
        `SIGNALS` of each candidate.
    facts : ndarray of shape (n_facts,)
        `FACTS` of the scene.
    agreement : ndarray of shape (c, c)
        Adjusted Rand index of all pairs of candidates.
    worth : ndarray of shape (c,)
        How much better each candidate was than the others on synthetic tasks.

    Returns
    -------
    ndarray of shape (c, n_features)
    """
    others = agreement - np.eye(len(agreement))
    mean = others.sum(axis=1) / max(1, len(agreement) - 1)
    told = [
        signals,
        signals - np.median(signals, axis=0),
        mean[:, None],
        (mean - np.median(mean))[:, None],
        np.sort(others, axis=1)[:, -3:].mean(axis=1)[:, None],
        worth[:, None],
        np.broadcast_to(facts, (len(signals), len(facts))),
    ]
    found: Floats = np.hstack(told)
    return found


@dataclass(frozen=True, eq=False)
class Selector:
    """What was learned on synthetic tasks.

    Attributes
    ----------
    plan : dict of space to methods
        The candidates that are worth making.
    worth : dict of (space, method) to float
        How much better each candidate was than the others.
    lead : Forest
        Trees whose sum is how much better a candidate is than the reference, in a weighted mean of ACC and BACC.
    level : Forest
        Trees whose sum is the logit of the chance that a candidate has an ACC above 0.8.
    slope, intercept : float
        Of the logit of the best candidate, which is the best partly by luck.
    """

    plan: dict[str, tuple[str, ...]]
    worth: dict[Name, float]
    lead: Forest
    level: Forest
    slope: float
    intercept: float

    def leads(self, names: Sequence[Name], features: Floats) -> Floats:
        """Say how much better than the reference candidates are; (c, n_features) to (c,)."""
        leads = self.lead.proba(features)[:, 0]
        leads[[name == REFERENCE for name in names]] = 0.0
        return leads

    def confidence(self, features: Floats) -> Floats:
        """Chance that the ACC of candidates is above 0.8; (c, n_features) to (c,)."""
        chance: Floats = expit(self.slope * self.level.proba(features)[:, 0] + self.intercept)
        return chance

    def features(self, names: Sequence[Name], signals: Floats, facts: Floats, agreement: Floats) -> Floats:
        """Gather what it reads of candidates; see `features_of`."""
        return features_of(signals, facts, agreement, np.array([self.worth[name] for name in names]))


def selector_card() -> dict[str, Any]:
    """Return what is known about the selector: tasks, seed, prior, the network's weights, what it reached, checksum."""
    card: dict[str, Any] = json.loads(files(_FOLDER).joinpath(CARD).read_text(encoding="utf-8"))
    return card


@cache
def load_selector() -> Selector:
    """Load the selector that comes with the package.

    Raises
    ------
    ModelFileError
        If the file is not the one that the card describes.
    """
    content = files(_FOLDER).joinpath(ARRAYS).read_bytes()
    card = selector_card()
    if hashlib.sha256(content).hexdigest() != card["sha256"]:
        raise ModelFileError("the selector of AutoDiscoverer was changed or is incomplete; install again.")
    arrays = load(content)
    lead, level = (Forest.restore(arrays, f"{name}.", len(FEATURES), None) for name in ("lead", "level"))
    return Selector(
        {space: tuple(methods) for space, methods in card["plan"].items()},
        {(space, method): worth for space, method, worth in card["worth"]},
        lead,
        level,
        float(card["slope"]),
        float(card["intercept"]),
    )
