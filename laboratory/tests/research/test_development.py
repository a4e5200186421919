from __future__ import annotations

import numpy as np
import pytest

import newfound as nf
from newfound_lab.research.development import DEVELOPMENT_TABLES, draw_sample, kind_of_table, load_development


def test_tables_are_named_once() -> None:
    assert len(DEVELOPMENT_TABLES) == len(set(DEVELOPMENT_TABLES)) == 21


def test_a_benchmark_is_loaded_as_such() -> None:
    assert load_development("digits").name == "digits"


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ({"a": "numeric", "b": "date"}, "numeric"),
        ({"a": "numeric", "b": "boolean"}, "mixed"),
        ({"a": "categorical", "b": "boolean"}, "categories"),
    ],
)
def test_kinds_of_tables(kinds: dict[str, str], expected: str) -> None:
    assert kind_of_table(kinds) == expected


def test_a_sample_knows_which_rows_are_unlabelled() -> None:
    data = nf.datasets.make_table(400, n_known=4, n_novel=3, random_state=0)
    drawn = draw_sample(data, 60, np.random.RandomState(0))
    assert drawn.rows.shape == (120, drawn.layout.n_columns)
    assert (drawn.codes < 0).sum() == len(drawn.truth) == 60
    assert set(drawn.codes) == {-1, 0, 1, 2, 3}
    assert set(drawn.truth) == set(data.novel_classes)


def test_a_class_that_misses_the_sample_leaves_no_gap_among_the_codes() -> None:
    data = nf.datasets.make_table(400, n_known=6, n_novel=2, random_state=0)
    drawn = draw_sample(data, 4, np.random.RandomState(0))
    known = np.unique(drawn.codes[drawn.codes >= 0])
    assert len(known) < 6
    assert known.tolist() == list(range(len(known)))
