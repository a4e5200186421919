"""Peers in processes of torch.distributed, as Ray Train starts them; nothing of Ray is needed for that."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

import newfound as nf
from newfound.learning.peers import Exchange, OneProcess, Peer, PeerGroup
from newfound.scale.exchange import Processes
from tests.learning.tasks import made_task

N_PEERS = 2


def train(peer: Peer, device: str) -> tuple[dict[str, Tensor], list[int] | None, str]:
    """Train two members on the rows of a peer; returns their weights, and what the peers told each other."""
    task, _ = made_task(n_categories=3, seed=peer.place)
    model = nf.TabularNCD(task.n_novel, n_members=2, epochs=3, pretrain_epochs=2, device=device)
    trainer = model._trainer(model._member_settings())
    weights = trainer.train_members(task, [1, 2], peer=peer)[0]
    on_cpu = {name: tensor.detach().cpu() for name, tensor in weights.items()}
    return on_cpu, peer.gather(peer.place), peer.from_first(f"said by {peer.place}")


def train_peers(rank: int, n_processes: int, exchange: Exchange, device: str) -> list[object]:
    """Train the peers of a process."""
    torch.set_num_threads(1)
    group = PeerGroup(range(rank, N_PEERS, n_processes), N_PEERS, exchange)
    return list(group.run(lambda peer: train(peer, device)))


def process(rank: int, n_processes: int, backend: str, device: str, folder: Path) -> None:
    """Be one of several processes."""
    if backend == "nccl":
        torch.cuda.set_device(rank)
    dist.init_process_group(backend, init_method=f"file://{folder}/met", rank=rank, world_size=n_processes)
    torch.save(train_peers(rank, n_processes, Processes(), device), folder / f"{rank}.pt")
    dist.destroy_process_group()


ON_A_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@pytest.mark.parametrize(
    ("n_processes", "backend", "device"),
    [
        (2, "gloo", "cpu"),
        pytest.param(2, "gloo", "cuda", marks=ON_A_GPU),  # which share it: NCCL wants one for each
        pytest.param(1, "nccl", "cuda", marks=ON_A_GPU),
        pytest.param(
            2,
            "nccl",
            "cuda",
            marks=pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two CUDA devices"),
        ),
    ],
)
def test_processes_train_as_one_does(n_processes: int, backend: str, device: str, tmp_path: Path) -> None:
    alone = train_peers(0, 1, OneProcess(), device)
    torch.multiprocessing.spawn(process, (n_processes, backend, device, tmp_path), nprocs=n_processes)  # type: ignore[attr-defined]
    together = [torch.load(tmp_path / f"{rank}.pt") for rank in range(n_processes)]
    found = [result for of_process in together for result in of_process]
    assert len(found) == N_PEERS
    for expected, (weights, places, told) in zip(alone, found, strict=True):
        assert told == "said by 0"
        assert places in ([0, 1], None)
        assert expected[1] == places
        assert all(torch.equal(tensor, weights[name]) for name, tensor in expected[0].items()), "to the bit"
