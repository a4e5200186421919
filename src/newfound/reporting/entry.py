"""What users call for a report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newfound.reporting.facts import report_facts
from newfound.reporting.page import Report, check_target

if TYPE_CHECKING:
    from newfound.discoverers.base import BaseDiscoverer

__all__ = ["report", "write_report"]


def report(
    model: BaseDiscoverer,
    X: Any,
    y: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    n_map_rows: int = 3_000,
    random_state: Any = 0,
) -> Report:
    """Make a report of the novel classes of a table, which a notebook shows below the cell.

    Parameters
    ----------
    model : discoverer
        A fitted discoverer.
    X : pandas, polars or pyarrow table, or numpy array, of shape (n, n_columns)
        A table that the model can read: the one it was fitted to, or a new one.
    y : labels of shape (n,), optional
        Labels of its rows; -1, None or NaN where a row is unlabelled. None if there are none.
    path : str or path, optional
        A file to write the report to as well.
    title : str, optional
        What the report is about, such as the name of the table.
    n_map_rows : int, default=3000
        About how many rows the map shows; more make a larger file, and take longer.
    random_state : int, RandomState or None, default=0
        Of the rows on the map and their places, and of the explanation.

    Returns
    -------
    Report
        ``save(path)`` writes it, ``html`` is the page, ``facts`` what it says as plain values.

    Raises
    ------
    InputError
        If the model is no fitted discoverer, the table or a parameter cannot be used, or the file cannot be written.

    Examples
    --------
    >>> import newfound as nf
    >>> data = nf.datasets.make_table(200, random_state=0)
    >>> model = nf.KMeansDiscoverer(n_novel_classes=3, random_state=0).fit(data.X_train, data.y_train)
    >>> nf.report(model, data.X_train, data.y_train, n_map_rows=50)
    <Report: 3 novel classes in 140 rows; save(path) writes it as an HTML file>
    """
    if path is not None:
        check_target(path)
    found = Report(report_facts(model, X, y, title=title, n_map_rows=n_map_rows, random_state=random_state))
    if path is not None:
        found.save(path)
    return found


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
    """Write a report of the novel classes of a table: one HTML file, which opens without a network.

    It is what `report` makes, for programs that need no more than the file. A file that is there already is replaced
    only once the new one is complete on the disk.

    Parameters
    ----------
    model, X, y, title, n_map_rows, random_state
        See `report`.
    path : str or path
        Where to write it; the ending ``.html`` is customary.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        As in `report`.

    Examples
    --------
    >>> import newfound as nf
    >>> from newfound.datasets import make_table
    >>> data = make_table(400, random_state=0)
    >>> model = nf.KMeansDiscoverer(n_novel_classes=3, random_state=0).fit(data.X_train, data.y_train)
    >>> nf.write_report(model, data.X_train, data.y_train, "report.html")  # doctest: +SKIP
    """
    report(model, X, y, path, title=title, n_map_rows=n_map_rows, random_state=random_state)
    return Path(path)
