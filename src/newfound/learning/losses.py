"""The losses of the training, one value for each member: their sum has a gradient in which members never mix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor

_SMALLEST = 1e-6  # keeps the logarithm of a pair's probability finite, also after rounding


def _mean_of_members(values: Tensor) -> Tensor:
    """Mean of each member's values; (n_members, b, d) to (n_members,).

    In two steps on a GPU, which would otherwise sum up each member's values with few of its threads.
    """
    return values.mean(dim=2).mean(dim=1) if values.is_cuda else values.mean(dim=(1, 2))


def vime_losses(mask_logits: Tensor, mask: Tensor, values: Tensor, original: Tensor) -> tuple[Tensor, Tensor]:
    """Reconstruction and mask losses of VIME, equations (2) and (3).

    Parameters
    ----------
    mask_logits, mask, values, original : Tensor of shape (n_members, b, d)
        Estimated and true mask, estimated and true values.

    Returns
    -------
    reconstruction, mask : Tensor of shape (n_members,)
        Means over rows and columns.
    """
    apply = cast(Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]], _VimeLosses.apply)
    return apply(mask_logits, mask, values, original)


class _VimeLosses(torch.autograd.Function):
    """Both losses of VIME with their gradients written out, which takes half of the passes over the numbers."""

    @staticmethod
    def forward(ctx: Any, mask_logits: Tensor, mask: Tensor, values: Tensor, original: Tensor) -> tuple[Tensor, Tensor]:
        error, excess = values - original, torch.sigmoid(mask_logits).sub_(mask)
        ctx.save_for_backward(error, excess)
        cross_entropy = F.softplus(mask_logits).addcmul_(mask, mask_logits, value=-1.0)
        return _mean_of_members(error.square()), _mean_of_members(cross_entropy)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None, Tensor, None]:
        error, excess = ctx.saved_tensors
        share = 1.0 / (error.shape[1] * error.shape[2])
        of_error, of_mask = (grad.view(-1, 1, 1) for grad in grad_outputs)
        return excess * (share * of_mask), None, error * (2.0 * share * of_error), None


def classification_loss(
    logits: Tensor, targets: Tensor, smoothing: float = 0.0, weights: Tensor | None = None
) -> Tensor:
    """Cross entropy over the known classes and the bucket of unlabelled rows, equation (4).

    Parameters
    ----------
    logits : Tensor of shape (n_members, b, n_classes)
    targets : Tensor of shape (n_members, b), int64
    smoothing : float
        Share of each target that is spread over all classes; the paper has none.
    weights : Tensor of shape (n_members, b), optional
        How much each row counts.

    Returns
    -------
    Tensor of shape (n_members,)
        Mean over rows.
    """
    losses = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none", label_smoothing=smoothing)
    losses = losses.view(targets.shape)
    return losses.mean(dim=1) if weights is None else (losses * weights).sum(dim=1) / weights.sum(dim=1)


def mutual_information_loss(probabilities: Tensor, other: Tensor, balance: float) -> Tensor:
    """Negative mutual information between the classes of rows and of their neighbours.

    Parameters
    ----------
    probabilities, other : Tensor of shape (n_members, b, n_classes)
        Softmax outputs for rows and, in the same order, for a neighbour of each.
    balance : float
        Weight of the entropy of the classes' shares. 1 is the plain mutual information, which likes classes of equal
        size; less lets them differ.

    Returns
    -------
    Tensor of shape (n_members,)
    """
    joint = torch.bmm(probabilities.transpose(1, 2), other) / probabilities.shape[1]
    joint = ((joint + joint.transpose(1, 2)) / 2).clamp(min=_SMALLEST)
    marginal = joint.sum(dim=2)
    independent = balance * (marginal.log()[:, :, None] + marginal.log()[:, None, :])
    return (joint * (independent - joint.log())).sum(dim=(1, 2))


def consistency_loss(logits: Tensor, view_logits: Tensor) -> Tensor:
    """Mean squared difference between the outputs for rows and for their views, equation (7).

    The outputs are the logits: with softmax outputs, as the equation may be read, the paper's results do not reproduce.

    Parameters
    ----------
    logits, view_logits : Tensor of shape (n_members, b, n_classes)

    Returns
    -------
    Tensor of shape (n_members,)
        Mean over rows and classes.
    """
    return _mean_of_members(F.mse_loss(logits, view_logits, reduction="none"))


def pairwise_loss(probabilities: Tensor, positive: Tensor) -> Tensor:
    """Binary cross entropy between pseudo labels and the chance that two rows share a class, equation (5).

    Parameters
    ----------
    probabilities : Tensor of shape (n_members, b, n_novel)
        Softmax outputs of the clustering head.
    positive : Tensor of shape (n_members, b, b)
        Symmetric pseudo labels, 0 or 1. The diagonal is left out of the loss.

    Returns
    -------
    Tensor of shape (n_members,)
        Mean over the ordered pairs.
    """
    apply = cast(Callable[[Tensor, Tensor], Tensor], _PairwiseLoss.apply)
    return apply(probabilities, positive)


def _sum_of_logs(values: Tensor) -> Tensor:
    """Sum of log|values| over the last axis, taking the logarithm of products of four: none of them underflows."""
    quarter = values.shape[1] // 4
    products = values[:, :quarter] * values[:, quarter : 2 * quarter]
    products *= values[:, 2 * quarter : 3 * quarter]
    products *= values[:, 3 * quarter : 4 * quarter]
    return products.abs_().log_().sum(dim=1) + values[:, 4 * quarter :].abs().log_().sum(dim=1)


class _PairwiseLoss(torch.autograd.Function):
    """The pairwise loss with its gradient written out: four times as fast as recording every (b, b) operation."""

    @staticmethod
    def forward(ctx: Any, probabilities: Tensor, positive: Tensor) -> Tensor:
        b = probabilities.shape[1]
        n_pairs = max(1, b * (b - 1))
        # With q the chance that a pair shares a class, t is -q for positives and 1 - q for negatives, each kept away
        # from 0. Then the loss is -log|t| and its slope in q is 1/t for both.
        t = torch.rsub(positive, 1.0 + _SMALLEST, alpha=1.0 + 2.0 * _SMALLEST)
        t.baddbmm_(probabilities, probabilities.transpose(1, 2), alpha=-1.0)
        t.diagonal(dim1=1, dim2=2).fill_(1.0)
        loss = -_sum_of_logs(t.flatten(1)) / n_pairs
        slope = t.reciprocal_()
        slope.diagonal(dim1=1, dim2=2).zero_()
        # Each probability vector occurs on both sides of a symmetric product, hence the factor 2.
        ctx.save_for_backward(torch.bmm(slope, probabilities).mul_(2.0 / n_pairs))
        return loss

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * grad_outputs[0][:, None, None], None
