"""Inline drawings of the report.

Colours come from the style sheet, so that they follow light, dark and print. Widths are percentages wherever the page
writes the words itself: letters then keep their size on a phone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from newfound.explanation.wording import number_text, shortened
from newfound.markup import Html, join, tag
from newfound.pictures.style import NOVEL_COLOURS, NOVEL_MARKERS
from newfound.reporting.wording import count, percent
from newfound.tables.dates import parse_date, parse_time

MAP_WIDTH, MAP_HEIGHT, MAP_EDGE = 960, 620, 26
_RADIUS = 4.2
_WIDE = 100.0  # factor from which on a strip has a logarithmic scale
N_LOOKS = len(NOVEL_COLOURS) * len(NOVEL_MARKERS)  # different ones of novel classes
_MANY_KNOWN = 14  # names of known classes that the map has room for


def looks(n_known: int, n_novel: int) -> list[dict[str, Any]]:
    """Colour class and mark of every class: grey for known ones, the pictures' colours and marks for novel ones."""
    novel = itertools.cycle(itertools.product(range(len(NOVEL_MARKERS)), range(len(NOVEL_COLOURS))))
    return [
        *({"colour": "known", "mark": 0} for _ in range(n_known)),
        *({"colour": f"c{colour}", "mark": mark} for mark, colour in itertools.islice(novel, n_novel)),
    ]


def swatch(look: Mapping[str, Any]) -> Html:
    """Draw the mark of a class, for names and legends."""
    d = _mark(look["mark"], 7, 7, 5.2)
    return tag("svg", tag("path", d=d), class_=f"swatch {look['colour']}", viewBox="0 0 14 14", aria_hidden="true")


def outlines() -> list[str]:
    """Return the outline of every mark, of radius 10 around the origin, for the script that draws the map."""
    return [_mark(mark, 0, 0, 10) for mark in range(len(NOVEL_MARKERS))]


# ---- the map


def draw_map(
    points: Mapping[str, Any], classes: Sequence[Mapping[str, Any]], styles: Sequence[Mapping[str, Any]]
) -> Html:
    """Draw rows as marks, novel classes above known ones, with names in the middle of classes.

    This is what is seen where scripts do not run; elsewhere ``static/map.js`` draws the same rows with the same marks.
    """
    places = [
        (_across(x), _down(y), code) for x, y, code in zip(points["x"], points["y"], points["classes"], strict=True)
    ]
    marks, names = [], []
    for j, (class_facts, look) in enumerate(zip(classes, styles, strict=True)):
        d = "".join(_mark(look["mark"], x, y, _RADIUS) for x, y, code in places if code == j)
        marks.append(tag("path", d=d, class_=f"marks {look['colour']}") if d else None)
        middle = points["middles"][j]
        if middle is not None and (class_facts["is_novel"] or _n_known(classes) <= _MANY_KNOWN):
            kind = "novel" if class_facts["is_novel"] else "of-known"
            x, y, _ = places[middle]
            names.append(tag("text", class_facts["name"], x=x, y=y, class_=f"map-name {kind}"))
    return tag(
        "svg",
        tag("g", *marks),
        tag("g", *names, aria_hidden="true"),
        viewBox=f"0 0 {MAP_WIDTH} {MAP_HEIGHT}",
        aria_hidden="true",
        focusable="false",
    )


def _n_known(classes: Sequence[Mapping[str, Any]]) -> int:
    return sum(not class_facts["is_novel"] for class_facts in classes)


def _across(x: int) -> float:
    return round(MAP_EDGE + x / 10_000 * (MAP_WIDTH - 2 * MAP_EDGE), 1)


def _down(y: int) -> float:
    return round(MAP_EDGE + (1 - y / 10_000) * (MAP_HEIGHT - 2 * MAP_EDGE), 1)


