"""Checks of parameters, with messages that say what is accepted."""

from __future__ import annotations

import os
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.errors import InputError, Message, Parameter

_SMALL_WEIGHT, _LARGE_WEIGHT = 1e-100, 1e100


def check_integer(name: str, value: Any, *, low: int, or_else: str = "") -> int:
    """Return ``value`` as an int if it is a whole number of at least ``low``; ``or_else`` ends the message."""
    if _is_boolean(value) or not isinstance(value, Integral) or value < low:
        raise InputError.of(name, value, f"a whole number of at least {low}{or_else}")
    return int(value)


def check_real(name: str, value: Any, *, low: float, high: float = np.inf, open_low: bool = False) -> float:
    """Return ``value`` as a float if it lies from ``low`` to ``high``; ``open_low`` excludes ``low`` itself."""
    number = float(value) if isinstance(value, Real) and not _is_boolean(value) else np.nan
    if not (low <= number <= high and np.isfinite(number)) or (open_low and number == low):
        bounds = f"{'above' if open_low else 'of at least'} {low:g}" + (
            "" if high == np.inf else f" and at most {high:g}"
        )
        raise InputError.of(name, value, f"a number {bounds}")
    return number


def check_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Return ``value`` if it is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise InputError.of(name, value, f"one of {', '.join(map(repr, choices))}")
    return value


def check_path(name: str, value: Any) -> str:
    """Return ``value`` as a text if it can be the path of a file."""
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise InputError.of(name, value, "the path of a file as a text or pathlib.Path")
    return text


def check_weights(value: Any, n_rows: int) -> NDArray[np.float64]:
    """Return ``sample_weight`` as floats of shape (n_rows,) if none is missing or below 0 and some are above."""
    try:
        weights = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != (n_rows,) or not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        expected = f"one number for each of the {n_rows} rows, none missing or below 0, and not all 0"
        raise InputError(Message(Parameter("sample_weight"), f" must be {expected}."), value=value, expected=expected)
    largest = weights.max()
    # only their ratios matter, and sums of huge or tiny ones would not be numbers
    return weights if _SMALL_WEIGHT < largest < _LARGE_WEIGHT else weights / largest


def pick_generator(random_state: Any) -> np.random.RandomState:
    """Return the generator of random numbers for a seed, a RandomState or None; the global one is left alone."""
    if random_state is None:
        return np.random.RandomState()
    if isinstance(random_state, np.random.RandomState):
        return random_state
    if isinstance(random_state, Integral) and not _is_boolean(random_state) and 0 <= int(random_state) < 2**32:
        return np.random.RandomState(int(random_state))
    raise InputError.of("random_state", random_state, "None, a RandomState or a whole number from 0 to 2**32 - 1")


def _is_boolean(value: Any) -> bool:
    """Python counts True as a number; a parameter does not."""
    return isinstance(value, (bool, np.bool_))
