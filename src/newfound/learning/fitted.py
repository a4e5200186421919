"""Packed networks after training: frozen, and what they say about rows."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from newfound.clustering.centroids import centroid_proba
from newfound.clustering.consensus import align_members
from newfound.errors import InputError, ModelFileError
from newfound.learning.machine import prepared_for
from newfound.nn import DiscoveryNetwork, class_softmax
from newfound.tables.cells import shown
from newfound.tables.state import finite_floats

Arrays = dict[str, NDArray[Any]]
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Parameters = Mapping[str, Tensor]
Build = Callable[[list[int], int, int], DiscoveryNetwork]
"""Builds a network without parameters, from the widths of its encoder and the numbers of known and novel classes."""

# Numbers in the widest layer of one prediction step, over all members: on a CPU as many as stay in its cache.
_CHUNK_NUMBERS = {"cpu": 1 << 19}
_OTHER_CHUNK_NUMBERS = 1 << 22
_PREFIX = "network."
_ENCODER_WEIGHT = re.compile(r"encoder\.(\d+)\.weight")


@dataclass(frozen=True, eq=False)
class FittedNetworks:
    """Members that tell known from novel classes by the heads of their networks.

    Self-training replaces the two heads by one classification head of all classes, known and novel.

    Attributes
    ----------
    network : DiscoveryNetwork
        All members, for prediction only.
    n_known, n_novel : int
        Number of known classes, and of novel classes that were found.
    device : torch.device
        Where predictions are computed.
    """

    network: DiscoveryNetwork
    n_known: int
    n_novel: int
    device: torch.device

    @property
    def n_members(self) -> int:
        """Number of members."""
        return int(self.network.classification.weight.shape[0])

    @cached_property
    def has_joint_head(self) -> bool:
        """Whether the classification head has outputs for the novel classes, as self-training leaves it."""
        return has_joint_head(self.network.state_dict(), self.n_known, self.n_novel)

    @cached_property
    def _precise(self) -> DiscoveryNetwork:
        """The network in double precision; converting it takes longer than predicting a few rows."""
        return copy.deepcopy(self.network).to(self.device, torch.float64)

    @cached_property
    def _widths(self) -> tuple[int, int]:
        """Width of the widest layer, and multiplications that the widest product costs for one row."""
        return max(parameter.shape[-1] for parameter in self.network.parameters()), self.network.widest_product

    def __getstate__(self) -> dict[str, Any]:
        """Leave the conversion out of copies and pickles."""
        return {name: value for name, value in vars(self).items() if name != "_precise"}

    # ---- what members say; rows are (n, d)

    def member_proba(self, rows: Floats) -> tuple[Floats, Floats]:
        """Each member's probabilities of all and of the novel classes; (n_members, n, n_classes), (..., n_novel)."""
        if self.has_joint_head:
            everything, novel = self.run(rows, self._joint_proba)
            return everything, novel
        known, novel = self.run(rows, lambda network, x: network.proba(x))
        if novel.shape[2] == 0:
            return known, novel
        return np.concatenate([known[..., :-1], known[..., -1:] * novel], axis=2), novel

    def proba(self, rows: Floats) -> Floats:
        """Probabilities of the known, then the novel classes: the members' mean; (n, n_classes)."""
        proba: Floats = self.member_proba(rows)[0].mean(axis=0)
        return proba

    def novel_proba(self, rows: Floats) -> Floats:
        """Probabilities of the novel classes alone; (n, n_novel)."""
        proba: Floats = self.member_proba(rows)[1].mean(axis=0)
        return proba

    def member_latents(self, rows: Floats) -> Floats:
        """Each member's latent representation; (n_members, n, n_latent of one member)."""
        return self.run(rows, lambda network, x: (network.encoder(x),))[0]

    def latent(self, rows: Floats) -> Floats:
        """Latent representations of all members side by side; (n, n_latent)."""
        return np.ascontiguousarray(self.member_latents(rows).transpose(1, 0, 2)).reshape(len(rows), -1)

    def run(
        self, rows: Floats, compute: Callable[[DiscoveryNetwork, Tensor], tuple[Tensor, ...]]
    ) -> tuple[Floats, ...]:
        """Apply the network to rows in chunks; results are (n_members, n, ...).

        Double precision makes the result for a row independent of the rows beside it.
        """
        network = self._precise
        widest, widest_product = self._widths
        numbers = _CHUNK_NUMBERS.get(self.device.type, _OTHER_CHUNK_NUMBERS)
        step = max(1, numbers // (self.n_members * max(widest, rows.shape[1])))
        parts = []
        product = self.n_members * min(step, len(rows)) * widest_product
        with torch.inference_mode(), prepared_for(product, self.device):
            for start in range(0, len(rows), step):
                x = torch.as_tensor(rows[start : start + step], device=self.device).expand(self.n_members, -1, -1)
                parts.append([result.cpu().numpy() for result in compute(network, x)])
        return tuple(np.concatenate(results, axis=1) for results in zip(*parts, strict=True))

    def _joint_proba(self, network: DiscoveryNetwork, x: Tensor) -> tuple[Tensor, Tensor]:
        logits = network.classification(network.encoder(x))
        return class_softmax(logits), class_softmax(logits[..., -self.n_novel :])

    # ---- other states made of this one

    def reordered(self, order: Codes) -> Self:
        """Make novel class ``order[m, j]`` of each member ``m`` its class ``j``; order is (n_members, n_novel)."""
        network = copy.deepcopy(self.network)
        network.reorder_novel(torch.from_numpy(order))
        return replace(self, network=network)

    def member(self, index: int) -> Self:
        """One member alone."""
        network = copy.deepcopy(self.network)
        for tensor in (*network.parameters(), *network.buffers()):
            tensor.data = tensor.data[index : index + 1].clone()
        return replace(self, network=network)

    # ---- the model file

    def arrays(self) -> Arrays:
        """Arrays for the model file."""
        return {_PREFIX + name: tensor.numpy() for name, tensor in self.network.state_dict().items()}


@dataclass(frozen=True, eq=False)
class CentroidNetworks(FittedNetworks):
    """Members whose classes are centroids in the latent spaces of their networks.

    Attributes
    ----------
    centroids : ndarray of shape (n_members, n_classes, n_latent)
        Of the known, then the novel classes.
    variances : ndarray of shape (n_members,)
        Of the rows around their centroids.
    """

    centroids: Floats
    variances: Floats

    def member_proba(self, rows: Floats) -> tuple[Floats, Floats]:
        """Each member's probabilities of all and of the novel classes; (n_members, n, n_classes), (..., n_novel)."""
        members = list(zip(self.member_latents(rows), self.centroids, self.variances, strict=True))
        everything = np.stack([centroid_proba(z, centroids, variance) for z, centroids, variance in members])
        if not self.n_novel:
            return everything, everything[..., self.n_known :]
        novel = np.stack([centroid_proba(z, centroids[self.n_known :], variance) for z, centroids, variance in members])
        return everything, novel

    def reordered(self, order: Codes) -> Self:
        """Make novel class ``order[m, j]`` of each member ``m`` its class ``j``; order is (n_members, n_novel)."""
        novel = np.take_along_axis(self.centroids[:, self.n_known :], order[:, :, None], axis=1)
        return replace(self, centroids=np.concatenate([self.centroids[:, : self.n_known], novel], axis=1))

    def member(self, index: int) -> Self:
        """One member alone."""
        alone, own = super().member(index), slice(index, index + 1)
        return replace(alone, centroids=self.centroids[own], variances=self.variances[own])

    def arrays(self) -> Arrays:
        """Arrays for the model file."""
        return super().arrays() | {"centroids": self.centroids, "variances": self.variances}

    @classmethod
    def of(cls, networks: FittedNetworks, centroids: Floats, variances: Floats) -> CentroidNetworks:
        """Give networks the centroids that were found in their latent spaces."""
        return cls(networks.network, networks.n_known, networks.n_novel, networks.device, centroids, variances)

    @classmethod
    def restore(cls, networks: FittedNetworks, arrays: Mapping[str, NDArray[Any]]) -> CentroidNetworks:
        """Read the centroids that belong to networks; ModelFileError where the two do not fit together."""
        shape = (networks.n_members, networks.n_known + networks.n_novel, networks.network.n_latent)
        return cls.of(
            networks,
            finite_floats(arrays, "centroids", shape),
            finite_floats(arrays, "variances", (networks.n_members,), positive=True),
        )


def consensus(state: FittedNetworks, rows: Floats) -> tuple[FittedNetworks, Codes, Codes]:
    """Bring the members' novel classes into one order, the largest first.

    Parameters
    ----------
    state : FittedNetworks
    rows : ndarray of shape (n, d)
        The unlabelled rows.

    Returns
    -------
    state : FittedNetworks
        With its novel classes in that order.
    found : ndarray of shape (n,), int64
        The members' common vote.
    member_found : ndarray of shape (n_members, n), int64
        Each member's own vote.
    """
    if not state.n_novel:
        return state, np.empty(0, dtype=np.int64), np.empty((state.n_members, 0), dtype=np.int64)
    novel = state.member_proba(rows)[1]
    order = align_members(novel.argmax(axis=2), state.n_novel)
    # Members vote with probabilities, so the sizes that count are known only once they are aligned.
    vote = np.take_along_axis(novel, order[:, None, :], axis=2).mean(axis=0).argmax(axis=1)
    order = order[:, np.argsort(-np.bincount(vote, minlength=state.n_novel), kind="stable")]
    novel = np.take_along_axis(novel, order[:, None, :], axis=2)
    return state.reordered(order), novel.mean(axis=0).argmax(axis=1), novel.argmax(axis=2)


# ---- parameters


def has_joint_head(parameters: Parameters, n_known: int, n_novel: int) -> bool:
    """Whether these are parameters of a network whose classification head has outputs for the novel classes."""
    head = parameters.get("classification.bias")
    has_clustering = "clustering.bias" in parameters
    return n_novel > 0 and not has_clustering and head is not None and head.shape[-1] == n_known + n_novel


def parameters_of(network: DiscoveryNetwork) -> dict[str, Tensor]:
    """Copy what a network has learned."""
    if not all(bool(parameter.isfinite().all()) for parameter in network.parameters()):
        raise InputError(
            "Training diverged: the network's weights are no longer finite numbers. Lower the learning rates."
        )
    # The network that is kept has no streams, so that it can be copied, saved and loaded.
    return {name: tensor.to("cpu", copy=True) for name, tensor in network.state_dict().items()}


def parameters_in(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
    """Parameters of a network among the arrays of a model file."""
    return {
        name.removeprefix(_PREFIX): torch.from_numpy(array)
        for name, array in arrays.items()
        if name.startswith(_PREFIX)
    }


def encoder_widths(parameters: Parameters) -> list[int]:
    """Widths of the encoder's input and layers, as its parameters say."""
    # The parameters themselves say how wide the layers are, so that another default cannot make old files useless.
    places = {int(match[1]): name for name in parameters if (match := _ENCODER_WEIGHT.fullmatch(name))}
    weights = [
        parameters[places[place]] for place in sorted(places) if f"encoder.{place}.running_mean" not in parameters
    ]
    return [*(weight.shape[-2] for weight in weights[:1]), *(weight.shape[-1] for weight in weights)]


def load_network(
    parameters: Parameters, build: Build, n_known: int, n_novel: int, *, n_inputs: int | None = None
) -> DiscoveryNetwork:
    """Build a network for prediction around given parameters, after a look at their shapes.

    Parameters
    ----------
    parameters : dict of str to Tensor
    build : callable
    n_known, n_novel : int
        Number of known and of novel classes.
    n_inputs : int, optional
        Number of inputs that the network must have; any by default.

    Raises
    ------
    ModelFileError
        Where the parameters are not those of such a network.
    """
    widths = encoder_widths(parameters)
    if n_inputs is not None:
        widths[:1] = [n_inputs]
    if has_joint_head(parameters, n_known, n_novel):
        n_known, n_novel = n_known + n_novel, 0
    with torch.device("meta"):  # no memory is taken until the shapes are known to be right
        network = build(widths, n_known, n_novel)
    wanted = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    given = {name: tuple(tensor.shape) for name, tensor in parameters.items()}
    if any(tensor.dtype != torch.float32 for tensor in parameters.values()):
        raise ModelFileError("the network's arrays must all hold float32.")
    if wanted != given:
        raise ModelFileError(f"the network's arrays have shapes {shown(given, 200)}, expected {shown(wanted, 200)}.")
    network.load_state_dict(dict(parameters), assign=True)
    return network.eval().requires_grad_(False)
