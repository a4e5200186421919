from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from newfound_lab.datasets.raw import _READERS
from newfound_lab.datasets.registry import BENCHMARKS, IndexSplit
from newfound_lab.datasets.sources import SOURCES


def test_every_benchmark_but_two_has_a_source() -> None:
    assert {name for name, benchmark in BENCHMARKS.items() if benchmark.source is None} == {"digits", "nsl_kdd"}
    assert all(BENCHMARKS[name].source is source for name, source in SOURCES.items())


@pytest.mark.parametrize("name", SOURCES)
def test_sources_are_consistent(name: str) -> None:
    benchmark, source = BENCHMARKS[name], SOURCES[name]
    assert all(urlsplit(address).scheme == "https" for address in source.addresses)
    assert len(set(source.files)) == len(source.addresses)
    assert source.licence.startswith("CC BY")
    assert source.format == "mnist" or source.format in _READERS
    assert {*benchmark.known, *benchmark.novel} <= set(source.class_counts)
    assert {type(label) for label in source.class_counts} == {type(benchmark.known[0])}
    counts = list(source.class_counts.values())
    assert None in counts or sum(count or 0 for count in counts) == source.rows
    if isinstance(benchmark.split, IndexSplit):
        assert benchmark.split.instead is not None
        assert benchmark.split.instead.train + benchmark.split.instead.test <= source.rows


@pytest.mark.parametrize("name", [name for name in SOURCES if BENCHMARKS[name].paper])
def test_official_table_has_the_papers_columns(name: str) -> None:
    official = BENCHMARKS[name].on_official("table.parquet", "0" * 64)
    assert official.source is not None
    assert official.paper is not None
    assert official.source.columns - len(official.not_features) == official.paper.attributes
    assert (official.regime, official.scoreable) == ("paper", True)


def test_benchmarks_can_still_be_hashed() -> None:
    assert len(set(BENCHMARKS.values())) == len(BENCHMARKS)


def test_address_is_that_of_the_file_or_of_the_folder_of_several() -> None:
    assert SOURCES["letter"].address.endswith("/59/letter+recognition.zip")
    assert SOURCES["mnist"].address.endswith("/mnist")


def test_file_names_are_those_under_which_browsers_save() -> None:
    assert SOURCES["letter"].files == ("letter+recognition.zip",)
    assert SOURCES["mnist"].files[0] == "train-images-idx3-ubyte.gz"
