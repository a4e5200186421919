"""A column that tells labelled from unlabelled rows: what looks novel may be how rows were chosen for labelling."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.tree import DecisionTreeClassifier

from newfound.selection.source_columns import SourceColumns

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

# Balanced accuracy. Of 234 made-up tables (`make_table`, the laboratory's prior) 2 have a column that reaches it and
# tells no known class apart, though nothing in them says how rows were chosen for labelling.
_SEPARATED = 0.99
_QUICK = 0.95  # the same on few rows, from which on a column is looked at closely
_QUICK_ROWS, _CLOSE_ROWS, _CLASS_ROWS = 200, 4_000, 400
_FEWEST_ROWS = 20
_LEAVES, _LEAF_ROWS = 8, 3
_BINS = 16


def separating_column(columns: SourceColumns, rows: Floats, codes: Codes) -> str | None:
    """Find a column that alone tells labelled from unlabelled rows almost perfectly, and no known class from others.

    Such as a date, a batch or a source: then what looks like novel classes may only be how rows were chosen for
    labelling. A column that tells known classes apart may tell novel ones from them by right.

    Parameters
    ----------
    columns : SourceColumns
    rows : ndarray of shape (n, d)
    codes : ndarray of shape (n,), int64
        Known classes 0, 1, ...; -1 where a row is unlabelled.

    Returns
    -------
    str or None
        The name of the column that does it best; None where none does, or where there are few rows of one kind.
    """
    unlabelled = codes < 0
    kinds = [np.flatnonzero(unlabelled), np.flatnonzero(~unlabelled)]
    if min(map(len, kinds)) < _FEWEST_ROWS:
        return None
    quick, close = (
        np.concatenate([_spread(places, most // 2) for places in kinds]) for most in (_QUICK_ROWS, _CLOSE_ROWS)
    )
    best: tuple[float, str] | None = None
    for place in _promising(columns, rows[quick], unlabelled[quick]):
        told = _separation(columns, rows[close], place, unlabelled[close])
        if told >= (_SEPARATED if best is None else best[0]) and not _tells_classes(columns, rows, place, codes):
            best = told, columns.names[place]
    return None if best is None else best[1]


def _promising(columns: SourceColumns, rows: Floats, unlabelled: NDArray[np.bool_]) -> list[int]:
    """Places of the columns that part few rows (n, d) well enough to be looked at closely; all columns at once.

    Each encoded column is cut into bins of about equal numbers of rows, and a bin is said to be of the kind that has
    the larger share of its rows there.
    """
    bins = (_BINS * (rankdata(rows, axis=0) - 1) // len(rows)).astype(np.int64)
    at = bins + _BINS * np.arange(rows.shape[1])
    own, others = (
        np.bincount(at[kind].ravel(), minlength=_BINS * rows.shape[1]) / kind.sum()
        for kind in (unlabelled, ~unlabelled)
    )
    told = np.maximum(own, others).reshape(rows.shape[1], _BINS).sum(axis=1) / 2
    groups, categorical = columns.layout.groups, columns.layout.categorical
    some = {int(place) for place in groups[told >= _QUICK - 1 / _BINS]}
    # of several categories, none alone need tell the two kinds apart
    some |= {
        int(place)
        for place in np.unique(groups[categorical & ~np.isin(groups, groups[~categorical])])
        if _separation(columns, rows, int(place), unlabelled) >= _QUICK
    }
    return sorted(some)


def _tells_classes(columns: SourceColumns, rows: Floats, place: int, codes: Codes) -> bool:
    """Whether a column tells some known class from the others."""
    counts = np.bincount(codes[codes >= 0])
    classes = [np.flatnonzero(codes == code) for code in np.flatnonzero(counts >= _FEWEST_ROWS)]
    if len(classes) < 2:
        return False
    taught = np.concatenate([_spread(places, _CLASS_ROWS) for places in classes])
    return any(
        _separation(columns, rows[taught], place, codes[taught] == codes[places[0]]) >= _QUICK for places in classes
    )


def _spread(places: Rows, most: int) -> Rows:
    """Take at most so many of the places, from the first to the last: tables are often sorted."""
    return places[np.linspace(0, len(places) - 1, min(len(places), most)).round().astype(np.intp)]


def _separation(columns: SourceColumns, rows: Floats, place: int, inside: NDArray[np.bool_]) -> float:
    """Return the balanced accuracy with which a column tells two kinds of rows, learned on the other half of them."""
    numbers = columns.numbers(rows, place)
    first = np.zeros(len(rows), dtype=bool)
    for kind in (inside, ~inside):
        first[np.flatnonzero(kind)[::2]] = True
    shares: list[float] = []
    for seen, judged in ((first, ~first), (~first, first)):
        if numbers is None:
            told = _by_level(columns.levels(rows, place), seen, inside)[judged]
        else:
            cells = rows[:, columns.layout.groups == place]
            tree = DecisionTreeClassifier(
                max_leaf_nodes=_LEAVES, min_samples_leaf=_LEAF_ROWS, class_weight="balanced", random_state=0
            )
            told = tree.fit(cells[seen], inside[seen]).predict(cells[judged])
        shares += [float(told[inside[judged]].mean()), float(1.0 - told[~inside[judged]].mean())]
    return float(np.mean(shares))


def _by_level(levels: Codes, seen: NDArray[np.bool_], inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each row, whether its category is more frequent inside, among the rows seen."""
    n = int(levels.max()) + 1
    own, others = (np.bincount(levels[seen & kind], minlength=n) for kind in (inside, ~inside))
    more: NDArray[np.bool_] = own / max(1, own.sum()) > others / max(1, others.sum())
    return more[levels]
