"""Bring the classes of several members into one order, so that they can vote."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

_MAX_ROUNDS = 20


def align_members(member_labels: NDArray[np.int64], n_classes: int) -> NDArray[np.int64]:
    """Match the classes of all members by the Hungarian method, round a common vote.

    The member that agrees best with the others is the first reference; then every member is matched to the vote of all,
    until the vote stays as it is. Classes come out ordered by size, the largest first.

    Parameters
    ----------
    member_labels : ndarray of shape (n_members, n), int64
        Class of each row according to each member, 0..n_classes-1.
    n_classes : int

    Returns
    -------
    ndarray of shape (n_members, n_classes), int64
        ``order[m, j]`` is the class of member ``m`` that becomes class ``j``.
    """
    n_members = member_labels.shape[0]
    reference = member_labels[0] if n_members < 3 else member_labels[_most_agreeing(member_labels, n_classes)]
    order = np.empty((n_members, n_classes), dtype=np.int64)
    for _ in range(_MAX_ROUNDS):
        for m, labels in enumerate(member_labels):
            order[m] = _best_order(labels, reference, n_classes)[0]
        vote = _vote(member_labels, order)
        if np.array_equal(vote, reference):
            break
        reference = vote
    by_size = np.argsort(-np.bincount(reference, minlength=n_classes), kind="stable")
    return order[:, by_size]


def _most_agreeing(member_labels: NDArray[np.int64], n_classes: int) -> int:
    """Member whose classes share the most rows with those of the others."""
    n_members = member_labels.shape[0]
    agreement = np.zeros(n_members)
    for i in range(n_members):
        for j in range(i):
            shared = _best_order(member_labels[i], member_labels[j], n_classes)[1]
            agreement[[i, j]] += shared
    return int(agreement.argmax())


def _best_order(
    labels: NDArray[np.int64], reference: NDArray[np.int64], n_classes: int
) -> tuple[NDArray[np.int64], int]:
    """Class of ``labels`` for each class of ``reference``, and the number of rows on which they then agree."""
    counts = np.bincount(reference * n_classes + labels, minlength=n_classes**2).reshape(n_classes, n_classes)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return columns.astype(np.int64), int(counts[rows, columns].sum())


def _vote(member_labels: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Class with the most votes for each row, the first of equals."""
    n_classes = order.shape[1]
    votes = np.zeros((member_labels.shape[1], n_classes), dtype=np.int32)
    renamed = np.take_along_axis(np.argsort(order, axis=1), member_labels, axis=1)
    for labels in renamed:
        votes[np.arange(len(labels)), labels] += 1
    winners: NDArray[np.int64] = votes.argmax(axis=1)
    return winners
