"""A table in files, and fits on them in this process as on a cluster."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

import newfound as nf
from newfound.learning.checkpoints import Checkpoints
from newfound.learning.peers import PeerGroup
from newfound.scale.training import Encoding, Lesson, Run, encode, train_peer
from newfound.tables import TableEncoder
from newfound.tables.streams import Summary, TableStream, count_labelled, open_stream, summarise_piece
from tests.discoverers.common import CENTRES, tabular_ncd

N = 1_200
NAMES = np.array(["ant", "bee", "wasp", "fly"])


def table(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Four groups in order of their class, two of them known, and the true classes."""
    rng = np.random.default_rng(seed)
    truth = np.sort(rng.integers(4, size=N))
    frame = pd.DataFrame(CENTRES[truth] + rng.normal(0, 0.7, (N, 2)), columns=["width", "height"])
    frame["colour"] = np.array(["red", "green", "blue"])[(truth + (rng.random(N) < 0.3)) % 3]
    frame["kind"] = np.where(truth < 2, NAMES[truth], None)
    return frame, truth


def write(folder: Path) -> Path:
    """Write the table as files, each of few classes and of three row groups."""
    folder.mkdir()
    for start in range(0, N, 400):
        table()[0][start : start + 400].to_parquet(folder / f"{start:05d}.parquet", row_group_size=150)
    return folder


def broken_file(folder: Path) -> Path:
    """Write the table with a file whose end, which says what is in it, is whole, but not its rows."""
    path = write(folder) / "00400.parquet"
    content = bytearray(path.read_bytes())
    content[4:40] = b"\xff" * 36
    path.write_bytes(content)
    return path


def score(model: Any) -> float:
    """How well a model does on other rows."""
    other, truth = table(1)
    return float(model.score(other.drop(columns="kind"), NAMES[truth]))


class InProcess(Run):
    """A fit as on a cluster, in this process; it stands for one worker that has all peers."""

    def __init__(self, n_peers: int) -> None:
        super().__init__(None, 1, n_peers, False, 0)

    def summarise(self, stream: TableStream, encoder: TableEncoder) -> Summary:
        pieces = stream.pieces()
        n_labelled = sum(count_labelled(stream, piece) for piece in pieces)
        first, *others = (summarise_piece(stream, piece, encoder, n_labelled) for piece in pieces)
        for other in others:
            first.merge(other)
        return first.summary(stream)

    def _shares(self, encoding: Encoding) -> list[list[Any]]:
        parts = [encode(encoding, piece, self.n_peers)[1:] for piece in encoding.summary.stream.pieces()]
        return [list(of_peer) for of_peer in zip(*parts, strict=True)]

    def _train_on_workers(self, lesson: Lesson, shares: list[list[Any]]) -> dict[str, Any]:
        group = PeerGroup(range(self.n_peers), self.n_peers)
        cpu = torch.device("cpu")
        return group.run(lambda peer: train_peer(peer, lesson, shares[peer.place], cpu))[0]


def fit_in_process(model: Any, rows: Path, n_peers: int, kept: Path, every: float = 60.0) -> Any:
    """Fit as `fit_on_ray` does, without Ray."""
    run = InProcess(n_peers)
    checkpoints = Checkpoints(kept, every, settings={"batches_per_step": str(n_peers)})
    with closing(checkpoints), open_stream(rows, "kind") as stream:
        summary = run.summarise(stream, model._encoder_of_stream("kind"))
        return model._fit_stream(summary, True, checkpoints, run.train)


def arrays(model: Any) -> dict[str, np.ndarray]:
    """Everything that a model predicts by."""
    return model._fitted_arrays() | {"temperature": np.array(model.temperature_)}


def small(**changes: Any) -> nf.TabularNCD:
    """A TabularNCD of few epochs."""
    return tabular_ncd(**{"epochs": 4, "n_members": 2, **changes})
