from __future__ import annotations

import torch
from torch import nn

from newfound.learning.optimisers import adamw


def test_packed_steps_equal_plain_adamw_steps_of_each_member() -> None:
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(3, 4, 5, generator=generator, dtype=torch.float64)
    gradients = torch.randn(6, 3, 4, 5, generator=generator, dtype=torch.float64)
    pack = nn.Parameter(start.clone())
    together = adamw([pack], 0.03)
    alone = [nn.Parameter(member.clone()) for member in start]
    optimisers = [torch.optim.AdamW([parameter], lr=0.03, foreach=False, fused=False) for parameter in alone]
    for gradient in gradients:
        pack.grad = gradient
        together.step()
        for parameter, optimiser, own in zip(alone, optimisers, gradient, strict=True):
            parameter.grad = own
            optimiser.step()
    torch.testing.assert_close(pack.detach(), torch.stack([p.detach() for p in alone]))
    assert not torch.allclose(pack.detach(), start)


def test_members_can_have_learning_rates_of_their_own() -> None:
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(3, 4, 5, generator=generator, dtype=torch.float64)
    gradients = torch.randn(6, 3, 4, 5, generator=generator, dtype=torch.float64)
    rates = [0.03, 1e-6, 0.007]
    pack = nn.Parameter(start.clone())
    together = adamw([pack], rates)
    alone = [nn.Parameter(member.clone()) for member in start]
    optimisers = [torch.optim.AdamW([one], lr=rate, fused=False) for one, rate in zip(alone, rates, strict=True)]
    for gradient in gradients:
        pack.grad = gradient
        together.step()
        for parameter, optimiser, own in zip(alone, optimisers, gradient, strict=True):
            parameter.grad = own
            optimiser.step()
    torch.testing.assert_close(pack.detach(), torch.stack([p.detach() for p in alone]), rtol=1e-9, atol=1e-9)
    assert (pack.detach()[1] - start[1]).abs().max() < 1e-4 < (pack.detach()[0] - start[0]).abs().min()
