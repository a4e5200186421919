"""A page on which people can look at the prior: what each family is, and some of its tables."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import torch

from newfound_lab.pictures.tables import DrawnTable, write_tables
from newfound_lab.prior.labelling import label
from newfound_lab.prior.recording import record
from newfound_lab.prior.source import Source
from newfound_lab.prior.tasks import FAMILIES, PRIOR_VERSION, Tasks, sample_tasks

_TABLES = 4  # in a picture
_ROWS, _WIDE_FROM = 320, 10  # columns from which on a family is one of wide tables
_NARROW, _WIDE = 9, 36  # columns of the tables that are drawn

_TOP = """# The prior: what the in-context network has seen

The network behind `InContextDiscoverer` was trained on synthetic tables only. This page shows some of them, as drawn by
`newfound-lab pretrain gallery`: version {version} of the prior, {families} families. A family generates columns
and classes. Then some classes become known, some rows get labels, and the columns get the defects of real data.

In the pictures, each table is shown twice. Above, its rows in the plane of the two strongest principal directions: grey
rows are of known classes (filled: labelled, hollow: not labelled), coloured ones of novel classes, a colour a class.
Below, its cells, a line a row, sorted by class (the bar at the left); dark cells are large within their column, white
ones small or missing. Many tables look hopeless in the plane; the known classes tell which columns matter.

"""
_BOTTOM = """## How tables become tasks

**Labels.** {labelling}

**Recording.** {recording} Columns are warped, rounded, cut into levels (as categories, as ordered integers, or with
long tails), copied, shuffled until they say nothing, given outliers, and holes that depend on nothing, on the value
itself or on another column. Rows are doubled.

**Sizes.** From 2 to 40 classes, even or with shares that fall to a hundredth of each other; the training draws 128 to
2,048 rows and 3 to 200 columns.

Every table depends on a seed alone: `sample_tasks(Source(seed), batch, rows, columns)` in `newfound_lab.prior` makes
the same again.
"""


def _about(thing: object) -> str:
    """Docstring of a function in one paragraph."""
    return " ".join((inspect.getdoc(thing) or "").split())


def _drawn(tasks: Tasks, place: int) -> DrawnTable:
    """One table of a batch, ready to be drawn."""
    context = tasks.context
    values = context.values[place].double().numpy().copy()
    missing, categorical = context.missing[place].numpy(), context.categorical[place].numpy()
    classes, novel = tasks.classes[place].numpy(), tasks.novel[place].numpy()
    columns = []
    for column, as_levels in enumerate(categorical):
        cell = np.where(missing[:, column], np.nan, values[:, column])
        parts = [np.where(cell == level, 1.0, 0.0) for level in np.unique(cell)[:8]] if as_levels else [cell]
        columns += [np.nan_to_num((part - np.nanmean(part)) / (np.nanstd(part) + 1e-9)) for part in parts]
    shown = np.stack(columns, 1).clip(-4, 4)
    left, size, _ = np.linalg.svd(shown - shown.mean(0), full_matrices=False)
    known = len(np.unique(classes[~novel]))
    title = f"{known} known, {len(np.unique(classes[novel]))} novel classes"
    labelled = context.labels[place].numpy() >= 0
    return DrawnTable(title, left[:, :2] * size[:2], np.where(missing, np.nan, values), classes, novel, labelled)


def write_gallery(page: Path, pictures: Path, seed: int = 0) -> None:
    """Write the page and its pictures.

    Parameters
    ----------
    page : Path
        Markdown file.
    pictures : Path
        Folder of the pictures, a PNG file a family.
    seed : int, default=0
    """
    pictures.mkdir(parents=True, exist_ok=True)
    text = [_TOP.format(version=PRIOR_VERSION, families=len(FAMILIES))]
    whole = sum(entry.weight for entry in FAMILIES.values())
    for place, (name, entry) in enumerate(FAMILIES.items()):
        columns = _WIDE if entry.columns >= _WIDE_FROM else _NARROW
        source = Source(seed + place, torch.device("cpu"))
        tasks = sample_tasks(source, _TABLES, _ROWS, columns, weights={name: 1.0}, parts=_TABLES)
        picture = pictures / f"{name}.png"
        write_tables([picture], [_drawn(tasks, table) for table in range(_TABLES)])
        least = f", from {entry.columns} columns on" if entry.columns > 2 else ""
        words, address = name.replace("_", " "), picture.relative_to(page.parent).as_posix()
        text.append(
            f"## {words.capitalize()}\n\n{_about(entry.make)} *Weight {entry.weight / whole:.0%}{least}.*\n\n"
            f"![Four tables of the family {words}]({address})\n\n"
        )
    text.append(_BOTTOM.format(labelling=_about(label), recording=_about(record)))
    page.write_text("".join(text), encoding="utf-8")