def _mark(mark: int, x: float, y: float, r: float) -> str:
    """Outline of a mark: a dot, a square, a triangle or a diamond, all of about the same size."""
    if mark == 1:
        return f"M{x - 0.88 * r:.1f} {y - 0.88 * r:.1f}h{1.76 * r:.1f}v{1.76 * r:.1f}h{-1.76 * r:.1f}z"
    if mark == 2:
        return f"M{x:.1f} {y - 1.2 * r:.1f}l{1.1 * r:.1f} {1.95 * r:.1f}h{-2.2 * r:.1f}z"
    if mark == 3:
        side = f"{1.25 * r:.1f}"
        return f"M{x:.1f} {y - 1.25 * r:.1f}l{side} {side}l-{side} {side}l-{side} -{side}z"
    return f"M{x - r:.1f} {y:.1f}a{r} {r} 0 1 0 {2 * r:.1f} 0a{r} {r} 0 1 0 {-2 * r:.1f} 0z"


# ---- what is shifted in a class


def draw_shift(shift: Mapping[str, Any], colour: str) -> Html:
    """Draw a line of a profile: the class above, what it is compared with below."""
    draw = _draw_shares if "share" in shift["here"] else _draw_ranges
    return draw(shift["here"], shift["rest"], colour, shortened(shift["text"], 260))


def _draw_shares(here: Mapping[str, Any], rest: Mapping[str, Any], colour: str, text: str) -> Html:
    return _strip(
        _box(0, 1, 3, 8, "track"),
        _box(0, float(here["share"]), 3, 8, colour),
        _box(0, 1, 15, 8, "track"),
        _box(0, float(rest["share"]), 15, 8, "known"),
        text=text,
    )


def _draw_ranges(here: Mapping[str, Any], rest: Mapping[str, Any], colour: str, text: str) -> Html:
    values = [_position(side[key]) for side in (here, rest) for key in ("low", "median", "high")]
    if any(value is None for value in values):
        return _strip(_box(0, 1, 12, 2, "track"), text=text)
    scale = _scale([value for value in values if value is not None])
    low, middle, high, rest_low, rest_middle, rest_high = (scale(value) for value in values if value is not None)
    return _strip(
        _box(0, 1, 6, 2, "track"),
        _box(low, high, 3, 8, colour),
        _dot(middle, 7, colour),
        _box(0, 1, 18, 2, "track"),
        _box(rest_low, rest_high, 15, 8, "known"),
        _dot(rest_middle, 19, "known"),
        text=text,
    )


def _position(value: Any) -> float | None:
    if isinstance(value, str):
        return parse_time(value) if ":" in value[:3] else parse_date(value)
    return None if value is None else float(value)


def _scale(values: Sequence[float]) -> Any:
    """Return a function from values to places from 0.04 to 0.96; logarithmic where values differ by magnitudes."""
    sizes = [abs(value) for value in values if value]
    most = max(sizes, default=1.0)
    unit = max(min(sizes, default=1.0), most * 1e-300)  # their ratio, and so the bent scale, stays finite
    wide = most / unit > _WIDE
    bent = (lambda value: math.asinh(value / unit)) if wide else (lambda value: value / most)
    low, high = min(map(bent, values)), max(map(bent, values))
    span = high - low
    return (lambda value: 0.04 + 0.92 * (bent(value) - low) / span) if span > 0 else (lambda value: 0.5)


def _strip(*parts: Html, text: str) -> Html:
    return tag("svg", *parts, class_="strip", width="100%", height=26, role="img", aria_label=text)


def _box(low: float, high: float, y: float, height: float, colour: str) -> Html:
    width = max(100 * (high - low), 0.0)
    return tag("rect", x=f"{100 * low:.1f}%", width=f"{width:.1f}%", y=y, height=height, rx=2, class_=f"bar {colour}")


def _dot(at: float, y: float, colour: str) -> Html:
    return tag("circle", cx=f"{100 * at:.1f}%", cy=y, r=5, class_=f"median {colour}")


