"""A report of what a discoverer found: facts as a plain dict, then one HTML file that needs nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newfound.errors import InputError
from newfound.reporting.assets import shared_files
from newfound.reporting.facts import report_facts
from newfound.reporting.fragments import draw_curves, fragments
from newfound.reporting.html import render
from newfound.writing import replacing

if TYPE_CHECKING:
    from newfound.discoverers.base import BaseDiscoverer

__all__ = ["draw_curves", "fragments", "render", "report_facts", "shared_files", "write_report"]


def write_report(
    model: BaseDiscoverer,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    n_map_rows: int = 3_000,
    random_state: Any = 0,
) -> Path:
    """Write a report of the novel classes of a table: one HTML file, which opens without network.

    A file that is there already is replaced only once the new one is complete on the disk.

    Parameters
    ----------
    model : discoverer
        A fitted discoverer.
    X : pandas, polars or pyarrow table, or numpy array, of shape (n, n_columns)
        A table that the model can read: the one it was fitted to, or a new one.
    y : labels of shape (n,) or None
        Labels of its rows; -1, None or NaN where a row is unlabelled. None if there are none.
    path : str or path
        Where to; the ending ``.html`` is customary.
    title : str, optional
        What the report is about, such as the name of the table.
    n_map_rows : int, default=3000
        About how many rows the map shows; more make a larger file, and take longer.
    random_state : int, RandomState or None, default=0
        Of the rows on the map and their places, and of the explanation.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the model is no fitted discoverer, the table or a parameter cannot be used, or the file cannot be written.

    Examples
    --------
    >>> import newfound as nf
    >>> from newfound.datasets import make_table
    >>> data = make_table(400, random_state=0)
    >>> model = nf.KMeansDiscoverer(n_novel_classes=3, random_state=0).fit(data.X_train, data.y_train)
    >>> nf.write_report(model, data.X_train, data.y_train, "report.html")  # doctest: +SKIP
    """
    target = Path(path)
    # Said before the work rather than after it; unlike Path.is_dir, os.path.isdir is False where it may not look.
    if os.path.isdir(target) or not os.path.isdir(target.parent):
        what = "a folder" if os.path.isdir(target) else f"in {target.parent}, which is no folder"
        raise InputError.of("path", str(path), problem=f"which is {what}", cure="name a file in a folder that exists")
    facts = report_facts(model, X, y, title=title, n_map_rows=n_map_rows, random_state=random_state)
    content = render(facts)
    try:
        with replacing(target) as fresh:
            fresh.write_bytes(content.encode("utf-8", errors="replace"))  # a text may hold half a character
    except OSError as error:
        raise InputError(
            f"The report cannot be written to {target}: {error.strerror}. Choose another folder.",
            parameter="path",
            value=path,
            cure="Choose another folder.",
        ) from None
    return target
