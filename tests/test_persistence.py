"""Saved models come back equal to the bit; files that were cut, altered or forged do not come back at all."""

from __future__ import annotations

import copy
import errno
import io
import json
import os
import pickle
import sys
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import newfound as nf
from newfound import persistence
from newfound.discoverers.base import BaseDiscoverer
from newfound.errors import InputError, ModelFileError
from newfound.records import Records
from newfound.registry import BUILT_IN
from newfound.reporting import render, report_facts
from tests.discoverers.conftest import keep_small_forests
from tests.golden.make import CHANGED, DISCOVERERS, FOLDER, MIXED, tiny_table

Change = Callable[[dict[str, Any], dict[str, Any]], None]

NAMES = sorted(DISCOVERERS)
PACKED = ["TabularNCD", "ClassifierProjection", "PBN"]


@pytest.fixture(scope="module", autouse=True)
def small_forests() -> Iterator[None]:
    """Small forests: what is found is not the question here."""
    with pytest.MonkeyPatch.context() as patch:
        keep_small_forests(patch)
        yield


def quick(name: str, **parameters: Any) -> Any:
    """A discoverer that is fitted in no time."""
    defaults: dict[str, Any] = {"n_novel_classes": 2, "random_state": 0}
    if name in PACKED:
        defaults |= {"epochs": 2, "hidden_layers": [4, 3], "device": "cpu"}
    if name == "TabularNCD":
        defaults |= {"pretrain_epochs": 1}
    if name == "AutoDiscoverer":
        defaults |= {"device": "cpu", "unlabelled": "novel"}
    if name == "InContextDiscoverer":
        defaults |= {"n_views": 1, "device": "cpu", "unlabelled": "novel"}
    if name in ("SpectralDiscoverer", "NCDSpectral"):
        defaults |= {"n_neighbors": 4}
    return getattr(nf, name)(**(defaults | parameters))


def fit(model: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two epochs find no good classes, and that is not the question here
        return model.fit(X, y)


def numbers(n_labelled: int = 16) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    group = np.arange(32) % 4
    X = rng.normal(size=(32, 3)) * 0.3 + group[:, None]
    order = np.argsort(group, kind="stable")
    return X[order], np.where(np.arange(32) < n_labelled, group[order], -1)


def same_model(a: Any, b: Any, X: Any) -> None:
    """Everything that a user can see is equal to the bit."""
    assert type(a) is type(b)
    for name in ("predict", "predict_proba", "transform", "predict_novel"):
        if name == "predict_novel" and not len(a.novel_classes_):
            continue
        np.testing.assert_array_equal(getattr(a, name)(X), getattr(b, name)(X), strict=True)
    for name in ("classes_", "known_classes_", "novel_classes_", "labels_"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), strict=True)
    for name in ("member_labels_", "centroids_", "feature_names_in_", "class_confidence_"):
        assert hasattr(a, name) == hasattr(b, name)
        if hasattr(a, name):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name), strict=True)
    for name in (
        "leaderboard_",
        "weaknesses_",
        "confidence_",
        "known_accuracy_",
        "temperature_",
        "_used_names",
        "unlabelled_",
        "unlabelled_reason_",
        "known_share_",
    ):
        assert hasattr(a, name) == hasattr(b, name)
        if hasattr(a, name):
            assert getattr(a, name) == getattr(b, name)
            assert type(getattr(a, name)) is type(getattr(b, name))
    assert [list(epoch.items()) for epoch in a.history_] == [list(epoch.items()) for epoch in b.history_]
    assert a.n_features_in_ == b.n_features_in_
    assert a.n_novel_classes_ == b.n_novel_classes_
    assert list(a.get_feature_names_out()) == list(b.get_feature_names_out())


def round_trip(model: Any, X: Any, folder: Path) -> Any:
    first, second = folder / "first.newfound", folder / "second.newfound"
    nf.save(model, first)
    loaded = nf.load(first)
    same_model(model, loaded, X)
    nf.save(loaded, second)
    assert first.read_bytes() == second.read_bytes()
    assert sorted(os.listdir(folder)) == ["first.newfound", "second.newfound"]
    return loaded


@pytest.fixture(scope="module")
def kmeans() -> Any:
    return fit(quick("KMeansDiscoverer"), *numbers())


@pytest.fixture(scope="module")
def mixed() -> dict[str, Any]:
    """Every discoverer, fitted to a table with strings, dates and missing cells; and networks of an earlier version."""
    encoder = nf.TableEncoder(numeric_scaling="quantile")
    fitted = {name: fit(quick(name, encoder=encoder), *tiny_table()) for name in NAMES}
    return fitted | {"networks": nf.load(FOLDER / "v2-AutoDiscoverer.newfound")}


