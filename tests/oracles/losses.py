"""Slow, obvious twins of newfound.learning.losses: one member after the other, one pair after the other."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def classification(logits: Tensor, targets: Tensor) -> Tensor:
    return torch.stack([F.cross_entropy(member, truth) for member, truth in zip(logits, targets, strict=True)])


def consistency(logits: Tensor, view_logits: Tensor) -> Tensor:
    return torch.stack([F.mse_loss(member, view) for member, view in zip(logits, view_logits, strict=True)])


def reconstruction(values: Tensor, original: Tensor) -> Tensor:
    return torch.stack([F.mse_loss(member, truth) for member, truth in zip(values, original, strict=True)])


def mask(mask_logits: Tensor, true_mask: Tensor) -> Tensor:
    """From the definition: the mean of -log of the probability given to the truth."""
    members = zip(mask_logits, true_mask, strict=True)
    return torch.stack([F.binary_cross_entropy(torch.sigmoid(logits), truth) for logits, truth in members])


def pairwise(probabilities: Tensor, positive: Tensor) -> Tensor:
    """Mean over all ordered pairs of two different rows, member by member."""
    losses = []
    for p, same in zip(probabilities, positive, strict=True):
        b = p.shape[0]
        chances = torch.stack([p[i] @ p[j] for i in range(b) for j in range(b) if i != j])
        truths = torch.stack([same[i, j] for i in range(b) for j in range(b) if i != j])
        losses.append(F.binary_cross_entropy(chances.clamp(0, 1), truths))
    return torch.stack(losses)


def pairwise_value(probabilities: Tensor, positive: Tensor, smallest: float) -> list[float]:
    """The same in plain Python, with the chances kept ``smallest`` away from 0."""
    losses = []
    for p, same in zip(probabilities.tolist(), positive.tolist(), strict=True):
        b = len(p)
        member = 0.0
        for i in range(b):
            for j in range(b):
                if i != j:
                    chance = sum(x * y for x, y in zip(p[i], p[j], strict=True))
                    member -= math.log(chance + smallest) if same[i][j] else math.log(1 - chance + smallest)
        losses.append(member / max(1, b * (b - 1)))
    return losses


def mutual_information(probabilities: Tensor, other: Tensor, balance: float) -> list[float]:
    """Of the chance that a pair of rows has classes (i, j), in either order; member by member in plain Python."""
    losses = []
    for here, there in zip(probabilities.tolist(), other.tolist(), strict=True):
        b, k = len(here), len(here[0])
        joint = [[0.0] * k for _ in range(k)]
        for p, q in zip(here, there, strict=True):
            for i in range(k):
                for j in range(k):
                    joint[i][j] += (p[i] * q[j] + p[j] * q[i]) / (2 * b)
        shares = [sum(line) for line in joint]
        told = 0.0
        for i in range(k):
            for j in range(k):
                told += joint[i][j] * (math.log(joint[i][j]) - balance * math.log(shares[i] * shares[j]))
        losses.append(-told)
    return losses
