"""What discoverers have learned, as graphs: networks, centroids, forests, and the router before them."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from newfound.clustering.whitening import WhitenedSpace
from newfound.discoverers.centroid import CentroidState, EncodedSpace
from newfound.discoverers.fitted import FittedState
from newfound.discoverers.flat import FlatState
from newfound.discoverers.in_context import LEAST_WEIGHT, ForestState
from newfound.discoverers.routed import RoutedState
from newfound.errors import InputError
from newfound.export.graph import Value
from newfound.learning.fitted import CentroidNetworks, FittedNetworks
from newfound.learning.student import StudentNetworks
from newfound.nn import PackedBatchNorm, PackedDropout, PackedHead, PackedLinear, UnitLength
from newfound.routing import Forest

Floats = NDArray[np.float64]

_TREES_AT_A_TIME = 10  # whose leaves are held in memory together
_TINY = float(np.finfo(np.float64).tiny)
_SHORTEST = 1e-12  # length below which torch's normalize leaves a row as it is
_ACTIVATIONS: dict[type[torch.nn.Module], str] = {
    torch.nn.ReLU: "Relu",
    torch.nn.Sigmoid: "Sigmoid",
    torch.nn.Tanh: "Tanh",
}


class StateGraph(Protocol):
    """A fitted state as a graph; each part is added when it is first asked for."""

    @property
    def proba(self) -> Value:
        """Probabilities of the known, then the novel classes; (n, n_classes)."""

    @property
    def novel_proba(self) -> Value:
        """Probabilities of the novel classes for rows that are of one of them; (n, n_novel)."""

    @property
    def latent(self) -> Value:
        """Latent representation; (n, n_latent)."""


def graph_of(state: FittedState, rows: Value) -> StateGraph:
    """Add a fitted state to the graph of encoded rows (n, d); InputError for one that cannot be exported."""
    if isinstance(state, RoutedState):
        return _Routed(state, rows)
    if isinstance(state, FlatState):
        return _Flat(state, rows)
    if isinstance(state, CentroidNetworks):
        return _CentroidNetworks(state, rows)
    if isinstance(state, FittedNetworks):
        return _Networks(state, rows)
    if isinstance(state, CentroidState):
        return _Centroids(state, rows)
    if isinstance(state, ForestState):
        return _Forests(state, rows)
    cure = "Fit another discoverer to the labels_ of this one, such as ClassifierProjection, and export that."
    raise InputError(
        f"This discoverer predicts by a {type(state).__name__}, which cannot be exported to ONNX yet; networks, "
        f"centroids and forests can. {cure}",
        parameter="model",
        cure=cure,
    )


# ---- networks


class _Networks:
    """Packed networks with two heads, or one for all classes."""

    def __init__(self, state: FittedNetworks, rows: Value) -> None:
        self.state, self.graph = state, rows.graph
        self.rows = rows

    @cached_property
    def latents(self) -> Value:
        """Latent representation of each member; (n_members, n, n_latent of one)."""
        x = self.graph.op("Unsqueeze", self._inputs, np.array([0]))
        for layer in self.state.network.encoder.children():
            x = _layer(x, layer)
        return x

    @property
    def _inputs(self) -> Value:
        if not isinstance(self.state, StudentNetworks):
            return self.rows
        inputs, rows = self.state.inputs, self.rows
        if inputs.heavy.any():
            rows = self.graph.op("Where", self.graph.constant(inputs.heavy), rows.arcsinh(), rows)
        return (rows - inputs.centre) @ inputs.projection

    @cached_property
    def _first_head(self) -> Value:
        return _layer(self.latents, self.state.network.classification)

    @cached_property
    def _second_head(self) -> Value:
        assert self.state.network.clustering is not None
        return _layer(self.latents, self.state.network.clustering).softmax()

    @cached_property
    def proba(self) -> Value:
        """Mean of the members' probabilities."""
        first = self._first_head.softmax()
        if self.state.has_joint_head or not self.state.n_novel:
            return first.over("Mean", 0, keep=False)
        n_known = self.state.n_known
        known, bucket = first.cut(0, n_known, axis=2), first.cut(n_known, n_known + 1, axis=2)
        return self.graph.joined([known, bucket * self._second_head], axis=2).over("Mean", 0, keep=False)

    @cached_property
    def novel_proba(self) -> Value:
        """Mean of the members' probabilities of the novel classes."""
        if not self.state.has_joint_head:
            return self._second_head.over("Mean", 0, keep=False)
        n_known, n_novel = self.state.n_known, self.state.n_novel
        novel = self._first_head.cut(n_known, n_known + n_novel, axis=2)
        return novel.softmax().over("Mean", 0, keep=False)

    @cached_property
    def latent(self) -> Value:
        """Latent representations of all members side by side."""
        width = self.state.n_members * self.state.network.n_latent
        return self.graph.op("Reshape", self.graph.op("Transpose", self.latents, perm=[1, 0, 2]), np.array([-1, width]))


