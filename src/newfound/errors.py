"""The errors that newfound raises on purpose, and how it warns.

The library speaks Python: its messages name parameters. The command line shows the same messages, and has other names
for the same things. A `Message` therefore remembers which of its words are names of parameters, and `Message.told`
puts other names in their places.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from newfound.plain import printable

_INSIDE = ("newfound", "newfound_lab", "sklearn", "contextlib", "typer", "click")
_LONGEST_VALUE = 200  # characters of a value in a message; a table may stand where a name should


class _Unsaid:
    """Stands where no value is said; a class, since that is the same one again after pickling."""


@dataclass(frozen=True)
class Parameter:
    """A parameter that a message names, with or without its value.

    Parameters
    ----------
    name : str
    value : object, optional
        What it is set to, or should be.
    of : str, optional
        The class whose parameter it is, where that is not clear.

    Examples
    --------
    >>> print(Parameter("X"), Parameter("max_rows", 3), Parameter("kinds", {"zip": "categorical"}, "TableEncoder"))
    X max_rows=3 TableEncoder(kinds={'zip': 'categorical'})
    """

    name: str
    value: Any = _Unsaid
    of: str = ""

    @property
    def has_value(self) -> bool:
        """Whether the value is said as well; it may be None."""
        return self.value is not _Unsaid

    def __str__(self) -> str:
        said = f"{self.name}={_short(repr(self.value))}" if self.has_value else self.name
        return f"{self.of}({said})" if self.of else said


TABLE, LABELS = Parameter("X"), Parameter("y")
"""What discoverers call the table and its labels."""


class Message(str):
    """A text that remembers which of its words are names of parameters.

    It is a plain text for all who do not ask further.

    Parameters
    ----------
    *parts : str, Message or Parameter
        Put one after the other.

    Examples
    --------
    >>> message = Message(TABLE, " has infinite values; leave the column out.")
    >>> message
    'X has infinite values; leave the column out.'
    >>> message.told(lambda parameter: {"X": "table.csv"}[parameter.name])
    'table.csv has infinite values; leave the column out.'
    """

    parts: tuple[str | Parameter, ...]

    def __new__(cls, *parts: str | Parameter) -> Message:
        """Put the parts together."""
        flat: list[str | Parameter] = []
        for part in parts:
            flat += part.parts if isinstance(part, Message) else [part]
        text = super().__new__(cls, "".join(map(str, flat)))
        text.parts = tuple(flat)
        return text

    def told(self, naming: Callable[[Parameter], str]) -> str:
        """Return the text with other names for the parameters."""
        return "".join(naming(part) if isinstance(part, Parameter) else part for part in self.parts)


class NewfoundError(Exception):
    """Base of every error that newfound raises on purpose."""


class InputError(NewfoundError, ValueError):
    """The table, the labels or a parameter cannot be used as given; the message names the cure.

    Parameters
    ----------
    message : str or Message
        What is wrong and what to do, in one or two sentences.
    parameter : str, optional
        Name of the parameter that cannot be used; by default the first that the message names.
    value : object, optional
        What was given; by default the value that the message names, else None.
    expected : str, optional
        What is accepted instead.
    cure : str or Message, optional
        What to do.
    """

    def __init__(
        self,
        message: str = "",
        *,
        parameter: str | None = None,
        value: Any = None,
        expected: str | None = None,
        cure: str | None = None,
    ) -> None:
        super().__init__(message)
        named = [part for part in _parts(message) if isinstance(part, Parameter)]
        if parameter is None and named:
            parameter = named[0].name
            value = named[0].value if value is None and named[0].has_value else value
        self.parameter, self.value, self.expected, self.cure = parameter, value, expected, cure

    @property
    def message(self) -> Message:
        """What is wrong and what to do."""
        return Message(*_parts(self.args[0]))

    @classmethod
    def of(
        cls,
        parameter: str,
        value: Any,
        expected: str | None = None,
        cure: str | None = None,
        *,
        problem: str | None = None,
    ) -> InputError:
        """Make the error for a parameter with a value that cannot be used.

        Parameters
        ----------
        parameter : str
        value : object
        expected : str, optional
            What is accepted instead; needed where there is no ``problem``.
        cure : str or Message, optional
            What to do, where that is not plain.
        problem : str or Message, optional
            What is wrong with the value, where "but expected" does not say it, such as "which is a folder".

        Examples
        --------
        >>> raise InputError.of("n_trials", 0, "a whole number of at least 1")
        Traceback (most recent call last):
        newfound.errors.InputError: Got n_trials=0, but expected a whole number of at least 1.
        """
        told: list[str | Parameter] = ["Got ", Parameter(parameter, value)]
        if problem is not None:
            told += [", ", problem]
        if expected is not None:
            told += [", but expected " if problem is None else "; expected ", expected]
        if cure is not None:
            told += ["; ", cure]
        told += ["."]
        return cls(Message(*told), parameter=parameter, value=value, expected=expected, cure=cure)

    @classmethod
    def about(cls, parameter: str, problem: str, cure: str) -> InputError:
        """Make the error for a parameter whose value is too large to be shown, such as a table.

        Parameters
        ----------
        parameter : str
        problem : str or Message
            The rest of a sentence that begins with the parameter, without its end.
        cure : str or Message
            A sentence that says what to do.

        Examples
        --------
        >>> raise InputError.about("X", "has no rows", "Pass at least one row.")
        Traceback (most recent call last):
        newfound.errors.InputError: X has no rows. Pass at least one row.
        """
        told = Message(Parameter(parameter), " ", problem, ". ", cure)
        return cls(told, parameter=parameter, cure=cure)


class ModelFileError(NewfoundError):
    """A model file cannot be written, or cannot be trusted enough to be loaded."""


class TrainingInterrupted(UserWarning):
    """Ctrl-C ended a training early; the model keeps what it had learned."""


class WeakEvidence(UserWarning):
    """What was found should be doubted; `weaknesses_` of the discoverer has the reasons."""


class MissingExtraError(NewfoundError, ImportError):
    """An optional package is needed for this and is not installed; the message says which."""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's code from which newfound was called.

    However deep the call, and also through a scikit-learn pipeline, the warning names a line that the user can change.
    Names in it, which may be a stranger's, cannot steer the terminal that it is printed on.
    """
    message = Message(*(printable(part) if isinstance(part, str) else part for part in _parts(message)))
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _short(text: str) -> str:
    """Return a text in one line, shortened."""
    text = " ".join(text.split()) if "\n" in text else text  # a table shows itself in many
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def _parts(message: str) -> tuple[str | Parameter, ...]:
    return message.parts if isinstance(message, Message) else (message,)
