"""From the address to the dataset, against a real server with files in the original formats."""

from __future__ import annotations

import errno
import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from laboratory.tests.datasets.conftest import DATA, needs_data, zipped  # noqa: E402
from laboratory.tests.datasets.official_files import (  # noqa: E402
    official_files,
    small_benchmark,
    small_images,
    small_table,
)
from laboratory.tests.datasets.server import Server  # noqa: E402
from newfound.errors import InputError, MissingExtraError  # noqa: E402
from newfound_lab.datasets import BenchmarkDataset, download, load  # noqa: E402
from newfound_lab.datasets.loaders import load_benchmark  # noqa: E402
from newfound_lab.datasets.lookup import find_table  # noqa: E402
from newfound_lab.datasets.registry import BENCHMARKS, Benchmark, SizedSplit  # noqa: E402
from newfound_lab.datasets.sources import SOURCES  # noqa: E402

OTHER_ROWS = "ignore:The rows that the paper trains and tests on:UserWarning"
pytestmark = pytest.mark.filterwarnings(OTHER_ROWS)


def table_of(name: str) -> Any:
    return small_images() if name == "mnist" else small_table(name)


def offered(name: str, server: Server) -> Benchmark:
    table = table_of(name)
    server.files = official_files(name, table)
    return small_benchmark(name, table, server.address)


def all_rows(data: BenchmarkDataset) -> Any:
    return pd.concat([data.X_train, data.X_test], ignore_index=True)


def only_message(caught: pytest.ExceptionInfo[InputError]) -> str:
    message = str(caught.value)
    assert "\n" not in message
    return message


# --- downloads --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SOURCES)
def test_download_to_dataset(name: str, server: Server, cache: Path) -> None:
    benchmark = offered(name, server)
    data = load_benchmark(benchmark)
    table = table_of(name)
    n_rows = 60 if name == "mnist" else len(table)
    assert set(data.known_classes) == set(benchmark.known)
    assert data.scoreable
    assert len(data.kinds) == data.X_train.shape[1]
    if name in ("forest", "letter", "satimage"):
        assert len(data.y_train) + len(data.y_test) <= n_rows
    else:
        assert len(data.y_train) + len(data.y_test) == n_rows
    assert len(server.requests) == len(server.files)
    # the files, a record of each, and the table
    expected = {name for file in server.files for name in (file, f"{file}.json")} | {"tables"}
    assert {path.name for path in cache.iterdir()} == expected
    # from now on nothing is asked of the server
    again = load_benchmark(benchmark, download=False)
    pd.testing.assert_frame_equal(again.X_train, data.X_train)
    np.testing.assert_array_equal(again.y_test, data.y_test)
    assert len(server.requests) == len(server.files)


@pytest.mark.parametrize("name", ["pendigits", "optdigits", "adult_education"])
def test_rows_and_labels_are_those_of_the_file(name: str, server: Server, cache: Path) -> None:
    data, table = load_benchmark(offered(name, server)), small_table(name)
    train = table[table["split"] == "train"].reset_index(drop=True)
    pd.testing.assert_frame_equal(data.X_train, train[list(data.kinds)])
    assert data.y_train_truth.tolist() == train["target"].tolist()
    assert data.y_test.tolist() == table["target"][table["split"] == "test"].tolist()
    assert data.benchmark.regime == BENCHMARKS[name].regime


def test_images_are_scaled(server: Server, cache: Path) -> None:
    data, images = load_benchmark(offered("mnist", server)), small_images()
    np.testing.assert_array_equal(np.asarray(data.X_train), images["x_train"].reshape(40, 784) / np.float32(255))
    assert data.y_test.tolist() == images["y_test"].tolist()


