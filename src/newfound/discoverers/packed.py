"""What discoverers made of packed networks share: the members, their devices and their consensus."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import clone
from torch import Tensor

from newfound.clustering.consensus import align_members
from newfound.discoverers.base import Arrays, BaseDiscoverer, Codes, Floats
from newfound.discoverers.curatable import TrainingRows
from newfound.discoverers.parameters import check_integer, check_layers, pick_device, pick_generator
from newfound.errors import InputError, ModelFileError, TrainingInterrupted, warn_user
from newfound.learning.progress import Progress
from newfound.learning.self_training import SelfTrainingSettings, confident_classes, train_classifier
from newfound.nn import DiscoveryNetwork, MemberStreams
from newfound.tables import Labels
from newfound.tables.cells import shown

_MAX_WIDTH = 1024  # of layers whose widths follow the number of columns
_CHUNK_NUMBERS = 1 << 22  # numbers in the widest layer of one prediction step, over all members
_PREFIX = "network."
_ENCODER_WEIGHT = re.compile(r"encoder\.(\d+)\.weight")


class PackedDiscoverer(BaseDiscoverer):
    """Base of discoverers whose members are packed networks, trained at once and voting together.

    A subclass implements `_default_layers`, `_build`, `_n_epochs`, `_train`, `_member_proba` and `_reorder_novel`.
    """

    n_members: int
    hidden_layers: list[int] | None
    device: Any
    verbose: int
    self_training: int = 0  # for subclasses that do not have the parameter

    network_: DiscoveryNetwork
    member_labels_: NDArray[Any]

    _class_labels = ("labels_", "member_labels_")
    _member_found: Codes

    # Parameters in which the members of `fit_together` may differ, besides random_state.
    _own_parameters: ClassVar[frozenset[str]] = frozenset()

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
        self._check_is_fitted()
        n_members = len(self.member_labels_)
        if check_integer("index", index, low=0) >= n_members:
            raise InputError(f"Got index={index}, but there are {n_members} members, numbered from 0.")
        alone = copy.copy(self)
        alone.n_members = 1
        alone.labels_ = self.member_labels_[index]
        first, n_latent = index * self.network_.n_latent, self.network_.n_latent
        alone.curation_ = self.curation_.within(slice(first, first + n_latent))
        shared = self._shared_state()
        own = {name: array[index : index + 1] for name, array in self._fitted_state().items() if name not in shared}
        alone._restore_fitted(own | shared)
        return alone

    # ---- what subclasses implement

    def _default_layers(self, n_features: int) -> list[int]:
        """Widths of the encoder's layers where ``hidden_layers`` is None."""
        raise NotImplementedError

    def _build(self, widths: list[int], n_known: int, n_novel: int, streams: MemberStreams | None) -> DiscoveryNetwork:
        """Build a network with an encoder of these widths, input first; without streams its parameters stay unset."""
        raise NotImplementedError

    def _n_epochs(self) -> int:
        """Count the epochs over all stages of the training."""
        raise NotImplementedError

    def _train(
        self, network: DiscoveryNetwork, rows: Tensor, codes: Tensor, streams: MemberStreams, progress: Progress
    ) -> None:
        """Train the network in place on rows (n, d) with known codes (n,)."""
        raise NotImplementedError

    def _member_proba(self, rows: Floats) -> tuple[Floats, Floats]:
        """Each member's probabilities of all and of the novel classes; (n_members, n, n_classes), (..., n_novel)."""
        known, novel = self._run(rows, lambda network, x: network.proba(x))
        if novel.shape[2] == 0:
            return known, novel
        return np.concatenate([known[..., :-1], known[..., -1:] * novel], axis=2), novel

    def _reorder_novel(self, order: NDArray[np.int64]) -> None:
        """Make novel class ``order[m, j]`` of each member ``m`` its class ``j``."""
        self.network_.reorder_novel(torch.from_numpy(order))

    def _shared_state(self) -> Arrays:
        """Return the part of `_fitted_state` that has no member axis."""
        return {}

    def _n_inputs(self) -> int:
        """Count the network's inputs."""
        return self.encoder_.layout_.n_columns

    # ---- the base's hooks

    def _check_parameters(self) -> None:
        check_integer("n_members", self.n_members, low=1)
        check_integer("self_training", self.self_training, low=0)
        check_layers("hidden_layers", self.hidden_layers)
        if not isinstance(self.verbose, bool):  # True is a common way to ask for a progress bar
            check_integer("verbose", self.verbose, low=0)
        pick_device(self.device)

    def _discover(self, rows: Floats, codes: Codes, n_novel: int, rng: np.random.RandomState) -> Codes:
        seeds = rng.randint(2**31 - 1, size=self.n_members).tolist()
        trained, progress = self._train_members(rows, codes, n_novel, seeds)
        self.network_ = self._load(trained)
        return self._settle(rows, codes, n_novel, rng, progress)

    def _train_members(
        self, rows: Floats, codes: Codes, n_novel: int, seeds: list[int]
    ) -> tuple[dict[str, Tensor], Progress]:
        """Train a member for each seed; returns the parameters of all of them, (n_members, ...) each."""
        device = pick_device(self.device)
        streams = MemberStreams(seeds, device=device)
        x = torch.as_tensor(rows, dtype=torch.float32, device=device)
        if not bool(x.isfinite().all()):
            raise InputError(
                "X has values too large for 32-bit floating point numbers; use another numeric_scaling than 'none', "
                "e.g. encoder=TableEncoder(numeric_scaling='signed_log')."
            )
        network = self._new_network(rows.shape[1], len(self.known_classes_), n_novel, streams)
        n_epochs = self._n_epochs() + (self._n_self_training_epochs() if n_novel else 0)
        with Progress(n_epochs, self.verbose) as progress, _keeping_what_was_learned(progress.history):
            self.history_ = progress.history
            self._train(network, x, torch.as_tensor(codes, device=device), streams, progress)
        return _parameters_of(network), progress

    def _settle(
        self, rows: Floats, codes: Codes, n_novel: int, rng: np.random.RandomState, progress: Progress
    ) -> Codes:
        """Bring trained members to one answer for the unlabelled rows, with self-training where it is asked for."""
        found = self._agree(rows, codes, n_novel, rng)
        interrupted = len(progress.history) < self._n_epochs()
        if n_novel and self.self_training and not interrupted:
            self._self_train(rows, codes, rng, progress)
            if self._is_self_trained():
                found = self._agree(rows, codes, n_novel, rng)
        return found

    def _self_train(self, rows: Floats, codes: Codes, rng: np.random.RandomState, progress: Progress) -> None:
        """Go on with the encoders, under one head for all classes that learns from the rows that members agree on."""
        device, settings = pick_device(self.device), SelfTrainingSettings()
        streams = MemberStreams(rng.randint(2**31 - 1, size=self.n_members).tolist(), device=device)
        x = torch.as_tensor(rows, dtype=torch.float32, device=device)
        network = self._new_network(rows.shape[1], len(self.known_classes_) + self._n_found, 0, streams)
        network.encoder.load_state_dict(self.network_.encoder.state_dict())
        unlabelled = codes < 0
        with progress, _keeping_what_was_learned(progress.history):
            for _ in range(self.self_training):
                novel = confident_classes(self._novel_proba(rows[unlabelled]), settings.share)
                taught = codes.copy()
                taught[unlabelled] = np.where(novel < 0, -1, len(self.known_classes_) + novel)
                train_classifier(network, x, torch.as_tensor(taught, device=device), settings, streams, progress)
                # Only whole rounds count: in the middle of the first one the new head knows little.
                self.network_ = self._load(_parameters_of(network))

    def _n_self_training_epochs(self) -> int:
        # Those that are trained together train themselves one after the other.
        return self.self_training * SelfTrainingSettings().epochs * len(self.__dict__.get("_together", [self]))

    def _is_self_trained(self) -> bool:
        """Whether the classification head has outputs for the novel classes, which then holds for predictions."""
        return _has_joint_head(self.network_.state_dict(), len(self.known_classes_), self._n_found)

    def _of_members(self, parameter: str) -> Any:
        """Value of a parameter for all members, or a list of one for each where they differ."""
        values = [getattr(member, parameter) for member in self.__dict__.get("_together", [self])]
        return values[0] if len(set(values)) == 1 else values

    def _agree(self, rows: Floats, codes: Codes, n_novel: int, rng: np.random.RandomState) -> Codes:
        """Bring the members' classes into one order; return the consensus on the unlabelled rows."""
        if not n_novel:
            self._member_found = np.empty((self.n_members, 0), dtype=np.int64)
            return np.empty(0, dtype=np.int64)
        unlabelled = rows[codes < 0]
        novel = self._votes(unlabelled)[1]
        order = align_members(novel.argmax(axis=2), n_novel)
        # Members vote with probabilities, so the sizes that count are known only once they are aligned.
        vote = np.take_along_axis(novel, order[:, None, :], axis=2).mean(axis=0).argmax(axis=1)
        order = order[:, np.argsort(-np.bincount(vote, minlength=n_novel), kind="stable")]
        if self._is_self_trained():
            self.network_.reorder_novel(torch.from_numpy(order))
        else:
            self._reorder_novel(order)
        novel = self._votes(unlabelled)[1]
        self._member_found = novel.argmax(axis=2)
        consensus: Codes = novel.mean(axis=0).argmax(axis=1)
        return consensus

    def _conclude(self, labels: Labels, found: Codes) -> None:
        member_codes = np.tile(labels.codes, (self.n_members, 1))
        member_codes[:, labels.unlabelled] = labels.n_known + self._member_found
        self.member_labels_ = self.classes_[member_codes]
        del self._member_found
        super()._conclude(labels, found)

    def _votes(self, rows: Floats) -> tuple[Floats, Floats]:
        """As `_member_proba`, and after self-training by the head that it has trained."""
        if not self._is_self_trained():
            return self._member_proba(rows)
        n_novel = self._n_found

        def proba(network: DiscoveryNetwork, x: Tensor) -> tuple[Tensor, Tensor]:
            logits = network.classification(network.encoder(x))
            return logits.softmax(dim=-1), logits[..., -n_novel:].softmax(dim=-1)

        everything, novel = self._run(rows, proba)
        return everything, novel

    def _proba(self, rows: Floats) -> Floats:
        proba: Floats = self._votes(rows)[0].mean(axis=0)
        return proba

    def _novel_proba(self, rows: Floats) -> Floats:
        proba: Floats = self._votes(rows)[1].mean(axis=0)
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
        shape = (self.n_members, len(self.labels_))
        member_codes = self._codes_from(arrays, "member_codes", shape, len(self.classes_))
        self.network_ = self._load(state)
        self.member_labels_ = self.classes_[member_codes]

    def _together_key(self) -> Hashable:
        return together_key(self) if self.n_members == 1 and self.n_novel_classes != "auto" else None

    def _fit_together(self, discoverers: Sequence[Any], X: Any, y: Any) -> list[Any]:
        return fit_together(discoverers, X, y)

    # ---- inside

    def _new_network(self, n_features: int, n_known: int, n_novel: int, streams: MemberStreams) -> DiscoveryNetwork:
        """Build a network to be trained."""
        layers = check_layers("hidden_layers", self.hidden_layers)
        layers = layers or [min(width, _MAX_WIDTH) for width in self._default_layers(n_features)]
        return self._build([n_features, *layers], n_known, n_novel, streams).to(streams.device)

    def _load(self, state: Mapping[str, Tensor]) -> DiscoveryNetwork:
        """Build a network for prediction around given parameters, after a look at their shapes."""
        # The parameters themselves say how wide the layers are, so that another default cannot make old files useless.
        places = {int(match[1]): name for name in state if (match := _ENCODER_WEIGHT.fullmatch(name))}
        places = {place: name for place, name in places.items() if f"encoder.{place}.running_mean" not in state}
        layers = [state[places[place]].shape[-1] for place in sorted(places)]
        if self.hidden_layers is not None and check_layers("hidden_layers", self.hidden_layers) != layers:
            raise ModelFileError(
                f"the network's arrays have the shapes of layers {layers}, but hidden_layers is "
                f"{shown(self.hidden_layers)}."
            )
        n_known, n_novel = len(self.known_classes_), self._n_found
        if _has_joint_head(state, n_known, n_novel):
            n_known, n_novel = n_known + n_novel, 0
        with torch.device("meta"):  # no memory is taken until the shapes are known to be right
            network = self._build([self._n_inputs(), *layers], n_known, n_novel, None)
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


