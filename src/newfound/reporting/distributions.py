"""How the values of a few telling columns are spread, in a class and in the rest of the table: facts and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.counting import share_text
from newfound.discoverers.reading import Reading
from newfound.explanation.columns import ExplainedColumn, quantiles, view_columns
from newfound.explanation.wording import date_text, number_text, shortened, time_text
from newfound.markup import Html, tag
from newfound.reporting.figures import draw_shift

Facts = dict[str, Any]
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_MOST_COLUMNS = 4
_MOST_ROWS = 5_000
_MOST_CATEGORIES = 5
_BINS = 24
_TAIL = 0.01  # share of rows on each side that lie in the outermost bins, wherever they are
_WIDE = 30.0  # largest number over the median of those above 0, from which on a scale is logarithmic
_HALF = 34  # pixels above and below the line


def distribution_facts(
    reading: Reading, codes: Codes, wanted: Sequence[Sequence[str]], first: int, rng: np.random.RandomState
) -> list[list[Facts]]:
    """Say how columns are spread in classes and in the rest of the table.

    Parameters
    ----------
    reading : Reading of n rows
    codes : ndarray of shape (n,)
        Class of each row.
    wanted : sequence of lists of str
        Columns of each class, the most telling first.
    first : int
        The class of the first list; the others follow.
    rng : RandomState
        Of the sample that is drawn of many rows.

    Returns
    -------
    list of list of dict
        For each class and column: ``column``, ``kind``, and ``here`` and ``rest``, shares of rows; of scales in bins
        from ``low`` to ``high``, which are texts, otherwise of the ``categories``.
    """
    rows = np.sort(rng.permutation(len(codes))[:_MOST_ROWS])
    names = {name for some in wanted for name in some[:_MOST_COLUMNS]}
    used = {name: values[rows] for name, values in reading.used.items() if name in names}
    table = view_columns(used, reading.model.encoder_.schema_, len(rows))
    columns = {column.name: column for column in table.columns}
    found = []
    for place, some in enumerate(wanted):
        inside = codes[rows] == first + place
        telling = [columns[name] for name in some if name in columns][:_MOST_COLUMNS]
        drawn = [_spread(column, inside) for column in telling] if inside.any() and not inside.all() else []
        found.append([spread for spread in drawn if spread is not None])
    return found


def _spread(column: ExplainedColumn, inside: NDArray[np.bool_]) -> Facts | None:
    sides = (inside & ~column.missing, ~inside & ~column.missing)
    if not all(side.any() for side in sides):
        return None
    facts = {"column": column.name, "kind": column.kind}
    return facts | (_on_scale(column, *sides) if column.ordered else _by_name(column, *sides))


def _on_scale(column: ExplainedColumn, here: NDArray[np.bool_], rest: NDArray[np.bool_]) -> Facts:
    numbers = column.numbers[here | rest]
    low, high = quantiles(numbers, [_TAIL, 1 - _TAIL]).tolist()
    if low == high:
        low, high = float(numbers.min()), float(numbers.max())
    above = numbers[numbers > 0]
    wide = column.kind == "numeric" and low >= 0 and len(above) > 0 and high / _WIDE > quantiles(above, [0.5])[0]
    bend = np.log1p if wide else np.asarray
    # Bins are counted from 0 to 1: numbers may be so large, or so close to each other, that no edges lie between them.
    start, width = bend(low) / 2, bend(high) / 2 - bend(low) / 2
    shares = []
    for side in (here, rest):
        values = bend(column.numbers[side]) / 2  # their differences are then never too large for a number
        places = np.clip((values - start) / width, 0, 1) if width > 0 else np.full(len(values), 0.5)
        shares.append((np.histogram(places, _BINS, (0, 1))[0] / len(places)).round(4))
    ends = [_value_text(column, value) for value in (low, high)]
    return {"here": shares[0], "rest": shares[1], "low": ends[0], "high": ends[1], "logarithmic": bool(wide)}


def _value_text(column: ExplainedColumn, value: float) -> str:
    if column.kind == "date":
        return date_text(np.floor(value), whole=True)
    return time_text(round(60 * value) / 60) if column.kind == "time" else number_text(value)


def _by_name(column: ExplainedColumn, here: NDArray[np.bool_], rest: NDArray[np.bool_]) -> Facts:
    n = len(column.categories)
    shares = [np.bincount(column.codes[side], minlength=n) / side.sum() for side in (here, rest)]
    most = np.argsort(-np.maximum(*shares), kind="stable")[:_MOST_CATEGORIES]
    return {
        "categories": [shortened(column.categories[place], 24) for place in most],
        "here": shares[0][most].round(4),
        "rest": shares[1][most].round(4),
        "n_more": n - len(most),
    }


# ---- pictures


def draw_distributions(found: Sequence[Mapping[str, Any]], colour: str) -> Html | None:
    """Draw the columns side by side: the class above the line or first, the rest of the table below or second."""
    if not found:
        return None
    drawn = [_draw_names(spread, colour) if "categories" in spread else _draw_scale(spread, colour) for spread in found]
    return tag("div", *drawn, class_="column-spreads")


def _draw_scale(spread: Mapping[str, Any], colour: str) -> Html:
    n = len(spread["here"])
    boxes = []
    for side, shares in ((colour, spread["here"]), ("known", spread["rest"])):
        most = max(shares) or 1.0
        for i, share in enumerate(shares):
            height = _HALF * share / most
            if height:
                y = _HALF - height if side == colour else _HALF + 1
                place = {"x": f"{100 * i / n + 0.3:.2f}%", "width": f"{100 / n - 0.6:.2f}%"}
                boxes.append(tag("rect", **place, y=f"{y:.1f}", height=f"{height:.1f}", class_=f"bar {side}"))
    middle = tag("rect", x=0, width="100%", y=_HALF, height=1, class_="bar track")
    ends_text = f"from {spread['low']} to {spread['high']}"
    text = f"{spread['column']}: how this class (above) and the rest (below) are spread {ends_text}"
    picture = tag("svg", middle, *boxes, width="100%", height=2 * _HALF + 1, role="img", aria_label=text)
    scale = " (logarithmic)" if spread["logarithmic"] else ""
    ends = tag("div", tag("span", spread["low"]), tag("span", f"{spread['high']}{scale}"), class_="ends")
    return tag(
        "figure", tag("figcaption", tag("b", shortened(spread["column"], 80))), picture, ends, class_="column-spread"
    )


def _draw_names(spread: Mapping[str, Any], colour: str) -> Html:
    lines = []
    for name, here, rest in zip(spread["categories"], spread["here"], spread["rest"], strict=True):
        text = f"{name}: {share_text(here)} of this class, {share_text(rest)} of the rest"
        strip = draw_shift({"here": {"share": here}, "rest": {"share": rest}, "text": text}, colour)
        lines.append(tag("div", tag("span", name), strip, class_="column-spread-line"))
    more = tag("p", f"and {spread['n_more']} more", class_="ends") if spread["n_more"] else None
    return tag(
        "figure", tag("figcaption", tag("b", shortened(spread["column"], 80))), *lines, more, class_="column-spread"
    )
