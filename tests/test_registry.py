"""The list of discoverers, and a discoverer of somebody else's in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

import newfound as nf
from newfound import registry
from newfound.cli.app import run
from newfound.discoverers.fitted import Discovery
from newfound.errors import InputError, ModelFileError
from newfound.tables.task import DiscoveryTask
from tests.cli import tables
from tests.discoverers.common import DISCOVERERS, integer_labels, numbers


@dataclass(frozen=True, eq=False)
class Cut:
    """Rows are novel from a threshold of the first column on, and of the first novel class below another one."""

    thresholds: NDArray[np.float64]
    n_known: int

    def proba(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        known = np.full((len(rows), self.n_known), 1.0 / self.n_known)
        novel = rows[:, :1] > self.thresholds[0]
        return np.hstack([known * ~novel, novel * self.novel_proba(rows)])

    def novel_proba(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        first = rows[:, :1] < self.thresholds[1]
        return np.hstack([first, ~first]).astype(np.float64)

    def latent(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return rows

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"thresholds": self.thresholds}


class MedianCut(nf.BaseDiscoverer):
    """The least that a discoverer has to be."""

    def __init__(self, n_novel_classes: Any = 2, *, shift: float = 0.0, encoder: Any = None, random_state: Any = None):
        self.n_novel_classes = n_novel_classes
        self.shift = shift
        self.encoder = encoder
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if self.n_novel_classes != 2:
            raise InputError.of("n_novel_classes", self.n_novel_classes, "2")

    def _learn(self, task: DiscoveryTask, rng: np.random.RandomState) -> Discovery:
        first = task.unlabelled_rows[:, 0]
        state = Cut(np.array([task.rows[:, 0].min(), np.median(first) + self.shift]), task.n_known)
        return Discovery(state, state.novel_proba(task.unlabelled_rows).argmax(axis=1))

    def _restore_state(self, arrays: Mapping[str, NDArray[Any]]) -> Cut:
        return Cut(arrays["thresholds"], len(self.known_classes_))


class NoDefault(MedianCut):
    """A model file could not be read back into it."""

    def __init__(self, n_novel_classes: Any, shift: float) -> None:
        super().__init__(n_novel_classes, shift=shift)


@pytest.fixture
def list_as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))
    return


def fitted() -> MedianCut:
    return MedianCut(shift=0.25).fit(numbers(), integer_labels())


@pytest.mark.usefixtures("list_as_it_was")
def test_a_registered_discoverer_is_saved_and_loaded(tmp_path: Path) -> None:
    assert nf.register_discoverer(MedianCut, "median_cut") is MedianCut
    model = fitted().rename({2: 7})
    nf.save(model, tmp_path / "model.newfound")
    loaded: Any = nf.load(tmp_path / "model.newfound")
    assert type(loaded) is MedianCut
    assert loaded.get_params() == model.get_params()
    assert_array_equal(loaded.predict_proba(numbers(1)), model.predict_proba(numbers(1)))
    assert_array_equal(loaded.labels_, model.labels_)


class Plain(MedianCut):
    """Without the parameters that a discoverer need not have."""

    def __init__(self, n_novel_classes: Any = 2) -> None:
        self.n_novel_classes = n_novel_classes
        self.shift = 0.0


@pytest.mark.usefixtures("list_as_it_was")
def test_a_discoverer_needs_no_parameter_but_the_number_of_novel_classes(tmp_path: Path) -> None:
    nf.register_discoverer(Plain, "plain")
    model = Plain().fit(numbers(), integer_labels())
    nf.save(model, tmp_path / "model.newfound")
    assert_array_equal(nf.load(tmp_path / "model.newfound").predict(numbers(1)), model.predict(numbers(1)))


@pytest.mark.usefixtures("list_as_it_was")
def test_the_command_line_and_messages_read_the_list() -> None:
    from newfound.cli.methods import check_method
    from newfound.runs.building import build

    nf.register_discoverer(MedianCut, "median_cut", needs_labels=False)
    assert check_method("median_cut") == "median_cut"
    assert build("median_cut", 2, {"shift": 0.5}, random_state=0).shift == 0.5
    with pytest.raises(InputError, match="KMeansDiscoverer or SpectralDiscoverer or MedianCut, which need no labels"):
        nf.WhitenedKMeans(2).fit(numbers(), np.full(60, -1))


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Call it to have an installed package that names a discoverer."""

    def install(value: str) -> None:
        entry = EntryPoint("median_cut", value, registry.PLUGINS)
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry] * (group == registry.PLUGINS))

    registry.load_plugins.cache_clear()
    yield install
    registry.load_plugins.cache_clear()


