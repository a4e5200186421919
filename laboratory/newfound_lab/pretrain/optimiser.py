"""Muon for the matrices of the blocks, all of one shape at a time; AdamW for everything else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

_NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)


def orthogonalise(matrices: Tensor, steps: int = 5) -> Tensor:
    """Bring the singular values of matrices (K, r, c) near 1, by Newton-Schulz iterations in half precision."""
    a, b, c = _NEWTON_SCHULZ
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.transpose(1, 2) if tall else matrices
    x = (x / (x.square().sum((1, 2), keepdim=True).sqrt() + 1e-7)).bfloat16()
    for _ in range(steps):
        square = x @ x.transpose(1, 2)
        x = a * x + (b * square + c * square @ square) @ x
    return (x.transpose(1, 2) if tall else x).float()


class Muon(torch.optim.Optimizer):
    """Momentum whose matrices are made orthogonal, scaled such that AdamW's learning rates fit.

    Parameters
    ----------
    params : iterable of parameters of 2 or 3 dimensions; those of 3 are stacks of matrices
    lr, momentum, weight_decay : float
    """

    def __init__(
        self, params: Iterable[nn.Parameter], lr: float, momentum: float = 0.95, weight_decay: float = 0.0
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Update the parameters."""
        for group in self.param_groups:
            used = [p for p in group["params"] if p.grad is not None]
            for p in used:
                if "momentum" not in self.state[p]:
                    self.state[p]["momentum"] = torch.zeros_like(p)
            grads, moments = [p.grad for p in used], [self.state[p]["momentum"] for p in used]
            torch._foreach_lerp_(moments, grads, 1 - group["momentum"])
            ahead = torch._foreach_lerp(grads, moments, group["momentum"])
            by_shape: dict[tuple[int, ...], list[int]] = defaultdict(list)
            for place, p in enumerate(used):
                by_shape[tuple(p.shape[-2:])].append(place)
            torch._foreach_mul_(used, 1 - group["lr"] * group["weight_decay"])
            for shape, places in by_shape.items():
                stacked = torch.cat([ahead[place].view(-1, *shape) for place in places])
                moved = orthogonalise(stacked) * (-group["lr"] * 0.2 * max(shape) ** 0.5)
                pieces = moved.split([used[place].numel() // (shape[0] * shape[1]) for place in places])
                parameters = [used[place] for place in places]
                torch._foreach_add_(parameters, [piece.view_as(p) for piece, p in zip(pieces, parameters, strict=True)])


def make_optimisers(network: nn.Module, lr: float, weight_decay: float) -> list[torch.optim.Optimizer]:
    """Muon for matrices inside blocks, AdamW with half the rate for inputs, heads, norms and biases."""
    matrices: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for name, parameter in network.named_parameters():
        inside = name.startswith("blocks.") and parameter.ndim >= 2 and not name.endswith(("points", "temperature"))
        (matrices if inside else others).append(parameter)
    fused = others[0].is_cuda
    adam = torch.optim.AdamW(others, lr=lr / 2, betas=(0.9, 0.98), weight_decay=weight_decay, fused=fused)
    optimisers: list[torch.optim.Optimizer] = [Muon(matrices, lr, weight_decay=weight_decay), adam]
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["peak"] = group["lr"]
    return optimisers
