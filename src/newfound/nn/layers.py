"""Packed layers: every parameter has a leading member axis, and members never mix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from newfound.nn.streams import MemberStreams

_LARGE_PRODUCT = 1 << 28  # multiplications of all members, from which on a GPU gains by brief factors
_SHORTEST_SIDE = 128  # of each member's matrices: casting them takes as long as what is gained where they are thinner
_ALIGNED = 8  # brief numbers that tensor cores load at a time


def takes_brief_factors(n_members: int, rows: int, n_in: int, n_out: int) -> bool:
    """Whether a GPU multiplies (n_members, rows, n_in) by (n_members, n_in, n_out) sooner in bf16, casts included."""
    is_large = n_members * rows * n_in * n_out >= _LARGE_PRODUCT and min(rows, n_in, n_out) >= _SHORTEST_SIDE
    return is_large and n_in % _ALIGNED == n_out % _ALIGNED == 0


@cache
def _multiplies_brief_factors(device: torch.device) -> bool:
    """Whether a GPU has tensor cores for bf16, and torch a product of brief factors that is not rounded to be brief."""
    if torch.version.cuda is None or "dtype" not in torch.ops.aten.bmm.overloads():
        return False
    return torch.cuda.get_device_capability(device) >= (8, 0)


class PackedLinear(nn.Module):
    """A dense layer for each member, computed as one batched matrix product.

    Parameters
    ----------
    n_members, n_in, n_out : int
        Number of members, inputs and outputs.
    streams : MemberStreams or None
        Draws the initial weights, uniform in ±1/sqrt(n_in); None leaves them unset, to be loaded.

    Shape
    -----
    Input (n_members, rows, n_in), output (n_members, rows, n_out).

    Examples
    --------
    >>> layer = PackedLinear(3, 8, 2, MemberStreams([0, 1, 2]))
    >>> layer(torch.zeros(3, 5, 8)).shape
    torch.Size([3, 5, 2])
    """

    def __init__(self, n_members: int, n_in: int, n_out: int, streams: MemberStreams | None = None) -> None:
        super().__init__()
        if streams is None:
            weight, bias = torch.empty(n_members, n_in, n_out), torch.empty(n_members, 1, n_out)
        else:
            bound = n_in**-0.5
            weight = (streams.uniform(n_in, n_out) * 2 - 1) * bound
            bias = (streams.uniform(1, n_out) * 2 - 1) * bound
        self.weight = nn.Parameter(weight)
        self.bias = nn.Parameter(bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n_members, rows, n_in) to (n_members, rows, n_out)."""
        if x.is_cuda:
            kind = _BriefProduct if self._is_brief(x) else _DeviceProduct
            product: Tensor = kind.apply(self.bias, x, self.weight)  # type: ignore[no-untyped-call]
            return product
        return torch.baddbmm(self.bias, x, self.weight)

    def _is_brief(self, x: Tensor) -> bool:
        n_members, rows, n_in = x.shape
        is_large = takes_brief_factors(n_members, rows, n_in, self.weight.shape[-1])
        return x.dtype == torch.float32 and is_large and _multiplies_brief_factors(x.device)


class _DeviceProduct(torch.autograd.Function):
    """``baddbmm`` whose gradient for the bias is a product with ones.

    A GPU's sum over the rows gives each of few results to few threads, and took a sixth of a training step.
    """

    @staticmethod
    def forward(ctx: Any, bias: Tensor, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return torch.baddbmm(bias, x, weight)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor | None, Tensor]:
        x, weight = ctx.saved_tensors
        (grad,) = grad_outputs
        ones = grad.new_ones(grad.shape[0], 1, grad.shape[1])
        of_x = torch.bmm(grad, weight.transpose(1, 2)) if ctx.needs_input_grad[1] else None
        return torch.bmm(ones, grad), of_x, torch.bmm(x.transpose(1, 2), grad)


class _BriefProduct(torch.autograd.Function):
    """The same with the factors of all products in bf16, eight bits of each number's mantissa.

    Products are summed and handed on in single precision. Weights are cast in every step, and the brief ones are kept
    until their gradient is known.
    """

    @staticmethod
    def forward(ctx: Any, bias: Tensor, x: Tensor, weight: Tensor) -> Tensor:
        brief_x, brief_weight = x.bfloat16(), weight.bfloat16()
        ctx.save_for_backward(brief_x, brief_weight if ctx.needs_input_grad[1] else None)
        return _single_product(brief_x, brief_weight).add_(bias)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor | None, Tensor]:
        x, weight = ctx.saved_tensors
        (grad,) = grad_outputs
        brief = grad.bfloat16()
        of_x = None if weight is None else _single_product(brief, weight.transpose(1, 2))
        ones = grad.new_ones(grad.shape[0], 1, grad.shape[1])
        return torch.bmm(ones, grad), of_x, _single_product(x.transpose(1, 2), brief)


