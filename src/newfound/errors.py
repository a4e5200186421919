"""The errors that newfound raises on purpose, and how it warns."""

from __future__ import annotations

import sys
import warnings

_INSIDE = ("newfound", "sklearn", "contextlib", "typer", "click")


class NewfoundError(Exception):
    """Base of every error that newfound raises on purpose."""


class InputError(NewfoundError, ValueError):
    """The table, the labels or a parameter cannot be used as given; the message names the cure."""


class ModelFileError(NewfoundError):
    """A model file cannot be written, or cannot be trusted enough to be loaded."""


class TrainingInterrupted(UserWarning):
    """Ctrl-C ended a training early; the model keeps what it had learned."""


class MissingExtraError(NewfoundError, ImportError):
    """An optional package is needed for this and is not installed; the message says which."""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's code from which newfound was called.

    However deep the call, and also through a scikit-learn pipeline, the warning names a line that the user can change.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
