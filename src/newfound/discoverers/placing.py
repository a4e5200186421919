"""A batch comes in: which rows are of classes that are there, and which are of further ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from newfound.clustering.centroids import centroid_proba, fit_centroids
from newfound.clustering.whitening import WhitenedSpace
from newfound.discoverers.fitted import Codes, Floats
from newfound.incontext import ALL_NOVEL
from newfound.incontext.look import look_at
from newfound.routing.batches import apart, class_proba, novelty
from newfound.tables.layout import Layout
from newfound.tables.task import DiscoveryTask

FEWEST_ROWS = 20
"""A class has at least so many rows."""

# Set by hand on Letter, NSL-KDD and Pendigits, with one further class of 100 rows in a batch of 1,600.
_ODD = 0.35  # probability of lying apart from which on a row is searched for further classes
_RECOGNISED = 0.45  # mean of that probability, from which on rows are a class
_PRICE = 0.9  # in log odds, against one more class
_LEAST = 1e-12
_MOST_ROWS = 20_000  # of a batch that are looked at together
_RIDGE = 0.5
_N_INIT = 10


@dataclass(frozen=True, eq=False)
class Placement:
    """Where the rows of a batch belong.

    Attributes
    ----------
    codes : ndarray of shape (n,), int64
        Class of each row; further classes follow those that were there, the largest first; -1 where no class fits.
    proba : ndarray of shape (n, n_classes + n_new)
        Probabilities of the classes; a row of no class has none.
    recognised : ndarray of shape (n_new,)
        Share of the rows of each further class that a forest recognises which has not seen them.
    """

    codes: Codes
    proba: Floats
    recognised: Floats


def place_batch(
    kept: Floats,
    kept_codes: Codes,
    rows: Floats,
    codes: Codes,
    expected: Floats,
    layout: Layout,
    rng: np.random.RandomState,
) -> Placement:
    """Place the rows of a batch.

    Parameters
    ----------
    kept : ndarray of shape (m, d)
        Rows of the classes that are there.
    kept_codes : ndarray of shape (m,), int64
        Their classes.
    rows : ndarray of shape (n, d)
        The batch.
    codes : ndarray of shape (n,), int64
        Classes of the rows that have a label, -1 elsewhere.
    expected : ndarray of shape (n, n_classes)
        What the discoverer predicts for these rows, for batches that are too small to say more.
    layout : Layout
        What the columns stand for.
    rng : RandomState

    Returns
    -------
    Placement
    """
    labelled, n_classes = codes >= 0, expected.shape[1]
    told = np.concatenate([kept, rows[labelled]]), np.concatenate([kept_codes, codes[labelled]])
    free = np.flatnonzero(~labelled)
    placed, proba = codes.copy(), np.zeros((len(rows), n_classes))
    proba[labelled] = np.eye(n_classes)[codes[labelled]]
    if len(free) < FEWEST_ROWS:
        proba[free] = expected[free]
        placed[free] = expected[free].argmax(axis=1)
        return Placement(placed, proba, np.zeros(0))
    looked_at = [free[i::n_parts] for n_parts in [-(-len(free) // _MOST_ROWS)] for i in range(n_parts)]
    novel, away = np.zeros(len(rows)), np.zeros(len(rows))
    for some in looked_at:
        proba[some, : told[1].max() + 1], novel[some], away[some] = _judged(*told, rows[some], rng)
    placed[free] = proba[free].argmax(axis=1)
    odd = np.flatnonzero(novel + away > 2 * _ODD)
    found = _search(*told, rows[odd], (novel + away)[odd] / 2, layout, rng)
    first_named = labelled & ~np.isin(codes, kept_codes)
    odd, found = _named(odd, found, rows, np.flatnonzero(first_named), codes, kept, placed)
    # Rows that make no class and lie among earlier ones are of the class of these.
    among = (found.codes < 0) & (away[odd] < 0.5)
    odd, found = odd[~among], replace(found, codes=found.codes[~among])
    placed[odd] = np.where(found.codes >= 0, n_classes + found.codes, -1)
    named = free[(proba[free].argmax(axis=1) != placed[free]) & (placed[free] >= 0) & (placed[free] < n_classes)]
    proba[named] = np.eye(n_classes)[placed[named]]
    return Placement(placed, _targets(proba, odd, found), found.recognised)


def _judged(kept: Floats, codes: Codes, rows: Floats, rng: np.random.RandomState) -> tuple[Floats, Floats, Floats]:
    """Probabilities of the classes that are there (n, n_classes), of none of them (n,), and of lying apart (n,)."""
    proba = class_proba(kept, codes, rows, rng)
    best = proba[2]
    first = novelty(kept, codes, rows, proba, rng)
    second = apart(kept, codes, rows, first > 0.5, best.argmax(axis=1), rng)
    return best, first, second


# ---- further classes


@dataclass(frozen=True, eq=False)
class _Found:
    """Further classes among rows that fit no earlier one.

    Attributes
    ----------
    codes : ndarray of shape (n,), int64
        Further class of each row, -1 for none.
    recognised : ndarray of shape (n_new,)
    """

    codes: Codes
    recognised: Floats


def _search(
    kept: Floats, codes: Codes, odd: Floats, away: Floats, layout: Layout, rng: np.random.RandomState
) -> _Found:
    """Look for further classes among odd rows (n, d), which lie apart with probabilities (n,)."""
    if len(odd) < FEWEST_ROWS:
        return _Found(np.full(len(odd), -1), np.zeros(0))
    both, known = np.concatenate([kept, odd]), np.append(codes, np.full(len(odd), -1))
    task = DiscoveryTask(both, known, int(codes.max()) + 1, 0, layout)
    n_clumps = _n_clumps(task, len(odd) // FEWEST_ROWS, rng)
    latent = WhitenedSpace.learn(both, known, _RIDGE).place(odd)
    centroids, variance = fit_centroids(latent, np.full(len(odd), -1), n_clumps, _N_INIT, rng)
    clumps = centroid_proba(latent, centroids, variance).argmax(axis=1)
    sizes = np.bincount(clumps, minlength=n_clumps)
    recognised = np.bincount(clumps, weights=away, minlength=n_clumps) / np.maximum(sizes, 1)
    real = np.flatnonzero((sizes >= FEWEST_ROWS) & (recognised >= _RECOGNISED))
    number = np.full(n_clumps, -1)
    number[real] = np.arange(len(real))
    return _Found(number[clumps], recognised[real])


def _named(
    odd: NDArray[np.intp],
    found: _Found,
    rows: Floats,
    told: NDArray[np.intp],
    codes: Codes,
    kept: Floats,
    placed: Codes,
) -> tuple[NDArray[np.intp], _Found]:
    """Let further classes be those that labels name for the first time, where such rows lie among theirs.

    Rows of a further class that has a name are placed there (in ``placed``), and leave the odd ones.
    """
    if not len(told) or not len(found.recognised):
        return odd, found
    marks = np.append(np.full(len(kept), -1), found.codes)
    nearest = marks[cdist(rows[told], np.concatenate([kept, rows[odd]])).argmin(axis=1)]
    left = np.ones(len(odd), dtype=bool)
    unnamed = []
    for clump in range(len(found.recognised)):
        names, counts = np.unique(codes[told[nearest == clump]], return_counts=True)
        name = int(names[counts.argmax()]) if len(names) else -1
        if name >= 0 and 2 * counts.max() > (codes[told] == name).sum():
            placed[odd[found.codes == clump]] = name
            left &= found.codes != clump
        else:
            unnamed.append(clump)
    number = np.full(len(found.recognised) + 1, -1)
    number[unnamed] = np.arange(len(unnamed))
    return odd[left], _Found(number[found.codes[left]], found.recognised[unnamed])


def _n_clumps(task: DiscoveryTask, most: int, rng: np.random.RandomState) -> int:
    """Ask the in-context network how many further classes the unlabelled rows hold, up to so many."""
    seen = look_at(task, rng, unlabelled=ALL_NOVEL, n_views=1)
    if seen is None:
        return 1
    evidence = np.log(seen.n_novel[1 : max(1, most) + 1] + _LEAST)
    return int(np.argmax(evidence - _PRICE * np.arange(len(evidence)))) + 1


def _targets(proba: Floats, odd: NDArray[np.intp], found: _Found) -> Floats:
    """Probabilities of all classes, further ones too; those of rows that have no place are 0."""
    n_classes, n_new = proba.shape[1], len(found.recognised)
    targets = np.hstack([proba, np.zeros((len(proba), n_new))])
    has_class = found.codes >= 0
    targets[odd[~has_class]] = 0
    # Whoever is in a further class counts as one of it, or the forest would go on preferring the earlier classes.
    targets[odd[has_class]] = np.eye(n_classes + n_new)[n_classes + found.codes[has_class]]
    return targets


# ---- answers


def corrected(kept: Floats, kept_codes: Codes, rows: Floats, codes: Codes, expected: Floats, n_known: int) -> Codes:
    """Correct the classes of kept rows by labels that people gave to rows of found classes.

    What was found is a guess. Where rows of a found class carry labels, each of its kept rows takes the label that is
    nearest; the middle of the class takes the most frequent one, or stays as it is with a single label.

    Parameters
    ----------
    kept : ndarray of shape (m, d)
    kept_codes : ndarray of shape (m,), int64
    rows : ndarray of shape (n, d)
        The batch.
    codes : ndarray of shape (n,), int64
        Classes that labels name, -1 elsewhere.
    expected : ndarray of shape (n, n_classes)
        What the discoverer predicts without the labels.
    n_known : int
        Number of known classes, whose kept rows stay.

    Returns
    -------
    ndarray of shape (m,), int64
    """
    labelled = np.flatnonzero(codes >= 0)
    likely = expected[labelled].argmax(axis=1)
    after = kept_codes.copy()
    if not len(labelled):
        return after
    space = WhitenedSpace.learn(kept, kept_codes, _RIDGE)
    for found in np.unique(likely[likely >= n_known]):
        own, told = kept_codes == found, labelled[likely == found]
        if not own.any() or (codes[told] == found).all():
            continue
        answers = codes[told]
        names, counts = np.unique(answers, return_counts=True)
        usual = names[counts.argmax()] if len(told) > 1 else found
        placed = space.place(kept[own])
        marks = np.concatenate([space.place(rows[told]), placed.mean(axis=0, keepdims=True)])
        after[own] = np.append(answers, usual)[cdist(placed, marks).argmin(axis=1)]
    return after
