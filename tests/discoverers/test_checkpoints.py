"""A training that was ended at any moment goes on, and ends with the same weights to the bit."""

from __future__ import annotations

import random
import subprocess
import sys
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from sklearn.base import clone

import newfound as nf
from newfound.learning import batches, checkpoints, pretraining, self_training, trainer
from newfound.learning.checkpoints import Checkpoints
from newfound.learning.self_training import SelfTrainingSettings
from tests.discoverers.common import PACKED, SMALL, Maker, frame, integer_labels, numbers, tabular_ncd
from tests.processes import wait_for

pytestmark = SMALL
ROOT = Path(__file__).parents[2]
# In a process of its own, which is killed.
CODE = (
    "import sys; from tests.discoverers.test_checkpoints import fit_long; "
    "fit_long(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))"
)


class Crash(Exception):
    """What ends a training."""


@pytest.fixture(autouse=True)
def short_training(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch)


def shorten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(trainer, "SelfTrainingSettings", partial(SelfTrainingSettings, epochs=2))
    patch.setattr(self_training, "_MIN_STEPS", 4)
    # So that an epoch of a small table has several batches, and several that are corrupted apart.
    patch.setattr(batches, "_MIN_ROWS", 16)
    patch.setattr(pretraining, "_AHEAD", {"cpu": 1})


def small(make: Maker = tabular_ncd, **changes: Any) -> Any:
    return make(n_members=2, epochs=4, **changes)


def weights(model: Any) -> dict[str, np.ndarray]:
    return model._fitted_arrays() | {"temperature": np.array(model.temperature_)}


def assert_same(model: Any, other: Any) -> None:
    first, second = weights(model), weights(other)
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert [{**epoch, "seconds": 0} for epoch in model.history_] == [
        {**epoch, "seconds": 0} for epoch in other.history_
    ]


def save_at(monkeypatch: pytest.MonkeyPatch, *steps: int, crash: bool = True) -> list[int]:
    """Write a checkpoint after some steps only, and crash after the last; returns a list that grows with each step."""
    seen: list[int] = []

    def is_due(_: Checkpoints) -> bool:
        seen.append(len(seen) + 1)
        if crash and len(seen) == steps[-1] + 1:
            raise Crash
        return len(seen) in steps

    monkeypatch.setattr(Checkpoints, "is_due", property(is_due))
    return seen


