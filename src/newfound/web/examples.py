"""Tables that come with the workbench, made on the spot."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

_SEED = 7
_ROWS = 1_200
_KINDS = {  # weight in grams, length in mm, sweetness, firmness; colours; month when it is ripe
    "apple": ((180, 75, 11.5, 7.5), ("red", "green", "yellow"), 9),
    "banana": ((150, 190, 14.5, 3.0), ("yellow", "green"), 6),
    "cherry": ((9, 22, 17.5, 4.5), ("red", "dark red"), 6),
    "lemon": ((110, 80, 3.0, 6.5), ("yellow", "green"), 2),
    "plum": ((60, 45, 13.5, 5.0), ("purple", "dark red"), 8),
    "melon": ((1500, 170, 9.0, 8.5), ("green", "yellow"), 7),
    "fig": ((45, 40, 22.0, 2.0), ("purple", "brown"), 9),
}
_HIDDEN = ("plum", "melon", "fig")
_SPREAD = (0.14, 0.10, 0.09, 0.11)
_FARMS = ("north", "south", "river", "hill")


def write_example(name: str, path: Path) -> None:
    """Write an example as CSV."""
    if name == "digits":
        _write_digits(path)
    else:
        _write_orchard(path)


def _write_orchard(path: Path) -> None:
    rng = np.random.RandomState(_SEED)
    names = list(_KINDS)
    rows: list[list[Any]] = []
    for kind in rng.choice(names, _ROWS):
        middle, colours, month = _KINDS[kind]
        weight, length, sweetness, firmness = (
            value * float(np.exp(rng.normal(scale=spread))) for value, spread in zip(middle, _SPREAD, strict=True)
        )
        day = np.datetime64(f"2024-{month:02d}-01") + int(rng.randint(0, 28))
        cells = [f"{weight:.0f}", f"{length:.0f}", f"{sweetness:.1f}", f"{firmness:.1f}", rng.choice(colours)]
        cells += [str(day), "yes" if rng.rand() < (0.9 if kind in ("cherry", "plum", "apple") else 0.1) else "no"]
        cells = ["" if rng.rand() < 0.03 else str(cell) for cell in cells]
        labelled = kind not in _HIDDEN and rng.rand() < 0.9
        rows.append([*cells, rng.choice(_FARMS), kind if labelled else ""])
    heading = ("weight_g", "length_mm", "sweetness", "firmness", "colour", "picked", "has_stalk", "farm", "fruit")
    _write(path, heading, rows)


def _write_digits(path: Path) -> None:
    from sklearn.datasets import load_digits

    digits = load_digits()
    rows = (
        [*(f"{cell:.0f}" for cell in cells), str(digit) if digit < 5 else ""]
        for cells, digit in zip(digits.data.tolist(), digits.target.tolist(), strict=True)
    )
    _write(path, [*digits.feature_names, "digit"], rows)


def _write(path: Path, heading: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(heading)
        writer.writerows(rows)
