from __future__ import annotations

import pytest
import torch
from torch import nn

from newfound.learning.optimisers import adamw


@pytest.mark.parametrize("rates", [[0.03] * 3, [0.03, 1e-6, 0.007]], ids=["one for all", "one each"])
def test_packed_steps_equal_plain_adamw_steps_of_each_member(rates: list[float]) -> None:
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(3, 4, 5, generator=generator, dtype=torch.float64)
    gradients = torch.randn(6, 3, 4, 5, generator=generator, dtype=torch.float64)
    pack = nn.Parameter(start.clone())
    together = adamw([pack], rates if len(set(rates)) > 1 else rates[0])
    alone = [nn.Parameter(member.clone()) for member in start]
    optimisers = [
        torch.optim.AdamW([parameter], lr=rate, foreach=False, fused=False)
        for parameter, rate in zip(alone, rates, strict=True)
    ]
    for gradient in gradients:
        pack.grad = gradient
        together.step()
        for parameter, optimiser, own in zip(alone, optimisers, gradient, strict=True):
            parameter.grad = own
            optimiser.step()
    torch.testing.assert_close(pack.detach(), torch.stack([p.detach() for p in alone]), rtol=1e-9, atol=1e-9)
    moved = (pack.detach() - start).abs().amax(dim=(1, 2))
    assert [bool(distance > rate) for distance, rate in zip(moved, rates, strict=True)] == [True] * 3
    assert (moved < 10 * torch.tensor(rates)).all(), "a member went further than its own rate leads"
