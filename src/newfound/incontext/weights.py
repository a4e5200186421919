"""The weights that come with the package, and their card."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

from safetensors.torch import load

from newfound.errors import ModelFileError
from newfound.incontext.network import InContextNetwork, NetworkShape

_FOLDER = "newfound.incontext"
_WEIGHTS, _CARD = "weights.safetensors", "weights.json"


def weights_card() -> dict[str, Any]:
    """Return what is known about the weights: shape, prior, cost of the training, limits, checksum."""
    card: dict[str, Any] = json.loads(files(_FOLDER).joinpath(_CARD).read_text(encoding="utf-8"))
    return card


@cache
def load_network(device: str = "cpu") -> InContextNetwork:
    """Load the network that comes with the package; it is shared, so leave it as it is.

    Raises
    ------
    ModelFileError
        If the file of weights is not the one that the card describes.
    """
    content = files(_FOLDER).joinpath(_WEIGHTS).read_bytes()
    card = weights_card()
    if hashlib.sha256(content).hexdigest() != card["sha256"]:
        raise ModelFileError("the weights of the in-context network were changed or are incomplete; install again.")
    network = InContextNetwork(NetworkShape(**card["shape"]))
    network.load_state_dict({name: weight.float() for name, weight in load(content).items()})
    for parameter in network.parameters():
        parameter.requires_grad_(False)
    return network.eval().to(device)
