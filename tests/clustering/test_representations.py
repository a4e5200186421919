from __future__ import annotations

import warnings

import numpy as np
import pytest

from newfound.clustering import representations as spaces
from newfound.tables import Layout, TableEncoder, as_table

NUMBERS_ONLY = {"squashed, whitened 0.1", "ranks, whitened 1", "ranks weighed by importance"}
CATEGORIES_ONLY = {"rare categories count, whitened 1"}
FROM_CLASSES = {
    "weighed by importance",
    "ranks weighed by importance",
    "forest leaves",
    "forest votes",
    "class mix of each value",
}


def layout(n_numbers: int, *categories: int) -> Layout:
    """Columns of numbers, then one-hot blocks of so many categories."""
    groups = [*range(n_numbers), *np.repeat(np.arange(len(categories)) + n_numbers, categories).tolist()]
    flags = np.arange(len(groups)) >= n_numbers
    return Layout(tuple(f"c{i}" for i in range(len(groups))), np.array(groups), flags)


def table(n: int = 120, n_known: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray, Layout]:
    """Three numbers, a category of four values that follows the class, and one of two values that does not."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % (n_known + 2)
    numbers = rng.normal(size=(n_known + 2, 3))[truth] * 3 + rng.normal(size=(n, 3))
    rows = np.column_stack([numbers, np.eye(4)[truth % 4], np.eye(2)[rng.integers(2, size=n)]])
    return rows, np.where(truth < n_known, truth, -1), layout(3, 4, 2)


def bank(
    rows: np.ndarray, codes: np.ndarray, of: Layout, names: frozenset[str] | None = None, seed: int = 0
) -> dict[str, np.ndarray]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = list(spaces.representations(rows, codes, of, np.random.RandomState(seed), names))
    assert len(dict(found)) == len(found)
    return dict(found)


@pytest.fixture(scope="module", autouse=True)
def few_trees() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spaces, "_N_TREES", 10)
        yield


@pytest.fixture(scope="module")
def everything() -> dict[str, np.ndarray]:
    return bank(*table())


def test_a_mixed_table_has_the_whole_bank(everything: dict[str, np.ndarray]) -> None:
    assert {spaces.RAW, *spaces.FEW_KNOWN} | NUMBERS_ONLY | CATEGORIES_ONLY | FROM_CLASSES <= set(everything)
    for name, rows in everything.items():
        assert rows.shape[0] == 120, name
        assert 1 <= rows.shape[1] <= 100, name
        assert np.isfinite(rows).all(), name
        assert np.ptp(rows, axis=0).max() > 0, name


def test_what_tables_of_one_kind_leave_out() -> None:
    rows, codes, _ = table()
    assert not set(bank(rows[:, :3], codes, layout(3))) & CATEGORIES_ONLY
    assert not set(bank(rows[:, 3:], codes, layout(0, 4, 2))) & NUMBERS_ONLY
    assert not set(bank(rows, np.where(codes == 0, 0, -1), layout(3, 4, 2))) & FROM_CLASSES


def test_representations_can_be_asked_for_alone(everything: dict[str, np.ndarray]) -> None:
    for name, expected in everything.items():
        found = bank(*table(), names=frozenset([name]))
        assert list(found) == [name]
        if name not in FROM_CLASSES:  # trees draw their random numbers in the order of the bank
            np.testing.assert_array_equal(found[name], expected)
    assert bank(*table(), names=frozenset()) == {}


def test_the_same_seed_gives_the_same(everything: dict[str, np.ndarray]) -> None:
    again = bank(*table())
    assert all(np.array_equal(again[name], rows) for name, rows in everything.items())


def test_rows_stay_as_they_are() -> None:
    rows, codes, of = table()
    before = rows.copy(), codes.copy()
    bank(rows, codes, of)
    np.testing.assert_array_equal(rows, before[0])
    np.testing.assert_array_equal(codes, before[1])


def test_the_columns_are_the_centred_rows(everything: dict[str, np.ndarray]) -> None:
    rows = table()[0]
    np.testing.assert_allclose(everything[spaces.RAW], rows - rows.mean(axis=0))


def test_wide_tables_are_cut_to_principal_components() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 150))
    compact = bank(rows, np.arange(60) % 3 - 1, layout(150), frozenset([spaces.RAW]))[spaces.RAW]
    assert compact.shape == (60, 100)
    centred = rows - rows.mean(axis=0)
    np.testing.assert_allclose(compact @ compact.T, centred @ centred.T, atol=1e-8)  # distances stay


def test_ranks_do_not_mind_the_scale_of_numbers() -> None:
    rows, codes, of = table()
    stretched = rows.copy()
    stretched[:, 0] = np.exp(3 * rows[:, 0])
    names = frozenset(["ranks, whitened 1"])
    np.testing.assert_allclose(*(bank(x, codes, of, names)["ranks, whitened 1"] for x in (rows, stretched)), atol=1e-9)


def test_importance_drops_columns_that_tell_nothing() -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, -1], 40)
    rows = np.column_stack([codes + rng.normal(0, 0.05, 120), 5 * rng.normal(size=120)])
    weighed = bank(rows, codes, layout(2), frozenset(["weighed by importance"]))["weighed by importance"]
    shrunk = weighed.std(axis=0) / rows.std(axis=0)
    assert shrunk[0] > 1.2 > 0.6 > shrunk[1]


def test_class_mix_puts_values_together_that_the_same_classes_have() -> None:
    # Categories 0 and 1 both belong to class 0, category 2 to class 1; a fourth is of unlabelled rows alone.
    category = np.tile([0, 1, 2], 40)
    codes = np.where(category < 2, 0, 1)
    category, codes = np.append(category, [3] * 10), np.append(codes, [-1] * 10)
    mixed = bank(np.eye(4)[category], codes, layout(0, 4), frozenset(["class mix of each value"]))
    place = [mixed["class mix of each value"][category == c] for c in range(4)]
    assert all(np.ptp(rows, axis=0).max() < 1e-12 for rows in place)
    near, far = np.linalg.norm(place[0][0] - place[1][0]), np.linalg.norm(place[0][0] - place[2][0])
    assert near < 0.05 * far
    average = (mixed["class mix of each value"]).mean(axis=0) - place[3][0]
    assert np.linalg.norm(average) < far  # nothing is known of it, so it lies between


@pytest.mark.parametrize("scaling", ["none", "standard"])
def test_class_mix_tells_categories_apart_however_they_are_scaled(scaling: str) -> None:
    rng = np.random.default_rng(0)
    category = rng.integers(4, size=200)
    X = np.column_stack([np.array(list("abcd"), dtype=object)[category], rng.normal(size=200)])
    encoder = TableEncoder(categorical_scaling=scaling)
    try:
        encoder._check_parameters()
    except ValueError:
        pytest.skip("no such scaling")
    read = as_table(X)
    rows = encoder.fit_table(read).transform_table(read)
    first = rows[:, encoder.layout_.groups == 0]
    assert len(np.unique(spaces._binned(first))) == 4


@pytest.mark.parametrize(
    ("rows", "codes"),
    [
        (np.ones((20, 3)), np.repeat([0, 1, 2, -1], 5)),
        (np.repeat([[0.0, 0, 0], [1, 2, 3]], 10, axis=0), np.repeat([0, -1], 10)),
        (np.arange(9.0).reshape(3, 3), np.array([0, 1, -1])),
        (np.arange(12.0).reshape(4, 3), np.array([0, 1, -1, -1])),
        (1e20 * np.arange(30.0).reshape(10, 3), np.repeat([0, 1, -1, -1, -1], 2)),
    ],
    ids=["equal", "one known class of equal rows", "three rows", "four rows", "huge"],
)
def test_degenerate_rows(rows: np.ndarray, codes: np.ndarray) -> None:
    found = bank(rows, codes, layout(3))
    assert spaces.RAW in found  # whatever happens, there is something to cut
    for name, represented in found.items():
        assert np.isfinite(represented).all(), name
        if name != spaces.RAW:
            assert np.ptp(represented, axis=0).max() > 1e-9 * np.abs(represented).max(), name


# ---- wide tables


@pytest.mark.parametrize("n", [60, 400])
def test_wide_tables_have_the_axes_of_narrow_ones(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 20)) * np.linspace(5, 1, 20) @ rng.normal(size=(20, 220))
    rows -= rows.mean(axis=0)
    plain = rows @ spaces.principal_axes(rows)
    monkeypatch.setattr(spaces, "_WIDE", 50)  # the smaller product, or a randomised decomposition
    axes = spaces.principal_axes(rows)
    assert axes.shape[1] <= 100
    np.testing.assert_allclose(rows @ axes @ (rows @ axes).T, plain @ plain.T, atol=1e-6 * np.abs(plain).max() ** 2)


def test_axes_of_many_rows_are_those_of_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).normal(size=(600, 120)) * np.linspace(3, 0.1, 120)
    monkeypatch.setattr(spaces, "_MOST_PRODUCTS", 200 * 120 * 120)
    np.testing.assert_array_equal(spaces.principal_axes(rows), spaces.principal_axes(rows[::3]))


def test_equal_rows_of_a_wide_table_have_an_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spaces, "_WIDE", 50)
    assert np.isfinite(spaces.principal_axes(np.zeros((10, 200)))).all()


def test_the_class_mix_of_wide_tables_is_of_the_columns_that_tell_most(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2, -1], 40)
    rows = rng.normal(size=(160, 30))
    rows[:, 7] += 9 * codes
    name = "class mix of each value"
    monkeypatch.setattr(spaces, "_MOST_MIXED", 5)
    mixed = bank(rows, codes, layout(30), frozenset([name]))[name]
    assert mixed.shape == (160, 5 * 3)
    assert mixed.std() > 0
