"""The optimiser of every training step."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn


def adamw(parameters: Iterable[nn.Parameter], learning_rate: float) -> torch.optim.AdamW:
    """AdamW with torch's defaults; one fused call updates every parameter of every member.

    AdamW treats each number on its own, so a packed step equals the steps of the members alone.
    """
    return torch.optim.AdamW(parameters, lr=learning_rate, fused=True)
