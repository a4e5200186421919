"""What discoverers made of packed networks share: the members, their devices and their consensus."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from newfound.clustering.consensus import align_members
from newfound.discoverers.base import Arrays, BaseDiscoverer, Codes, Floats
from newfound.discoverers.parameters import check_integer, check_layers, pick_device
from newfound.errors import InputError, ModelFileError, TrainingInterrupted, warn_user
from newfound.nn import DiscoveryNetwork, MemberStreams
from newfound.tables.cells import shown

_MAX_WIDTH = 1024  # of layers whose widths follow the number of columns
_CHUNK_NUMBERS = 1 << 22  # numbers in the widest layer of one prediction step, over all members
_PREFIX = "network."
_ENCODER_WEIGHT = re.compile(r"encoder\.(\d+)\.weight")


class PackedDiscoverer(BaseDiscoverer):
    """Base of discoverers whose members are packed networks, trained at once and voting together.

    A subclass implements `_build`, `_train`, `_member_proba` and `_reorder_novel`.
    """

    n_members: int
    hidden_layers: list[int] | None
    device: Any
    verbose: int

    network_: DiscoveryNetwork
    member_labels_: NDArray[Any]

    def member(self, index: int) -> Self:
        """One member as a fitted discoverer of its own.

        Parameters
        ----------
        index : int
            From 0 to ``n_members - 1``.

        Returns
        -------
        discoverer of the same class, with ``n_members=1``
            Its classes have the names that the consensus gave them.
        """
        if not self._is_fitted():
            self._refuse()
        n_members = len(self.member_labels_)
        if check_integer("index", index, low=0) >= n_members:
            raise InputError(f"Got index={index}, but there are {n_members} members, numbered from 0.")
        alone = copy.copy(self)
        alone.n_members = 1
        alone.labels_ = self.member_labels_[index]
        alone._restore_fitted({name: array[index : index + 1] for name, array in self._fitted_state().items()})
        return alone

    # ---- what subclasses implement

    def _default_layers(self, n_features: int) -> list[int]:
        """Widths of the encoder's layers where ``hidden_layers`` is None."""
        raise NotImplementedError

    def _build(self, widths: list[int], n_known: int, n_novel: int, streams: MemberStreams | None) -> DiscoveryNetwork:
        """Build a network with an encoder of these widths, input first; without streams its parameters stay unset."""
        raise NotImplementedError

    def _train(self, rows: Tensor, codes: Tensor, n_novel: int, streams: MemberStreams) -> DiscoveryNetwork:
        """Train on rows (n, d) with known codes (n,), and return the network."""
        raise NotImplementedError

    def _member_proba(self, rows: Floats) -> tuple[Floats, Floats]:
        """Each member's probabilities of all and of the novel classes; (n_members, n, n_classes), (..., n_novel)."""
        raise NotImplementedError

    def _reorder_novel(self, order: NDArray[np.int64]) -> None:
        """Make novel class ``order[m, j]`` of each member ``m`` its class ``j``."""
        raise NotImplementedError

    # ---- the base's hooks

    def _check_parameters(self) -> None:
        check_integer("n_members", self.n_members, low=1)
        check_layers("hidden_layers", self.hidden_layers)
        if not isinstance(self.verbose, bool):  # True is a common way to ask for a progress bar
            check_integer("verbose", self.verbose, low=0)
        pick_device(self.device)

    def _discover(self, rows: Floats, codes: Codes, n_novel: int, rng: np.random.RandomState) -> Codes:
        device = pick_device(self.device)
        streams = MemberStreams(rng.randint(2**31 - 1, size=self.n_members).tolist(), device=device)
        x = torch.as_tensor(rows, dtype=torch.float32, device=device)
        if not bool(x.isfinite().all()):
            raise InputError(
                "X has values too large for 32-bit floating point numbers; use another numeric_scaling than 'none', "
                "e.g. encoder=TableEncoder(numeric_scaling='signed_log')."
            )
        trained = self._train(x, torch.as_tensor(codes, device=device), n_novel, streams)
        if not all(bool(parameter.isfinite().all()) for parameter in trained.parameters()):
            raise InputError(
                "Training diverged: the network's weights are no longer finite numbers. Lower the learning rates."
            )
        # The network that is kept has no streams, so that it can be copied, saved and loaded.
        self.network_ = self._load({name: tensor.cpu() for name, tensor in trained.state_dict().items()})
        return self._agree(rows, codes, n_novel, rng)

    def _agree(self, rows: Floats, codes: Codes, n_novel: int, rng: np.random.RandomState) -> Codes:
        """Bring the members' classes into one order; return the consensus on the unlabelled rows."""
        unlabelled = np.flatnonzero(codes < 0)
        member_codes = np.tile(codes, (self.n_members, 1))
        consensus = np.empty(0, dtype=np.int64)
        if n_novel:
            novel = self._member_proba(rows[unlabelled])[1]
            order = align_members(novel.argmax(axis=2), n_novel)
            # Members vote with probabilities, so the sizes that count are known only once they are aligned.
            vote = np.take_along_axis(novel, order[:, None, :], axis=2).mean(axis=0).argmax(axis=1)
            self._reorder_novel(order[:, np.argsort(-np.bincount(vote, minlength=n_novel), kind="stable")])
            novel = self._member_proba(rows[unlabelled])[1]
            member_codes[:, unlabelled] = len(self.known_classes_) + novel.argmax(axis=2)
            consensus = novel.mean(axis=0).argmax(axis=1)
        self.member_labels_ = self.classes_[member_codes]
        return consensus

    def _proba(self, rows: Floats) -> Floats:
        proba: Floats = self._member_proba(rows)[0].mean(axis=0)
        return proba

    def _novel_proba(self, rows: Floats) -> Floats:
        proba: Floats = self._member_proba(rows)[1].mean(axis=0)
        return proba

    def _latent(self, rows: Floats) -> Floats:
        (latent,) = self._run(rows, lambda network, x: (network.encoder(x),))
        return np.ascontiguousarray(latent.transpose(1, 0, 2)).reshape(len(rows), -1)

    def _fitted_state(self) -> Arrays:
        state = {_PREFIX + name: tensor.numpy() for name, tensor in self.network_.state_dict().items()}
        return state | {"member_codes": self._codes_of(self.member_labels_)}

    def _restore_fitted(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        state = {
            name.removeprefix(_PREFIX): torch.from_numpy(array)
            for name, array in arrays.items()
            if name.startswith(_PREFIX)
        }
        member_codes = self._codes_from(arrays, "member_codes", (self.n_members, len(self.labels_)))
        self.network_ = self._load(state)
        self.member_labels_ = self.classes_[member_codes]

    # ---- inside

    def _new_network(self, n_features: int, n_novel: int, streams: MemberStreams) -> DiscoveryNetwork:
        """Build a network to be trained."""
        layers = check_layers("hidden_layers", self.hidden_layers)
        layers = layers or [min(width, _MAX_WIDTH) for width in self._default_layers(n_features)]
        network = self._build([n_features, *layers], len(self.known_classes_), n_novel, streams)
        return network.to(streams.device)

    def _load(self, state: Mapping[str, Tensor]) -> DiscoveryNetwork:
        """Build a network for prediction around given parameters, after a look at their shapes."""
        # The parameters themselves say how wide the layers are, so that another default cannot make old files useless.
        places = {int(match[1]): name for name in state if (match := _ENCODER_WEIGHT.fullmatch(name))}
        layers = [state[places[place]].shape[-1] for place in sorted(places)]
        if self.hidden_layers is not None and check_layers("hidden_layers", self.hidden_layers) != layers:
            raise ModelFileError(
                f"the network's arrays have the shapes of layers {layers}, but hidden_layers is "
                f"{shown(self.hidden_layers)}."
            )
        with torch.device("meta"):  # no memory is taken until the shapes are known to be right
            network = self._build(
                [self.encoder_.layout_.n_columns, *layers], len(self.known_classes_), len(self.novel_classes_), None
            )
        wanted = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
        given = {name: tuple(tensor.shape) for name, tensor in state.items()}
        if any(tensor.dtype != torch.float32 for tensor in state.values()):
            raise ModelFileError("the network's arrays must all hold float32.")
        if wanted != given:
            raise ModelFileError(
                f"the network's arrays have shapes {shown(given, 200)}, expected {shown(wanted, 200)}."
            )
        network.load_state_dict(dict(state), assign=True)
        return network.eval().requires_grad_(False)

    def _run(
        self, rows: Floats, compute: Callable[[DiscoveryNetwork, Tensor], tuple[Tensor, ...]]
    ) -> tuple[Floats, ...]:
        """Apply the network to rows in chunks; results are (n_members, n, ...).

        Double precision makes the result for a row independent of the rows beside it.
        """
        device = pick_device(self.device)
        # A copy and its own number of members: parameters set after fit count from the next fit on.
        network = copy.deepcopy(self.network_).to(device, torch.float64)
        n_members = network.classification.weight.shape[0]
        widest = max(parameter.shape[-1] for parameter in network.parameters())
        step = max(1, _CHUNK_NUMBERS // (n_members * max(widest, rows.shape[1])))
        parts = []
        with torch.inference_mode():
            for start in range(0, len(rows), step):
                x = torch.as_tensor(rows[start : start + step], device=device).expand(n_members, -1, -1)
                parts.append([result.cpu().numpy() for result in compute(network, x)])
        return tuple(np.concatenate(results, axis=1) for results in zip(*parts, strict=True))


@contextmanager
def keeping_what_was_learned(history: list[dict[str, Any]]) -> Iterator[None]:
    """Turn a Ctrl-C during training into a warning: what was learned until then is kept."""
    try:
        yield
    except KeyboardInterrupt:
        stage = history[-1]["stage"] if history else "none"
        last = f"{stage} {history[-1]['epoch']}" if history else "none"
        state = "untrained" if stage in ("none", "pretraining") else "less reliable than after a full training"
        warn_user(
            f"Training was interrupted; the last completed epoch is: {last}. The model keeps what it had learned and "
            f"can be used, but its novel classes are {state}.",
            TrainingInterrupted,
        )
