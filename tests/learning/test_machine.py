from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_info, threadpool_limits

import newfound as nf
from newfound.learning import machine, trainer
from newfound.learning.machine import in_parallel, one_thread, prepared_for, threads_for_table

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    with threadpool_limits(2, user_api="openmp"):  # of scikit-learn
        yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("largest", "threads"), [((1 << 28) - 1, 1), (1 << 28, 2)])
def test_small_products_get_one_thread(largest: int, threads: int) -> None:
    with prepared_for(largest, CPU):
        assert torch.get_num_threads() == threads
    assert torch.get_num_threads() == 2


def test_parts_are_done_in_parallel_by_threads_that_compute_alone() -> None:
    both_are_there, numbers = Barrier(2, timeout=60), []

    def work(part: slice) -> None:
        both_are_there.wait()
        numbers.append((part.start, torch.get_num_threads()))

    in_parallel(work, [slice(0, 1), slice(1, 2)])
    assert sorted(numbers) == [(0, 1), (1, 1)]
    assert torch.get_num_threads() == 2


def test_an_error_in_a_part_ends_the_others() -> None:
    done = []

    def work(part: slice) -> None:
        done.append(part)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        in_parallel(work, [slice(i, i + 1) for i in range(1000)])
    assert len(done) < 1000
    assert torch.get_num_threads() == 2


def test_the_number_of_threads_is_put_back_after_an_error() -> None:
    with pytest.raises(KeyboardInterrupt), prepared_for(1, CPU):
        raise KeyboardInterrupt
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize("limit", [one_thread, lambda: prepared_for(1, CPU)])
def test_threads_that_overlap_leave_the_number_of_threads_as_the_first_found_it(limit: Any) -> None:
    first_is_in, second_is_in, first_is_out = Event(), Event(), Event()

    def numbers() -> tuple[int, list[int]]:
        return torch.get_num_threads(), [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    def first() -> tuple[int, list[int]]:
        with limit():
            first_is_in.set()
            assert second_is_in.wait(60)
        first_is_out.set()
        return numbers()

    def second() -> tuple[int, list[int]]:
        assert first_is_in.wait(60)
        with limit():
            second_is_in.set()
            assert first_is_out.wait(60)
            with limit():
                pass
            assert torch.get_num_threads() == 1
        return numbers()

    with threadpool_limits(2, user_api="blas"):
        before = numbers()
        with ThreadPoolExecutor(2) as pool:
            found = [pool.submit(job) for job in (first, second)]
            assert found[1].result() == before
            assert found[0].result()[0] == 2
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(numbers).result() == before == numbers()
    assert before[0] == 2


def test_threads_that_overlap_leave_the_precision_as_the_first_found_it() -> None:
    before, meta = torch.get_float32_matmul_precision(), torch.device("meta")
    first, second = prepared_for(1, meta), prepared_for(1, meta)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert torch.get_float32_matmul_precision() == "high"
    second.__exit__(None, None, None)
    assert torch.get_float32_matmul_precision() == before == "highest"


def test_nothing_is_done_for_other_devices() -> None:
    with prepared_for(1, torch.device("meta")):
        assert torch.get_num_threads() == 2


@pytest.mark.parametrize(("rows", "columns", "threads"), [(10_000, 50, 1), (60_000, 784, 2), (1_000_000, 50, 2)])
def test_small_tables_get_one_thread(rows: int, columns: int, threads: int) -> None:
    with threads_for_table(rows, columns):
        assert torch.get_num_threads() == threads
    assert torch.get_num_threads() == 2


def test_a_fit_of_a_small_table_never_uses_more_than_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    used = []
    settle = trainer.PackedTrainer.settle

    def noted(*args: Any) -> Any:
        used.append(torch.get_num_threads())
        return settle(*args)

    monkeypatch.setattr(trainer.PackedTrainer, "settle", noted)
    nf.TabularNCD(1, epochs=1, random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, -1, -1])
    assert used == [1]
    assert torch.get_num_threads() == 2


def work_of_many_threads() -> None:
    rows = torch.ones(800, 800)
    for _ in range(3):
        (rows @ rows).exp().sum()


def compute_in_one_thread() -> None:
    with one_thread():
        work_of_many_threads()


def neighbours() -> None:
    NearestNeighbors(n_neighbors=3, algorithm="brute").fit(np.ones((2_000, 8))).kneighbors(np.ones((2_000, 8)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.parametrize("work", [work_of_many_threads, compute_in_one_thread, neighbours])
def test_a_forked_child_waits_for_no_thread_of_its_parent(work: Callable[[], None]) -> None:
    work_of_many_threads()
    neighbours()
    with machine._TORCH._lock, machine._BLAS._lock:  # as another thread may hold them
        child = os.fork()
        if not child:
            signal.alarm(30)
            work()
            os._exit(torch.get_num_threads())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert torch.get_num_threads() == 2
