"""The look at a table: further passes, parts of it, and when there is none."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from newfound.incontext import look as looking
from newfound.incontext.look import Look, look_at
from newfound.tables import Layout
from newfound.tables.task import DiscoveryTask

N_EACH = 100


def task_of(n_known: int = 3, n_each: int = N_EACH, n_classes: int = 6) -> tuple[DiscoveryTask, np.ndarray]:
    """Clear classes in shuffled order, of which the first are known."""
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.repeat(np.arange(n_classes), n_each))
    rows = 3 * rng.normal(size=(n_classes, 4))[truth] + 0.5 * rng.normal(size=(len(truth), 4))
    layout = Layout(tuple("abcd"), np.arange(4), np.zeros(4, dtype=bool))
    return DiscoveryTask(rows, np.where(truth < n_known, truth, -1), n_known, n_classes - n_known, layout), truth


def looked(task: DiscoveryTask, **settings: object) -> Look:
    found = look_at(task, np.random.RandomState(0), **settings)  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.fixture
def small_contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Contexts of 240 rows, so that this small table needs several."""
    monkeypatch.setattr(looking, "_FEWEST_ROWS", 240)
    monkeypatch.setattr(looking, "_MOST_ROWS", 240)


def test_a_small_table_is_shown_as_a_whole() -> None:
    task, truth = task_of()
    found = looked(task)
    assert_array_equal(found.places, np.arange(len(task.rows)))
    assert found.known.shape == (len(truth), 3)
    assert found.n_novel.sum() == pytest.approx(1)
    assert found.n_novel.argmax() == 3
    assert ((found.novelty > 0) == (truth >= 3)).mean() > 0.95


@pytest.mark.usefixtures("small_contexts")
def test_rows_of_further_passes_lie_in_the_same_space() -> None:
    task, truth = task_of()
    first = looking.context_rows(task, np.random.RandomState(np.random.RandomState(0).randint(2**31 - 1)))
    found = looked(task)
    assert (np.diff(found.places) > 0).all()
    assert (task.codes[found.places] < 0).sum() == 3 * N_EACH  # all unlabelled rows have a vector
    early = np.isin(found.places, first)
    assert 0 < early.sum() < len(early) - 60
    own = truth[found.places]
    centres = np.stack([found.embedding[early & (own == c)].mean(axis=0) for c in range(6)])
    late = found.embedding[~early]
    nearest = ((late[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == own[~early]).mean() > 0.95
    assert ((found.novelty[~early] > 0) == (own[~early] >= 3)).mean() > 0.9


@pytest.mark.usefixtures("small_contexts")
def test_labelled_rows_appear_once() -> None:
    task, _ = task_of()
    found = looked(task)
    assert len(np.unique(found.places)) == len(found.places)
    assert len(found.novelty) == len(found.known) == len(found.embedding) == len(found.places)


@pytest.mark.usefixtures("small_contexts")
def test_the_same_seed_gives_the_same() -> None:
    task, _ = task_of()
    one, other, another = looked(task), looked(task), look_at(task, np.random.RandomState(1))
    assert another is not None
    for name in ("places", "novelty", "known", "embedding", "n_novel"):
        assert_array_equal(getattr(one, name), getattr(other, name))
    assert not np.array_equal(one.embedding[:5], another.embedding[:5])


def test_a_part_of_a_look_counts_its_rows_anew() -> None:
    task, _ = task_of()
    found = looked(task)
    kept = np.arange(1, len(task.rows), 4)
    part = found.of(kept)
    assert_array_equal(part.places, np.arange(len(kept)))
    for name in ("novelty", "known", "embedding"):
        assert_array_equal(getattr(part, name), getattr(found, name)[kept])
    assert_array_equal(part.n_novel, found.n_novel)
    some = found.of(kept[::2]).of(np.arange(3))
    assert_array_equal(some.places, np.arange(3))
    assert_array_equal(some.novelty, found.novelty[kept[::2][:3]])


@pytest.mark.usefixtures("small_contexts")
def test_of_rows_that_were_not_shown_nothing_is_kept() -> None:
    task, _ = task_of()
    found = looked(task)
    hidden = np.setdiff1d(np.arange(len(task.rows)), found.places)
    assert len(hidden)
    kept = np.sort(np.concatenate([hidden, found.places[:10]]))
    part = found.of(kept)
    assert_array_equal(kept[part.places], found.places[:10])
    assert_array_equal(part.novelty, found.novelty[:10])


@pytest.mark.usefixtures("small_contexts")
def test_a_known_class_that_no_context_holds_gets_no_probability(monkeypatch: pytest.MonkeyPatch) -> None:
    task, _ = task_of()
    draw = looking.context_rows

    def without_one(*args: object, **more: object) -> np.ndarray:
        rows = draw(*args, **more)  # type: ignore[arg-type]
        return rows[task.codes[rows] != 1]

    monkeypatch.setattr(looking, "context_rows", without_one)
    found = looked(task)
    assert found.known.shape[1] == 3
    assert (found.known[:, 1] == 0).all()
    assert_allclose(found.known.sum(axis=1), 1, atol=1e-6)


def test_without_known_classes_it_cannot_look() -> None:
    task, _ = task_of(0, n_each=3)
    rng = np.random.RandomState(0)
    assert look_at(task, rng) is None
    expected = np.random.RandomState(0)
    look_at(task_of()[0], expected)
    assert rng.randint(1000) == expected.randint(1000), "what is drawn next depends on whether it was asked"


def test_of_more_known_classes_than_it_takes_some_are_shown() -> None:
    task, truth = task_of(70, n_each=5, n_classes=73)
    found = looked(task)
    shown = np.unique(task.codes[found.places])
    assert len(shown) == 1 + looking.MAX_CLASSES
    assert (task.codes[found.places] < 0).sum() == (truth >= 70).sum()
    assert_array_equal(found.known.sum(axis=0) > 0, np.isin(np.arange(70), shown))
    assert_allclose(found.known.sum(axis=1), 1, atol=1e-6)


def test_without_time_it_does_not_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "load_network", lambda device: pytest.fail("it was asked"))
    assert look_at(task_of()[0], np.random.RandomState(0), seconds=0.0) is None


@pytest.mark.usefixtures("small_contexts")
def test_with_little_time_fewer_rows_are_shown() -> None:
    task, _ = task_of()
    seconds = looking.seconds_for(250, task.layout)
    hasty, calm = looked(task, seconds=seconds), looked(task)
    assert len(hasty.places) < len(calm.places)
    assert (task.codes[hasty.places] < 0).any()
