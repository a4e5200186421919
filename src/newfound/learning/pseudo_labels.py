"""Pairwise pseudo labels: which unlabelled rows of a batch should share a novel class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor


def cosine_similarities(latent: Tensor) -> Tensor:
    """Cosine similarity of every pair of rows, with -inf on the diagonal.

    Parameters
    ----------
    latent : Tensor of shape (n_members, b, d)

    Returns
    -------
    Tensor of shape (n_members, b, b)
    """
    unit = F.normalize(latent, dim=-1)
    similarities = torch.bmm(unit, unit.transpose(1, 2))
    similarities.diagonal(dim1=1, dim2=2).fill_(-torch.inf)
    return similarities


def top_k_pseudo_labels(similarities: Tensor, k: int | Sequence[int]) -> Tensor:
    """Each row's k most similar rows are positives (equation 6), and so is a pair of which either row chose the other.

    Parameters
    ----------
    similarities : Tensor of shape (n_members, b, b)
        With -inf on the diagonal.
    k : int or sequence of int
        Positives chosen by each row, from 1 to b - 1: one number for all members, or one for each. Rows as similar as
        the k-th one count as well.

    Returns
    -------
    Tensor of shape (n_members, b, b)
        1 for positives, 0 for the other pairs and on the diagonal; symmetric.
    """
    # A pair's two similarities, or those of a member in a pack and alone, may differ in the last digits; with this
    # margin both count.
    chosen_from = _kth_largest(similarities, k) - 16 * torch.finfo(similarities.dtype).eps
    # Similarity is symmetric, so a pair that either row chose reaches the lower of their two thresholds.
    lower = torch.minimum(chosen_from, chosen_from.transpose(1, 2))
    return torch.ge(similarities, lower, out=lower)


def threshold_pseudo_labels(similarities: Tensor, threshold: float | Tensor) -> Tensor:
    """Pairs at least this similar are positives: the alternative that the paper compares with.

    Parameters
    ----------
    similarities : Tensor of shape (n_members, b, b)
        With -inf on the diagonal.
    threshold : float or Tensor of shape (n_members, 1, 1)
        λ, from -1 to 1.

    Returns
    -------
    Tensor of shape (n_members, b, b)
        1 for positives, 0 for the other pairs and on the diagonal.
    """
    return similarities.ge(threshold).to(similarities.dtype)


def _kth_largest(values: Tensor, k: int | Sequence[int]) -> Tensor:
    """K-th largest value of each last axis, which is kept with length 1; with one k for all members, or one each."""
    if isinstance(k, Sequence):
        return torch.cat([_kth_largest(member, rank) for member, rank in zip(values.split(1), k, strict=True)])
    if values.device.type == "cpu":
        # NumPy's partition is vectorised and several times faster than torch.topk on a CPU.
        place = values.shape[-1] - k
        kth = np.partition(values.numpy(), place, axis=-1)[..., place]
        return torch.from_numpy(np.ascontiguousarray(kth))[..., None]
    return values.topk(k, dim=-1, sorted=False).values.amin(dim=-1, keepdim=True)