def test_human_is_whole_when_downloaded(server: Server, cache: Path) -> None:
    """All features, with unique names, and the subject; small here, so still fewer columns than the paper's."""
    benchmark = offered("human", server)
    assert benchmark.paper is not None
    data = load_benchmark(replace(benchmark, paper=benchmark.paper._replace(attributes=6)))
    assert data.benchmark.regime == "paper"
    assert data.benchmark.not_features == ()
    assert list(data.kinds)[-1] == "subject"
    assert len(data.kinds) == len(set(data.kinds)) == 6
    assert not data.reduced
    assert load_benchmark(benchmark).reduced


def test_census_is_scoreable_when_downloaded(server: Server, cache: Path) -> None:
    data = load_benchmark(offered("census", server))
    assert data.scoreable
    assert data.benchmark.regime == "paper"
    assert not {"caseid", "iYearsch", "target"} & set(data.kinds)


def test_benchmark_says_what_was_loaded(server: Server, cache: Path) -> None:
    benchmark = offered("pendigits", server)
    data = load_benchmark(benchmark)
    path = cache / "tables" / "pendigits.parquet"
    record = json.loads((cache / "tables" / "pendigits.parquet.json").read_text())
    assert (data.benchmark.file, data.benchmark.sha256) == (path.name, record["sha256"])
    assert list(record["read_from"]) == list(server.files)
    assert record["licence"] == "CC BY 4.0"
    assert data.benchmark.source == benchmark.source


def test_cut_download_goes_on_at_the_next_call(server: Server, cache: Path) -> None:
    benchmark = offered("letter", server)
    server.moods = ["cut", 404]
    with pytest.raises(InputError):
        load_benchmark(benchmark)
    assert not (cache / "letter+recognition.zip").exists()
    load_benchmark(benchmark)
    assert "Range" in server.requests[-1]


# --- order ------------------------------------------------------------------------------------------------------------


def prepared(name: str, folder: Path, sha256: Any, table: Any) -> Benchmark:
    """A benchmark whose prepared file is in a folder."""
    path = folder / BENCHMARKS[name].file
    table.to_parquet(path)
    return replace(small_benchmark(name, table), sha256=sha256(path))


def test_prepared_file_comes_before_the_official_one(data_folder: Path, sha256: Any) -> None:
    table = small_table("pendigits")
    benchmark = prepared("pendigits", data_folder, sha256, table)
    (data_folder / server_file("pendigits")).write_bytes(b"never read")
    assert find_table(benchmark, download=False) == (data_folder / "pendigits.parquet", benchmark)


def server_file(name: str) -> str:
    return SOURCES[name].files[0]


@pytest.mark.parametrize("name", ["human", "census"])
def test_official_file_comes_before_a_prepared_part(name: str, data_folder: Path, sha256: Any) -> None:
    table = small_table(name)
    benchmark = prepared(name, data_folder, sha256, table)
    assert find_table(benchmark, download=False)[1].regime == BENCHMARKS[name].regime
    for file, content in official_files(name, table).items():
        (data_folder / file).write_bytes(content)
    path, found = find_table(benchmark, download=False)
    assert path.parent.name == "tables"
    assert (found.regime, found.scoreable) == ("paper", True)


def test_data_folder_comes_before_the_cache(data_folder: Path, server: Server, sha256: Any) -> None:
    benchmark = offered("human", server)
    load_benchmark(benchmark)
    part = prepared("human", data_folder, sha256, small_table("human"))
    assert find_table(replace(benchmark, sha256=part.sha256))[0] == data_folder / "har_meanstd66.parquet"


def test_data_dir_comes_before_the_environment(data_folder: Path, tmp_path: Path, sha256: Any) -> None:
    other = tmp_path / "other"
    other.mkdir()
    benchmark = prepared("pendigits", other, sha256, small_table("pendigits"))
    (data_folder / "pendigits.parquet").write_bytes(b"another")
    assert find_table(benchmark, other)[0] == find_table(benchmark, str(other))[0] == other / "pendigits.parquet"
    with pytest.raises(InputError, match="not the file that benchmark 'pendigits' was defined on"):
        find_table(benchmark)


