"""Packed networks built from packed layers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from newfound.nn.layers import PackedBatchNorm, PackedDropout, PackedHead, PackedLinear
from newfound.nn.streams import MemberStreams

ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {"relu": nn.ReLU, "sigmoid": nn.Sigmoid, "tanh": nn.Tanh}


def class_softmax(logits: Tensor) -> Tensor:
    """Probabilities of classes for many rows; (n_members, rows, n_classes) to the same.

    With few classes, torch is several times as fast where they are not the innermost axis.
    """
    return torch.softmax(logits.mT.contiguous(), dim=-2).mT


class PackedMLP(nn.Sequential):
    """Dense layers with an activation and dropout after each hidden one.

    Parameters
    ----------
    n_members : int
        Number of members.
    sizes : sequence of int
        Width of the input and of each layer.
    activation : {"relu", "sigmoid", "tanh"}
        Activation of the hidden layers.
    dropout : float or sequence of float
        Share of hidden values that training zeroes: one for all members, or one for each.
    activate_last : bool
        Whether activation and dropout also follow the last layer.
    batch_norm : bool
        Whether each activation is preceded by batch normalisation.
    streams : MemberStreams or None
        Random draws for the initial weights and for dropout; None for a network that will be loaded.

    Shape
    -----
    Input (n_members, rows, sizes[0]), output (n_members, rows, sizes[-1]).

    Examples
    --------
    >>> network = PackedMLP(2, [16, 16, 4], streams=MemberStreams([0, 1]))
    >>> network(torch.zeros(2, 10, 16)).shape
    torch.Size([2, 10, 4])
    """

    def __init__(
        self,
        n_members: int,
        sizes: Sequence[int],
        *,
        activation: str = "relu",
        dropout: float | Sequence[float] = 0.0,
        activate_last: bool = False,
        batch_norm: bool = False,
        streams: MemberStreams | None = None,
    ) -> None:
        layers: list[nn.Module] = []
        for i, (n_in, n_out) in enumerate(itertools.pairwise(sizes)):
            layers.append(PackedLinear(n_members, n_in, n_out, streams))
            if activate_last or i < len(sizes) - 2:
                if batch_norm:
                    layers.append(PackedBatchNorm(n_members, n_out))
                layers += [ACTIVATIONS[activation](), PackedDropout(dropout, streams)]
        super().__init__(*layers)


class DiscoveryNetwork(nn.Module):
    """An encoder with a classification head and, where there are novel classes, a clustering head.

    Parameters
    ----------
    encoder : PackedMLP
        Maps rows to the latent representation.
    n_latent, n_known, n_novel : int
        Width of the latent representation, number of known and of novel classes. With novel classes the
        classification head has one more output, the bucket for all unlabelled rows.
    head_dropout : float, sequence of float or None
        Where given, a ReLU and this dropout stand between the latent representation and the classification head.

    Shape
    -----
    Input (n_members, rows, n_features).
    """

    def __init__(
        self,
        encoder: nn.Module,
        n_members: int,
        n_latent: int,
        n_known: int,
        n_novel: int,
        streams: MemberStreams | None,
        *,
        head_dropout: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.n_latent = n_latent
        n_outputs = n_known + (n_novel > 0)
        self.classification = (
            PackedLinear(n_members, n_latent, n_outputs, streams)
            if head_dropout is None
            else PackedHead(n_members, n_latent, n_outputs, head_dropout, streams)
        )
        self.clustering = PackedLinear(n_members, n_latent, n_novel, streams) if n_novel else None

    @property
    def widest_product(self) -> int:
        """Multiplications that the widest layer costs for one row."""
        layers = (module for module in self.modules() if isinstance(module, PackedLinear))
        return max(layer.weight.shape[-2] * layer.weight.shape[-1] for layer in layers)

    def proba(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Probabilities of the known and of the novel classes.

        Returns
        -------
        known : Tensor of shape (n_members, rows, n_known + 1)
            Softmax of the classification head; the last column is the bucket of the novel classes (missing when there
            are none).
        novel : Tensor of shape (n_members, rows, n_novel)
            Softmax of the clustering head.
        """
        z = self.encoder(x)
        known = class_softmax(self.classification(z))
        if self.clustering is None:
            return known, known.new_zeros(*known.shape[:2], 0)
        return known, class_softmax(self.clustering(z))

    @torch.no_grad()
    def reorder_novel(self, order: Tensor) -> None:
        """Rename the novel classes: output ``j`` of member ``m`` becomes ``order[m, j]``'s old one.

        They are the outputs of the clustering head. Without one they are the last outputs of the classification head.

        Parameters
        ----------
        order : Tensor of shape (n_members, n_novel), int64
        """
        head = self.classification if self.clustering is None else self.clustering
        for parameter in (head.weight, head.bias):
            novel = parameter[..., -order.shape[1] :]
            novel.copy_(torch.take_along_dim(novel, order[:, None, :], dim=-1))
