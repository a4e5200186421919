"""What is particular to InContextDiscoverer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import newfound as nf
from newfound.incontext import look as looking
from newfound.metrics import clustering_accuracy
from newfound.tables import Layout
from newfound.tables.task import DiscoveryTask
from tests.discoverers.common import in_context, integer_labels, numbers

pytestmark = pytest.mark.filterwarnings("ignore:The evidence for these novel classes is weak")


def with_nuisance(n_each: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Six classes in three columns, beside five columns in which the rows form larger groups that are no classes."""
    rng = np.random.default_rng(seed)
    classes, groups = np.repeat(np.arange(6), n_each), rng.integers(0, 3, 6 * n_each)
    centres, others = (np.random.default_rng(1).normal(size=size) for size in ((6, 3), (3, 5)))
    telling = 5 * centres[classes] + rng.normal(size=(len(classes), 3))
    nuisance = 8 * others[groups] + rng.normal(size=(len(classes), 5))
    return np.concatenate([telling, nuisance], 1), classes


def test_known_classes_tell_which_structure_matters() -> None:
    X, classes = with_nuisance()
    y, novel = np.where(classes < 3, classes, -1), classes >= 3
    model = in_context(n_novel_classes=3).fit(X, y)
    plain = nf.KMeansDiscoverer(3, random_state=0).fit(X, y)
    assert clustering_accuracy(classes[novel], plain.labels_[novel]) < 0.7
    assert clustering_accuracy(classes[novel], model.labels_[novel]) > 0.9
    further, truth = with_nuisance(seed=2)
    assert clustering_accuracy(truth[truth >= 3], model.predict_novel(further[truth >= 3])) > 0.85
    assert np.mean(model.predict(further)[truth < 3] == truth[truth < 3]) > 0.85


def test_rows_that_were_not_looked_at_get_their_classes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "_FEWEST_ROWS", 120)
    monkeypatch.setattr(looking, "_MOST_ROWS", 120)
    X, classes = with_nuisance(80)
    novel = classes >= 3
    model = in_context(n_novel_classes=3).fit(X, np.where(novel, -1, classes))
    assert clustering_accuracy(classes[novel], model.labels_[novel]) > 0.85
    sizes = [(model.labels_ == name).sum() for name in model.novel_classes_]
    assert sizes == sorted(sizes, reverse=True)
    # A row is told the same whether it is found or predicted.
    assert np.mean(model.predict_novel(X[novel]) == model.labels_[novel]) > 0.85
    # Novel rows are not outweighed by labelled ones, all of which are known.
    assert np.mean(np.isin(model.predict(X[novel]), model.novel_classes_)) > 0.9


@pytest.mark.parametrize("seed", [2, 3])
def test_the_network_counts_the_novel_classes(seed: int) -> None:
    data = nf.datasets.make_table(500, random_state=seed)
    model = in_context(n_novel_classes="auto").fit(data.X_train, data.y_train)
    estimate = model.n_classes_estimate_
    assert estimate.n_classes == model.n_novel_classes_ == 3
    low, high = estimate.interval
    probability = np.array([point["combined"] for point in estimate.curve])
    assert [point["k"] for point in estimate.curve] == list(range(1, 41))
    assert probability.sum() == pytest.approx(1)
    assert probability[: low - 1].sum() < 0.05 <= probability[:low].sum()
    assert probability[: high - 1].sum() < 0.95 <= probability[:high].sum() + 1e-12
    assert [row["criterion"] for row in estimate.criteria] == ["in-context network"]
    assert len(estimate.plot().axes) > 0


def test_no_more_classes_are_counted_than_there_are_rows() -> None:
    X, y = numbers(), integer_labels()
    some = np.r_[:30, 30:32]
    estimate = in_context(n_novel_classes="auto").fit(X[some], y[some]).n_classes_estimate_
    assert [point["k"] for point in estimate.curve] == [1, 2]


def test_one_counted_class_is_doubted() -> None:
    X, y = numbers(), integer_labels()
    X[y < 0] = X[y < 0].mean(0) + np.random.default_rng(0).normal(size=(int((y < 0).sum()), X.shape[1]))
    model = in_context(n_novel_classes="auto").fit(X, y)
    assert model.n_novel_classes_ == 1
    (doubt,) = model.n_classes_estimate_.doubts
    assert "there may be more than one novel class" in doubt
    assert doubt in model.weaknesses_


def test_more_known_classes_than_the_network_takes() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(72), 8)
    X = 9 * rng.normal(size=(72, 5))[truth] + rng.normal(size=(len(truth), 5))
    model = in_context(n_novel_classes=2).fit(X, np.where(truth < 70, truth, -1))
    assert clustering_accuracy(truth[truth >= 70], model.labels_[truth >= 70]) > 0.9
    assert model.transform(X).shape[0] == len(X)


def test_both_differ_by_the_graphs_alone() -> None:
    """Where graphs do not tell the known classes, AutoDiscoverer finds what InContextDiscoverer finds."""
    X, classes = with_nuisance()
    y = np.where(classes < 3, classes, -1)
    settings: dict[str, Any] = {"unlabelled": "novel", "device": "cpu", "random_state": 0}
    one, other = (kind(3, **settings).fit(X, y) for kind in (nf.InContextDiscoverer, nf.AutoDiscoverer))
    assert clustering_accuracy(one.labels_[y < 0], other.labels_[y < 0]) > 0.95


def test_views_differ_and_one_seed_gives_one_result() -> None:
    X, y = numbers(), integer_labels()
    single, again, two = (in_context(n_views=n).fit(X, y) for n in (1, 1, 2))
    assert_array_equal(single.predict_proba(X), again.predict_proba(X))
    assert not np.array_equal(single.transform(X), two.transform(X))


def test_the_sample_is_looked_at_in_seconds() -> None:
    codes = np.repeat([0, 1, -1], [20_000, 2, 20_000])
    for columns, most in ((4, 2_000), (50, 1_000), (300, 1_000)):
        layout = Layout(tuple(map(str, range(columns))), np.arange(columns), np.zeros(columns, dtype=bool))
        task = DiscoveryTask(np.zeros((len(codes), columns)), codes, 2, 3, layout)
        seen = looking.context_rows(task, np.random.RandomState(0))
        assert len(seen) <= most + 2
        counts = {code: int((codes[seen] == code).sum()) for code in (0, 1, -1)}
        assert counts[1] == 2  # a small known class is there as a whole
        assert counts[-1] >= len(seen) // 2 - 3


def test_nothing_is_worth_tuning() -> None:
    model: Any = in_context()
    assert model.search_space() == {}


def test_weights_are_read_when_a_table_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(device: str) -> None:
        raise AssertionError(f"the weights were read for {device}")

    monkeypatch.setattr(looking, "load_network", refuse)
    model = clone(in_context())
    with pytest.raises(AssertionError, match="the weights were read for cpu"):
        model.fit(numbers(), integer_labels())