def meter(share: float, text: str) -> Html:
    """Draw a share of one as a short bar."""
    return tag(
        "svg",
        _box(0, 1, 0, 6, "track"),
        _box(0, share, 0, 6, "level"),
        class_="meter",
        width="100%",
        height=6,
        role="img",
        aria_label=text,
    )


# ---- charts


def draw_bars(bars: Sequence[tuple[str, float, str]], text: str) -> Html:
    """Draw bars side by side: what is written below each, a height, and a class for its colour."""
    most = max((height for _, height, _ in bars), default=0) or 1
    n = max(1, len(bars))
    boxes = [
        tag(
            "rect",
            x=f"{100 * (i + 0.12) / n:.2f}%",
            width=f"{76 / n:.2f}%",
            y=f"{100 * (1 - height / most):.1f}%",
            height=f"{100 * height / most:.1f}%",
            class_=f"bar {colour}",
        )
        for i, (_, height, colour) in enumerate(bars)
    ]
    ticks = [tag("span", label) for label, _, _ in bars]
    picture = tag("svg", *boxes, width="100%", height=150, class_="chart", role="img", aria_label=text)
    return tag("div", picture, tag("div", *ticks, class_="ticks", aria_hidden="true"), class_="bars")


def draw_histogram(sides: Sequence[tuple[str, Sequence[float], str]], text: str) -> Html:
    """Draw shares of rows in bins from 0 to 1: for each side a name, the shares and a class for its colour."""
    rows = []
    for name, shares, colour in sides:
        most = max(shares) or 1
        n = len(shares)
        boxes = [
            tag(
                "rect",
                x=f"{100 * i / n + 0.4:.2f}%",
                width=f"{100 / n - 0.8:.2f}%",
                y=f"{100 - 100 * share / most:.1f}%",
                height=f"{100 * share / most:.1f}%",
                class_=f"bar {colour}",
            )
            for i, share in enumerate(shares)
            if share > 0
        ]
        rows.append(
            tag(
                "div",
                tag("div", name, class_="chart-name"),
                tag("svg", *boxes, class_="chart low", width="100%", height=70),
            )
        )
    scale = tag("div", tag("span", "0 certainly known"), tag("span", "1 certainly novel"), class_="ends")
    return tag("div", *rows, scale, class_="histogram", role="img", aria_label=text)


def draw_curve(curve: Mapping[str, Any]) -> Html | None:
    """Draw a loss over the epochs of a stage."""
    points = [(x, y) for x, y in zip(curve["epochs"], curve["means"], strict=True) if y is not None]
    if not points:
        return None
    (first, start), (last, end) = points[0], points[-1]
    low, high = min(y for _, y in points), max(y for _, y in points)
    spans = (last - first) or 1, (high - low) or 1
    line = " ".join(f"{100 * (x - first) / spans[0]:.2f},{38 - 36 * (y - low) / spans[1]:.2f}" for x, y in points)
    epochs = count(len(points), "epoch")
    text = f"{curve['loss']} in {curve['stage']}: from {number_text(start)} to {number_text(end)} in {epochs}"
    shape = (
        tag("polyline", points=line, class_="line")
        if len(points) > 1
        else tag("polyline", points="0,20 100,20", class_="line")
    )
    return tag(
        "figure",
        tag("figcaption", tag("b", curve["loss"].replace("_", " ")), " ", tag("span", curve["stage"], class_="muted")),
        tag(
            "svg", shape, viewBox="0 0 100 40", preserveAspectRatio="none", class_="curve", role="img", aria_label=text
        ),
        tag(
            "div",
            tag("span", number_text(start)),
            tag("span", epochs),
            tag("span", number_text(end)),
            class_="ends",
        ),
        class_="small-chart",
    )


def share_bar(share: float, colour: str) -> Html:
    """Draw the share of rows a class has, for a table that says it in words as well."""
    parts = join(_box(0, 1, 0, 8, "track"), _box(0, max(share, 0.004), 0, 8, colour))
    return tag("svg", parts, class_="share", width="100%", height=8, role="img", aria_label=percent(share))
