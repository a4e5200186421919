"""Known classes hidden on purpose."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from newfound.selection.hidden_task import HiddenTask

LABELS = st.lists(st.integers(-1, 5), min_size=1, max_size=40).map(np.array)


@given(LABELS, st.sets(st.integers(0, 5)), st.integers(1, 10), st.integers(1, 10))
def test_nothing_of_a_hidden_class_is_seen(labels: np.ndarray, classes: set[int], hidden: int, known: int) -> None:
    task = HiddenTask.hide(labels, classes)
    assert [labels[row] in classes for row in task.hidden] == [True] * len(task.hidden)
    assert sorted([*task.known, *task.hidden]) == [row for row, label in enumerate(labels) if label >= 0]
    some = task.drawn(hidden, known, np.random.RandomState(0))
    assert len(some.hidden) == min(hidden, len(task.hidden))
    assert len(some.known) == min(known, len(task.known))
    assert set(some.rows) <= set(task.rows)
    for made in (task, some):
        for row, code in zip(made.rows, made.codes, strict=True):
            stays = sorted({int(labels[other]) for other in made.known})
            assert code == (-1 if labels[row] in classes else stays.index(labels[row]))
        sought = sorted({int(labels[row]) for row in made.hidden})
        assert made.truth.tolist() == [sought.index(labels[row]) for row in made.hidden]
        assert (made.n_known, made.n_hidden) == (len(set(made.codes) - {-1}), len(sought))
