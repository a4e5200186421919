"""Messages of the library in the words of the command line: options and files where Python has parameters."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from newfound.errors import InputError, Message, Parameter

OPTIONS = {
    "checkpoint_dir": "--checkpoint",
    "decimal": "--decimal",
    "delimiter": "--delimiter",
    "device": "--device",
    "encoding": "--encoding",
    "ignore": "--ignore",
    "into": "--into",
    "kinds": "--kind",
    "max_classes": "--max-classes",
    "max_memory": "--max-memory",
    "max_rows": "--max-rows",
    "method": "--method",
    "names": "--names",
    "n_novel_classes": "--novel-classes",
    "n_trials": "--trials",
    "random_state": "--seed",
    "sheet": "--sheet",
    "target": "--target",
    "training": "--training",
    "time_limit": "--time-limit",
    "unlabelled": "--unlabelled",
}
"""The option that sets each parameter of the library."""


def in_words(message: str, names: Mapping[str, str] | None = None) -> str:
    """Return a message as users of the command line read it.

    Parameters
    ----------
    message : str or Message
        Of the library; a plain text names no parameters, and stays as it is.
    names : mapping of parameter to str, optional
        What this command calls parameters, besides ``OPTIONS``.

    Examples
    --------
    >>> from newfound.errors import TABLE
    >>> in_words(Message("Got ", Parameter("n_novel_classes", 9), ", but ", TABLE, " has 4 rows."), {"X": "a.csv"})
    'Got --novel-classes 9, but a.csv has 4 rows.'
    """
    if not isinstance(message, Message):
        return message
    known = {**OPTIONS, **(names or {})}
    return message.told(lambda parameter: _named(parameter, known))


def retold(error: InputError, names: Mapping[str, str] | None = None) -> InputError:
    """Return an error with its message in the words of the command line, which may be told only once."""
    cure = None if error.cure is None else in_words(error.cure, names)
    return InputError(
        in_words(error.args[0], names),
        parameter=error.parameter,
        value=error.value,
        expected=error.expected,
        cure=cure,
    )


def _named(parameter: Parameter, names: Mapping[str, str]) -> str:
    name = names.get(parameter.name)
    if name is None:
        return str(parameter)
    if parameter.name == "kinds":
        kinds = parameter.value if parameter.has_value and isinstance(parameter.value, Mapping) else {"COLUMN": "KIND"}
        return " ".join(f"{name} {_typed(f'{column}={kind}')}" for column, kind in kinds.items())
    is_flag = not parameter.has_value or parameter.value is True
    return name if is_flag else f"{name} {_typed(parameter.value)}"


def _typed(value: Any) -> str:
    """Spell a value as it is typed in a shell."""
    return shlex.quote(f"{value:g}" if isinstance(value, float) else str(value))
