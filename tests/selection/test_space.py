from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import newfound as nf
from newfound import InputError, TableEncoder
from newfound.selection.space import Choice, Real, Space, Whole, check_space, settings_of, with_settings
from tests.discoverers.common import CLASSES

SPACES: list[Space] = [
    Real(0, 1),
    Real(1e-4, 1e-2, log=True),
    Real(1, 40, or_none=True),
    Whole(1, 50),
    Whole(1, 100, log=True, or_none=True),
    Choice(["relu", "tanh"]),
    Choice([None, True, 3, [64, 64]]),
]


@given(space=st.sampled_from(SPACES), seed=st.integers(0, 2**16))
def test_what_is_proposed_lies_in_the_space_and_can_be_proposed_again(space: Space, seed: int) -> None:
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed))
    trial = study.ask()
    value = space.proposed(trial, "knob")
    assert space.holds(value)
    study.tell(trial, 0.0)
    assert space.proposed(study.trials[0], "knob") == value, "from a kept trial"
    study.enqueue_trial(space.noted(value, "knob"))
    assert space.proposed(study.ask(), "knob") == value, "when asked for"


@pytest.mark.parametrize(
    ("space", "inside", "outside"),
    [
        (Real(0, 1), [0, 0.5, 1, np.float64(0.3)], [-0.1, 1.1, None, "a", True, float("nan")]),
        (Real(0, 1, or_none=True), [None, 0.2], [2]),
        (Whole(1, 5), [1, 5, np.int64(3)], [0, 6, 2.5, None, True]),
        (Choice(["a", None, 1]), ["a", None, 1], ["b", 2]),
    ],
    ids=["real", "real or None", "whole", "choice"],
)
def test_what_lies_in_a_space(space: Space, inside: list[Any], outside: list[Any]) -> None:
    assert all(space.holds(value) for value in inside)
    assert not any(space.holds(value) for value in outside)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Real(1, 1),
        lambda: Real(2, 1),
        lambda: Real(0, 1, log=True),
        lambda: Real(0, float("inf")),
        lambda: Real("a", 1),
        lambda: Whole(0.5, 3),
        lambda: Choice([]),
        lambda: Choice("relu"),
        lambda: Choice(["a", "a"]),
    ],
    ids=range(9),
)
def test_impossible_spaces_are_refused(make: Any) -> None:
    with pytest.raises(InputError, match=r"Got (Real|Whole|Choice)\("):
        make()


@pytest.mark.parametrize("discoverer", [make() for make in CLASSES], ids=lambda discoverer: type(discoverer).__name__)
def test_every_discoverer_accepts_what_its_space_proposes(discoverer: Any) -> None:
    space = discoverer.search_space()
    if not space:
        return
    assert check_space(space, discoverer) == space
    for name, values in space.items():
        ends = values.options if isinstance(values, Choice) else [values.low, values.high]
        for end in [*ends, *([None] if getattr(values, "or_none", False) else [])]:
            changed = with_settings(discoverer, {name: end})
            changed._check_parameters()
            assert settings_of(changed, {name: values}) == {name: end}
        assert values.holds(settings_of(discoverer, space)[name]), f"the default of {name} is worth trying too"


def test_settings_reach_the_encoder_and_leave_the_original_alone() -> None:
    plain = nf.KMeansDiscoverer(2)
    changed = with_settings(plain, {"encoder__numeric_scaling": "quantile", "n_init": 3})
    assert changed.encoder.numeric_scaling == "quantile"
    assert changed.n_init == 3
    assert plain.encoder is None
    own = nf.KMeansDiscoverer(2, encoder=TableEncoder(max_categories=5))
    changed = with_settings(own, {"encoder__numeric_scaling": "quantile"})
    assert (changed.encoder.max_categories, changed.encoder.numeric_scaling) == (5, "quantile")
    assert own.encoder.numeric_scaling == "standard"
    assert with_settings(plain, {"n_init": 3}).encoder is None, "nothing else changes"


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({}, "KMeansDiscoverer has no parameters that are worth tuning.*say what to try"),
        ({"ridge": Real(0, 1)}, "'ridge', which is no parameter of KMeansDiscoverer.*n_init"),
        ({"n_novel_classes": Whole(1, 5)}, "'n_novel_classes', which is no parameter"),
        ({"n_init": [1, 2]}, r"space=\{'n_init': \[1, 2\]\}, but expected a dict"),
        ([1], r"space=\[1\]"),
    ],
)
def test_wrong_spaces_are_refused(space: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_space(space, nf.KMeansDiscoverer(2))


def test_spaces_are_public() -> None:
    space = {"dropout": nf.Real(0, 0.5), "k_neighbors": nf.Whole(2, 9), "top_k": nf.Choice([None, 5])}
    assert check_space(space, nf.TabularNCD()) == space
    with pytest.raises(InputError, match=r"newfound\.Real, newfound\.Whole or newfound\.Choice") as refused:
        check_space({"dropout": (0, 0.5)}, nf.TabularNCD())
    assert refused.value.parameter == "space"
