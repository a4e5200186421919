from __future__ import annotations

import numpy as np

import newfound as nf
from newfound.selection.packs import fit_pack, packs, together_key
from tests.discoverers.common import integer_labels, numbers, tabular_ncd


def test_networks_of_equal_shapes_form_a_pack() -> None:
    discoverers = [
        tabular_ncd(w1=0.1),
        nf.KMeansDiscoverer(2),
        tabular_ncd(activation="tanh"),
        tabular_ncd(w1=0.9),
        nf.KMeansDiscoverer(2),
        tabular_ncd(n_members=2),
        tabular_ncd(n_members=2),
        tabular_ncd(n_novel_classes="auto"),
    ]
    assert packs(discoverers) == [[0, 3], [1], [2], [4], [5], [6], [7]]
    assert packs([]) == []


def test_what_knows_nothing_of_packs_is_alone() -> None:
    assert together_key(object()) is None
    assert packs([object(), object()]) == [[0], [1]]


def test_a_pack_is_fitted_at_once_and_one_alone_as_ever() -> None:
    X, y = numbers(), integer_labels()
    both = fit_pack([tabular_ncd(epochs=2, w1=0.2), tabular_ncd(epochs=2, w1=0.7)], X, y)
    assert [model.w1 for model in both] == [0.2, 0.7]
    (alone,) = fit_pack([tabular_ncd(epochs=2, w1=0.7)], X, y)
    np.testing.assert_array_equal(alone.labels_, both[1].labels_)
