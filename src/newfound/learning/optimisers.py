"""The optimiser of every training step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.adamw import adamw as step_all

_BETAS, _EPSILON, _DECAY = (0.9, 0.999), 1e-8, 1e-2  # torch's defaults
_CHUNK, _MOST_CHUNKS = 1 << 16, 320  # numbers that a block of a GPU updates, and blocks that torch launches at a time


def adamw(parameters: Iterable[nn.Parameter], learning_rate: float | Sequence[float]) -> AdamW:
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
    return AdamW(parameters, learning_rate)


class AdamW:
    """The steps of ``torch.optim.AdamW(..., fused=True)``, to the bit.

    Making or stepping an optimiser of torch imports its compiler, which takes two seconds of every first training and
    is used for nothing here. So torch's function for a step is called directly.

    Attributes
    ----------
    lr : float
        The learning rate of the next step.
    before_step : callable or None
        Is shown the gradients before each step, and may change them in place.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], lr: float) -> None:
        self.parameters, self.lr = list(parameters), lr
        self.before_step: Callable[[list[Tensor]], None] | None = None
        self._moments: dict[int, dict[str, Tensor]] = {}

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Go a step along the gradients; parameters without one stay as they are."""
        moved = [
            (place, parameter, parameter.grad)
            for place, parameter in enumerate(self.parameters)
            if parameter.grad is not None
        ]
        if self.before_step is not None:
            self.before_step([gradient for _, _, gradient in moved])
        for part in _launches(moved):
            moments = [self._moments_of(place) for place, _, _ in part]
            step_all(
                [parameter for _, parameter, _ in part],
                [gradient for _, _, gradient in part],
                [moment["exp_avg"] for moment in moments],
                [moment["exp_avg_sq"] for moment in moments],
                [],
                [moment["step"] for moment in moments],
                fused=True,
                amsgrad=False,
                beta1=_BETAS[0],
                beta2=_BETAS[1],
                lr=self.lr,
                weight_decay=_DECAY,
                eps=_EPSILON,
                maximize=False,
            )

    def state(self) -> dict[int, dict[str, Tensor]]:
        """Return the moments of each parameter, by its place."""
        return self._moments

    def restore(self, moments: Mapping[int, Mapping[str, Tensor]]) -> None:
        """Go on from what `state` returned."""
        self._moments = {
            place: {name: tensor.to(self.parameters[place].device, copy=True) for name, tensor in own.items()}
            for place, own in moments.items()
        }

    def _moments_of(self, place: int) -> dict[str, Tensor]:
        if place not in self._moments:
            parameter = self.parameters[place]
            self._moments[place] = {
                "step": torch.zeros((), dtype=torch.float32, device=parameter.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
        return self._moments[place]


class _MemberAdamW(AdamW):
    """AdamW with a learning rate for each member.

    All members take a step with the largest learning rate. A step of AdamW is proportional to the learning rate, so the
    step of each member is then scaled down by the ratio of its own rate to the largest.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], learning_rates: Sequence[float]) -> None:
        super().__init__(parameters, max(learning_rates))
        shares: Any = torch.tensor(learning_rates, dtype=torch.float64) / max(learning_rates)
        self._shares = [shares.to(parameter).view(-1, *[1] * (parameter.ndim - 1)) for parameter in self.parameters]

    @torch.no_grad()
    def step(self) -> None:
        before = [parameter.clone() for parameter in self.parameters]
        super().step()
        for parameter, share, old in zip(self.parameters, self._shares, before, strict=True):
            parameter.copy_(torch.lerp(old, parameter, share))


def _launches(moved: list[tuple[int, nn.Parameter, Tensor]]) -> list[list[tuple[int, nn.Parameter, Tensor]]]:
    """Cut a step on a GPU into as many launches as torch needs for it, but of about equal size.

    Torch fills one launch after the other, so the last may have too few blocks to keep the GPU busy.
    """
    sizes = [-(-parameter.numel() // _CHUNK) for _, parameter, _ in moved if parameter.is_cuda]
    n_launches = -(-sum(sizes) // _MOST_CHUNKS)
    if n_launches < 2:
        return [moved]
    parts: list[list[tuple[int, nn.Parameter, Tensor]]] = [[] for _ in range(n_launches)]
    before = 0
    for item, size in zip(moved, sizes, strict=True):
        parts[(before + size // 2) * n_launches // sum(sizes)].append(item)
        before += size
    return [part for part in parts if part]
