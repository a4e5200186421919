"""Short rules that single out the rows of a class, and how good they are on rows that did not make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from newfound.explanation.bins import cut_into_bins
from newfound.explanation.boxes import BinnedRows, Box, BoxSearch
from newfound.explanation.columns import Codes, ExplainedTable, Floats, Mask
from newfound.explanation.conditions import Rule

_PRICES = (1.0, 3.0, 9.0)  # what a wrong row costs, in right ones
_TARGET = 0.9  # precision asked for
_ACCEPTABLE = 0.7  # precision of a rule that is shown where none is as good
_WRONG_IN_THOUGHT = 1.5  # wrong rows added in thought for each condition, since conditions are made to fit
_RIGHT_IN_THOUGHT = 5.0  # right rows added in thought, so that few rows do not raise much doubt
_DOUBT = 0.5  # half the rows overrate themselves by twice as much as all rows
_LEAST_GAIN = 0.03  # share of the class that a further rule has to add
_ENOUGH = 0.08  # share of the class that may stay uncovered
_FEWEST_ROWS = 5  # of the class, to make rules of


@dataclass(frozen=True, eq=False)
class MakingRows:
    """The rows that make rules.

    Attributes
    ----------
    table : ExplainedTable of n rows
    codes : ndarray of shape (n,)
        Predicted classes.
    weights : ndarray of shape (n,)
        How many rows each row stands for.
    folds : ndarray of shape (n,)
        0 or 1, the halves by which it is seen how far rules overrate themselves; -1 for rows that belong to neither.
    made_up : ndarray of shape (n,), bool
        Rows that are no rows of the table but crossed ones.
    """

    table: ExplainedTable
    codes: Codes
    weights: Floats
    folds: Codes
    made_up: Mask


def find_rules(making: MakingRows, code: int, *, max_rules: int, max_conditions: int) -> list[Rule]:
    """Find rules for a class by sequential covering: the best rule first, then the best for the rows that are left.

    Parameters
    ----------
    making : MakingRows
    code : int
        The class.
    max_rules, max_conditions : int

    Returns
    -------
    list of Rule
        Without figures. Empty where nothing singles out the class.
    """
    inside = making.codes == code
    if (inside & ~making.made_up).sum() < _FEWEST_ROWS or inside.all():
        return []
    bins = cut_into_bins(making.table.columns, inside)
    if not bins:
        return []
    binned = BinnedRows.of(bins)
    overrated = _overrated(binned, inside, making, max_conditions)
    search = BoxSearch(binned, inside, making.weights, max_conditions)
    boxes: list[Box] = []
    while len(boxes) < max_rules and search.uncovered > _ENOUGH:
        box = _next_box(search, overrated)
        if box is None:
            break
        boxes.append(box)
        search.cover(box)
    boxes = _without_needless([(box, np.isin(search.rows, search.rows_in(box))) for box in boxes], search)
    return [Rule(tuple(bins[j].condition(chosen) for j, chosen in sorted(box.items()))) for box in boxes]


def score_rules(
    rules: Sequence[Rule], table: ExplainedTable, inside: Mask
) -> tuple[list[Rule], float | None, float | None]:
    """Return rules with their figures on held-out rows, and precision and coverage of all of them together.

    Parameters
    ----------
    rules : sequence of Rule
    table : ExplainedTable of n rows
    inside : ndarray of shape (n,), bool
        The rows of the class.
    """
    together = np.zeros(table.n_rows, dtype=np.bool_)
    scored = []
    for rule in rules:
        matched = rule.mask(table)
        together |= matched
        precision, coverage = rule_figures(matched, inside)
        scored.append(replace(rule, precision=precision, coverage=coverage, n_matched=int(matched.sum())))
    return scored, *(rule_figures(together, inside) if rules else (None, None))


def rule_figures(matched: Mask, inside: Mask) -> tuple[float | None, float | None]:
    """Return precision and coverage of a rule that matches some rows (n,), of which some are of the class (n,).

    Examples
    --------
    >>> rule_figures(np.array([True, True, False]), np.array([True, False, False]))
    (0.5, 1.0)
    """
    precision = float(inside[matched].mean()) if matched.any() else None
    coverage = float(matched[inside].mean()) if inside.any() else None
    return precision, coverage


def _next_box(search: BoxSearch, overrated: dict[float, float]) -> Box | None:
    """Return the box that covers most at the precision asked for, or the most precise one that is acceptable."""
    found: list[tuple[float, float, Box]] = []
    for price in _PRICES:
        box = search.best(price)
        if box is not None and (gain := search.gain(box)) >= _LEAST_GAIN:
            rows = search.rows_in(box)
            weight, right = search.weights[rows].sum(), search.weights[rows][search.inside[rows]].sum()
            precision = right / (weight + _WRONG_IN_THOUGHT * len(box)) - _DOUBT * overrated[price]
            found.append((gain, float(precision), box))
    good = [candidate for candidate in found if candidate[1] >= _TARGET]
    if good:
        return max(good, key=lambda candidate: candidate[0])[2]
    acceptable = [candidate for candidate in found if candidate[1] >= _ACCEPTABLE]
    return max(acceptable, key=lambda candidate: candidate[1])[2] if acceptable else None


def _overrated(binned: BinnedRows, inside: Mask, making: MakingRows, max_conditions: int) -> dict[float, float]:
    """Return, for each price, how much more precise a rule is on the rows that made it than on others.

    Each fold makes a rule, and the other one shows its true precision.
    """
    everything = np.arange(len(inside))
    seen = {
        price: np.full(4, _RIGHT_IN_THOUGHT) for price in _PRICES
    }  # right and all rows, where the rule was made and elsewhere
    for fold in (0, 1):
        weights = np.where(making.folds == fold, making.weights, 0.0)
        ours = weights > 0
        if not inside[ours].any() or inside[ours].all():
            continue
        search = BoxSearch(binned, inside, weights, max_conditions)
        theirs = (making.folds == 1 - fold) & ~making.made_up
        for price in _PRICES:
            box = search.best(price)
            if box is None:
                continue
            matched = np.isin(everything, binned.within(box, everything))
            seen[price] += [
                making.weights[matched & rows].sum() for half in (ours, theirs) for rows in (half & inside, half)
            ]
    return {price: max(0.0, float(a / b - c / d)) for price, (a, b, c, d) in seen.items()}


def _without_needless(boxes: list[tuple[Box, Mask]], search: BoxSearch) -> list[Box]:
    """Leave out boxes whose rows of the class lie in the others, and put the box that holds most first."""
    weights = np.where(search.inside, search.weights, 0.0)[search.rows]
    kept = sorted(boxes, key=lambda entry: float(weights[entry[1]].sum()))
    for entry in list(kept):
        others = [rows for box, rows in kept if box is not entry[0]]
        if others and weights[entry[1] & ~np.any(others, axis=0)].sum() < _LEAST_GAIN * search.size:
            kept = [other for other in kept if other[0] is not entry[0]]
    return [box for box, _ in reversed(kept)]
