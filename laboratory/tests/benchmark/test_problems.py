from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from laboratory.tests.benchmark.made import made_rows
from newfound.errors import InputError
from newfound_lab.benchmark.problems import MODES, Problem, benchmark_tables, make_problem
from newfound_lab.datasets.development import ALL_TABLES


def problem_of(n_classes: int = 6, split: int = 0, mode: str = "pure") -> Problem:
    problem = make_problem("rings", *made_rows(n_classes), split, mode)
    assert problem is not None
    return problem


def test_half_of_the_classes_are_known_and_only_they_are_labelled() -> None:
    for mode in MODES:
        problem = problem_of(mode=mode)
        assert (len(problem.known), problem.n_novel) == (3, 3)
        labelled = ~problem.unlabelled
        assert (problem.y_train[labelled] == problem.truth_train[labelled]).all()
        assert set(problem.y_train[labelled]) == set(problem.known)
        assert len(problem.X_train) == len(problem.y_train)
        assert len(problem.X_test) == len(problem.truth_test) == pytest.approx(0.3 * 360, abs=25)


def test_modes_differ_in_labels_alone() -> None:
    pure, mixed = (problem_of(mode=mode) for mode in MODES)
    pd.testing.assert_frame_equal(pure.X_train, mixed.X_train)
    pd.testing.assert_frame_equal(pure.X_test, mixed.X_test)
    of_known = np.isin(pure.truth_train, pure.known)
    assert not pure.unlabelled[of_known].any()
    assert mixed.unlabelled[of_known].mean() == pytest.approx(0.5, abs=0.15)


def test_problems_are_the_same_at_every_call_and_differ_between_splits() -> None:
    again = [problem_of(split=split) for split in (0, 0, 1)]
    assert again[0].truth_train.tolist() == again[1].truth_train.tolist() != again[2].truth_train.tolist()


def test_small_classes_and_tables_of_few_are_left_out() -> None:
    frame, classes = made_rows(4)
    assert make_problem("rings", frame, classes.where(classes != 3, 2), 0, "pure") is None
    few = np.r_[0:60, 60:120, 120:180, 180:199]  # 19 rows of the last class
    assert make_problem("rings", frame.iloc[few], classes.iloc[few], 0, "pure") is None
    assert make_problem("rings", frame, classes, 0, "pure", most=79) is None


def test_sets_and_tables_by_name(tmp_path: Path) -> None:
    assert [table.name for table in benchmark_tables(["old"])] == list(ALL_TABLES)
    with pytest.raises(InputError, match="Got the set 'new', but expected some of old, fresh"):
        benchmark_tables(["new"])
    with pytest.raises(InputError, match="Got the table 'iris', but expected some of automobile"):
        benchmark_tables(["old"], ["iris"])
    with pytest.raises(InputError, match="needs the folder fresh29"):
        benchmark_tables(["fresh"], data_dir=tmp_path)


def test_fresh_tables_are_files_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "fresh29").mkdir()
    frame, classes = made_rows()
    frame.assign(target=classes).to_parquet(tmp_path / "fresh29" / "rings.parquet")
    (table,) = benchmark_tables(["fresh"], data_dir=tmp_path)
    features, target = table.load()
    assert (table.set, table.name, list(features)) == ("fresh", "rings", list(frame))
    assert target.tolist() == classes.tolist()
