from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from newfound.learning.machine import prepared_for

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("largest", "threads"), [(1 << 18, 1), ((1 << 18) + 1, 2)])
def test_small_tensors_get_one_thread(largest: int, threads: int) -> None:
    with prepared_for(largest, CPU):
        assert torch.get_num_threads() == threads
    assert torch.get_num_threads() == 2


def test_the_number_of_threads_is_put_back_after_an_error() -> None:
    with pytest.raises(KeyboardInterrupt), prepared_for(1, CPU):
        raise KeyboardInterrupt
    assert torch.get_num_threads() == 2


def test_nothing_is_done_for_other_devices() -> None:
    with prepared_for(1, torch.device("meta")):
        assert torch.get_num_threads() == 2