@pytest.mark.usefixtures("list_as_it_was")
def test_the_command_line_finds_discoverers_of_installed_packages(
    plugin: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    tables.write(tmp_path / "table.csv")
    discover = ["discover", "table.csv", "-t", tables.TARGET, "-k", "2", "-m", "median_cut", "--out", "out"]
    plugin("tests.nowhere:Nobody")
    assert run(discover) == 2
    assert "'median_cut' of an installed package cannot be imported from tests.nowhere" in capsys.readouterr().err
    plugin(f"{__name__}:MedianCut")
    assert run(discover) == 0
    # another process knows nothing of it yet
    del registry._REGISTERED["median_cut"]
    registry.load_plugins.cache_clear()
    assert run(["predict", "out/model.newfound", "table.csv"]) == 0


@pytest.mark.usefixtures("list_as_it_was")
def test_a_file_of_a_discoverer_that_is_not_registered_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.newfound"
    with pytest.raises(InputError, match=r"MedianCut.*registered with newfound.register_discoverer"):
        nf.save(fitted(), path)
    nf.register_discoverer(MedianCut, "median_cut")
    nf.save(fitted(), path)
    del registry._REGISTERED["median_cut"]
    with pytest.raises(ModelFileError, match=r"holds a 'MedianCut'.*import that package first"):
        nf.load(path)


@pytest.mark.usefixtures("list_as_it_was")
def test_a_class_that_is_defined_again_takes_the_place_of_the_first() -> None:
    nf.register_discoverer(MedianCut, "median_cut")
    again = type("MedianCut", (MedianCut,), {"__module__": MedianCut.__module__})
    nf.register_discoverer(again, "cut_again")
    assert "median_cut" not in registry.registered()
    assert registry.registered()["cut_again"].load() is again


@pytest.mark.usefixtures("list_as_it_was")
@pytest.mark.parametrize(
    ("kind", "method", "words"),
    [
        (int, "int", "subclass of newfound.BaseDiscoverer"),
        (MedianCut(), "median_cut", "subclass of newfound.BaseDiscoverer"),
        (nf.BaseDiscoverer, "base", "takes n_novel_classes first"),
        (NoDefault, "no_default", "a default for every argument"),
        (MedianCut, "Median Cut", "lower-case letters"),
        (MedianCut, "kmeans", "KMeansDiscoverer of newfound.discoverers.kmeans is registered as 'kmeans'"),
        (type("TabularNCD", (MedianCut,), {}), "mine", "TabularNCD of newfound.* is registered as 'tabular_ncd'"),
    ],
)
def test_what_cannot_be_registered(kind: Any, method: str, words: str) -> None:
    before = registry.registered()
    with pytest.raises(InputError, match=words):
        nf.register_discoverer(kind, method)
    assert registry.registered() == before


def test_every_discoverer_of_ours_is_listed_public_and_tested() -> None:
    listed = {entry.class_name: entry.load() for entry in registry.BUILT_IN}
    assert {type(make()) for make in DISCOVERERS} == set(listed.values())
    for name, kind in listed.items():
        assert getattr(nf, name) is kind
        assert name in nf.__all__
        assert kind.__name__ == name


def test_a_subclass_needs_what_its_base_needs() -> None:
    assert registry.needs_known_classes(MedianCut)
    assert not registry.needs_known_classes(type("Other", (nf.KMeansDiscoverer,), {}))
