"""Products of a GPU with factors in bf16."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from newfound.nn.layers import _BriefProduct, takes_brief_factors


def normal(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("n_members", "rows", "n_in", "n_out", "brief"),
    [
        (10, 128, 784, 784, True),  # MNIST
        (10, 1024, 784, 784, True),
        (1, 128, 784, 784, False),  # too few
        (10, 128, 64, 64, False),
        (200, 1024, 784, 10, False),  # too thin
        (10, 64, 1024, 1024, False),
        (10, 1024, 785, 784, False),  # out of line
        (10, 1024, 784, 785, False),
    ],
)
def test_large_products_take_brief_factors(n_members: int, rows: int, n_in: int, n_out: int, brief: bool) -> None:
    assert takes_brief_factors(n_members, rows, n_in, n_out) is brief


@pytest.mark.parametrize(
    "device",
    [
        "cpu",
        pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")),
    ],
)
@pytest.mark.parametrize("n_members", [1, 3])
def test_products_of_brief_factors_are_summed_in_single_precision(n_members: int, device: str) -> None:
    shapes = [(n_members, 1, 16), (n_members, 40, 24), (n_members, 24, 16)]
    parts = [normal(*shape, seed=seed).to(device).requires_grad_() for seed, shape in enumerate(shapes)]
    bias, x, weight = (part.detach().double() for part in parts)
    brief_x, brief_weight = (part.bfloat16().double() for part in (x, weight))
    slope = normal(n_members, 40, 16, seed=3).to(device)
    product = _BriefProduct.apply(*parts)  # type: ignore[no-untyped-call]
    product.backward(slope)
    assert product.dtype == torch.float32
    brief_slope = slope.bfloat16().double()
    expected = [
        slope.double().sum(dim=1, keepdim=True),
        brief_slope @ brief_weight.mT,
        brief_x.mT @ brief_slope,
    ]
    torch.testing.assert_close(product.double(), bias + brief_x @ brief_weight, atol=1e-4, rtol=1e-4)
    for part, gradient in zip(parts, expected, strict=True):
        torch.testing.assert_close(part.grad.double(), gradient, atol=1e-4, rtol=1e-4)  # type: ignore[union-attr]


def test_products_of_brief_factors_need_no_gradient_of_their_input() -> None:
    parts = [normal(*shape, seed=0) for shape in [(2, 1, 8), (2, 4, 8), (2, 8, 8)]]
    bias, weight = parts[0].requires_grad_(), parts[2].requires_grad_()
    _BriefProduct.apply(bias, parts[1], weight).sum().backward()  # type: ignore[no-untyped-call]
    assert parts[1].grad is None
    torch.testing.assert_close(weight.grad, parts[1].bfloat16().float().sum(dim=1)[:, :, None].expand(2, 8, 8))
