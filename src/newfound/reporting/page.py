"""A report as an object: it shows itself in a notebook, and is saved as one HTML file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from newfound.errors import InputError
from newfound.markup import Html, inline, tag
from newfound.reporting.html import render
from newfound.reporting.summary import headline
from newfound.writing import replacing


class Report:
    """A report of the novel classes of a table.

    In a notebook it shows itself below the cell; elsewhere, `save` writes it to a file.

    Parameters
    ----------
    facts : mapping
        What `newfound.reporting.report_facts` returns.

    Attributes
    ----------
    facts : mapping
        What the report says, as plain values that JSON can hold.
    html : str
        The report as a whole HTML document, which loads nothing from anywhere.
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.facts = facts
        self.html = render(facts)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report to a file.

        A file that is there already is replaced only once the new one is complete on the disk.

        Parameters
        ----------
        path : str or path
            Where to write it; the ending ``.html`` is customary.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        target = check_target(path)
        try:
            with replacing(target) as fresh:
                fresh.write_bytes(self.html.encode("utf-8", errors="replace"))  # a text may hold half a character
        except OSError as error:
            raise InputError(
                f"The report cannot be written to {target}: {error.strerror}. Choose another folder.",
                parameter="path",
                value=path,
                cure="Choose another folder.",
            ) from None
        return target

    def __repr__(self) -> str:
        return f"<Report: {headline(self.facts)}; save(path) writes it as an HTML file>"

    def _repr_html_(self) -> Html:
        # The sandbox keeps the page's script away from the notebook around it.
        frame = tag("iframe", srcdoc=self.html, sandbox="allow-scripts", title=headline(self.facts))
        return inline(frame)


def check_target(path: str | os.PathLike[str]) -> Path:
    """Check that a report can be written there, which is best known before the work; InputError otherwise."""
    target = Path(path)
    # Unlike Path.is_dir, os.path.isdir is False where it may not look.
    if os.path.isdir(target) or not os.path.isdir(target.parent):
        what = "a folder" if os.path.isdir(target) else f"in {target.parent}, which is no folder"
        raise InputError.of("path", str(path), problem=f"which is {what}", cure="name a file in a folder that exists")
    return target
