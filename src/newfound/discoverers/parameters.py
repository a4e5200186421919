"""Checks of constructor parameters that only discoverers have."""

from __future__ import annotations

from typing import Any

import torch

from newfound.errors import InputError, Message, Parameter
from newfound.parameters import check_choice, check_integer, check_real, pick_generator

__all__ = [
    "check_choice",
    "check_dropout",
    "check_integer",
    "check_layers",
    "check_real",
    "pick_device",
    "pick_generator",
]


def check_dropout(value: Any) -> float:
    """Return the share of values to drop, from 0 to below 1."""
    if check_real("dropout", value, low=0, high=1) == 1:
        raise InputError.of("dropout", 1, "a number from 0 to below 1", problem="which leaves nothing to learn from")
    return float(value)


def check_layers(name: str, value: Any) -> list[int] | None:
    """Return layer widths as a list of ints, or None."""
    if value is None:
        return None
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__") or not len(list(value)):
        raise InputError.of(name, value, "None or a list of layer widths such as [64, 64]")
    return [check_integer(f"{name}[{i}]", width, low=1) for i, width in enumerate(value)]


def pick_device(device: Any) -> torch.device:
    """Return the torch device; "auto" is a CUDA device where there is one, else the CPU."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        picked = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise InputError.of("device", device, "'auto', 'cpu' or 'cuda'") from error
    if picked.type == "cuda" and (picked.index or 0) >= torch.cuda.device_count():
        cure = Message("use ", Parameter("device", "auto"), " or 'cpu'")
        raise InputError.of("device", device, problem="but torch sees no such CUDA device here", cure=cure)
    if picked.type not in ("cpu", "cuda"):
        raise InputError.of("device", device, "'auto', 'cpu' or 'cuda'", problem="which is not supported")
    return picked
