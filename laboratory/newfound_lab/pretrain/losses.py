"""What the network is trained to get right."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from newfound.incontext import ALL_NOVEL, NetworkOutput
from newfound_lab.prior import Tasks
from newfound_lab.prior.source import CLASSES

WEIGHTS = {"pairs": 1.0, "contrast": 0.25, "centres": 0.25, "known": 0.3, "novelty": 0.4, "count": 0.15}
_LABELLED_PAIRS = 0.3  # weight of a pair of which one row is labelled
_TEMPERATURE = 0.1


PairLosses = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


def losses(output: NetworkOutput, tasks: Tasks, pairs: PairLosses | None = None) -> dict[str, Tensor]:
    """Losses of a batch, each a scalar: see `pair_losses`, `centre_loss`, `known_loss`, `novelty_loss`.

    Parameters
    ----------
    output : NetworkOutput
    tasks : Tasks
    pairs : callable, optional
        A compiled `pair_losses`.

    Returns
    -------
    dict of str to Tensor of shape ()
        The keys of `WEIGHTS`, and "all": their weighted sum.
    """
    labelled = tasks.context.labels >= 0
    by_pair = pairs or pair_losses
    together, contrast = by_pair(output.embedding, output.scale, output.bias, tasks.classes, labelled)
    parts = {
        "pairs": together,
        "contrast": contrast,
        "centres": centre_loss(output.embedding, tasks.classes, labelled),
        "known": known_loss(output.known, tasks, labelled),
        "novelty": novelty_loss(output.novelty, tasks, labelled),
        "count": functional.cross_entropy(output.n_novel, tasks.n_novel.clamp(max=output.n_novel.shape[1] - 1)),
    }
    total = torch.stack([WEIGHTS[name] * part for name, part in parts.items()]).sum()
    return {"all": total, **parts}


def pair_losses(
    embedding: Tensor, scale: Tensor, bias: Tensor, classes: Tensor, labelled: Tensor
) -> tuple[Tensor, Tensor]:
    """Whether two rows are of one class, as a balanced cross entropy and as a contrast among unlabelled rows.

    Pairs of two labelled rows do not count. Rows count by the root of one over the size of their class, so that large
    classes do not drown small ones.

    Parameters
    ----------
    embedding : Tensor of shape (B, N, E)
    scale, bias : Tensor of shape ()
    classes : Tensor of shape (B, N)
    labelled : Tensor of shape (B, N), bool

    Returns
    -------
    pairs, contrast : Tensor of shape ()
    """
    cosine = embedding @ embedding.transpose(1, 2)
    same = (classes[:, :, None] == classes[:, None]).float()
    other = 1 - torch.eye(classes.shape[1], device=classes.device)
    free = (~labelled).float()
    one = free[:, :, None] + free[:, None]  # 2: both unlabelled, 1: one of them
    kinds = torch.where(one > 1.5, 1.0, torch.where(one > 0.5, _LABELLED_PAIRS, 0.0)) * other
    row = same.sum(2).rsqrt()
    weight = kinds * row[:, :, None] * row[:, None]
    logits = cosine * scale + bias
    together, apart = weight * same, weight * (1 - same)
    entropy = (together * functional.softplus(-logits)).sum((1, 2)) / together.sum((1, 2)).clamp(min=1e-3)
    entropy = entropy + (apart * functional.softplus(logits)).sum((1, 2)) / apart.sum((1, 2)).clamp(min=1e-3)

    both = free[:, :, None] * free[:, None] * other
    sharp = (cosine / _TEMPERATURE).masked_fill(both == 0, -1e4)
    log_share = sharp - sharp.logsumexp(2, keepdim=True)
    partners = both * same
    count = partners.sum(2)
    each = -(log_share * partners).sum(2) / count.clamp(min=1)
    weight = row * (count > 0)
    size = free.sum(1).clamp(min=2).log()
    contrast = (each * weight).sum(1) / weight.sum(1).clamp(min=1e-3) - size * (weight.sum(1) > 0)
    return 0.5 * entropy.mean(), contrast.mean()


def centre_loss(embedding: Tensor, classes: Tensor, labelled: Tensor) -> Tensor:
    """Cross entropy of the class by distances to the centres of the classes, over unlabelled rows.

    This is what k-means goes by. A row does not count towards the centre of its own class.

    Parameters
    ----------
    embedding : Tensor of shape (B, N, E)
        Vectors of length 1.
    classes : Tensor of shape (B, N)
    labelled : Tensor of shape (B, N), bool

    Returns
    -------
    Tensor of shape ()
    """
    free = (~labelled).float()
    member = functional.one_hot(classes, CLASSES).float() * free[..., None]
    count = member.sum(1)
    centres = member.transpose(1, 2) @ embedding / count.clamp(min=1)[..., None]
    square, product = centres.square().sum(2)[:, None], embedding @ centres.transpose(1, 2)
    # The centre without the row itself, of (n * centre - row) / (n - 1): both terms follow from those above.
    n = count[:, None]
    rest = (n - 1).clamp(min=1)
    own_square = (n.square() * square - 2 * n * product + 1) / rest.square()
    own_product = (n * product - 1) / rest
    distance = torch.where(member > 0, own_square - 2 * own_product, square - 2 * product)
    logits = (-distance / (2 * _TEMPERATURE)).masked_fill(count[:, None] < 2, -1e4)
    each = functional.cross_entropy(logits.flatten(0, 1), classes.flatten(), reduction="none").view_as(free)
    weight = free * (count.gather(1, classes) >= 2) * count.gather(1, classes).clamp(min=1).rsqrt()
    return _mean_over_tables(each, weight)


def known_loss(logits: Tensor, tasks: Tasks, labelled: Tensor) -> Tensor:
    """Cross entropy of the known class, over unlabelled rows of known classes."""
    rows = (~labelled & ~tasks.novel).float()
    finite = logits.clamp(min=-1e4)
    each = functional.cross_entropy(finite.flatten(0, 1), tasks.classes.flatten(), reduction="none").view_as(rows)
    return _mean_over_tables(each, rows)


def novelty_loss(logits: Tensor, tasks: Tasks, labelled: Tensor) -> Tensor:
    """Cross entropy of known or novel, over unlabelled rows, where the network is not told that all are novel."""
    rows = (~labelled & (tasks.context.unlabelled != ALL_NOVEL)[:, None]).float()
    each = functional.binary_cross_entropy_with_logits(logits, tasks.novel.float(), reduction="none")
    return _mean_over_tables(each, rows)


def _mean_over_tables(each: Tensor, weight: Tensor) -> Tensor:
    """Weighted mean over the rows of each table, then the mean over the tables that have any row of weight."""
    count = weight.sum(1)
    means = (each * weight).sum(1) / count.clamp(min=1e-3)
    return means.sum() / (count > 0).sum().clamp(min=1)