D = TypeVar("D", bound=PackedDiscoverer)


def fit_together(discoverers: Sequence[D], X: Any, y: Any) -> list[D]:
    """Fit several discoverers as the members of one packed training, which is far quicker than one after the other.

    Each ends as if it had been fitted alone, but for rounding. They are of one class with one member each, and may
    differ in ``random_state`` and, for TabularNCD, in `top_k`, `similarity_threshold`, `w1`, `w2`, `k_neighbors`,
    `dropout` and the learning rates; everything else has to be equal. Self-training follows one by one.

    Parameters
    ----------
    discoverers : sequence of PackedDiscoverer
        Left as they are.
    X : table of shape (n, n_columns)
    y : labels of shape (n,)

    Returns
    -------
    list of PackedDiscoverer
        Fitted copies.

    Raises
    ------
    InputError
        For discoverers that cannot be fitted together; `together_key` says which can.

    Examples
    --------
    >>> from newfound import TabularNCD
    >>> X, y = [[0.0], [0.1], [2.0], [2.1], [5.0], [5.1], [9.0], [9.1]], [0, 0, 1, 1, -1, -1, -1, -1]
    >>> few = fit_together([TabularNCD(2, w1=w1, random_state=0) for w1 in (0.2, 0.8)], X, y)
    >>> [model.w1 for model in few]
    [0.2, 0.8]
    """
    keys = {discoverer._together_key() for discoverer in discoverers}
    if None in keys or len(keys) != 1:
        raise InputError(
            "The discoverers cannot be fitted together: they must be of one class, have one member and a given number "
            "of novel classes each, and differ in no other parameters than those of fit_together's description."
        )
    pack = clone(discoverers[0]).set_params(n_members=len(discoverers))
    fitted = pack._together = [clone(discoverer) for discoverer in discoverers]
    for discoverer in fitted:
        discoverer._check_parameters()
    rows, labels, n_novel, _ = pack._prepare(X, y)
    # What each draws first when it is fitted alone.
    generators = [pick_generator(discoverer.random_state) for discoverer in fitted]
    seeds = [int(generator.randint(2**31 - 1, size=1)[0]) for generator in generators]
    trained, progress = pack._train_members(rows, labels.codes, n_novel, seeds)
    shared = {name: value for name, value in vars(pack).items() if name.endswith("_")}
    shared["_training_rows"] = TrainingRows.sample(rows, np.flatnonzero(labels.unlabelled))
    for m, (discoverer, generator) in enumerate(zip(fitted, generators, strict=True)):
        vars(discoverer).update(shared)
        own = progress.of_member(m)
        discoverer.history_ = own.history
        discoverer.network_ = discoverer._load({name: tensor[m : m + 1] for name, tensor in trained.items()})
        discoverer._conclude(labels, discoverer._settle(rows, labels.codes, n_novel, generator, own))
    return fitted


