"""Make the weights that come with the package, and their card, of a checkpoint.

`laboratory/checkpoints/card.json` says what the network of this very step reached on the development tables, and what
else there is to say about its training.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save

from newfound.errors import InputError
from newfound.incontext import weights
from newfound.incontext.context import MAX_CLASSES
from newfound.incontext.network import MAX_NOVEL
from newfound.writing import replacing
from newfound_lab.pretrain.checkpoint import load_tensors
from newfound_lab.pretrain.train import COLUMNS, ROWS

PACKAGE = Path(weights.__file__).parent
TOLD = Path(__file__).parents[2] / "checkpoints" / "card.json"
WEIGHTS, CARD = "weights.safetensors", "weights.json"
LARGEST = 12_000_000  # bytes


def ship(checkpoint: Path, folder: Path = PACKAGE, told_in: Path = TOLD) -> dict[str, Any]:
    """Write the weights of a checkpoint and their card.

    Parameters
    ----------
    checkpoint : Path
        Weights that a training has written.
    folder : Path, optional
        Where to; by default into the package.
    told_in : Path, optional
        What is to be said about them.

    Returns
    -------
    dict
        The card.

    Raises
    ------
    InputError
        If the file is too large, or ``told_in`` is about another step.
    """
    tensors, facts = load_tensors(checkpoint)
    told = json.loads(told_in.read_text(encoding="utf-8"))
    if told["step"] != facts["step"]:
        raise InputError(
            f"{checkpoint} holds the weights after {facts['step']} steps, but {told_in} tells of "
            f"{told['step']}; judge these weights and write down what they reach."
        )
    content = save({name: weight.to(torch.float16) for name, weight in tensors.items()})
    if len(content) > LARGEST:
        raise InputError(f"The weights of {checkpoint} take {len(content)} bytes, but at most {LARGEST} come along.")
    card = {
        "name": "in-context network of newfound",
        "sha256": hashlib.sha256(content).hexdigest(),
        "shape": facts["shape"],
        "parameters": sum(weight.numel() for weight in tensors.values()),
        "data": "synthetic tables alone, drawn from the prior (newfound_lab.prior); no real table, no label of one",
        "prior": facts["prior"],
        "step": facts["step"],
        "tables": facts["tables"],
        "seconds": facts["seconds"],
        "seed": facts["seed"],
        "training": told["training"],
        "limits": [
            f"at most {MAX_CLASSES} known classes, and at most {MAX_NOVEL} novel classes where it counts them",
            f"trained with {min(ROWS)} to {max(ROWS)} rows and {min(COLUMNS)} to {max(COLUMNS)} columns in a context",
            *told["limits"],
        ],
        "development": told["development"],
    }
    for name, data in ((WEIGHTS, content), (CARD, (json.dumps(card, indent=1) + "\n").encode())):
        with replacing(folder / name) as fresh:
            Path(fresh).write_bytes(data)
    return card
