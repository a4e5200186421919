"""Checks of constructor parameters, with messages that say what is accepted."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch

from newfound.errors import InputError


def check_integer(name: str, value: Any, *, low: int) -> int:
    """Return ``value`` as an int if it is a whole number of at least ``low``."""
    if _is_boolean(value) or not isinstance(value, Integral) or value < low:
        raise InputError(f"Got {name}={value!r}, but expected a whole number of at least {low}.")
    return int(value)


def check_real(name: str, value: Any, *, low: float, high: float = np.inf, open_low: bool = False) -> float:
    """Return ``value`` as a float if it lies from ``low`` to ``high``; ``open_low`` excludes ``low`` itself."""
    number = float(value) if isinstance(value, Real) and not _is_boolean(value) else np.nan
    if not (low <= number <= high and np.isfinite(number)) or (open_low and number == low):
        bounds = f"{'above' if open_low else 'of at least'} {low:g}" + (
            "" if high == np.inf else f" and at most {high:g}"
        )
        raise InputError(f"Got {name}={value!r}, but expected a number {bounds}.")
    return number


def check_dropout(value: Any) -> float:
    """Return the share of values to drop, from 0 to below 1."""
    if check_real("dropout", value, low=0, high=1) == 1:
        raise InputError("Got dropout=1, which leaves nothing to learn from; expected a number from 0 to below 1.")
    return float(value)


def check_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Return ``value`` if it is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"Got {name}={value!r}, but expected one of {', '.join(map(repr, choices))}.")
    return value


def _is_boolean(value: Any) -> bool:
    """Python counts True as a number; a parameter does not."""
    return isinstance(value, (bool, np.bool_))


def check_layers(name: str, value: Any) -> list[int] | None:
    """Return layer widths as a list of ints, or None."""
    if value is None:
        return None
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__") or not len(list(value)):
        raise InputError(f"Got {name}={value!r}, but expected None or a list of layer widths such as [64, 64].")
    return [check_integer(f"{name}[{i}]", width, low=1) for i, width in enumerate(value)]


def pick_device(device: Any) -> torch.device:
    """Return the torch device; "auto" is a CUDA device where there is one, else the CPU."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        picked = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise InputError(f"Got device={device!r}, but expected 'auto', 'cpu' or 'cuda'.") from error
    if picked.type == "cuda" and (picked.index or 0) >= torch.cuda.device_count():
        raise InputError(f"Got device={device!r}, but torch sees no such CUDA device here; use device='auto' or 'cpu'.")
    if picked.type not in ("cpu", "cuda"):
        raise InputError(f"Got device={device!r}, which is not supported; expected 'auto', 'cpu' or 'cuda'.")
    return picked


def pick_generator(random_state: Any) -> np.random.RandomState:
    """Return the generator of random numbers for a seed, a RandomState or None; the global one is left alone."""
    if random_state is None:
        return np.random.RandomState()
    if isinstance(random_state, np.random.RandomState):
        return random_state
    if isinstance(random_state, Integral) and not _is_boolean(random_state) and 0 <= int(random_state) < 2**32:
        return np.random.RandomState(int(random_state))
    raise InputError(
        f"Got random_state={random_state!r}, but expected None, a RandomState or a whole number from 0 to 2**32 - 1."
    )
