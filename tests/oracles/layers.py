"""Each member of a packed layer as a plain torch layer, and dropout written out."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from newfound.nn import MemberStreams, PackedBatchNorm, PackedLinear


def linear(layer: PackedLinear, member: int) -> nn.Linear:
    _, n_in, n_out = layer.weight.shape
    alone = nn.Linear(n_in, n_out, dtype=layer.weight.dtype)
    with torch.no_grad():
        alone.weight.copy_(layer.weight[member].T)
        alone.bias.copy_(layer.bias[member, 0])
    return alone


def batch_norm(layer: PackedBatchNorm, member: int) -> nn.BatchNorm1d:
    width = layer.weight.shape[2]
    alone = nn.BatchNorm1d(width, eps=layer.eps, momentum=layer.momentum, dtype=layer.weight.dtype)
    with torch.no_grad():
        alone.weight.copy_(layer.weight[member, 0])
        alone.bias.copy_(layer.bias[member, 0])
    return alone


def dropout(x: Tensor, probability: float, streams: MemberStreams) -> Tensor:
    """Value by value, for one member: (rows, width) to (rows, width)."""
    keep = streams.coins(1 - probability, *x.shape)[0]
    out = x.clone()
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] / (1 - probability) if keep[i, j] else 0 * x[i, j]
    return out


class Dropout(nn.Module):
    """Dropout of one member alone, with draws from its stream."""

    def __init__(self, probability: float, streams: MemberStreams) -> None:
        super().__init__()
        self.probability = probability
        self.streams = streams

    def forward(self, x: Tensor) -> Tensor:
        return dropout(x, self.probability, self.streams)