class _CentroidNetworks(_Networks):
    """Packed networks with centroids in their latent spaces."""

    state: CentroidNetworks

    def _near(self, centroids: Floats) -> Value:
        return nearness(self.latents, centroids, self.state.variances[:, None, None]).over("Mean", 0, keep=False)

    @cached_property
    def proba(self) -> Value:
        """Mean of the members' probabilities."""
        return self._near(self.state.centroids)

    @cached_property
    def novel_proba(self) -> Value:
        """Mean of the members' probabilities of the novel classes."""
        return self._near(self.state.centroids[:, self.state.n_known :])


def _layer(x: Value, layer: torch.nn.Module) -> Value:
    """Add a packed layer, as it is outside training."""
    graph = x.graph
    if isinstance(layer, PackedHead):
        x = graph.op("Relu", x)
    if isinstance(layer, PackedLinear):
        return x @ graph.constant(layer.weight.numpy()) + graph.constant(layer.bias.numpy())
    if isinstance(layer, PackedBatchNorm):
        weight, bias, mean, variance = (
            tensor.double().numpy() for tensor in (layer.weight, layer.bias, layer.running_mean, layer.running_var)
        )
        scale = weight / np.sqrt(variance + layer.eps)
        return x * scale + (bias - mean * scale)
    if isinstance(layer, UnitLength):
        length = graph.op("Sqrt", (x * x).over("Sum", 2))
        return x / graph.op("Max", length, _SHORTEST)
    if isinstance(layer, PackedDropout):
        return x
    if type(layer) not in _ACTIVATIONS:
        raise InputError(f"A layer of type {type(layer).__name__} cannot be exported to ONNX yet.", parameter="model")
    return graph.op(_ACTIVATIONS[type(layer)], x)


# ---- centroids


class _Centroids:
    """Centroids of one space."""

    def __init__(self, state: CentroidState, rows: Value) -> None:
        self.state, self.rows = state, rows

    @cached_property
    def latent(self) -> Value:
        """Rows in the space."""
        space = self.state.space
        if isinstance(space, EncodedSpace):
            return self.rows
        if not isinstance(space, WhitenedSpace):
            what = f"A space of type {type(space).__name__} cannot be exported to ONNX yet."
            raise InputError(what, parameter="model")
        whitened = (self.rows - space.centre) @ space.mapping
        length = self.rows.graph.op("Sqrt", (whitened * whitened).over("Sum", 1) + space.softening)
        return whitened / length

    @cached_property
    def proba(self) -> Value:
        """Probabilities of all classes."""
        return nearness(self.latent, self.state.centroids, self.state.variance)

    @cached_property
    def novel_proba(self) -> Value:
        """Probabilities of the novel classes."""
        return nearness(self.latent, self.state.centroids[self.state.n_known :], self.state.variance)


def nearness(latent: Value, centroids: Floats, variance: float | Floats) -> Value:
    """`centroid_proba` as a graph: squared distances, but for a term that all classes share, are linear in the rows.

    Latent rows are (n, n_latent) or (n_members, n, n_latent), and centroids have as many axes; the variance fits them.
    """
    middle = centroids.mean(axis=-2, keepdims=True)
    around = (centroids - middle) / variance
    lengths = ((centroids - middle) * around).sum(axis=-1) / 2.0
    logits: Value = (latent - middle) @ np.swapaxes(around, -1, -2) - lengths[..., None, :]
    return logits.softmax()


# ---- forests


