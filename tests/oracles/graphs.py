"""Slow, obvious twins of newfound.clustering.graphs and spectral_space: loops and dense matrices."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from scipy.optimize import brentq


def nearest(rows: np.ndarray, k: int) -> tuple[list[list[int]], list[list[float]]]:
    """The k nearest other rows of each row, and their distances, by sorting all of them."""
    indices, distances = [], []
    for i, row in enumerate(rows):
        others = sorted((math.dist(row, other), j) for j, other in enumerate(rows) if j != i)[:k]
        indices.append([j for _, j in others])
        distances.append([distance for distance, _ in others])
    return indices, distances


def fuzzy_weights(distances: list[float]) -> list[float]:
    """Weights of one row's neighbours, whose sum is log2(k) where a scale exists for which it is."""
    positive = [distance for distance in distances if distance > 0]
    offset = min(positive, default=0.0)
    target = math.log2(max(len(distances), 2))

    def weights(scale: float) -> list[float]:
        return [math.exp(-max(0.0, distance - offset) / scale) for distance in distances]

    smallest = 1e-3 * sum(distances) / len(distances)
    if not positive or sum(weights(smallest)) >= target:
        return weights(smallest or 1.0)
    largest = max(distances)
    while sum(weights(largest)) < target and largest < 1e9 * max(distances):
        largest *= 2
    if sum(weights(largest)) < target:
        return weights(largest)
    return weights(brentq(lambda scale: sum(weights(scale)) - target, smallest, largest, xtol=1e-14))


def fuzzy_graph(indices: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Dense matrix of the symmetrised weights."""
    n = len(indices)
    directed = np.zeros((n, n))
    for i in range(n):
        for j, weight in zip(indices[i], fuzzy_weights(list(distances[i])), strict=True):
            directed[i, j] = weight
    joined = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            joined[i, j] = directed[i, j] + directed[j, i] - directed[i, j] * directed[j, i]
    return joined


def regularised_matrix(adjacency: np.ndarray, regularisation: float) -> np.ndarray:
    """(D + tau)^(-1/2) (A + tau/n 11') (D + tau)^(-1/2), with tau a multiple of the mean degree."""
    n = len(adjacency)
    degrees = adjacency.sum(axis=1)
    tau = regularisation * degrees.mean()
    matrix = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            matrix[i, j] = (adjacency[i, j] + tau / n) / math.sqrt((degrees[i] + tau) * (degrees[j] + tau))
    return matrix


def weights_to(row: np.ndarray, anchors: np.ndarray, among: Iterable[int], k: int) -> dict[int, float]:
    """Weights of a new row's nearest anchors among those given."""
    near = sorted((math.dist(row, anchors[j]), j) for j in among)[:k]
    weights = fuzzy_weights([distance for distance, _ in near])
    return {j: weight for (_, j), weight in zip(near, weights, strict=True)}