@pytest.mark.parametrize("name", SOURCES)
def test_official_files_may_be_put_into_the_data_folder_by_hand(name: str, data_folder: Path) -> None:
    table = table_of(name)
    benchmark = small_benchmark(name, table)
    for file, content in official_files(name, table).items():
        (data_folder / file).write_bytes(content)
    data_folder.chmod(0o500)
    before = sorted(data_folder.iterdir())
    try:
        assert load_benchmark(benchmark, download=False).scoreable
    finally:
        data_folder.chmod(0o700)
    assert sorted(data_folder.iterdir()) == before


def test_another_official_file_in_the_data_folder_is_read_anew(data_folder: Path) -> None:
    table = small_table("pendigits")
    benchmark = small_benchmark("pendigits", table)
    file = data_folder / server_file("pendigits")
    file.write_bytes(official_files("pendigits", table)[file.name])
    first = load_benchmark(benchmark, download=False)
    changed = table.assign(x1=np.int8(7))
    file.write_bytes(official_files("pendigits", changed)[file.name])
    second = load_benchmark(benchmark, download=False)
    assert set(all_rows(second)["x1"]) == {7} != set(all_rows(first)["x1"])


def test_table_in_the_cache_is_enough(server: Server, cache: Path) -> None:
    benchmark = offered("letter", server)
    load_benchmark(benchmark)
    (cache / "letter+recognition.zip").unlink()
    load_benchmark(benchmark, download=False)
    assert len(server.requests) == 1


def test_damaged_table_in_the_cache_is_read_anew(server: Server, cache: Path) -> None:
    benchmark = offered("letter", server)
    first = load_benchmark(benchmark)
    table = cache / "tables" / "letter.parquet"
    table.write_bytes(table.read_bytes()[:-100])
    pd.testing.assert_frame_equal(load_benchmark(benchmark, download=False).X_train, first.X_train)
    assert len(server.requests) == 1


def test_official_file_that_changed_after_its_download(server: Server, cache: Path) -> None:
    benchmark = offered("letter", server)
    load_benchmark(benchmark)
    file = cache / "letter+recognition.zip"
    file.write_bytes(file.read_bytes() + b"x")
    with pytest.raises(InputError, match=r"letter\+recognition\.zip has changed since it was downloaded.*Delete both"):
        load_benchmark(benchmark)
    (cache / "letter+recognition.zip.json").write_text("no JSON")
    with pytest.raises(InputError, match="has changed since it was downloaded"):
        load_benchmark(benchmark)


# --- the paper's rows -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["letter", "satimage"])
def test_without_the_papers_row_numbers_others_are_drawn(name: str, server: Server, cache: Path) -> None:
    benchmark = offered(name, server)
    with pytest.warns(UserWarning, match=rf"trains and tests on for '{name}' are in tabularncd_splits\.npz") as caught:
        data = load_benchmark(benchmark)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert data.benchmark.regime == "paper, other rows"
    assert isinstance(data.benchmark.split, SizedSplit)
    assert (len(data.y_train), len(data.y_test)) == (data.benchmark.split.train, data.benchmark.split.test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = load_benchmark(benchmark)
    pd.testing.assert_frame_equal(again.X_train, data.X_train)


@pytest.mark.parametrize("name", ["letter", "satimage"])
def test_other_rows_are_as_many_as_the_papers(name: str) -> None:
    benchmark = BENCHMARKS[name]
    assert benchmark.paper is not None
    _, _, _, *counts = benchmark.paper
    instead = benchmark.split.instead  # type: ignore[union-attr]
    assert (instead.train, instead.test) == (sum(counts[:2]), sum(counts[2:]))


@needs_data
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["letter", "satimage"])
def test_official_file_and_the_papers_row_numbers(name: str, cache: Path, tmp_path: Path) -> None:
    """The row numbers mean the same rows in the official file as in the prepared one."""
    source = Path(str(DATA))
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "tabularncd_splits.npz").symlink_to(source / "tabularncd_splits.npz")
    for file, content in official_files(name, pd.read_parquet(source / BENCHMARKS[name].file)).items():
        (folder / file).write_bytes(content)
    official, usual = load(name, folder, download=False), load(name, source, download=False)
    assert official.benchmark.regime == "paper"
    pd.testing.assert_frame_equal(official.X_train, usual.X_train)
    np.testing.assert_array_equal(official.y_test, usual.y_test)


