"""The optimiser of every training step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn


def adamw(parameters: Iterable[nn.Parameter], learning_rate: float | Sequence[float]) -> torch.optim.AdamW:
    """AdamW with torch's defaults; one fused call updates every parameter of every member.

    AdamW treats each number on its own, so a packed step equals the steps of the members alone.

    Parameters
    ----------
    parameters : iterable of Parameter
        Each of shape (n_members, ...).
    learning_rate : float or sequence of float
        One for all members, or one for each.
    """
    if isinstance(learning_rate, Sequence):
        return _MemberAdamW(parameters, learning_rate)
    return torch.optim.AdamW(parameters, lr=learning_rate, fused=True)


class _MemberAdamW(torch.optim.AdamW):
    """AdamW with a learning rate for each member.

    A step of AdamW is proportional to its learning rate, so each member goes its share of the way that the largest
    rate would lead it.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], learning_rates: Sequence[float]) -> None:
        super().__init__(parameters, lr=max(learning_rates), fused=True)
        shares = torch.tensor(learning_rates, dtype=torch.float64) / max(learning_rates)
        self._ways: list[tuple[nn.Parameter, Tensor]] = [
            (parameter, shares.to(parameter).view(-1, *[1] * (parameter.ndim - 1)))
            for group in self.param_groups
            for parameter in group["params"]
        ]

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        before = [parameter.clone() for parameter, _ in self._ways]
        super().step(closure)
        for (parameter, share), old in zip(self._ways, before, strict=True):
            parameter.copy_(torch.lerp(old, parameter, share))
