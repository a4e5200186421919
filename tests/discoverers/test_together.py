"""Discoverers that are fitted together end as if each had been fitted alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

from newfound import PBN, ClassifierProjection, InputError, TableEncoder, TabularNCD
from newfound.discoverers.packed import PackedDiscoverer, fit_together, together_key

SHORT: dict[str, Any] = {"epochs": 3, "pretrain_epochs": 2, "device": "cpu"}


@pytest.fixture(scope="module")
def table() -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(0)
    truth = np.arange(300) % 5
    numbers = rng.normal(size=(5, 4))[truth] * 3 + rng.normal(size=(300, 4))
    colours = np.where(rng.random(300) < 0.8, truth, rng.integers(5, size=300))
    X = np.column_stack([numbers, np.array(["red", "blue", "green", "grey", "pink"])[colours]]).astype(object)
    return X, np.where(truth < 2, truth, -1)


def assert_same(together: PackedDiscoverer, alone: PackedDiscoverer, X: NDArray[Any]) -> None:
    state, expected = together.network_.state_dict(), alone.network_.state_dict()
    for name, tensor in state.items():
        np.testing.assert_allclose(tensor.numpy(), expected[name].numpy(), atol=2e-4, rtol=2e-3)
    np.testing.assert_array_equal(together.labels_, alone.labels_)
    np.testing.assert_allclose(together.predict_proba(X), alone.predict_proba(X), atol=5e-3)
    assert together.get_params() == alone.get_params()
    assert [set(epoch) for epoch in together.history_] == [set(epoch) for epoch in alone.history_]
    for epoch, other in zip(together.history_, alone.history_, strict=True):
        losses = {name: value for name, value in epoch.items() if name not in ("stage", "epoch", "seconds")}
        assert losses == pytest.approx({name: other[name] for name in losses}, rel=1e-2, abs=1e-3)


@pytest.mark.parametrize(
    "settings",
    [
        [{"random_state": seed} for seed in (3, 1, 2)],
        [{"w1": 0.1, "w2": 0.9}, {"w1": 0.9, "w2": 0.3}],
        [{"top_k": 5.0}, {"top_k": 40.0}, {"top_k": 100.0}],
        [{"k_neighbors": k} for k in (1, 4, 90)],
        [{"dropout": 0.1}, {"dropout": 0.5}],
        [{"similarity_threshold": 0.0}, {"similarity_threshold": 0.9}],
        [{"lr_classification": 0.01, "lr_clustering": 0.001}, {"lr_classification": 0.002, "lr_clustering": 0.008}],
    ],
    ids=lambda settings: ",".join(settings[0]),
)
def test_each_ends_as_if_fitted_alone(table: tuple[NDArray[Any], NDArray[Any]], settings: list[dict[str, Any]]) -> None:
    X, y = table
    models = [TabularNCD(3, **SHORT, **({"random_state": 0} | own)) for own in settings]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*have no rows")
        fitted = fit_together(models, X, y)
        for model, together in zip(models, fitted, strict=True):
            assert not hasattr(model, "classes_"), "the given discoverers stay as they are"
            assert_same(together, model.fit(X, y), X)
    weights = [model.network_.classification.weight.numpy() for model in fitted]
    assert not np.allclose(weights[0], weights[1]), "the setting had no effect"


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (ClassifierProjection, [{"random_state": 0}, {"random_state": 1}]),
        (ClassifierProjection, [{"learning_rate": 0.01, "dropout": 0.1}, {"learning_rate": 0.002, "dropout": 0.4}]),
        (PBN, [{"random_state": 3}, {"random_state": 1}, {"random_state": 2}]),
        (PBN, [{"w": 0.05}, {"w": 0.9}]),
        (PBN, [{"learning_rate": 0.01, "dropout": 0.1}, {"learning_rate": 0.001, "dropout": 0.5}]),
    ],
    ids=lambda value: ",".join(value[0]) if isinstance(value, list) else value.__name__,
)
def test_those_with_k_means_can_be_fitted_together(
    table: tuple[NDArray[Any], NDArray[Any]], kind: type[PackedDiscoverer], settings: list[dict[str, Any]]
) -> None:
    X, y = table
    models = [kind(3, epochs=3, device="cpu", **({"random_state": 0} | own)) for own in settings]
    for model, together in zip(models, fit_together(models, X, y), strict=True):
        assert_same(together, model.fit(X, y), X)


@pytest.mark.parametrize(
    "others",
    [
        TabularNCD(2, **SHORT),
        TabularNCD(3, **(SHORT | {"epochs": 4})),
        TabularNCD(3, **SHORT, activation="tanh"),
        TabularNCD(3, **SHORT, dropout=0.0),
        TabularNCD(3, **SHORT, top_k=10),
        TabularNCD(3, **SHORT, without=["mse"]),
        TabularNCD(3, **SHORT, n_members=2),
        TabularNCD(**SHORT),
        ClassifierProjection(3, epochs=3),
    ],
)
def test_what_cannot_be_packed_is_refused(table: tuple[NDArray[Any], NDArray[Any]], others: PackedDiscoverer) -> None:
    first = TabularNCD(3, **SHORT)
    assert together_key(first) != together_key(others)
    with pytest.raises(InputError, match="cannot be fitted together"):
        fit_together([first, others], *table)


def test_encoders_that_differ_in_one_of_many_columns_are_not_packed() -> None:
    kinds = {f"column {i}": "numeric" for i in range(100)}
    few = [TabularNCD(2, encoder=TableEncoder(kinds=kinds | {"column 50": kind})) for kind in ("numeric", "ignore")]
    assert together_key(few[0]) != together_key(few[1])
    assert together_key(few[0]) == together_key(clone(few[0]))


def test_members_and_an_estimated_number_of_classes_are_refused_alone_too(
    table: tuple[NDArray[Any], NDArray[Any]],
) -> None:
    for model in (TabularNCD(3, n_members=2), TabularNCD()):
        with pytest.raises(InputError, match="cannot be fitted together"):
            fit_together([model], *table)


def test_a_wrong_parameter_of_any_of_them_is_named(table: tuple[NDArray[Any], NDArray[Any]]) -> None:
    with pytest.raises(InputError, match="w1=2"):
        fit_together([TabularNCD(3, **SHORT), TabularNCD(3, **SHORT, w1=2.0)], *table)