def _single_product(left: Tensor, right: Tensor) -> Tensor:
    """Multiply brief factors, (n_members, a, b) and (n_members, b, c), in single precision."""
    if left.is_cuda:
        product: Tensor = torch.ops.aten.bmm.dtype(left, right, torch.float32)
        return product
    return torch.bmm(left.float(), right.float())


class PackedHead(PackedLinear):
    """A dense layer whose input first passes a ReLU and dropout.

    Parameters
    ----------
    n_members, n_in, n_out : int
        Number of members, inputs and outputs.
    dropout : float or sequence of float
        Share of the activated inputs that training zeroes: one for all members, or one for each.
    streams : MemberStreams or None
        Draws the initial weights and the masks; None for a layer that will be loaded.

    Shape
    -----
    Input (n_members, rows, n_in), output (n_members, rows, n_out).
    """

    def __init__(
        self,
        n_members: int,
        n_in: int,
        n_out: int,
        dropout: float | Sequence[float],
        streams: MemberStreams | None = None,
    ) -> None:
        super().__init__(n_members, n_in, n_out, streams)
        self.dropout = PackedDropout(dropout, streams)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n_members, rows, n_in) to (n_members, rows, n_out)."""
        return super().forward(self.dropout(torch.relu(x)))


class PackedDropout(nn.Module):
    """Dropout whose masks come from each member's own stream; does nothing outside training.

    Parameters
    ----------
    probability : float or sequence of float
        Share of values that are zeroed: one for all members, or one, greater than 0, for each.
    streams : MemberStreams or None
        None for a network that only predicts.

    Shape
    -----
    Input and output (n_members, rows, width).
    """

    def __init__(self, probability: float | Sequence[float], streams: MemberStreams | None = None) -> None:
        super().__init__()
        self.probability = probability
        self.streams = streams

    def forward(self, x: Tensor) -> Tensor:
        """Zero values with the given probability and scale the rest up."""
        if not self.training or self.probability == 0.0 or self.streams is None:
            return x
        if isinstance(self.probability, Sequence):
            kept = [1.0 - share for share in self.probability]
            scale = self.streams.constants([1.0 / share for share in kept])[:, :, None]
            return x * self.streams.coins(kept, *x.shape[1:]).to(x.dtype).mul_(scale)
        keep = self.streams.coins(1.0 - self.probability, *x.shape[1:])
        if x.is_cuda:
            # What torch's own dropout does backward: x * keep * scale in one kernel, which remembers a byte a number.
            dropped: Tensor = torch.ops.aten.native_dropout_backward(x, keep, 1.0 / (1.0 - self.probability))
            return dropped
        return x * keep.to(x.dtype).mul_(1.0 / (1.0 - self.probability))


class PackedBatchNorm(nn.Module):
    """Batch normalisation with each member's own statistics.

    Parameters
    ----------
    n_members, width : int
        Number of members and of features.
    momentum : float
        Weight of the newest batch in the running statistics that prediction uses.

    Shape
    -----
    Input and output (n_members, rows, width).
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, n_members: int, width: int, *, momentum: float = 0.1, eps: float = 1e-5) -> None:
        super().__init__()
        self.momentum = momentum
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(n_members, 1, width))
        self.bias = nn.Parameter(torch.zeros(n_members, 1, width))
        self.register_buffer("running_mean", torch.zeros(n_members, 1, width))
        self.register_buffer("running_var", torch.ones(n_members, 1, width))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise by the batch while training, by the running statistics afterwards."""
        if self.training:
            mean = x.mean(dim=1, keepdim=True)
            var = (x - mean).square().mean(dim=1, keepdim=True)  # several times as fast as torch.var_mean
            with torch.no_grad():
                # The running variance is the unbiased one, as in torch.nn.BatchNorm1d.
                unbiased = var * (x.shape[1] / max(1, x.shape[1] - 1))
                self.running_mean.lerp_(mean, self.momentum)
                self.running_var.lerp_(unbiased, self.momentum)
        else:
            mean, var = self.running_mean, self.running_var
        scale = self.weight * torch.rsqrt(var + self.eps)
        return torch.addcmul(self.bias - mean * scale, x, scale)


class UnitLength(nn.Module):
    """Scales every row to the length 1; a row of zeros stays as it is.

    Shape
    -----
    Input and output (n_members, rows, width).

    Examples
    --------
    >>> UnitLength()(torch.tensor([[[3.0, 4.0]]]))
    tensor([[[0.6000, 0.8000]]])
    """

    def forward(self, x: Tensor) -> Tensor:
        """Divide each row by its length."""
        return nn.functional.normalize(x, dim=-1)