@needs_data
def test_census_sample_and_reduced_human_of_the_data_folder() -> None:
    census, human = (load(name, DATA, download=False) for name in ("census", "human"))
    assert not census.scoreable
    assert not census.reduced
    assert human.reduced
    assert human.scoreable
    assert human.benchmark.regime == "paper, reduced"
    assert not load("pendigits", DATA, download=False).reduced
    assert not load("digits").reduced


# --- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SOURCES)
def test_offline_says_what_to_put_where(name: str, data_folder: Path) -> None:
    with pytest.raises(InputError) as caught:
        load(name)
    message, source = only_message(caught), SOURCES[name]
    assert f"'{name}' needs the file {BENCHMARKS[name].file}, which is not in {data_folder} or " in message
    assert f"and {source.addresses[0]} could not be downloaded: " in message
    assert all(file in message for file in source.files)
    assert "Put it there, or the official " in message
    assert "or set data_dir or NEWFOUND_DATA to a folder that holds either" in message
    assert "Name or service not known. Put" in message


def test_offline_without_a_data_folder(cache: Path) -> None:
    with pytest.raises(InputError, match=r"not in .*cache, and .*Put it there.*or set data_dir or NEWFOUND_DATA"):
        load("letter")
    assert not list(cache.glob("*.zip*"))


@pytest.mark.parametrize("name", [*SOURCES, "nsl_kdd"])
def test_download_can_be_forbidden(name: str, cache: Path, server: Server) -> None:
    benchmark = BENCHMARKS[name] if name == "nsl_kdd" else offered(name, server)
    what = "does not download this file" if name == "nsl_kdd" else "download=False forbids to use http://127"
    with pytest.raises(InputError, match=what):
        load_benchmark(benchmark, download=False)
    assert server.requests == []
    assert not cache.exists()


def test_missing_file_on_the_server(server: Server, cache: Path) -> None:
    benchmark = offered("letter", server)
    server.files = {}
    with pytest.raises(InputError) as caught:
        load_benchmark(benchmark)
    assert (
        f"{server.url('letter+recognition.zip')} could not be downloaded: HTTP status 404 Not Found."
        in only_message(caught)
    )


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"<!DOCTYPE html><html>Please log in</html>", "a web page: perhaps of a proxy"),
        (b"PK\x03\x04 and no more", r"not a whole \.zip file"),
        (zipped({"../letter-recognition.data": b"A,1"}), "points out of the archive"),
    ],
)
def test_something_else_instead_of_the_file(content: bytes, what: str, server: Server, cache: Path) -> None:
    benchmark = offered("letter", server)
    server.files["letter+recognition.zip"] = content
    with pytest.raises(InputError, match=what) as caught:
        load_benchmark(benchmark)
    assert "could not be downloaded" in only_message(caught)
    assert list(cache.iterdir()) == []


def test_bomb_instead_of_the_file(server: Server, cache: Path) -> None:
    benchmark = offered("letter", server)
    assert benchmark.source is not None
    server.files["letter+recognition.zip"] = zipped({"letter-recognition.data": bytes(4 << 20)})
    with pytest.raises(InputError, match="unpacks to more than 1 MiB"):
        load_benchmark(replace(benchmark, source=replace(benchmark.source, largest_mib=1)))
    assert list((cache / "tables").iterdir()) == []


