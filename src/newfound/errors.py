"""The errors that newfound raises on purpose."""

from __future__ import annotations


class NewfoundError(Exception):
    """Base of every error that newfound raises on purpose."""


class InputError(NewfoundError, ValueError):
    """The table, the labels or a parameter cannot be used as given; the message names the cure."""


class ModelFileError(NewfoundError):
    """A model file cannot be written, or cannot be trusted enough to be loaded."""


class MissingExtraError(NewfoundError, ImportError):
    """An optional package is needed for this and is not installed; the message says which."""
