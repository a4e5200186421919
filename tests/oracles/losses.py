"""Slow, obvious twins of newfound.learning.losses: one member after the other, one pair after the other."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def classification(logits: Tensor, targets: Tensor) -> Tensor:
    return torch.stack([F.cross_entropy(one, truth) for one, truth in zip(logits, targets, strict=True)]).sum()


def consistency(logits: Tensor, view_logits: Tensor) -> Tensor:
    return torch.stack([F.mse_loss(one, view) for one, view in zip(logits, view_logits, strict=True)]).sum()


def reconstruction(values: Tensor, original: Tensor) -> Tensor:
    return torch.stack([F.mse_loss(one, truth) for one, truth in zip(values, original, strict=True)]).sum()


def mask(mask_logits: Tensor, true_mask: Tensor) -> Tensor:
    """From the definition: the members' mean of -log of the probability given to the truth."""
    total = mask_logits.new_zeros(())
    for logits, truth in zip(mask_logits, true_mask, strict=True):
        total = total + F.binary_cross_entropy(torch.sigmoid(logits), truth)
    return total


def pairwise(probabilities: Tensor, positive: Tensor) -> Tensor:
    """Mean over all ordered pairs of two different rows, member by member."""
    total = probabilities.new_zeros(())
    for p, same in zip(probabilities, positive, strict=True):
        b = p.shape[0]
        chances = torch.stack([p[i] @ p[j] for i in range(b) for j in range(b) if i != j])
        truths = torch.stack([same[i, j] for i in range(b) for j in range(b) if i != j])
        total = total + F.binary_cross_entropy(chances.clamp(0, 1), truths)
    return total


def pairwise_value(probabilities: Tensor, positive: Tensor, smallest: float) -> float:
    """The same in plain Python, with the chances kept ``smallest`` away from 0."""
    total = 0.0
    for p, same in zip(probabilities.tolist(), positive.tolist(), strict=True):
        b = len(p)
        member = 0.0
        for i in range(b):
            for j in range(b):
                if i != j:
                    chance = sum(x * y for x, y in zip(p[i], p[j], strict=True))
                    member -= math.log(chance + smallest) if same[i][j] else math.log(1 - chance + smallest)
        total += member / max(1, b * (b - 1))
    return total
