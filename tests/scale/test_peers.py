"""Peers train one network together, whatever process each of them is in; nothing of Ray is needed for that."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import newfound as nf
from newfound.learning import batches, checkpoints, shards
from newfound.learning.checkpoints import Checkpoints
from newfound.scale import fit_on_ray, predict_on_ray
from newfound.scale.training import Encoding, encode
from newfound.tables.streams import open_stream, source, summarise, summary
from tests.discoverers.common import SMALL, Maker, classifier_projection, pbn, tabular_ncd
from tests.scale.common import InProcess, N, arrays, broken_file, fit_in_process, score, small, write

pytestmark = SMALL


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files that are read in small batches and pieces, and trained in small shards."""
    monkeypatch.setattr(source, "BATCH_ROWS", 100)
    monkeypatch.setattr(source, "PIECE_ROWS", 300)
    monkeypatch.setattr(shards, "SHARD_ROWS", 250)
    monkeypatch.setattr(summary, "SAMPLE_ROWS", 400)
    monkeypatch.setattr(batches, "_MIN_ROWS", 32)
    return write(tmp_path / "rows")


def test_pieces_tell_what_the_whole_tells(rows: Path) -> None:
    encoder = nf.TableEncoder()
    with open_stream(rows, "kind") as stream:
        pieces, whole = stream.pieces(), summarise(stream, encoder)
        found = InProcess(2).summarise(stream, encoder)
    assert [piece.start for piece in pieces] == [0, 300, 400, 700, 800, 1_100]
    assert sum(piece.n_rows for piece in pieces) == N
    assert found.statistics.keys() == whole.statistics.keys()
    for name, statistics in found.statistics.items():
        assert statistics.texts == whole.statistics[name].texts
        assert statistics.n_missing == whole.statistics[name].n_missing
        assert statistics.plain.n == whole.statistics[name].plain.n
        assert statistics.plain.spread == pytest.approx(whole.statistics[name].plain.spread)
    assert found.labels.known_classes.tolist() == ["ant", "bee"]
    # a sample of the whole, in its order
    assert len(found.rows) == len(whole.rows)
    assert (np.diff(found.rows) > 0).all()
    assert 80 < (found.rows < N // 4).sum() < 130
    assert found.sample.n_rows == len(found.rows)


def test_peers_are_dealt_equally_many_rows_of_each_kind(rows: Path) -> None:
    with open_stream(rows, "kind") as stream:
        found = InProcess(7).summarise(stream, nf.TableEncoder())
        encoding = Encoding(found, found.fit_encoder(nf.TableEncoder()), np.array([5, 6]))
        dealt = [encode(encoding, piece, 7) for piece in stream.pieces()]
        whole = np.concatenate([rows for rows, _ in found.encoded(encoding.encoder, encoding.without)])
    assert sum(n for n, *_ in dealt) == N - 2
    for _, *hands in dealt:
        assert len({(codes >= 0).sum() for _, codes in hands}) == len({len(codes) for _, codes in hands}) == 1
    there = {tuple(row) for _, *hands in dealt for rows, _ in hands for row in rows.tolist()}
    assert there == {tuple(row) for row in whole.astype(np.float32).tolist()}


@pytest.mark.parametrize("make", [tabular_ncd, pbn, classifier_projection])
def test_peers_learn_as_one_does(make: Maker, rows: Path, tmp_path: Path) -> None:
    alone = score(make(epochs=15).fit(rows, "kind"))
    assert alone > 0.7
    assert score(fit_in_process(make(epochs=15), rows, 2, tmp_path / "kept")) > alone - 0.1


def test_peers_learn_from_known_and_novel_rows_that_are_mixed(rows: Path, tmp_path: Path) -> None:
    for path in rows.iterdir():
        frame = pd.read_parquet(path)
        frame.loc[frame.index % 2 == 0, "kind"] = None
        frame.to_parquet(path, row_group_size=150)
    found = fit_in_process(small(unlabelled="mixed"), rows, 2, tmp_path / "kept")
    assert found.unlabelled_ == "mixed"
    assert score(found) > 0.9


def test_peers_go_on_where_they_ended(rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, seen = fit_in_process(small(), rows, 3, tmp_path / "whole", every=0), []

    def crash_in_time(here: Checkpoints, *arguments: Any) -> None:
        seen.append(here)
        if len(seen) == 20:
            raise MemoryError
        save(here, *arguments)

    save = Checkpoints.save
    monkeypatch.setattr(Checkpoints, "save", crash_in_time)
    with pytest.raises(MemoryError):  # and the peers that wait for the first do not wait forever
        fit_in_process(small(), rows, 3, tmp_path / "kept", every=0)
    with pytest.raises(nf.InputError, match="batches_per_step=3 there, 2 here"):
        fit_in_process(small(), rows, 2, tmp_path / "kept")
    again = fit_in_process(small(), rows, 3, tmp_path / "kept", every=0)
    assert all(np.array_equal(array, arrays(again)[name]) for name, array in arrays(whole).items())
    assert [epoch | {"seconds": 0} for epoch in again.history_] == [epoch | {"seconds": 0} for epoch in whole.history_]


def test_a_full_disk_is_told_and_survived(rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints, "save_file", full)
    with pytest.warns(UserWarning, match="No space left on device.* The training goes on"):
        assert score(fit_in_process(small(), rows, 2, tmp_path / "kept")) > 0.9


def test_nothing_of_ray_is_imported_before_it_is_needed() -> None:
    code = "import sys, newfound.scale, newfound.scale.training; assert 'ray' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_ray(rows: Path, tmp_path: Path, uninstall: Callable[[str], None]) -> None:
    model = small(epochs=1).fit(rows, "kind")
    uninstall("ray")
    for call in (
        lambda: fit_on_ray(small(), rows, "kind"),
        lambda: predict_on_ray(model, rows, tmp_path / "found.parquet"),
        nf.scale.RayExecutor,
    ):
        with pytest.raises(nf.MissingExtraError, match=r"pip install 'newfound\[scale\]'"):
            call()


@pytest.mark.parametrize(
    ("settings", "parameter"),
    [
        ({"model": nf.KMeansDiscoverer(2)}, "model"),
        ({"X": [[1.0]]}, "X"),
        ({"y": "colours"}, "y"),
        ({"n_workers": 0}, "n_workers"),
        ({"batches_per_step": 1}, "batches_per_step"),
        ({"use_gpu": 1}, "use_gpu"),
        ({"checkpoint_dir": 3}, "checkpoint_dir"),
        ({"address": 3}, "address"),
    ],
)
def test_what_cannot_be_used(settings: dict[str, Any], parameter: str, rows: Path) -> None:
    with pytest.raises(nf.InputError) as refused:
        fit_on_ray(**({"model": small(), "X": rows, "y": "kind"} | settings))
    assert refused.value.parameter == parameter


def test_a_file_with_other_columns_is_named(rows: Path) -> None:
    pd.DataFrame({"width": [1.0], "kind": ["ant"]}).to_parquet(rows / "later.parquet")
    with pytest.raises(nf.InputError, match=r"later\.parquet differs, column 'height' is missing there"):
        fit_on_ray(small(), rows, "kind")


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    path = broken_file(tmp_path / "rows")
    with pytest.raises(nf.InputError, match=r"00400\.parquet cannot be read as a Parquet file"):
        fit_in_process(small(), path.parent, 2, tmp_path / "kept")
