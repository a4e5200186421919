"""Model files of discoverers that routed mixed rows: they come back to the bit, and forged ones do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import newfound as nf
from newfound.errors import ModelFileError
from newfound.routing import KnownShare
from tests.test_persistence import (
    NAMES,
    Change,
    array,
    content_of,
    drop,
    fill,
    fit,
    forge,
    put_fact,
    quick,
    refused,
    round_trip,
    same_model,
    small_forests,
)

__all__ = ["small_forests"]

TRUTH = np.arange(120) % 3
X = np.random.default_rng(0).normal(size=(120, 3)) * 0.3 + 3 * np.eye(3)[TRUTH]
Y = np.where((TRUTH < 2) & (np.arange(120) % 2 == 0), TRUTH, -1)


@pytest.fixture(scope="module")
def model() -> Any:
    """A discoverer without training that routed its rows."""
    return fit(quick("NCDKMeans", n_novel_classes=1, unlabelled="mixed"), X, Y)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_that_routed_comes_back(name: str, tmp_path: Path) -> None:
    model = fit(quick(name, n_novel_classes=1, unlabelled="mixed"), X, Y)
    assert model.unlabelled_ == "mixed"
    loaded = round_trip(model, X, tmp_path)
    assert isinstance(loaded.known_share_, KnownShare)
    assert loaded.known_share_.interval == model.known_share_.interval
    np.testing.assert_array_equal(loaded.novelty_score(X), model.novelty_score(X))


def test_a_model_that_took_all_for_novel_comes_back(model: Any, tmp_path: Path) -> None:
    pure = fit(quick("NCDKMeans"), X, Y)
    pure.unlabelled_, pure.unlabelled_reason_, pure.known_share_ = "novel", "none looks known", KnownShare(0, (0, 0.1))
    assert round_trip(pure, X, tmp_path).known_share_.interval == (0, 0.1)


def test_a_file_from_before_the_choice_took_all_for_novel(tmp_path: Path) -> None:
    for name in ("AutoDiscoverer", "TabularNCD"):
        fitted = fit(quick(name), X, Y)
        forge(fitted, tmp_path / name, lambda header, arrays: header["parameters"].pop("unlabelled"))
        loaded = nf.load(tmp_path / name)
        assert loaded.unlabelled == "novel"
        same_model(fitted, loaded, X)


ROUTING = {"unlabelled": "mixed", "reason": "", "known_share": 0.5, "low": 0.4, "high": 0.6}


def shorter(name: str) -> Change:
    return array(f"discoverer.router.{name}", lambda old: old[:-1].copy())


def put_number(name: str, value: float) -> Change:
    return array(f"discoverer.router.{name}", fill(value))


def cycle(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Let the first tree lead back to its root, so that a walk would never end."""
    arrays["discoverer.router.children"][0] = 0


FORGED: list[tuple[str, Change, str]] = [
    ("no facts", lambda header, arrays: header.pop("facts"), "router's forest where known and novel rows were mixed"),
    ("no routing", put_fact("routing", []), "the routing must be a dict"),
    ("two routings", put_fact("routing", [ROUTING, ROUTING]), "the routing must be a dict"),
    ("routing of texts", put_fact("routing", ["mixed"]), "the routing must be a dict"),
    ("taken for novel", put_fact("routing", [ROUTING | {"unlabelled": "novel"}]), "router's forest"),
    ("taken for nothing", put_fact("routing", [ROUTING | {"unlabelled": "auto"}]), "'novel' or 'mixed'"),
    ("reason a number", put_fact("routing", [ROUTING | {"reason": 3}]), "needs str in 'reason'"),
    ("share above 1", put_fact("routing", [ROUTING | {"known_share": 1.5}]), "share from 0 to 1"),
    ("interval reversed", put_fact("routing", [ROUTING | {"low": 0.7}]), "share from 0 to 1"),
    ("one entry more", put_fact("routing", [ROUTING | {"more": 1.0}]), "share from 0 to 1"),
    ("no leaves", drop("discoverer.router.leaves"), "'router.leaves' is missing"),
    ("fewer nodes", shorter("columns"), "router"),
    ("fewer cuts", shorter("cuts"), "router"),
    ("fewer children", shorter("children"), "router"),
    ("fewer leaves", shorter("leaves"), "no forest"),
    ("root elsewhere", put_number("starts", 10**6), "no forest"),
    ("column elsewhere", put_number("columns", 9), "no forest"),
    ("never ending", cycle, "no forest"),
    ("negative leaf", put_number("leaves", -0.5), "no forest"),
    ("leaf of another sum", put_number("leaves", 0.77), "sums to one"),
    ("leaves of more classes", array("discoverer.router.leaves", lambda old: np.hstack([old, old])), "router.leaves"),
    ("one array more", array("discoverer.router.more", lambda old: np.zeros(1)), "does not belong"),
]


@pytest.mark.parametrize(("change", "match"), [case[1:] for case in FORGED], ids=[case[0] for case in FORGED])
def test_forged_routing_is_refused(change: Change, match: str, model: Any, tmp_path: Path) -> None:
    forge(model, tmp_path / "model.newfound", change)
    refused(tmp_path / "model.newfound", match)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_forged_forest_breaks_predictions(data: st.DataObject, model: Any, tmp_path: Path) -> None:
    """Whatever numbers a forest is made of, it is refused, or it gives probabilities."""

    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        name = data.draw(st.sampled_from(["starts", "columns", "cuts", "children", "leaves"]))
        flat = arrays[f"discoverer.router.{name}"].reshape(-1)
        for _ in range(data.draw(st.integers(1, 3))):
            flat[data.draw(st.integers(0, len(flat) - 1))] = data.draw(st.integers(-3, 300))

    forge(model, tmp_path / "forged.newfound", change)
    try:
        loaded = nf.load(tmp_path / "forged.newfound")
    except ModelFileError:
        return
    np.testing.assert_allclose(loaded.predict_proba(X).sum(axis=1), 1)


def test_nothing_in_the_file_is_left_unsaid(model: Any, tmp_path: Path) -> None:
    nf.save(model, tmp_path / "model.newfound")
    assert content_of(nf.load(tmp_path / "model.newfound")) == content_of(model)
