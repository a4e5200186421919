"""Finding the columns of fit again in a later table."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from numpy.typing import NDArray

from newfound.errors import TABLE, InputError, Message, warn_user
from newfound.tables.frame import Table, listed

_LONGEST_COMPARED, _MOST_COMPARED = 100, 2_000


def match_columns(
    table: Table, names: Sequence[str], used: Sequence[str], *, named: bool, estimator_name: str
) -> dict[str, NDArray[Any]]:
    """Return the used columns of a later table under the names they had at fit.

    Parameters
    ----------
    table : Table
    names : sequence of str
        All columns at fit.
    used : sequence of str
        Those of them that are needed; the ignored ones may be gone.
    named : bool
        Whether the table at fit had names of its own. If both had, columns are matched by name: their order may
        differ, and further columns do no harm. Otherwise they are matched by position.
    estimator_name : str
        Who speaks in messages and warnings.
    """
    if named and table.named:
        missing = [name for name in used if name not in table.columns]
        if missing:
            raise _missing_columns(missing, [name for name in table.names if name not in names], estimator_name)
        return {name: table.columns[name] for name in used}
    if table.n_columns != len(names):
        problem = f"has {table.n_columns} features, but {estimator_name} is expecting {len(names)} features as input"
        raise InputError.about("X", problem, "Pass the columns of fit, in their order.")
    if named:
        warn_user(
            Message(TABLE, f" does not have valid feature names, but {estimator_name} was fitted with feature names")
        )
    elif table.named:
        warn_user(Message(TABLE, f" has feature names, but {estimator_name} was fitted without feature names"))
    by_position = dict(zip(names, table.columns.values(), strict=True))
    return {name: by_position[name] for name in used}


def closest(name: str, names: Sequence[str]) -> str | None:
    """Return the most similar of some names, None if there is none; long or very many names are not compared.

    The time it takes grows with the square of their length.
    """
    if len(name) > _LONGEST_COMPARED:
        return None
    spellings = {known.casefold(): known for known in names[:_MOST_COMPARED] if len(known) <= _LONGEST_COMPARED}
    near = get_close_matches(name.casefold(), spellings, n=1)
    return spellings[near[0]] if near else None


def _missing_columns(missing: Sequence[str], unknown: Sequence[str], estimator_name: str) -> InputError:
    guesses = []
    for name in missing[:10]:
        near = closest(name, unknown)
        if near is not None:
            guesses.append(f"for {name!r}, did you mean {near!r}?")
    hint = f"Columns of similar names: {' '.join(guesses)} " if guesses else ""
    return InputError.about(
        "X",
        f"lacks {listed(missing)}, seen at fit of {estimator_name}",
        f"{hint}Pass the columns under the names they had; where values are unknown, fill the column with missing "
        "values (NaN).",
    )