@pytest.mark.parametrize("make", PACKED)
def test_a_training_goes_on_where_it_ended(make: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, model = frame(), integer_labels(), small(make, self_training=2)
    whole = clone(model).fit(X, y)
    seen = save_at(monkeypatch, crash=False)
    assert_same(clone(model).fit(X, y, checkpoint_dir=tmp_path / "counted"), whole)
    for step in np.linspace(1, len(seen) - 1, 5).astype(int).tolist():
        folder = tmp_path / str(step)
        save_at(monkeypatch, step)
        with pytest.raises(Crash):
            clone(model).fit(X, y, checkpoint_dir=folder)
        rest = save_at(monkeypatch, crash=False)
        assert_same(clone(model).fit(X, y, checkpoint_dir=folder), whole)
        assert len(rest) == len(seen) - step
    rest.clear()
    assert_same(clone(model).fit(X, y, checkpoint_dir=folder), whole)
    assert not rest  # it was finished
    clone(model).fit(X, y, checkpoint_dir=folder, resume=False)
    assert len(rest) == len(seen)


def test_a_fit_without_a_seed_goes_on_with_the_same_luck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = numbers(), integer_labels()
    generator, model = np.random.RandomState(3), small(random_state=np.random.RandomState(3))
    whole = model.fit(X, y, calibrate=False)
    for random_state in (generator, None):
        save_at(monkeypatch, 9)
        with pytest.raises(Crash):
            small(random_state=random_state).fit(X, y, calibrate=False, checkpoint_dir=tmp_path / "one")
        save_at(monkeypatch, crash=False)
        other = np.random.RandomState(99) if random_state is generator else None
        found = small(random_state=other).fit(X, y, calibrate=False, checkpoint_dir=tmp_path / "one")
        again = small(random_state=other).fit(X, y, calibrate=False, checkpoint_dir=tmp_path / "one")
        assert_same(found, again)
        if random_state is generator:
            assert_same(found, whole)
        for path in (tmp_path / "one").iterdir():
            path.unlink()


@pytest.mark.parametrize("damage", ["cut", "changed", "emptied"])
def test_a_damaged_checkpoint_falls_back_to_the_one_before(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, whole = numbers(), integer_labels(), small().fit(numbers(), integer_labels())
    save_at(monkeypatch, 4, 7, 9)
    with pytest.raises(Crash):
        small().fit(X, y, checkpoint_dir=tmp_path)
    older, newest = sorted(tmp_path.iterdir())
    content = bytearray(newest.read_bytes())
    if damage == "changed":
        content[-5] ^= 1
    newest.write_bytes(content[: {"cut": len(content) // 2, "changed": None, "emptied": 0}[damage]])
    rest = save_at(monkeypatch, 1, crash=False)
    with pytest.warns(UserWarning, match=rf"{newest.name} cannot be read .*goes on from the one before it"):
        assert_same(small().fit(X, y, checkpoint_dir=tmp_path), whole)
    seen = save_at(monkeypatch, crash=False)
    small().fit(X, y, checkpoint_dir=tmp_path / "other")
    assert len(rest) == len(seen) - 7
    names = sorted(path.name for path in tmp_path.iterdir() if path.is_file())
    assert len(names) == 2
    assert names[0] > newest.name > older.name
    for name in names:
        (tmp_path / name).write_bytes(b"")
    with pytest.warns(UserWarning, match="there is none before it") as caught:
        assert_same(small().fit(X, y, checkpoint_dir=tmp_path), whole)
    assert [
        str(warning.message).rpartition("; ")[2] for warning in caught if "cannot be read" in str(warning.message)
    ] == [
        "the training goes on from the one before it.",
        "there is none before it.",
    ]


@pytest.mark.parametrize("resume", [True, False])
def test_files_of_other_programs_stay(tmp_path: Path, resume: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = {name: tmp_path / f"checkpoint-{name}.safetensors" for name in ("1", "000002", "3", "500", "000501")}
    save_file({"weight": torch.zeros(3)}, theirs["1"])
    save_file({"weight": torch.zeros(3)}, theirs["000002"], {"format": "pt"})
    theirs["3"].write_bytes(b"theirs")
    theirs["500"].mkdir()
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.write_bytes(b"theirs")
    theirs["000501"].symlink_to(elsewhere)
    before = {path: path.read_bytes() for path in theirs.values() if path.is_file()}
    save_at(monkeypatch, 7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that these cannot be read
        with pytest.raises(Crash):
            small().fit(numbers(), integer_labels(), checkpoint_dir=tmp_path, resume=resume)
        save_at(monkeypatch, crash=False)
        small().fit(numbers(), integer_labels(), checkpoint_dir=tmp_path, resume=resume)
    assert {path: path.read_bytes() for path in theirs.values() if path.is_file()} == before
    assert theirs["500"].is_dir()
    assert theirs["000501"].is_symlink()
    assert len(list(tmp_path.iterdir())) == len(theirs) + 2


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"w1": 0.5}, "w1=0.8 there, 0.5 here"),
        ({"encoder": nf.TableEncoder(numeric_scaling="quantile")}, "encoder=None there, TableEncoder here"),
        ({"random_state": 1}, "random_state=0 there, 1 here"),
        ({"X": numbers(1)}, r"\(another table\)"),
        ({"y": np.where(integer_labels() == 1, 7, integer_labels())}, r"\(another labels\)"),
        ({"version": 99}, "another version of newfound"),
    ],
)
def test_a_checkpoint_of_another_training_is_refused(
    change: dict[str, Any], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_at(monkeypatch, 3)
    with pytest.raises(Crash):
        small().fit(numbers(), integer_labels(), checkpoint_dir=tmp_path)
    X, y = change.pop("X", numbers()), change.pop("y", integer_labels())
    monkeypatch.setattr(checkpoints, "FORMAT", change.pop("version", checkpoints.FORMAT))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(nf.errors.InputError, match=problem) as caught:
        small(**change).fit(X, y, checkpoint_dir=tmp_path)
    assert caught.value.cure == "use the same table with the same settings, or an empty folder"
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_of_two_trainings_in_one_folder_the_second_is_refused(tmp_path: Path) -> None:
    X, y = numbers(), integer_labels()
    first = Checkpoints(tmp_path)
    first.open({}, np.random.RandomState(0))
    with pytest.raises(nf.InputError, match=r"checkpoint_dir=.*in which another training is going on; wait for it"):
        small().fit(X, y, checkpoint_dir=tmp_path)
    first.close()
    small().fit(X, y, checkpoint_dir=tmp_path)
    small().fit(X, y, checkpoint_dir=tmp_path)  # which leaves it to others
    assert all(path.name.startswith("checkpoint-") for path in tmp_path.iterdir())


def test_a_full_disk_does_not_end_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = small().fit(numbers(), integer_labels())

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints, "save_file", full)
    with pytest.warns(UserWarning, match="No space left on device.* The training goes on") as caught:
        assert_same(small().fit(numbers(), integer_labels(), checkpoint_dir=tmp_path), whole)
    assert sum("No space" in str(warning.message) for warning in caught) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("settings", "parameter"),
    [
        ({"checkpoint_dir": 3}, "checkpoint_dir"),
        ({"checkpoint_dir": __file__}, "checkpoint_dir"),
        ({"resume": 1}, "resume"),
        ({"checkpoint_every": -1}, "checkpoint_every"),
    ],
)
def test_what_cannot_be_used(settings: dict[str, Any], parameter: str) -> None:
    with pytest.raises(nf.errors.InputError) as caught:
        small().fit(numbers(), integer_labels(), **settings)
    assert caught.value.parameter == parameter


# ---- killed processes


def long(n_epochs: int) -> nf.TabularNCD:
    return tabular_ncd(epochs=n_epochs, pretrain_epochs=n_epochs, n_members=2, self_training=1)


def fit_long(folder: str, every: float, n_epochs: int) -> None:
    """Fit in a process that is to be killed, and say when it begins."""
    (Path(folder) / "begun").touch()
    warnings.simplefilter("ignore")
    with pytest.MonkeyPatch.context() as patch:
        shorten(patch)
        long(n_epochs).fit(frame(), integer_labels(), checkpoint_dir=folder, checkpoint_every=every)
    (Path(folder) / "ended").touch()


def start(folder: Path, every: float, n_epochs: int) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    return subprocess.Popen([sys.executable, "-c", CODE, str(folder), str(every), str(n_epochs)], cwd=ROOT)


def n_written(folder: Path) -> int:
    return max((int(path.stem.rpartition("-")[2]) for path in folder.glob("checkpoint-*.safetensors")), default=0)


def kill_after(folder: Path, n: int, n_epochs: int, pause: float = 0.0) -> None:
    """Kill a process that fits after n checkpoints and a pause."""
    process = start(folder, 0.0, n_epochs)
    wait_for(lambda: n_written(folder) >= n, process=process)
    time.sleep(pause)
    process.kill()
    process.wait()
    assert not (folder / "ended").exists()


def test_a_killed_process_is_continued(tmp_path: Path) -> None:
    kill_after(tmp_path, 70, 20)
    model, whole = (long(20).fit(frame(), integer_labels(), checkpoint_dir=folder) for folder in (tmp_path, None))
    assert_same(model, whole)


@pytest.mark.slow
def test_processes_killed_at_twenty_random_moments(tmp_path: Path) -> None:
    whole, generator = long(40).fit(frame(), integer_labels()), random.Random(0)
    start(tmp_path / "whole", 0.0, 40).wait()
    n_whole = n_written(tmp_path / "whole")
    for moment in range(20):
        folder = tmp_path / str(moment)
        kill_after(folder, generator.randrange(1, n_whole - 20), 40, generator.uniform(0, 0.05))
        left = sorted(path.name for path in folder.iterdir())
        assert_same(long(40).fit(frame(), integer_labels(), checkpoint_dir=folder), whole)
        print(f"{moment + 1}: equal weights after a kill that left {left}, of {n_whole} checkpoints")


def test_a_checkpoint_that_is_cut_while_it_is_read_ends_nothing(tmp_path: Path) -> None:
    """Whatever is left of it: an error that can be caught, and not the end of the process."""
    path = tmp_path / "checkpoint-000001.safetensors"
    save_file({"a": torch.zeros(200_000)}, path, {"newfound": "{}", "digest": ""})
    whole = path.read_bytes()
    tensors, header = checkpoints.read_tensors(path)
    path.write_bytes(whole[:1000])  # tensors that were read before hold on
    assert float(tensors["a"].sum()) == 0.0
    assert header["newfound"] == "{}"
    for left in (0, 7, 60, 1000, len(whole) - 1):
        path.write_bytes(whole[:left])
        with pytest.raises(checkpoints._UnreadableError):
            checkpoints._read(path)