def test_table_that_is_not_the_expected_one(server: Server, cache: Path) -> None:
    benchmark = offered("letter", server)
    assert benchmark.source is not None
    with pytest.raises(InputError, match="312 rows instead of 20,000") as caught:
        load_benchmark(replace(benchmark, source=replace(benchmark.source, rows=20_000)))
    assert str(cache / "letter+recognition.zip") in only_message(caught)
    assert list((cache / "tables").iterdir()) == []


def test_cache_that_cannot_be_written(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    (tmp_path / "in the way").write_text("a file")
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path / "in the way"))
    with pytest.raises(InputError, match=r"Cannot write to .*in the way: .*NEWFOUND_CACHE") as caught:
        load_benchmark(offered("letter", server))
    only_message(caught)
    assert server.requests == []


@pytest.mark.parametrize("name", ["letter", "mnist"])
def test_disk_that_is_full_when_the_table_is_written(
    name: str, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any, **options: Any) -> None:
        (cache / "tables" / f"{name}.half").write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    benchmark = offered(name, server)
    with monkeypatch.context() as patch:
        patch.setattr(pd.DataFrame, "to_parquet", full)
        patch.setattr(np, "savez_compressed", full)
        with pytest.raises(InputError, match=r"Cannot write to .*tables: No space left on device\. Make room"):
            load_benchmark(benchmark)
    assert [path.name for path in (cache / "tables").iterdir()] == [f"{name}.half"]
    load_benchmark(benchmark, download=False)


def test_missing_extra_is_noticed_before_the_download(server: Server, cache: Path, uninstall: Any) -> None:
    benchmark = offered("letter", server)
    uninstall("pyarrow")
    with pytest.raises(MissingExtraError, match="needs pyarrow, which is not installed"):
        load_benchmark(benchmark)
    assert server.requests == []


def test_images_need_no_pandas(server: Server, cache: Path, uninstall: Any) -> None:
    benchmark = offered("mnist", server)
    uninstall("pandas")
    uninstall("pyarrow")
    assert isinstance(load_benchmark(benchmark).X_train, np.ndarray)


# --- download alone ---------------------------------------------------------------------------------------------------


def in_registry(benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BENCHMARKS, benchmark.name, benchmark)


def test_download_into_the_cache(server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_registry(offered("mnist", server), monkeypatch)
    paths = download("mnist")
    assert [path.name for path in paths] == list(SOURCES["mnist"].files)
    assert all(path.parent == cache for path in paths)
    assert download("mnist") == paths
    assert len(server.requests) == 4
    assert load("mnist", download=False).X_train.shape == (40, 784)


def test_download_into_a_folder(
    server: Server, data_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    in_registry(offered("human", server), monkeypatch)
    assert download("human", folder) == (folder / server_file("human"),)
    assert list(data_folder.iterdir()) == []
    assert load("human", folder, download=False).benchmark.regime == "paper"


def test_download_that_fails_says_where_to_put_the_file(data_folder: Path, tmp_path: Path, sha256: Any) -> None:
    """And says nothing of a prepared file, which may well be there."""
    prepared("letter", data_folder, sha256, small_table("letter"))
    with pytest.raises(InputError) as caught:
        download("letter")
    message = only_message(caught)
    assert message.startswith(f"{SOURCES['letter'].addresses[0]} could not be downloaded: ")
    assert message.endswith(f"Put the file, got by other means, into {tmp_path / 'cache'}.")
    assert "letter.parquet" not in message


def test_download_verifies_what_is_there(server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_registry(offered("letter", server), monkeypatch)
    (path,) = download("letter")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match="has changed since it was downloaded"):
        download("letter")


def test_nothing_to_download(cache: Path) -> None:
    assert download("digits") == ()
    with pytest.raises(
        InputError, match=r"'nsl_kdd' has no official address to download from; put nsl_kdd\.parquet into"
    ):
        download("nsl_kdd")
    with pytest.raises(InputError, match="expected one of digits"):
        download("nothing")
    with pytest.raises(InputError, match=r"data_dir=.* is not a folder"):
        download("letter", cache / "nowhere")