@pytest.fixture(scope="module")
def kmeans_bytes(kmeans: Any, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("kmeans") / "model.newfound"
    nf.save(kmeans, path)
    return path.read_bytes()


# ---- round trips


@pytest.mark.parametrize("name", NAMES)
def test_numbers_come_back(name: str, tmp_path: Path) -> None:
    X, y = numbers()
    round_trip(fit(quick(name), X, y), X, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_mixed_tables_come_back(name: str, mixed: dict[str, Any], tmp_path: Path) -> None:
    table, _ = tiny_table()
    new = table.iloc[::-1].copy()
    new.loc[5:9, "city"] = "Atlantis"  # a category and missing cells that fit has not seen
    new.loc[11:13, "income"] = np.nan
    round_trip(mixed[name], new, tmp_path)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "labels",
    [["ant", "bee"], [-7, 2**40], [False, True], [0.0, 3.0], ["x\ny\ud800", "ä"]],
    ids=["text", "int", "bool", "float", "odd text"],
)
def test_labels_of_every_type_come_back(name: str, labels: list[Any], tmp_path: Path) -> None:
    X, codes = numbers()
    y = np.array([labels[code] if code >= 0 else None for code in codes], dtype=object)
    loaded = round_trip(fit(quick(name), X, y), X, tmp_path)
    assert loaded.known_classes_.tolist() == labels


@pytest.mark.parametrize("name", PACKED)
def test_members_come_back(name: str, tmp_path: Path) -> None:
    X, y = numbers()
    model = fit(quick(name, n_members=3), X, y)
    loaded = round_trip(model, X, tmp_path)
    assert loaded.member_labels_.shape == (3, 32)
    same_model(model.member(2), loaded.member(2), X)
    alone = tmp_path / "alone"
    alone.mkdir()
    round_trip(model.member(1), X, alone)


@pytest.mark.parametrize("name", NAMES)
def test_classifier_without_novel_classes_comes_back(name: str, tmp_path: Path) -> None:
    X, y = numbers(n_labelled=32)
    assert len(round_trip(fit(quick(name), X, y), X, tmp_path).novel_classes_) == 0


@pytest.mark.parametrize("name", ["KMeansDiscoverer", "SpectralDiscoverer"])
def test_model_without_known_classes_comes_back(name: str, tmp_path: Path) -> None:
    X, _ = numbers()
    assert len(round_trip(fit(quick(name), X, None), X, tmp_path).known_classes_) == 0


@pytest.mark.parametrize("name", NAMES)
def test_parameters_come_back(name: str, mixed: dict[str, Any], tmp_path: Path) -> None:
    model = mixed[name]
    nf.save(model, tmp_path / "model.newfound")
    loaded = nf.load(tmp_path / "model.newfound")
    ours, theirs = model.get_params(), loaded.get_params()
    encoders = ours.pop("encoder"), theirs.pop("encoder")
    assert encoders[0].get_params() == encoders[1].get_params()
    assert ours == theirs
    assert {key: type(value) for key, value in ours.items()} == {key: type(value) for key, value in theirs.items()}
    assert type(clone(loaded)) is type(model)


@pytest.mark.parametrize(
    ("parameters", "stored"),
    [
        ({"without": ("mse", "ce")}, ("mse", "ce")),
        ({"without": ["mse"]}, ["mse"]),
        ({"without": {"mse", "ce"}}, {"mse", "ce"}),
        ({"without": frozenset(["ssl"])}, frozenset(["ssl"])),
        ({"without": {"mse": 1}.keys()}, ("mse",)),
        ({"hidden_layers": (4, np.int64(3))}, (4, 3)),
        ({"hidden_layers": np.array([4, 3])}, [4, 3]),
        ({"w1": np.float32(0.5)}, 0.5),
        ({"epochs": np.int64(1)}, 1),
        ({"n_novel_classes": "auto"}, "auto"),
        ({"device": torch.device("cpu")}, "cpu"),
        ({"random_state": np.random.RandomState(0)}, None),
        ({"random_state": None}, None),
        ({"random_state": np.uint32(2**32 - 1)}, 2**32 - 1),
        ({"verbose": False}, False),
    ],
)
def test_parameter_of_any_accepted_type(parameters: dict[str, Any], stored: Any, tmp_path: Path) -> None:
    X, y = numbers()
    loaded = round_trip(fit(quick("TabularNCD", **parameters), X, y), X, tmp_path)
    value = getattr(loaded, next(iter(parameters)))
    assert value == stored
    assert type(value) is type(stored)


def test_encoder_parameter_comes_back(tmp_path: Path) -> None:
    X, y = numbers()
    encoder = nf.TableEncoder(
        {"x1": "ignored"}, numeric_scaling="none", categorical_scaling="standard", max_categories=3
    )
    loaded = round_trip(fit(quick("KMeansDiscoverer", encoder=encoder), X, y), X, tmp_path)
    assert loaded.encoder.get_params() == encoder.get_params()
    assert not hasattr(loaded.encoder, "schema_")
    assert round_trip(fit(quick("KMeansDiscoverer"), X, y), X, tmp_path).encoder is None


def test_history_with_a_loss_beyond_numbers_comes_back(kmeans: Any, tmp_path: Path) -> None:
    model = fit(clone(kmeans), *numbers())
    model.history_ = [{"stage": "joint", "epoch": 1, "loss": float("inf")}, {"loss": -float("inf"), "note": None}]
    assert round_trip(model, numbers()[0], tmp_path).history_ == model.history_
    model.history_ = [{"loss": float("nan")}]
    nf.save(model, tmp_path / "first.newfound")
    assert np.isnan(nf.load(tmp_path / "first.newfound").history_[0]["loss"])


def test_facts_come_back(tmp_path: Path) -> None:
    X, y = numbers()
    model = fit(quick("AutoDiscoverer"), X, y)
    loaded = round_trip(model, X, tmp_path)
    assert isinstance(loaded.leaderboard_, Records)
    assert str(loaded.leaderboard_) == str(model.leaderboard_) != ""
    assert loaded.weaknesses_ == model.weaknesses_ != []
    model.leaderboard_[0]["score"] = float("inf")  # what JSON does not know
    assert round_trip(model, X, tmp_path).leaderboard_[0]["score"] == float("inf")


@pytest.mark.parametrize("labelled", [True, False])
def test_a_loaded_model_says_how_many_classes_there_may_be(tmp_path: Path, labelled: bool) -> None:
    """As the fitted one does, in its report as well; the in-context network counts, or else criteria."""
    X, y = numbers()
    if not labelled:
        y = [None] * len(X)
    model = nf.KMeansDiscoverer(random_state=0).fit(X, y)
    loaded = round_trip(model, X, tmp_path)
    assert loaded.n_classes_estimate_ == model.n_classes_estimate_
    assert repr(loaded.n_classes_estimate_.curve) == repr(model.n_classes_estimate_.curve)
    facts = [report_facts(one, X, y, random_state=0) for one in (model, loaded)]
    assert facts[0] == facts[1]
    assert facts[1]["n_classes"]["n_classes"] == model.n_novel_classes_
    assert "How many classes" in render(facts[1])


def test_facts_in_the_header(mixed: dict[str, Any]) -> None:
    facts = {name: set(persistence._header_of(mixed[name])["facts"]) for name in NAMES}
    assert facts.pop("AutoDiscoverer") == {"leaderboard", "known_accuracy", "weaknesses"}
    assert facts.pop("InContextDiscoverer") == {"known_accuracy", "weaknesses"}
    assert set(map(frozenset, facts.values())) == {frozenset({"weaknesses"})}


def test_facts_that_a_file_cannot_hold_are_refused(tmp_path: Path) -> None:
    model = fit(quick("AutoDiscoverer"), *numbers())
    model.leaderboard_[0]["score"] = object()
    with pytest.raises(InputError, match="leaderboard_, which a model file cannot hold"):
        nf.save(model, tmp_path / "model.newfound")


CURATED = ["KMeansDiscoverer", "SpectralDiscoverer", "TabularNCD", "AutoDiscoverer"]


@pytest.fixture(scope="module")
def curated_models(mixed: dict[str, Any]) -> dict[str, Any]:
    """Some discoverers whose classes were split, merged with each other and with a known one, and renamed."""
    models = {name: copy.deepcopy(mixed[name]) for name in CURATED}
    for model in models.values():
        model.temperature_ = 2.5
        model.split("novel_0", 3, tiny_table()[0], training=True).merge(["novel_0_2", "bee"])
        model.merge(["novel_1", "novel_0_3"]).rename({"novel_1": "ä"})
    return models


@pytest.mark.parametrize("name", CURATED)
def test_curated_classes_come_back(name: str, curated_models: dict[str, Any], tmp_path: Path) -> None:
    table, _ = tiny_table()
    loaded = round_trip(curated_models[name], table, tmp_path)
    assert loaded.classes_.tolist() == ["ant", "bee", "novel_0_1", "ä"]
    assert (loaded.predict_proba(table) != loaded._state.proba(loaded._encode(table))[:, :4]).any()
    (tmp_path / "again").mkdir()
    loaded.rename({"ä": "ö"}).split("ö", 2, table, training=True)
    assert round_trip(loaded, table, tmp_path / "again").novel_classes_.tolist() == ["novel_0_1", "ö_1", "ö_2"]


def test_all_novel_classes_can_be_known_ones_after_all(mixed: dict[str, Any], tmp_path: Path) -> None:
    model = copy.deepcopy(mixed["NCDKMeans"]).merge(["ant", "novel_0", "novel_1"])
    loaded = round_trip(model, tiny_table()[0], tmp_path)
    assert loaded.classes_.tolist() == ["ant", "bee"]
    with pytest.raises(InputError, match="all were merged with known classes"):
        loaded.predict_novel(tiny_table()[0])


def test_members_of_a_curated_model_come_back(tmp_path: Path) -> None:
    X, y = numbers()
    model = fit(quick("TabularNCD", n_members=3), X, y).split(2, 2, X, training=True).rename({3: 50})
    loaded = round_trip(model, X, tmp_path)
    same_model(model.member(1), loaded.member(1), X)
    assert set(loaded.member(1).labels_.tolist()) <= set(model.classes_.tolist())


def test_file_is_plain_safetensors(kmeans: Any, kmeans_bytes: bytes) -> None:
    arrays = safetensors.numpy.load(kmeans_bytes)
    np.testing.assert_array_equal(arrays["discoverer.centroids"], kmeans.centroids_)
    assert {array.dtype.name for array in arrays.values()} <= {"float64", "float32", "int32"}


def test_loaded_model_can_be_fitted_again(kmeans_bytes: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.newfound"
    path.write_bytes(kmeans_bytes)
    loaded = nf.load(path)
    table, y = tiny_table()
    assert "novel_0" in loaded.fit(table, y).classes_


# ---- what cannot be saved


def test_unfitted_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not fitted yet"):
        nf.save(nf.TabularNCD(), tmp_path / "model.newfound")
    assert not os.listdir(tmp_path)


def test_something_else_is_refused(tmp_path: Path) -> None:
    class Mine(nf.KMeansDiscoverer):
        pass

    for thing in (None, {"a": 1}, nf.TableEncoder(), nf.KMeansDiscoverer, fit(Mine(2), *numbers())):
        with pytest.raises(InputError, match=r"only these can be saved: .*TabularNCD"):
            nf.save(thing, tmp_path / "model.newfound")  # type: ignore[arg-type]
    assert not os.listdir(tmp_path)


def test_encoder_of_another_class_is_refused(tmp_path: Path) -> None:
    class Mine(nf.TableEncoder):
        pass

    with pytest.raises(InputError, match="encoder of type Mine"):
        nf.save(fit(quick("KMeansDiscoverer", encoder=Mine()), *numbers()), tmp_path / "model.newfound")


@pytest.mark.parametrize(
    "changed",
    [{"n_members": 3}, {"hidden_layers": [9]}, {"activation": "tanh"}, {"w1": 7}, {"top_k": object()}],
)
def test_parameters_changed_after_fit_are_refused(changed: dict[str, Any], tmp_path: Path) -> None:
    model = fit(quick("TabularNCD"), *numbers()).set_params(**changed)
    with pytest.raises(InputError, match=r"cannot be saved|cannot hold"):
        nf.save(model, tmp_path / "model.newfound")
    assert not os.listdir(tmp_path)


def test_diverged_network_is_refused(tmp_path: Path) -> None:
    model = fit(quick("TabularNCD"), *numbers())
    model.network_.classification.weight[0, 0, 0] = float("nan")
    with pytest.raises(InputError, match=r"finite numbers.*diverged, fit it again"):
        nf.save(model, tmp_path / "model.newfound")


@pytest.mark.parametrize("path", [None, 3, "", "a\0b", b"bytes"])
def test_path_must_be_a_path(path: Any, kmeans: Any) -> None:
    with pytest.raises(InputError, match="Got path="):
        nf.save(kmeans, path)
    with pytest.raises(InputError, match="Got path="):
        nf.load(path)


# ---- writing


def failing(number: int) -> Callable[..., Any]:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.fixture
def old_file(tmp_path: Path, kmeans_bytes: bytes) -> Path:
    path = tmp_path / "model.newfound"
    path.write_bytes(kmeans_bytes)
    return path


def assert_intact(path: Path, content: bytes) -> None:
    assert path.read_bytes() == content
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_full_disk_leaves_the_old_file(
    step: str, mixed: dict[str, Any], old_file: Path, kmeans_bytes: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, step, failing(errno.ENOSPC))
    with pytest.raises(ModelFileError, match="No space left on device") as caught:
        nf.save(mixed["KMeansDiscoverer"], old_file)
    assert "\n" not in str(caught.value)
    assert_intact(old_file, kmeans_bytes)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_device_that_is_always_full(
    mixed: dict[str, Any], old_file: Path, kmeans_bytes: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_full(path: str, mode: str) -> Any:
        Path(path).touch()  # the name is there, and the space for its content is not
        return open("/dev/full", "wb")

    monkeypatch.setattr(persistence, "open", open_full, raising=False)
    with pytest.raises(ModelFileError, match="No space left on device"):
        nf.save(mixed["KMeansDiscoverer"], old_file)
    assert_intact(old_file, kmeans_bytes)


def test_limit_on_file_size(mixed: dict[str, Any], old_file: Path, kmeans_bytes: bytes) -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(ModelFileError, match="File too large"):
            nf.save(mixed["SpectralDiscoverer"], old_file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert_intact(old_file, kmeans_bytes)


def test_interruption_leaves_the_old_file(
    mixed: dict[str, Any], old_file: Path, kmeans_bytes: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        nf.save(mixed["KMeansDiscoverer"], old_file)
    assert_intact(old_file, kmeans_bytes)


def test_places_that_cannot_be_written(kmeans: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "folder").mkdir()
    for path, reason in [
        (tmp_path / "missing" / "model.newfound", "No such file or directory"),
        (tmp_path / "file" / "model.newfound", "Not a directory"),
        (tmp_path / "folder", "Is a directory"),
        (tmp_path / ("x" * 300), "File name too long"),
        ("/dev/null", "is not a file"),
    ]:
        with pytest.raises(ModelFileError, match=reason) as caught:
            nf.save(kmeans, path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]
    assert not Path("/dev/null").is_file()


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="nothing is unwritable for root")
def test_unwritable_folder(kmeans: Any, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ModelFileError, match="Permission denied"):
            nf.save(kmeans, tmp_path / "model.newfound")
    finally:
        tmp_path.chmod(0o700)


def test_denied_folder_leaves_the_old_file(
    kmeans: Any, old_file: Path, kmeans_bytes: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(persistence, "open", failing(errno.EACCES), raising=False)
    with pytest.raises(ModelFileError, match="Permission denied"):
        nf.save(kmeans, old_file)
    assert_intact(old_file, kmeans_bytes)


def test_saving_keeps_links_and_permissions(kmeans: Any, tmp_path: Path) -> None:
    real, link = tmp_path / "real.newfound", tmp_path / "link.newfound"
    nf.save(kmeans, real)
    umask = os.umask(0)
    os.umask(umask)
    assert real.stat().st_mode & 0o777 == 0o666 & ~umask
    real.chmod(0o640)
    link.symlink_to(real)
    real.write_bytes(b"old")
    nf.save(kmeans, link)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    same_model(kmeans, nf.load(real), numbers()[0])


# ---- files that are no model


def refused(path: Path | str, match: str | None = None) -> None:
    with pytest.raises(ModelFileError, match=match) as caught:
        nf.load(path)
    message = str(caught.value)
    assert message.startswith(f"Cannot load {path}: ")
    assert "\n" not in message
    assert len(message) < 700 + len(str(path))


def with_header(header: bytes, data: bytes = b"") -> bytes:
    return len(header).to_bytes(8, "little") + header + data


class Bomb:
    """Leaves a trace when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> Any:
        return (Path.touch, (self.trace,))


def test_missing_file_folder_and_device(tmp_path: Path) -> None:
    refused(tmp_path / "nothing.newfound", "No such file or directory")
    refused(tmp_path, "is not a file")
    refused("/dev/zero", "is not a file")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "fifo")  # which a reader that opened it would wait for forever
        refused(tmp_path / "fifo", "is not a file")


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_file_that_is_cut_while_it_is_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    path = tmp_path / "small.newfound"
    nf.save(nf.KMeansDiscoverer(n_novel_classes=1).fit([[0.0], [1.0], [9.0], [8.0]], ["a", "a", None, None]), path)
    read_header = persistence._read_header

    def read_and_cut(file: Any, size: int) -> dict[str, Any]:
        header = read_header(file, size)
        os.truncate(path, int(share * size))
        return header

    monkeypatch.setattr(persistence, "_read_header", read_and_cut)
    refused(path, "cut while it was being read")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 7,
        b"\0" * 8,
        b"{}",
        b"\xff" * 8 + b"{}",
        (2**40).to_bytes(8, "little") + b"{}",
        (10**8).to_bytes(8, "little") + b" " * 100,
        with_header(b"{}"),
        with_header(b"[]"),
        with_header(b"\xff\xfe"),
        with_header(b'{"__metadata__":{"format":"pt"}}'),
        with_header(b'{"__metadata__":{"newfound":1}}'),
        with_header(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        with_header(b'{"a":{"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,0]}}'),
        with_header(b'{"a":{"dtype":"F64","shape":[100000000000],"data_offsets":[0,800000000000]}}'),
        with_header(b'{"a":{"dtype":"F64","shape":[-1],"data_offsets":[0,8]}}', b"\0" * 8),
        with_header(b'{"a":{"dtype":"F64","shape":[1],"data_offsets":[8,0]}}', b"\0" * 8),
        with_header(b'{"a":{"dtype":"O","shape":[1],"data_offsets":[0,8]}}', b"\0" * 8),
        with_header(
            b'{"__metadata__":{"newfound":"{}"},"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}', b"\0\0"
        ),
        "PK",
    ],
    ids=lambda content: repr(content[:30]),
)
def test_garbage_is_refused_without_taking_memory(content: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.newfound"
    if content == "PK":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("data.pkl", "x" * 1000)
        content = buffer.getvalue()
    path.write_bytes(content)
    tracemalloc.start()
    try:
        refused(path)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_pickles_are_not_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    path = tmp_path / "model.newfound"
    path.write_bytes(pickle.dumps(Bomb(trace)))
    refused(path, "not a model file written by newfound.save")
    torch.save(Bomb(trace), path)
    refused(path, "not a model file written by newfound.save")
    assert not trace.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="relies on how Linux refuses memory")
def test_file_larger_than_memory(tmp_path: Path) -> None:
    path = tmp_path / "model.newfound"
    count = 10**12 // 8
    header = {
        "__metadata__": {"newfound": "{}"},
        "a": {"dtype": "F64", "shape": [count], "data_offsets": [0, count * 8]},
    }
    content = with_header(json.dumps(header).encode())
    path.write_bytes(content)
    try:
        os.truncate(path, len(content) + count * 8)  # a terabyte of nothing, which takes no room on the disk
    except OSError:
        pytest.skip("the file system has no files of this size")
    refused(path)


def test_every_truncation_is_refused(kmeans_bytes: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.newfound"
    for length in range(len(kmeans_bytes)):
        path.write_bytes(kmeans_bytes[:length])
        refused(path)
    path.write_bytes(kmeans_bytes + b"\0")
    refused(path)


def content_of(model: Any) -> tuple[str, str]:
    header = persistence._header_of(model)
    return persistence._json_text(header), persistence._digest(header, persistence._arrays_of(model))


@pytest.mark.parametrize("mask", [0xFF, 0x01])
def test_no_changed_byte_changes_the_model(mask: int, kmeans: Any, kmeans_bytes: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.newfound"
    survivors = 0
    for place in range(len(kmeans_bytes)):
        changed = bytearray(kmeans_bytes)
        changed[place] ^= mask
        path.write_bytes(changed)
        try:
            loaded = nf.load(path)
        except ModelFileError:
            continue
        survivors += 1  # such as the capital letter in \u00Fc or another blank: the same content in other letters
        assert content_of(loaded) == content_of(kmeans)
    assert survivors <= 16


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_edit_changes_a_network(data: st.DataObject, mixed: dict[str, Any], tmp_path: Path) -> None:
    model = mixed["TabularNCD"]
    path, edited = tmp_path / "model.newfound", tmp_path / "edited.newfound"
    if not path.exists():
        nf.save(model, path)
    content = bytearray(path.read_bytes())
    start = data.draw(st.integers(0, len(content) - 1))
    content[start : start + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    edited.write_bytes(content)
    try:
        loaded = nf.load(edited)
    except ModelFileError:
        return
    assert content_of(loaded) == content_of(model)


# ---- forged files, whose digest is right


def forge(model: BaseDiscoverer, path: Path, change: Change) -> None:
    header, arrays = persistence._header_of(model), persistence._arrays_of(model)
    header = json.loads(json.dumps(header))
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(header, arrays)
    header["digest"] = persistence._digest(header, arrays)
    text = json.dumps(header)
    path.write_bytes(safetensors.numpy.save(arrays, metadata={"newfound": text}))


def put(*places: Any) -> Change:
    """Set an entry of the header: its keys, then its value."""

    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        *keys, last, value = places
        for key in keys:
            header = header[key]
        header[last] = value

    return change


def put_fact(name: str, value: Any) -> Change:
    """Set an entry of the facts, also where there are none."""

    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        header.setdefault("facts", {})[name] = value

    return change


def drop(key: str) -> Change:
    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        (header if key in header else arrays).pop(key)

    return change


def array(name: str, make: Callable[[Any], Any]) -> Change:
    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[name] = make(arrays.get(name))

    return change


def fill(value: float) -> Callable[[Any], Any]:
    def make(old: Any) -> Any:
        old.reshape(-1)[-1] = value
        return old

    return make


def test_forged_file_with_no_change_loads(mixed: dict[str, Any], tmp_path: Path) -> None:
    for name in NAMES:
        forge(mixed[name], tmp_path / name, lambda header, arrays: None)
        same_model(mixed[name], nf.load(tmp_path / name), tiny_table()[0])


ANY_MODEL: list[tuple[str, Change, str]] = [
    ("newer version", put("format_version", 3), "format version 3, and newfound .* reads 1 and 2;"),
    ("entries of another version", put("format_version", 1), "must hold exactly"),
    ("version as text", put("format_version", "1"), "needs int in 'format_version'"),
    ("version true", put("format_version", True), "needs int in 'format_version'"),
    ("no version", drop("format_version"), "needs int in 'format_version'"),
    ("unknown class", put("class", "Popen"), "'Popen', which is none of"),
    ("class of another module", put("class", "os.system"), "which is none of"),
    ("class as list", put("class", ["KMeansDiscoverer"]), "needs str in 'class'"),
    ("unknown entry", put("code", "import os"), "must hold exactly"),
    ("missing entry", drop("history"), "must hold exactly"),
    ("unknown parameter", put("parameters", "hook", "x"), "has no parameter 'hook'"),
    ("private parameter", put("parameters", "__class__", "x"), "has no parameter"),
    ("parameters as list", put("parameters", []), "needs dict in 'parameters'"),
    ("n_novel_classes 0", put("parameters", "n_novel_classes", 0), "n_novel_classes=0"),
    ("n_novel_classes list", put("parameters", "n_novel_classes", [1]), "n_novel_classes"),
    ("negative seed", put("parameters", "random_state", -1), "random_state"),
    ("seed true", put("parameters", "random_state", True), "random_state"),
    ("unknown collection", put("parameters", "n_novel_classes", {"eval": []}), "not understood"),
    ("two collections", put("parameters", "n_novel_classes", {"set": [], "tuple": []}), "not understood"),
    ("nested", put("parameters", "n_novel_classes", [[1]]), "nested"),
    ("unhashable", put("parameters", "n_novel_classes", {"set": [{}]}), "nested"),
    ("encoder parameter text", put("parameters", "encoder", "x"), "must be a dict"),
    ("encoder parameter unknown", put("parameters", "encoder", "dtype", "x"), "TableEncoder has no parameter"),
    ("encoder parameter wrong", put("parameters", "encoder", "numeric_scaling", "x"), "numeric_scaling"),
    ("encoder parameter list", put("parameters", "encoder", "categorical_scaling", []), "categorical_scaling"),
    ("encoder parameter kinds", put("parameters", "encoder", "kinds", {"a": "code"}), "column kinds"),
    ("encoder text", put("encoder", "x"), "encoder must be a dict"),
    ("encoder without blocks", put("encoder", "blocks", []), "one block for each"),
    ("encoder spread 0", put("encoder", "blocks", 0, "spread", 0.0), "above 0"),
    ("encoder max_categories", put("encoder", "max_categories", -3), "max_categories"),
    (
        "schema twice",
        lambda header, arrays: header["encoder"]["schema"].append(header["encoder"]["schema"][0]),
        "twice",
    ),
    ("no classes", put("known_classes", {"kind": "int", "values": []}), "classes"),
    ("classes of unknown kind", put("known_classes", {"kind": "object", "values": ["a"]}), "kind"),
    ("classes unsorted", put("known_classes", {"kind": "str", "values": ["bee", "ant"]}), "increasing order"),
    ("classes twice", put("known_classes", {"kind": "str", "values": ["ant", "ant"]}), "different"),
    ("classes mixed", put("known_classes", {"kind": "str", "values": ["ant", 1]}), "of type str"),
    ("classes of two types", put("novel_classes", {"kind": "int", "values": [1, 2]}), "of one type"),
    ("class known and novel", put("novel_classes", {"kind": "str", "values": ["ant", "x"]}), "both known and novel"),
    ("fewer novel classes", put("novel_classes", {"kind": "str", "values": ["novel_0"]}), "lead to 2 novel classes"),
    ("huge class", put("known_classes", {"kind": "int", "values": [10**30]}), "64-bit"),
    ("history of texts", put("history", ["x"]), "list of dicts"),
    ("count of nothing", put_fact("count", []), "the count must be"),
    ("count beyond", put_fact("count", [{"n_classes": 5, "low": 1, "high": 2}]), "within its interval"),
    ("count of text", put_fact("count", [{"n_classes": "5", "low": 1, "high": 7}]), "n_classes"),
    ("count alone", put_fact("count", [{"n_classes": 2, "low": 1, "high": 2}]), "the curve of the count"),
    ("facts unknown", put_fact("more", ["x"]), "'more', which does not belong"),
    ("weaknesses of numbers", put_fact("weaknesses", [1]), "weaknesses must be a list of texts"),
    ("facts of a number", put_fact("more", 3), "dict of lists"),
    ("facts nested", put_fact("more", [{"a": {"b": 1}}]), "facts must hold single numbers"),
    ("facts of lists", put_fact("more", [["a"]]), "facts must hold single numbers"),
    ("facts infinite", put_fact("more", [{"a": {"not_finite": "1e999"}}]), "facts must hold single numbers"),
    ("facts as list", put("facts", ["x"]), "dict of lists"),
    ("facts as text", put("facts", "x"), "dict of lists"),
    ("facts null", put("facts", None), "dict of lists"),
    ("history nested", put("history", [{"a": {"b": 1}}]), "single numbers"),
    ("history pretends", put("history", [{"a": {"not_finite": "0"}}]), "single numbers"),
    ("labels out of range", array("labels", fill(99)), "do not exist"),
    ("known class of no row", array("labels", lambda old: old.clip(1)), "'ant' has no rows"),
    ("labels negative", array("labels", fill(-1)), "do not exist"),
    ("labels empty", array("labels", lambda old: old[:0]), "'labels' must hold"),
    ("labels of floats", array("labels", lambda old: old.astype(np.float64)), "'labels' must hold"),
    ("labels two-dimensional", array("labels", lambda old: old[None]), "'labels' must hold"),
    ("labels missing", drop("labels"), "'labels' is missing"),
    ("unknown array", array("labels2", lambda old: np.zeros(3)), "'labels2' does not belong"),
    ("unknown encoder array", array("encoder.more", lambda old: np.zeros(3)), "'encoder.more' does not belong"),
    (
        "unknown discoverer array",
        array("discoverer.more", lambda old: np.zeros(3)),
        "'discoverer.more' does not belong",
    ),
    ("scale 0", array("encoder.scale", fill(0.0)), "above 0"),
    ("shift NaN", array("encoder.shift", fill(np.nan)), "finite"),
    ("shift short", array("encoder.shift", lambda old: old[1:]), "'shift' must hold"),
    ("quantiles fall", array("encoder.references.0", lambda old: old[::-1].copy()), "must increase"),
    ("quantiles empty", array("encoder.references.0", lambda old: old[:0]), "'references.0' must hold"),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("change", "match"), [case[1:] for case in ANY_MODEL], ids=[case[0] for case in ANY_MODEL])
def test_forged_content_is_refused(
    name: str, change: Change, match: str, mixed: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "model.newfound"
    forge(mixed[name], path, change)
    refused(path, match)


NETWORK = "discoverer.network.encoder.0.weight"
MORE_CLASSES = put("known_classes", {"kind": "str", "values": ["ant", "ape", "bee"]})
ONE_MODEL: list[tuple[str, str, Change, str]] = [
    ("KMeansDiscoverer", "variance 0", array("discoverer.variance", fill(0.0)), "above 0"),
    ("KMeansDiscoverer", "centroids short", array("discoverer.centroids", lambda old: old[1:]), "must hold"),
    ("KMeansDiscoverer", "centroids infinite", array("discoverer.centroids", fill(np.inf)), "finite"),
    ("KMeansDiscoverer", "centroids float32", array("discoverer.centroids", np.float32), "must hold float64"),
    ("KMeansDiscoverer", "more classes", MORE_CLASSES, "must hold"),
    ("KMeansDiscoverer", "n_init", put("parameters", "n_init", 1.5), "n_init=1.5"),
    ("KMeansDiscoverer", "other class", put("class", "SpectralDiscoverer"), "no parameter 'n_init'"),
    ("SpectralDiscoverer", "voters short", array("discoverer.voters", lambda old: old[1:]), "must hold"),
    ("SpectralDiscoverer", "voters narrow", array("discoverer.voters", lambda old: old[:, 1:].copy()), "must hold"),
    ("SpectralDiscoverer", "no novel voter", array("discoverer.voter_codes", np.zeros_like), "votes for a novel"),
    ("SpectralDiscoverer", "voter of no class", array("discoverer.voter_codes", fill(7)), "do not exist"),
    ("SpectralDiscoverer", "no voters", array("discoverer.voter_codes", lambda old: old[:0]), "must hold"),
    ("SpectralDiscoverer", "voters beyond rows", array("labels", lambda old: old[:3]), "were there to learn from"),
    ("TabularNCD", "network infinite", array(NETWORK, fill(np.inf)), "finite"),
    ("TabularNCD", "network float64", array(NETWORK, np.float64), "float32"),
    ("TabularNCD", "network transposed", array(NETWORK, lambda old: old.swapaxes(1, 2).copy()), "shapes"),
    ("TabularNCD", "more classes", MORE_CLASSES, "shapes"),
    ("TabularNCD", "layer missing", drop(NETWORK), "shapes"),
    ("TabularNCD", "layer more", array("discoverer.network.encoder.9.weight", lambda old: np.float32([1])), "shapes"),
    ("TabularNCD", "n_members", put("parameters", "n_members", 2), "member_codes"),
    ("TabularNCD", "n_members huge", put("parameters", "n_members", 10**30), "member_codes"),
    ("TabularNCD", "layers huge", put("parameters", "hidden_layers", [10**12, 10**12]), "shapes"),
    ("TabularNCD", "layers beyond", put("parameters", "hidden_layers", [10**30, 3]), "shapes"),
    ("TabularNCD", "layers without end", put("parameters", "hidden_layers", [1] * 100_000), "shapes"),
    ("TabularNCD", "layers text", put("parameters", "hidden_layers", "44"), "hidden_layers"),
    ("TabularNCD", "layers float", put("parameters", "hidden_layers", [4.0, 3]), "hidden_layers"),
    ("TabularNCD", "member codes short", array("discoverer.member_codes", lambda old: old[:, 1:].copy()), "must hold"),
    ("TabularNCD", "member codes wrong", array("discoverer.member_codes", fill(77)), "do not exist"),
    ("TabularNCD", "activation", put("parameters", "activation", "__import__"), "activation"),
    ("TabularNCD", "without", put("parameters", "without", 5), "without"),
    ("TabularNCD", "without a text", put("parameters", "without", "ssl"), "without"),
    ("TabularNCD", "w1 huge", put("parameters", "w1", 10**400), "makes no sense|w1"),
    ("TabularNCD", "w1 true", put("parameters", "w1", True), "w1"),
    ("TabularNCD", "device", put("parameters", "device", "meta"), "device"),
    ("TabularNCD", "device nonsense", put("parameters", "device", "a\nb"), "makes no sense|device"),
    ("TabularNCD", "device number", put("parameters", "device", 0), "device"),
    ("TabularNCD", "verbose", put("parameters", "verbose", "yes"), "verbose"),
    ("TabularNCD", "no known classes", put("known_classes", {"kind": "str", "values": []}), "needs known classes"),
    ("ClassifierProjection", "centroids", array("discoverer.centroids", lambda old: old[:, 1:].copy()), "must hold"),
    ("ClassifierProjection", "variances", array("discoverer.variances", fill(-1.0)), "above 0"),
    ("ClassifierProjection", "variances missing", drop("discoverer.variances"), "is missing"),
    ("PBN", "centroids", array("discoverer.centroids", lambda old: old[:, 1:].copy()), "must hold"),
    ("PBN", "w", put("parameters", "w", 2), "w=2"),
    ("NCDSpectral", "voters narrow", array("discoverer.voters", lambda old: old[:, 1:].copy()), "must hold"),
    ("NCDSpectral", "no novel voter", array("discoverer.voter_codes", np.zeros_like), "votes for a novel"),
    ("NCDSpectral", "coordinates short", array("discoverer.coordinates", lambda old: old[1:]), "must hold"),
    ("NCDSpectral", "coordinates infinite", array("discoverer.coordinates", fill(np.inf)), "finite"),
    ("NCDSpectral", "weak longer", array("discoverer.weak", lambda old: np.append(old, 1.0)), "must hold"),
    ("NCDSpectral", "weak missing", drop("discoverer.weak"), "is missing"),
    ("NCDSpectral", "centroids short", array("discoverer.centroids", lambda old: old[1:]), "must hold"),
    ("NCDSpectral", "variance 0", array("discoverer.variance", fill(0.0)), "above 0"),
    ("NCDSpectral", "regularisation", put("parameters", "regularisation", 0), "regularisation=0"),
    ("AutoDiscoverer", "no facts", drop("facts"), "leaderboard must be a list of dicts"),
    ("AutoDiscoverer", "leaderboard of texts", put_fact("leaderboard", ["best"]), "leaderboard must be a list"),
    ("AutoDiscoverer", "no leaderboard", put("facts", {"weaknesses": []}), "leaderboard must be a list"),
    ("AutoDiscoverer", "confidence above 1", array("discoverer.confidence", fill(1.5)), "from 0 to 1"),
    ("AutoDiscoverer", "confidences below 0", array("discoverer.class_confidence", fill(-0.1)), "from 0 to 1"),
    ("AutoDiscoverer", "confidences short", array("discoverer.class_confidence", lambda old: old[1:]), "must hold"),
    ("networks", "projection flat", array("discoverer.input.projection", np.ravel), "must hold"),
    (
        "networks",
        "projection narrow",
        array("discoverer.input.projection", lambda old: old[:, 1:].copy()),
        "shapes",
    ),
    ("networks", "projection missing", drop("discoverer.input.projection"), "is missing"),
    ("networks", "centre short", array("discoverer.input.centre", lambda old: old[1:]), "must hold"),
    (
        "InContextDiscoverer",
        "accuracy above 1",
        put_fact("known_accuracy", [{"class": "ant", "rows": 3, "right": 1.5}]),
        "from 0 to 1",
    ),
    ("InContextDiscoverer", "accuracy of texts", put_fact("known_accuracy", ["ant"]), "accuracy of known classes"),
    ("InContextDiscoverer", "leaves narrow", array("discoverer.classes.leaves", lambda old: old[:, 1:].copy()), "hold"),
    ("AutoDiscoverer", "time_limit", put("parameters", "time_limit", -1), "time_limit=-1"),
    ("NCDKMeans", "no known classes", put("known_classes", {"kind": "str", "values": []}), "needs known classes"),
    ("WhitenedKMeans", "mapping narrow", array("discoverer.mapping", lambda old: old[:, 1:].copy()), "must hold"),
    ("WhitenedKMeans", "mapping infinite", array("discoverer.mapping", fill(np.inf)), "finite"),
    ("WhitenedKMeans", "mapping missing", drop("discoverer.mapping"), "is missing"),
    ("WhitenedKMeans", "centre short", array("discoverer.centre", lambda old: old[1:]), "must hold"),
    ("WhitenedKMeans", "softening 0", array("discoverer.softening", fill(0.0)), "above 0"),
    ("WhitenedKMeans", "ridge", put("parameters", "ridge", -1), "ridge=-1"),
]


@pytest.mark.parametrize(
    ("name", "change", "match"), [(n, c, m) for n, _, c, m in ONE_MODEL], ids=[f"{n}-{i}" for n, i, _, _ in ONE_MODEL]
)
def test_forged_discoverer_is_refused(
    name: str, change: Change, match: str, mixed: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "model.newfound"
    forge(mixed[name], path, change)
    refused(path, match)


def steps(*wanted: Any, n_found: Any = 2) -> Change:
    """Set what was done to the classes."""
    return put("curation", {"n_found": n_found, "steps": list(wanted)})


CENTROIDS = "curation.0.centroids"
HOSTILE_CURATIONS: list[tuple[str, Change, str]] = [
    ("temperature 0", put("temperature", 0.0), "temperature must be from"),
    ("temperature negative", put("temperature", -1.0), "temperature must be from"),
    ("temperature huge", put("temperature", 1e300), "temperature must be from"),
    ("temperature as text", put("temperature", "1"), "needs float in 'temperature'"),
    ("temperature null", put("temperature", None), "needs float in 'temperature'"),
    ("no temperature", drop("temperature"), "must hold exactly"),
    ("no curation", drop("curation"), "must hold exactly"),
    ("no used names", drop("used_names"), "must hold exactly"),
    ("used names of another type", put("used_names", {"kind": "int", "values": [7]}), "used names"),
    ("used names without those in use", put("used_names", {"kind": "str", "values": ["x"]}), "used names"),
    ("used names as list", put("used_names", ["x"]), "kind"),
    ("curation as list", put("curation", []), "must be a dict"),
    ("curation with more", put("curation", {"n_found": 2, "steps": [], "more": 1}), "nothing else"),
    ("curation without steps", put("curation", {"n_found": 2}), "needs list in 'steps'"),
    ("found as text", steps(n_found="2"), "needs int in 'n_found'"),
    ("found negative", steps(n_found=-1), "nothing else"),
    ("found too many", steps(n_found=3), "lead to 3 novel classes, and 2 are named"),
    ("found without end", steps(n_found=10**30), "lead to 10+ novel classes"),
    ("step as text", steps("merge"), "step 0 .* not understood"),
    ("step unknown", steps({"eval": "x"}), "not understood"),
    ("step of two", steps({"merge": [2, 3], "split": 2}), "not understood"),
    ("step empty", steps({}), "not understood"),
    ("merge of one", steps({"merge": [2]}), "not understood"),
    ("merge of none", steps({"merge": []}), "not understood"),
    ("merge as number", steps({"merge": 2}), "not understood"),
    ("merge of texts", steps({"merge": ["2", "3"]}), "not understood"),
    ("merge of booleans", steps({"merge": [True, 3]}), "not understood"),
    ("merge with itself", steps({"merge": [2, 2]}), "not understood"),
    ("merge falling", steps({"merge": [3, 2]}), "not understood"),
    ("merge of known classes", steps({"merge": [0, 1]}, n_found=3), "not understood"),
    ("merge of a negative place", steps({"merge": [-1, 2]}), "not understood"),
    ("merge beyond", steps({"merge": [2, 4]}), "not understood"),
    ("merge twice", steps({"merge": [2, 3]}, {"merge": [2, 3]}), "step 1 .* not understood"),
    ("split of a known class", steps({"split": 1}), "not understood"),
    ("split beyond", steps({"split": 4}), "not understood"),
    ("split as text", steps({"split": "2"}), "not understood"),
    ("split without centroids", steps({"split": 2}), "'0.centroids' is missing"),
    ("centroids without a split", array(CENTROIDS, lambda old: np.zeros((2, 2))), "does not belong"),
]


@pytest.mark.parametrize(
    ("change", "match"), [case[1:] for case in HOSTILE_CURATIONS], ids=[case[0] for case in HOSTILE_CURATIONS]
)
def test_forged_curation_is_refused(change: Change, match: str, mixed: dict[str, Any], tmp_path: Path) -> None:
    forge(mixed["SpectralDiscoverer"], tmp_path / "m", change)
    refused(tmp_path / "m", match)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (array(CENTROIDS, lambda old: old[:1]), "step 0 .* not understood"),
        (array(CENTROIDS, lambda old: old[:2]), "step 2 .* not understood"),
        (array(CENTROIDS, lambda old: old[:, 1:].copy()), "another number of dimensions"),
        (array(CENTROIDS, fill(np.inf)), "finite"),
        (array(CENTROIDS, np.ravel), "must hold"),
        (array("curation.0.variance", fill(0.0)), "above 0"),
        (drop("curation.0.variance"), "is missing"),
    ],
    ids=["one part", "two parts", "narrow", "infinite", "flat", "no variance", "variance missing"],
)
@pytest.mark.parametrize("name", CURATED)
def test_forged_split_is_refused(
    name: str, change: Change, match: str, curated_models: dict[str, Any], tmp_path: Path
) -> None:
    forge(curated_models[name], tmp_path / "m", change)
    refused(tmp_path / "m", match)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        "[" * 1_000_000,
        '{"a":' * 100_000,
        "1" * 10_000,
        '{"format_version":1,"format_version":1}',
        '{"format_version":NaN}',
        '{"format_version":1e999}',
        '{"format_version":1' + "0" * 5000 + "}",
    ],
    ids=lambda text: text[:30],
)
def test_header_text_that_is_no_header(text: str, tmp_path: Path) -> None:
    path = tmp_path / "model.newfound"
    path.write_bytes(safetensors.numpy.save({"labels": np.zeros(3, dtype=np.int32)}, metadata={"newfound": text}))
    refused(path)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "1" * 5000])
def test_numbers_that_are_none(number: str, mixed: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "model.newfound"
    nf.save(mixed["KMeansDiscoverer"], path)
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    text = content[8 : 8 + length].decode().rstrip()
    assert '\\"unit\\":1.0' in text
    forged = text.replace('\\"unit\\":1.0', f'\\"unit\\":{number}').encode()
    path.write_bytes(with_header(forged, content[8 + length :]))
    refused(path, "not JSON|makes no sense")


def test_digest_is_needed(kmeans: Any, tmp_path: Path) -> None:
    header, arrays = persistence._header_of(kmeans), persistence._arrays_of(kmeans)
    for digest in (None, "", 7, persistence._digest({}, arrays)):
        text = json.dumps(header | {"digest": digest})
        (tmp_path / "m").write_bytes(safetensors.numpy.save(arrays, metadata={"newfound": text}))
        refused(tmp_path / "m", "does not match its digest")


def test_older_file_without_a_parameter_takes_its_default(kmeans: Any, tmp_path: Path) -> None:
    forge(kmeans, tmp_path / "m", lambda header, arrays: header["parameters"].pop("n_init"))
    assert nf.load(tmp_path / "m").get_params()["n_init"] == 10


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
@pytest.mark.parametrize("device", ["cuda", "cuda:3"])
def test_model_from_a_gpu_loads_without_one(device: str, mixed: dict[str, Any], tmp_path: Path) -> None:
    forge(mixed["TabularNCD"], tmp_path / "m", put("parameters", "device", device))
    with pytest.warns(UserWarning, match=f"device='{device}', which is not here"):
        loaded = nf.load(tmp_path / "m")
    assert loaded.get_params()["device"] == "auto"
    same_model(mixed["TabularNCD"], loaded, tiny_table()[0])


# ---- files of long ago


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.newfound")), ids=lambda path: path.stem)
def test_golden_file_still_loads_and_predicts(path: Path) -> None:
    assert path.stat().st_size < 50_000
    model: Any = nf.load(path)
    expected = json.loads(path.with_suffix(".json").read_text())
    rows = pd.DataFrame(expected["rows"])
    assert model.labels_.tolist() == expected["labels"]
    assert model.predict(rows).tolist() == expected["predict"]
    assert model.predict_novel(rows).tolist() == expected["predict_novel"]
    # Other processors round the last digits otherwise.
    np.testing.assert_allclose(model.predict_proba(rows), expected["predict_proba"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.transform(rows), expected["transform"], rtol=1e-9, atol=1e-12)
    if "novelty_score" in expected:  # since version 2
        np.testing.assert_allclose(model.novelty_score(rows), expected["novelty_score"], rtol=1e-9, atol=1e-12)


def test_there_is_a_golden_file_of_every_discoverer_and_version() -> None:
    stems = {path.stem for path in FOLDER.glob("*.newfound")}
    assert {entry.class_name for entry in BUILT_IN} == set(NAMES)
    wanted = {f"v{version}-{name}" for version in persistence.READABLE_VERSIONS for name in NAMES}
    wanted -= {"v1-InContextDiscoverer"}  # came later
    assert stems == wanted | {f"v2-{name}" for name in CHANGED | MIXED}


@pytest.mark.parametrize(
    ("stem", "projection"),
    [
        ("v1-ClassifierProjection", "after"),
        ("v2-ClassifierProjection", "after"),
        ("v2-ClassifierProjection-before", "before"),
    ],
)
def test_a_file_from_before_the_projection_could_be_chosen_keeps_its_own(stem: str, projection: str) -> None:
    model: Any = nf.load(FOLDER / f"{stem}.newfound")
    assert model.projection == projection
    assert (model.transform(tiny_table()[0]) >= 0).all() == (projection == "after")


def test_many_layers_of_different_widths_survive(tmp_path: Path) -> None:
    model = fit(quick("TabularNCD", hidden_layers=[9, 8, 7, 6, 5, 4]), *numbers())
    nf.save(model, tmp_path / "model.newfound")
    X = numbers()[0]
    np.testing.assert_array_equal(nf.load(tmp_path / "model.newfound").predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("stem", ["v1-AutoDiscoverer", "v2-AutoDiscoverer"])
def test_networks_of_an_earlier_version_are_saved_again(stem: str, tmp_path: Path) -> None:
    model: Any = nf.load(FOLDER / f"{stem}.newfound")
    table, _ = tiny_table()
    loaded = round_trip(model, table, tmp_path)
    assert loaded.member_labels_.shape == model.member_labels_.shape
