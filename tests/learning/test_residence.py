"""Tables in the memory of a GPU, or in that of the host where they are too large for it."""

from __future__ import annotations

import gc

import numpy as np
import pytest
import torch

import newfound as nf
from newfound.learning import residence
from newfound.learning.residence import empty_for, fits, table_for
from tests.learning.tasks import made_task, train_members

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
on_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
GIB = 1 << 30


@pytest.mark.parametrize(("n_bytes", "n_free", "on_gpu"), [(5 * GIB, 10 * GIB, True), (5 * GIB + 1, 10 * GIB, False)])
def test_a_table_leaves_half_of_the_free_memory_to_the_training(n_bytes: int, n_free: int, on_gpu: bool) -> None:
    assert fits(n_bytes, n_free) is on_gpu


def test_only_tables_for_a_gpu_are_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(residence, "free_bytes", lambda _: 2 * 4 * 6)
    assert not residence._stays_on_host((2, 3), torch.float32, CUDA)
    assert residence._stays_on_host((2, 3), torch.float64, CUDA)
    assert residence._stays_on_host((7, 1), torch.float32, CUDA)
    assert not residence._stays_on_host((1 << 40, 1), torch.float32, CPU)


def test_a_table_for_a_cpu_is_a_plain_tensor() -> None:
    rows = np.arange(6.0).reshape(2, 3)
    assert torch.equal(table_for(rows, CPU), torch.arange(6.0).view(2, 3))
    assert empty_for((4, 1), torch.zeros(2, dtype=torch.float64)).dtype == torch.float64


@on_a_gpu
def test_kernels_read_and_write_tables_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(residence, "_SHARE", 0.0)
    rows = np.random.default_rng(0).normal(size=(500, 40))
    before = torch.cuda.memory_allocated()
    kept = table_for(rows, CUDA)
    assert kept.is_cuda
    assert torch.cuda.memory_allocated() == before, "the GPU holds none of it"
    index = torch.arange(499, -1, -1, device="cuda")
    assert torch.equal(torch.nn.functional.embedding(index, kept).cpu(), torch.from_numpy(rows[::-1].copy()).float())
    place = empty_for((500, 2), kept)
    place[:, 1:] = kept[:, 3:4]
    assert torch.equal(place[:, 1], kept[:, 3])
    del kept, place
    gc.collect()
    torch.cuda.synchronize()


@on_a_gpu
@pytest.mark.parametrize("kind", [nf.TabularNCD, nf.ClassifierProjection, nf.PBN])
def test_trainings_on_the_table_of_the_host_are_those_on_that_of_the_gpu(
    kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, _ = made_task(n_categories=3)
    on_gpu = train_members(kind, task, "cuda", epochs=4)
    monkeypatch.setattr(residence, "_SHARE", 0.0)
    on_host = train_members(kind, task, "cuda", epochs=4)
    assert all(torch.equal(tensor, on_host[name]) for name, tensor in on_gpu.items()), "to the bit"