def together_key(discoverer: PackedDiscoverer) -> Hashable:
    """Discoverers of one key can be fitted together by `fit_together`."""
    parameters = discoverer.get_params(deep=False)
    own = discoverer._own_parameters
    shared = {name: repr(value) for name, value in parameters.items() if name not in own | {"random_state"}}
    # Without dropout a member draws no masks, and where a parameter is None another one takes its place.
    absent = {name: parameters[name] is None or (name == "dropout" and parameters[name] == 0) for name in own}
    return (type(discoverer), *shared.items(), *sorted(absent.items()))


def _has_joint_head(state: Mapping[str, Tensor], n_known: int, n_novel: int) -> bool:
    """Whether these are parameters of a network whose classification head has outputs for the novel classes."""
    head = state.get("classification.bias")
    return n_novel > 0 and "clustering.bias" not in state and head is not None and head.shape[-1] == n_known + n_novel


def _parameters_of(network: DiscoveryNetwork) -> dict[str, Tensor]:
    """Copy what a network has learned."""
    if not all(bool(parameter.isfinite().all()) for parameter in network.parameters()):
        raise InputError(
            "Training diverged: the network's weights are no longer finite numbers. Lower the learning rates."
        )
    # The network that is kept has no streams, so that it can be copied, saved and loaded.
    return {name: tensor.to("cpu", copy=True) for name, tensor in network.state_dict().items()}


@contextmanager
def _keeping_what_was_learned(history: list[dict[str, Any]]) -> Iterator[None]:
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
