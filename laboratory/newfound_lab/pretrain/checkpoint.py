"""Files of a training: its whole state, and weights in half precision that are small enough to be kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from newfound.incontext import InContextNetwork, NetworkShape
from newfound.learning.checkpoints import read_tensors
from newfound_lab.prior import PRIOR_VERSION


def save_tensors(path: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Write tensors and facts (JSON-able) as one safetensors file that appears as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    save_file(plain, partial, {name: json.dumps(fact) for name, fact in facts.items()})
    partial.replace(path)


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote, or the package's weights, whose facts are in the card beside them."""
    tensors, header = read_tensors(path)
    facts = {name: json.loads(fact) for name, fact in header.items()}
    return tensors, facts or json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def save_weights(path: Path, weights: Mapping[str, Tensor], shape: NetworkShape, facts: Mapping[str, Any]) -> None:
    """Write a network's weights in half precision, with its shape and the version of the prior it was trained on."""
    half = {name: weight.half() for name, weight in weights.items()}
    save_tensors(path, half, {"shape": asdict(shape), "prior": PRIOR_VERSION, **facts})


def load_network(path: Path) -> tuple[InContextNetwork, dict[str, Any]]:
    """Make the network that `save_weights` wrote, in float32, and return what is said about it."""
    weights, facts = load_tensors(path)
    network = InContextNetwork(NetworkShape(**facts["shape"]))
    network.load_state_dict({name: weight.float() for name, weight in weights.items()})
    return network, facts


def optimiser_tensors(optimisers: list[torch.optim.Optimizer]) -> dict[str, Tensor]:
    """State of optimisers as named tensors."""
    return {
        f"{place}/{index}/{name}": value
        for place, optimiser in enumerate(optimisers)
        for index, state in optimiser.state_dict()["state"].items()
        for name, value in state.items()
    }


def restore_optimisers(optimisers: list[torch.optim.Optimizer], tensors: Mapping[str, Tensor]) -> None:
    """Give optimisers the state that `optimiser_tensors` took from them."""
    for place, optimiser in enumerate(optimisers):
        whole = optimiser.state_dict()
        states: dict[int, dict[str, Tensor]] = {}
        for key, value in tensors.items():
            where, index, name = key.split("/")
            if int(where) == place:
                states.setdefault(int(index), {})[name] = value
        optimiser.load_state_dict({**whole, "state": states})
