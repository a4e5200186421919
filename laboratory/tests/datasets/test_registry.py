from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from laboratory.tests.datasets.conftest import DATA, needs_data
from newfound_lab.datasets.registry import (
    BENCHMARKS,
    Benchmark,
    CappedSplit,
    ColumnSplit,
    FirstRowsSplit,
    IndexSplit,
    RandomSplit,
)

WITH_FILE = [benchmark for benchmark in BENCHMARKS.values() if benchmark.file]


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    path = Path(str(DATA)) / "benchmarks.json"
    if not path.is_file():
        pytest.skip(f"{DATA} has no benchmarks.json to compare the registry with")
    return json.loads(path.read_text())


@needs_data
def test_registry_has_the_published_benchmarks_and_digits(published: dict[str, Any]) -> None:
    assert set(BENCHMARKS) == {"digits", *published}


@needs_data
@pytest.mark.parametrize("benchmark", WITH_FILE, ids=lambda b: b.name)
def test_registry_agrees_with_the_published_facts(benchmark: Benchmark, published: dict[str, Any]) -> None:
    entry = published[benchmark.name]
    assert benchmark.file == entry["file"]
    assert benchmark.sha256 == entry["sha256"]
    assert list(benchmark.known) == entry["known"]
    assert list(benchmark.novel) == entry["novel"]
    assert benchmark.regime == entry["regime"]
    assert benchmark.target == entry["target"]
    assert list(benchmark.not_features) == entry["not_features"]
    assert list(benchmark.categorical) == entry["categorical"]
    assert (benchmark.paper._asdict() if benchmark.paper else None) == entry.get("paper_counts")


@needs_data
@pytest.mark.parametrize("benchmark", WITH_FILE, ids=lambda b: b.name)
def test_split_rule_agrees_with_the_published_text(benchmark: Benchmark, published: dict[str, Any]) -> None:
    text = published[benchmark.name]["split"]
    match benchmark.split:
        case ColumnSplit():
            assert text.startswith(("column split", "x_train/x_test arrays"))
        case FirstRowsSplit(train=train, test=test):
            assert text.startswith(f"train = first {train:,} rows of the file, test = the next {test:,} rows")
        case IndexSplit(file=file, train=train, test=test):
            assert text.startswith(f"row indices {train} / {test} of {file}")
        case RandomSplit(seed=seed, max_per_class=most):
            assert f"70/30 random with seed {seed}, stratified" in text
            assert ("at most" in text) == (most is not None)
            assert most is None or f"at most {most:,} rows per class" in text
        case CappedSplit(known=known, novel=novel, test=test):
            assert f"70/30 random, then the first {known:,} known, {novel:,} novel and {test:,} test rows" in text


@pytest.mark.parametrize("benchmark", BENCHMARKS.values(), ids=lambda b: b.name)
def test_entries_are_consistent(benchmark: Benchmark) -> None:
    assert not set(benchmark.known) & set(benchmark.novel)
    assert len({type(label) for label in (*benchmark.known, *benchmark.novel)}) == 1
    assert len(set(benchmark.categorical)) == len(benchmark.categorical)
    if benchmark.paper:
        assert (len(benchmark.known), len(benchmark.novel)) == benchmark.paper[1:3]


def test_only_the_census_sample_cannot_be_scored() -> None:
    assert [benchmark.name for benchmark in BENCHMARKS.values() if not benchmark.scoreable] == ["census"]
