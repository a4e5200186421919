"""Whether anything can be learned from the labels of a table."""

from __future__ import annotations

from pathlib import Path

from newfound.errors import InputError, Message, Parameter
from newfound.registry import registered


def check_labels(path: Path, target: str, n_rows: int, n_unlabelled: int, method: str) -> None:
    """Refuse a table from which a method cannot learn: without unlabelled rows, or without the labels that it needs."""
    name = repr(target)
    if n_rows < 2:
        raise InputError(f"{path} has 1 row; expected labelled and unlabelled rows, dozens of each at least.")
    if not n_unlabelled:
        raise InputError(
            Message(
                f"Every one of the {n_rows:,} rows of {path} has a label in {name}, so there is nothing to "
                "discover; leave the cell empty in rows whose class is not known, or name such cells with ",
                Parameter("unlabelled"),
                ".",
            ),
            parameter="target",
        )
    if n_unlabelled == n_rows and registered()[method].needs_labels:
        others = [name for name, entry in registered().items() if not entry.needs_labels]
        settings = [part for name in others for part in (" or ", Parameter("method", name))][1:]
        raise InputError(
            Message(
                f"No row of {path} has a label in {name}, and {method} learns from known classes; label some "
                "rows, or use ",
                *settings,
                ", which need no labels.",
            ),
            parameter="target",
        )
