"""How stable a class is: whether members, or repetitions on other samples, find it again."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.cluster import KMeans

from newfound.discoverers.reading import Reading
from newfound.explanation.columns import Codes, Floats, Mask

StabilitySource = Literal["members", "bootstraps"]

_N_BOOTSTRAPS = 10


def has_members(model: Any) -> bool:
    """Whether a model has several members whose predictions can be compared; after an update one forest predicts."""
    if getattr(model, "batches_", None):
        return False
    return hasattr(model, "member") and len(getattr(model, "member_labels_", ())) > 1


def member_stability(reading: Reading, weights: Floats) -> dict[Any, float]:
    """Return, for each novel class, how far each member alone finds the same rows: the mean overlap.

    Parameters
    ----------
    reading : Reading of n rows, by a discoverer with members
    weights : ndarray of shape (n,)
        How many rows each row stands for.
    """
    model = reading.model
    predicted = model.predict(reading)
    members = [model.member(index).predict(reading) for index in range(len(model.member_labels_))]
    return {
        name: float(np.mean([overlap(predicted == name, member == name, weights) for member in members]))
        for name in model.novel_classes_.tolist()
        if (predicted == name).any()
    }


def bootstrap_stability(latent: Floats, codes: Codes, rng: np.random.RandomState) -> dict[int, float]:
    """Return, for each class, how well k-means finds it again in samples drawn with replacement: the mean overlap.

    Parameters
    ----------
    latent : ndarray of shape (n, d)
        Rows of the novel classes in the model's latent space.
    codes : ndarray of shape (n,)
        Their classes.
    rng : RandomState

    Returns
    -------
    dict of code to float
        Empty with fewer than two classes, or fewer distinct rows than classes in a sample.
    """
    present = np.unique(codes)
    if len(present) < 2:
        return {}
    overlaps: list[list[float]] = []
    everyone = np.ones(len(codes))
    places = np.unique(latent, axis=0, return_inverse=True)[1].ravel()
    for _ in range(_N_BOOTSTRAPS):
        drawn = rng.randint(len(codes), size=len(codes))
        if len(np.unique(places[drawn])) < len(present):
            return {}
        model = KMeans(len(present), n_init=2, random_state=rng).fit(latent[drawn])
        found = model.predict(latent)
        overlaps.append(
            [max(overlap(codes == code, found == j, everyone) for j in range(len(present))) for code in present]
        )
    return dict(zip(present.tolist(), np.mean(overlaps, axis=0).tolist(), strict=True))


def overlap(ours: Mask, theirs: Mask, weights: Floats) -> float:
    """Return the weight of the rows in both sets, by that of the rows in either (Jaccard); 1 for empty sets."""
    either = float(weights[ours | theirs].sum())
    return float(weights[ours & theirs].sum()) / either if either > 0 else 1.0
