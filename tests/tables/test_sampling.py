from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from newfound.tables.sampling import sample_in_proportion, sample_of_each


@given(st.lists(st.integers(-1, 2), min_size=1, max_size=50), st.integers(1, 10), st.integers(0, 2**31 - 1))
@settings(max_examples=60)
def test_samples_of_each_kind(codes: list[int], most: int, seed: int) -> None:
    kinds = np.array(codes)
    some = sample_of_each(kinds, most, np.random.RandomState(seed))
    assert (np.diff(some) > 0).all()
    for kind in (kinds < 0, kinds >= 0):
        assert kind[some].sum() == min(most, kind.sum())


def test_a_sample_in_proportion_has_rows_of_rare_classes() -> None:
    codes = np.repeat([0, -1, 1, 2], [600, 300, 95, 5])
    some = sample_in_proportion(codes, 100, 10, np.random.RandomState(0))
    assert (np.diff(some) > 0).all()
    assert [int((codes[some] == code).sum()) for code in (0, -1, 1, 2)] == [60, 30, 10, 5]
    assert (sample_in_proportion(codes, 2000, 10, np.random.RandomState(0)) == np.arange(1000)).all()