def forest_mean(forest: Forest, rows: Value) -> Value:
    """Mean of the leaves that rows (n, d) fall into; (n, n_classes)."""
    graph, n_trees = rows.graph, len(forest.starts)
    # The operator has single precision. It says which leaf a row falls into, by a target for each tree, and what is in
    # the leaves is looked up. A row of single precision is above a cut where it is above the next number below it.
    is_leaf = forest.columns < 0
    cuts = forest.cuts.astype(np.float32)
    cuts = np.where(cuts > forest.cuts, np.nextafter(cuts, np.float32(-np.inf)), cuts)
    trees = np.searchsorted(forest.starts, np.arange(len(forest.columns)), side="right") - 1
    nodes = np.arange(len(forest.columns)) - forest.starts[trees]
    true, false = (np.where(is_leaf, 0, forest.children[:, side] - forest.starts[trees]) for side in (0, 1))
    places = graph.op(
        "TreeEnsembleRegressor",
        rows.to(np.float32),
        domain="ai.onnx.ml",
        n_targets=n_trees,
        nodes_treeids=trees.tolist(),
        nodes_nodeids=nodes.tolist(),
        nodes_featureids=np.maximum(forest.columns, 0).tolist(),
        nodes_values=np.where(is_leaf, 0, cuts).astype(np.float64).tolist(),
        nodes_modes=np.where(is_leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_truenodeids=true.tolist(),
        nodes_falsenodeids=false.tolist(),
        target_ids=trees[is_leaf].tolist(),
        target_nodeids=nodes[is_leaf].tolist(),
        target_treeids=trees[is_leaf].tolist(),
        target_weights=forest.children[is_leaf, 0].astype(np.float64).tolist(),
    ).to(np.int64)
    leaves = graph.constant(forest.leaves)
    total = None
    for start in range(0, n_trees, _TREES_AT_A_TIME):
        some = places.take(np.arange(start, min(start + _TREES_AT_A_TIME, n_trees)))
        part = graph.op("Gather", leaves, some, axis=0).over("Sum", 1, keep=False)
        total = part if total is None else total + part
    assert total is not None
    return total / float(n_trees)


class _Forests:
    """Forests that answer for the in-context network."""

    def __init__(self, state: ForestState, rows: Value) -> None:
        self.state, self.rows = state, rows

    @cached_property
    def _classes(self) -> Value:
        return forest_mean(self.state.classes, self.rows) + LEAST_WEIGHT

    @cached_property
    def proba(self) -> Value:
        """Probabilities of all classes."""
        return self._classes.shares()

    @cached_property
    def novel_proba(self) -> Value:
        """Probabilities of the novel classes."""
        return self._classes.take(np.arange(self.state.n_known, self.state.classes.n_classes)).shares()

    @cached_property
    def latent(self) -> Value:
        """Rows in the directions of the embedding."""
        return forest_mean(self.state.directions, self.rows)


class _Flat:
    """One forest over all classes, which an update leaves."""

    def __init__(self, state: FlatState, rows: Value) -> None:
        self.state, self.rows = state, rows

    @cached_property
    def _classes(self) -> Value:
        return forest_mean(self.state.forest, self.rows)

    @cached_property
    def proba(self) -> Value:
        """Probabilities of all classes."""
        return self._classes.shares()

    @cached_property
    def novel_proba(self) -> Value:
        """Probabilities of the novel classes."""
        novel = np.arange(self.state.n_known, self.state.forest.n_classes)
        return (self._classes.take(novel) + _TINY).shares()

    @cached_property
    def latent(self) -> Value:
        """Latent representation of the first fit."""
        return graph_of(self.state.first, self.rows).latent


class _Routed:
    """The router's forest for known classes and novelty, the discoverer for the novel classes."""

    def __init__(self, state: RoutedState, rows: Value) -> None:
        self.state, self.rows = state, rows
        self.inner = graph_of(state.inner, rows)

    @cached_property
    def proba(self) -> Value:
        """Probabilities of all classes, in the steps of `two_steps`."""
        routed, n_known = forest_mean(self.state.forest, self.rows), self.state.forest.n_classes - 1
        known = routed.take(np.arange(n_known)) + _TINY
        total = known.over("Sum", 1)
        of_known = at_temperature(known / total, self.state.temperature)
        if not self.state.n_novel:
            return of_known
        novel = routed.take([n_known])
        both = total + novel
        return self.rows.graph.joined([total / both * of_known, novel / both * self.inner.novel_proba])

    @property
    def novel_proba(self) -> Value:
        """Probabilities of the novel classes."""
        return self.inner.novel_proba

    @property
    def latent(self) -> Value:
        """Latent representation of the discoverer."""
        return self.inner.latent


def at_temperature(proba: Value, temperature: float) -> Value:
    """`routing.calibration.at_temperature` as a graph."""
    return proba if temperature == 1.0 else ((proba / proba.over("Max", 1)) ** (1 / temperature)).shares()
