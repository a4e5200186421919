"""TableEncoder: the matrix it makes, how later tables are matched to it, and its state."""

from __future__ import annotations

import datetime as dt
import json
import re
import tracemalloc
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from newfound.errors import InputError, ModelFileError
from newfound.tables.encoder import Layout, TableEncoder
from newfound.tables.frame import CHUNK_ROWS, as_table
from newfound.tables.scaling import MAX_DEVIATION, NUMERIC_SCALINGS, NumberScaler
from tests.tables.formats import FORMATS, convert

N = 40


def people(seed: int = 0, n: int = N) -> dict[str, list[Any]]:
    """Return a table of every kind of column, with missing cells."""
    rng = np.random.default_rng(seed)
    columns: dict[str, list[Any]] = {
        "age": rng.integers(18, 90, n).tolist(),
        "income": rng.lognormal(8, 2, n).tolist(),
        "city": rng.choice(["Paris", "Lannion", "Troyes"], n, p=[0.6, 0.3, 0.1]).tolist(),
        "smoker": (rng.random(n) < 0.3).tolist(),
        "born": [dt.date(1970, 1, 1) + dt.timedelta(int(days)) for days in rng.integers(0, 9999, n)],
        "seen": [dt.datetime(2020, 1, 1) + dt.timedelta(seconds=int(s)) for s in rng.integers(0, 10**8, n)],
        "waited": [dt.timedelta(microseconds=int(us)) for us in rng.integers(0, 10**9, n)],
    }
    for name in list(columns):
        columns[f"{name}?"] = [None if row % 7 == 3 else cell for row, cell in enumerate(columns[name])]
    return columns


@parametrize_with_checks([TableEncoder(), TableEncoder(numeric_scaling="quantile", categorical_scaling="standard")])
def test_scikit_learn(estimator: TableEncoder, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "ignored column")
        check(estimator)


# ---- the matrix


@pytest.mark.parametrize("scaling", NUMERIC_SCALINGS)
@pytest.mark.parametrize("categorical", ["none", "standard"])
def test_every_library_gives_the_same_bits(scaling: Any, categorical: Any) -> None:
    train, test = people(0), people(1)
    encoded = {}
    for to in FORMATS:
        encoder = TableEncoder(numeric_scaling=scaling, categorical_scaling=categorical).fit(convert(train, to))
        encoded[to] = encoder.transform(convert(test, to))
        np.testing.assert_array_equal(encoded[to], encoded["pandas"], err_msg=to)
        np.testing.assert_array_equal(encoder.fit_transform(convert(train, to)), encoder.transform(convert(train, to)))
    assert encoded["pandas"].flags.c_contiguous
    assert np.isfinite(encoded["pandas"]).all()


def test_float_matrix_is_the_same_in_every_library() -> None:
    X = np.random.default_rng(0).normal(3, 5, size=(2 * CHUNK_ROWS + 5, 3))
    X[::7, 1] = np.nan
    expected = TableEncoder().fit_transform(X)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for table in (frame, pl.DataFrame(frame), pa.Table.from_pandas(frame), np.asfortranarray(X), X.tolist()):
        np.testing.assert_array_equal(TableEncoder().fit_transform(table), expected)
    np.testing.assert_array_equal(expected[:, 0], (X[:, 0] - X[:, 0].copy().mean()) / X[:, 0].copy().std())
    np.testing.assert_allclose(expected[:, [0, 3]], StandardScaler().fit_transform(X[:, [0, 2]]), rtol=1e-12)


def test_layout_and_values() -> None:
    frame = pd.DataFrame(
        {
            "age": [20.0, None, 40.0, 60.0],
            "city": ["Rome", "Rome", None, "Oslo"],
            "same": [1, 1, 1, 1],
            "flag": [True, None, False, True],
            "size": ["b", "a", "a", "c"],
        }
    )
    with pytest.warns(UserWarning, match="column 'same'"):
        encoder = TableEncoder(max_categories=2).fit(frame)
    layout = encoder.layout_
    names = ("age", "age=missing", "city=Rome", "city=Oslo", "city=missing", "flag", "flag=missing")
    assert layout.names == (*names, "size=a", "size=b", "size=other")
    assert layout.groups.tolist() == [0, 0, 1, 1, 1, 2, 2, 3, 3, 3]
    assert layout.categorical.tolist() == [False] + [True] * 9
    assert (layout.n_groups, layout.n_columns) == (4, 10)
    assert encoder.get_feature_names_out().tolist() == list(layout.names)
    assert encoder.n_features_in_ == 5
    assert encoder.feature_names_in_.tolist() == list(frame.columns)
    step = np.sqrt(1.5)
    expected = [
        [-step, 0, 1, 0, 0, 1.0, 0, 0, 1, 0],
        [0, 1, 1, 0, 0, 0.5, 1, 1, 0, 0],
        [0, 0, 0, 0, 1, 0.0, 0, 1, 0, 0],
        [step, 0, 0, 1, 0, 1.0, 0, 0, 0, 1],
    ]
    np.testing.assert_allclose(encoder.transform(frame), expected, rtol=1e-15)


def test_columns_keep_their_group() -> None:
    layout = TableEncoder().fit(pd.DataFrame(people())).layout_
    sources = [name.split("=")[0] for name in layout.names]
    for group in range(layout.n_groups):
        assert len({sources[j] for j in np.flatnonzero(layout.groups == group)}) == 1
    assert len(set(sources)) == layout.n_groups


def test_categories_are_ordered_by_count_then_name() -> None:
    cells = ["b", "b", "c", "a", "d", "d", "d"]
    assert TableEncoder().fit([[cell] for cell in cells]).layout_.names == ("x0=d", "x0=b", "x0=a", "x0=c")


def test_a_category_called_missing_or_other() -> None:
    frame = pd.DataFrame({"a": ["other", "missing", None, "x", "x", "other", "missing"]})
    names = TableEncoder(max_categories=2).fit(frame).layout_.names
    assert names == ("a=missing", "a=other", "a=other_", "a=missing_")


def test_categories_and_cells_unseen_at_fit() -> None:
    encoder = TableEncoder(max_categories=2)
    with_other = encoder.fit([["a"], ["a"], ["b"], ["b"], ["c"]])
    np.testing.assert_array_equal(with_other.transform([["z"], ["c"], [None]]), [[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    without = encoder.fit([["a"], ["b"], [None]])
    np.testing.assert_array_equal(without.transform([["z"], [None]]), [[0, 0, 0], [0, 0, 1]])


def test_missing_first_at_transform_is_neutral() -> None:
    frame = pd.DataFrame(
        {"number": [1.0, 2.0, 5.0], "flag": [True, False, True], "day": pd.date_range("2020", periods=3)}
    )
    encoder = TableEncoder().fit(frame)
    gone = pd.DataFrame({"number": [None], "flag": [None], "day": [None]})
    np.testing.assert_array_equal(encoder.transform(gone), [[0.0, 0.5, 0.0]])


def test_categories_compare_as_text_whatever_type_they_come_in() -> None:
    encoder = TableEncoder(kinds={"a": "categorical"}).fit(pd.DataFrame({"a": [1, 2, 3, 2]}))
    assert encoder.layout_.names == ("a=2", "a=1", "a=3")
    for cells in ([1, 2, 3], [1.0, 2.0, 3.0], ["1", "2", "3"], ["1.0", "2.00", "3.0"], [1, "2", 3.0]):
        np.testing.assert_array_equal(encoder.transform(pd.DataFrame({"a": cells})), np.eye(3)[[1, 0, 2]])
    flags = TableEncoder(kinds={"x0": "categorical"}).fit([[True], [False], [True]])
    np.testing.assert_array_equal(flags.transform([["False"], ["True"]]), np.eye(2)[[1, 0]])
    zip_codes = TableEncoder().fit([["01"], ["1"], ["01"]])
    assert zip_codes.layout_.names == ("x0=01", "x0=1")


def test_standardised_categories() -> None:
    frame = pd.DataFrame(
        {"city": ["a", "a", "b", None], "flag": [True, False, None, False], "z": [1.0, None, 2.0, 4.0]}
    )
    raw = TableEncoder().fit_transform(frame)
    encoder = TableEncoder(categorical_scaling="standard")
    np.testing.assert_allclose(
        encoder.fit_transform(frame),
        np.where(encoder.layout_.categorical, StandardScaler().fit_transform(raw), raw),
        atol=1e-15,
    )


def test_standardised_constant_column_is_left() -> None:
    encoder = TableEncoder({"c": "boolean"}, categorical_scaling="standard")
    frame = pd.DataFrame({"c": [1, 1, 1], "z": [1.0, 2.0, 4.0]})
    np.testing.assert_array_equal(encoder.fit_transform(frame)[:, 0], [1, 1, 1])


def test_dates_are_standardised_days_in_every_form() -> None:
    days = ["2020-01-01", "2020-01-02", "2020-01-04", None]
    as_text = TableEncoder().fit_transform(pd.DataFrame({"d": days}))
    as_dates = TableEncoder(numeric_scaling="quantile").fit_transform(pd.DataFrame({"d": pd.to_datetime(days)}))
    np.testing.assert_array_equal(as_text, as_dates)
    days_since = np.array([18262.0, 18263.0, 18265.0])
    np.testing.assert_array_equal(as_text[:3, 0], (days_since - days_since.mean()) / days_since.std())


def test_later_counts_in_a_boolean_column_are_clipped() -> None:
    encoder = TableEncoder().fit([[0], [1], [1]])
    np.testing.assert_array_equal(encoder.transform([[7], [-1], [0.5]]), [[1.0], [0.0], [0.5]])


# ---- kinds that the user gives


def test_texts_forced_to_numbers_are_parsed() -> None:
    encoder = TableEncoder({"x0": "numeric"}, numeric_scaling="none")
    np.testing.assert_array_equal(
        encoder.fit_transform([["1.5"], ["-2"], [" "], [None], ["1e3"]])[:, 0], [1.5, -2, 999.5 / 3, 999.5 / 3, 1000]
    )
    with pytest.raises(InputError, match="column 'x0' is used as numbers but holds text such as 'n/a'"):
        encoder.fit([["1"], ["n/a"]])


def test_words_forced_to_booleans_are_understood() -> None:
    encoder = TableEncoder({"x0": "boolean"})
    np.testing.assert_array_equal(encoder.fit_transform([["yes"], ["No"], ["TRUE"]])[:, 0], [1, 0, 1])
    with pytest.raises(InputError, match="used as booleans but holds text such as 'maybe'"):
        encoder.fit([["yes"], ["maybe"]])
    with pytest.raises(InputError, match="used as booleans but holds 2"):
        encoder.fit([[1], [2]])
    with pytest.raises(InputError, match="used as booleans but holds dates"):
        encoder.fit(np.array([["2020-01-01"]], dtype="M8[D]"))


def test_other_forced_kinds() -> None:
    with pytest.raises(InputError, match="used as dates but holds numbers such as '3'"):
        TableEncoder({"x0": "date"}).fit([[3], [4]])
    moments = pd.DataFrame({"t": pd.to_datetime(["1970-01-02 00:00", "1970-01-03 12:00"])})
    np.testing.assert_array_equal(
        TableEncoder({"t": "numeric"}, numeric_scaling="none").fit_transform(moments), [[1.0], [2.5]]
    )
    names = TableEncoder({"t": "categorical"}).fit(moments).layout_.names
    assert names == ("t=1970-01-02", "t=1970-01-03T12:00:00.000000")
    empty = TableEncoder({"a": "numeric", "b": "categorical"}).fit_transform(
        pd.DataFrame({"a": [None] * 2, "b": [None] * 2})
    )
    np.testing.assert_array_equal(empty, [[0, 1, 1]] * 2)
    constant = TableEncoder({"x0": "numeric"}).fit([[5.0], [5.0]])
    np.testing.assert_array_equal(constant.transform([[5.0], [6.0]]), [[0.0], [1.0]])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"numeric_scaling": "robust"}, "Got numeric_scaling='robust', but expected one of 'standard'"),
        ({"categorical_scaling": None}, "Got categorical_scaling=None"),
        ({"max_categories": 0}, "Got max_categories=0, but expected a whole number of at least 1"),
        ({"max_categories": 2.5}, "Got max_categories=2.5"),
        ({"max_categories": True}, "Got max_categories=True"),
        ({"kinds": {"x9": "numeric"}}, "'x9', which is not a column"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        TableEncoder(**parameters).fit([[1.0], [2.0]])


# ---- later tables


def test_columns_are_matched_by_name() -> None:
    frame = pd.DataFrame(people())
    encoder = TableEncoder().fit(frame)
    shuffled = frame[frame.columns[::-1]].assign(extra="new")
    np.testing.assert_array_equal(encoder.transform(shuffled), encoder.transform(frame))
    np.testing.assert_array_equal(encoder.transform(pl.DataFrame(people())), encoder.transform(frame))


def test_ignored_columns_may_be_gone() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 4.0], "same": [0, 0, 0]})
    with pytest.warns(UserWarning, match="'same'"):
        encoder = TableEncoder().fit(frame)
    np.testing.assert_array_equal(encoder.transform(frame[["a"]]), encoder.transform(frame))
    np.testing.assert_array_equal(encoder.transform(frame.assign(same=np.inf)), encoder.transform(frame))


def test_missing_column_is_named_with_a_guess() -> None:
    frame = pd.DataFrame(people())
    encoder = TableEncoder().fit(frame)
    with pytest.raises(InputError, match=r"X lacks column 'income', .* for 'income', did you mean 'INCOMES'\?"):
        encoder.transform(frame.rename(columns={"income": "INCOMES"}))
    with pytest.raises(InputError, match="X lacks columns 'age', 'born'"):
        encoder.transform(frame.drop(columns=["age", "born"]))


def test_number_of_columns_and_names_as_in_scikit_learn() -> None:
    X = np.random.default_rng(0).normal(size=(9, 5))
    frame = pd.DataFrame(X, columns=list("abcde"))
    unnamed, named = TableEncoder().fit(X), TableEncoder().fit(frame)
    with pytest.raises(InputError, match="X has 3 features, but TableEncoder is expecting 5 features as input"):
        unnamed.transform(X[:, :3])
    with pytest.raises(InputError, match="X has 3 features, but TableEncoder is expecting 5 features as input"):
        named.transform(X[:, :3])
    with pytest.warns(UserWarning, match="X does not have valid feature names, but TableEncoder was fitted with"):
        np.testing.assert_array_equal(named.transform(X), unnamed.transform(X))
    with pytest.warns(UserWarning, match="X has feature names, but TableEncoder was fitted without feature names"):
        np.testing.assert_array_equal(unnamed.transform(frame), named.transform(frame))
    assert not hasattr(unnamed, "feature_names_in_")
    assert not hasattr(named.fit(X), "feature_names_in_")


def test_messages_speak_for_the_caller() -> None:
    encoder = TableEncoder().fit(np.arange(6.0).reshape(3, 2))
    with pytest.raises(InputError, match="but TabularNCD is expecting 2 features"):
        encoder.transform_table(as_table([[1.0]]), estimator_name="TabularNCD")


def test_text_in_a_numeric_column() -> None:
    frame = pd.DataFrame(people())
    encoder = TableEncoder().fit(frame)
    bad = frame.astype({"age": object})
    bad.loc[5, "age"] = "old"
    with pytest.raises(InputError, match="column 'age' is used as numbers but holds text such as 'old'"):
        encoder.transform(bad)
    with pytest.raises(InputError, match="column 'born' is used as dates but holds text such as 'long ago'"):
        encoder.transform(frame.assign(born="long ago"))


def test_all_missing_columns_at_transform() -> None:
    frame = pd.DataFrame(people())
    encoder = TableEncoder().fit(frame)
    encoded = encoder.transform(pd.DataFrame({name: [None] * 2 for name in frame}))
    as_dates = encoder.transform(pd.DataFrame({name: pd.to_datetime([None] * 2) for name in frame}))
    np.testing.assert_array_equal(as_dates, encoded)
    indicators = [name.endswith("=missing") for name in encoder.layout_.names]
    assert (encoded[:, indicators] == 1).all()
    assert set(np.unique(encoded[:, ~np.array(indicators)])) == {0.0, 0.5}


def test_infinite_values_are_named() -> None:
    X = np.random.default_rng(0).normal(size=(5, 3))
    encoder = TableEncoder().fit(X)
    X[2, 1] = np.inf
    for method in (encoder.fit, encoder.transform):
        with pytest.raises(InputError, match="infinite values in column 'x1'"):
            method(X)
    with pytest.raises(InputError, match="infinite values in column 'a'"):
        TableEncoder().fit(pd.DataFrame({"a": [10**400, 1]}, dtype=object))


def test_single_row() -> None:
    frame = pd.DataFrame(people())
    encoder = TableEncoder().fit(frame)
    rows = np.vstack([encoder.transform(frame.iloc[[i]]) for i in range(len(frame))])
    np.testing.assert_array_equal(rows, encoder.transform(frame))


def test_failed_fit_changes_nothing() -> None:
    X = np.random.default_rng(0).normal(size=(5, 3))
    encoder = TableEncoder().fit(X)
    before = encoder.transform(X)
    for bad in (np.full((5, 3), np.inf), np.ones((5, 3)), [[1], [[2]]]):
        with pytest.raises(InputError):
            encoder.fit(bad)
    np.testing.assert_array_equal(encoder.transform(X), before)


def test_inputs_are_not_changed() -> None:
    X = np.array([[1.0, np.nan], [2.0, 5.0], [4.0, 7.0]])
    X.flags.writeable = False
    frame = pd.DataFrame(people())
    copy = frame.copy()
    TableEncoder().fit_transform(X)
    TableEncoder().fit_transform(frame)
    pd.testing.assert_frame_equal(frame, copy)


def test_memory_stays_near_one_copy_of_the_matrix() -> None:
    X = np.random.default_rng(0).normal(size=(100_000, 20))
    tracemalloc.start()
    TableEncoder().fit_transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * X.nbytes


def test_before_fit() -> None:
    for call in (lambda e: e.transform([[1.0]]), lambda e: e.get_feature_names_out(), lambda e: e.to_state()):
        with pytest.raises(NotFittedError):
            call(TableEncoder())


# ---- scaling

finite_columns = hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(allow_nan=False, allow_infinity=False))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scaling", NUMERIC_SCALINGS)
@given(finite_columns, finite_columns)
def test_output_is_finite_and_monotone_whatever_the_numbers(scaling: Any, fitted: Any, later: Any) -> None:
    scaler = NumberScaler.fit(fitted, scaling)
    scaled = scaler.apply(np.sort(later))
    assert np.isfinite(scaled).all()
    assert (scaled[1:] >= scaled[:-1] - 1e-12).all()
    if scaling == "quantile":
        assert np.abs(scaled).max() <= np.sqrt(3) + 1e-12
    elif scaling != "none":
        assert np.abs(scaled).max() <= MAX_DEVIATION


@given(hnp.arrays(np.float64, 20, elements=st.floats(-1e6, 1e6).map(lambda x: round(x, 3))))
def test_standard_scaling_equals_the_obvious_formula(values: Any) -> None:
    spread = values.std() if values.min() != values.max() else 1.0
    centre = values.mean() if values.min() != values.max() else values[0]
    expected = (values - centre) / spread
    np.testing.assert_array_equal(NumberScaler.fit(values, "standard").apply(values), expected)


@given(hnp.arrays(np.float64, 20, elements=st.floats(-1e300, 1e300)), st.sampled_from(["standard", "signed_log"]))
def test_fitted_columns_have_mean_0_and_variance_1(values: Any, scaling: Any) -> None:
    # Columns whose cells differ by little more than rounding have no exact mean.
    assume(np.ptp(values) > 1e-6 * np.abs(values).max() and np.abs(values).max() > 1e-3)
    scaled = NumberScaler.fit(values, scaling).apply(values)
    np.testing.assert_allclose([scaled.mean(), scaled.std()], [0, 1], atol=1e-6)


def test_quantiles_make_any_distribution_uniform() -> None:
    values = np.exp(np.random.default_rng(0).normal(size=5000) * 5)
    scaled = NumberScaler.fit(values, "quantile").apply(values)
    np.testing.assert_allclose([scaled.mean(), scaled.std()], [0, 1], atol=5e-3)
    np.testing.assert_allclose(np.sort(scaled), np.linspace(-np.sqrt(3), np.sqrt(3), 5000), atol=5e-3)


def test_tied_quantiles_stand_in_their_middle() -> None:
    values = np.array([0.0, 0.0, 0.0, 1.0, 2.0])
    scaled = NumberScaler.fit(values, "quantile").apply(values)
    np.testing.assert_allclose(scaled / np.sqrt(12) + 0.5, [0.25, 0.25, 0.25, 0.75, 1.0])


def test_signed_log() -> None:
    values = np.array([-1e300, -1.0, 0.0, 3.0, 1e300])
    logs = np.sign(values) * np.log1p(np.abs(values))
    scaled = NumberScaler.fit(values, "signed_log").apply(values)
    np.testing.assert_allclose(scaled, (logs - logs.mean()) / logs.std(), rtol=1e-15, atol=1e-17)


def test_no_scaling_fills_missing_cells_with_the_mean() -> None:
    X = [[1.0], [np.nan], [4.0]]
    np.testing.assert_array_equal(TableEncoder(numeric_scaling="none").fit_transform(X), [[1, 0], [2.5, 1], [4, 0]])


def test_quantiles_of_numbers_next_to_zero_stay_finite() -> None:
    scaler = NumberScaler.fit(np.array([0.0, 1e-320, 1.0]), "quantile")
    assert np.isfinite(scaler.apply(np.array([5e-321, 1e-310, 1e-300, 0.5]))).all()


# ---- state


@pytest.mark.parametrize("scaling", NUMERIC_SCALINGS)
@pytest.mark.parametrize("to", ["pandas", "numpy"])
def test_state_round_trip_is_equal_to_the_bit(scaling: Any, to: str) -> None:
    table, later = convert(people(), to), convert(people(1), to)
    encoder = TableEncoder(numeric_scaling=scaling, categorical_scaling="standard", max_categories=2)
    encoder.set_params(kinds={"age" if to == "pandas" else "x0": "categorical"}).fit(table)
    header, arrays = encoder.to_state()
    again = TableEncoder.from_state(json.loads(json.dumps(header, allow_nan=False)), arrays)
    np.testing.assert_array_equal(again.transform(later), encoder.transform(later))
    assert again.get_params() == encoder.get_params()
    assert again.schema_ == encoder.schema_
    assert again.layout_.names == encoder.layout_.names
    np.testing.assert_array_equal(again.layout_.groups, encoder.layout_.groups)
    np.testing.assert_array_equal(again.layout_.categorical, encoder.layout_.categorical)
    assert (again.layout_.groups.dtype, again.layout_.categorical.dtype) == (np.intp, np.bool_)
    assert again.n_features_in_ == encoder.n_features_in_
    assert hasattr(again, "feature_names_in_") == hasattr(encoder, "feature_names_in_")
    np.testing.assert_array_equal(clone(again).fit_transform(table), encoder.fit_transform(table))


def small_state() -> tuple[dict[str, Any], dict[str, Any]]:
    frame = pd.DataFrame({"n": [1.0, 2.0, 4.0], "c": ["a", "b", "a"], "b": [True, False, True]})
    return TableEncoder(numeric_scaling="quantile").fit(frame).to_state()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("numeric_scaling",), "odd"),
        (("numeric_scaling",), ["quantile"]),
        (("categorical_scaling",), None),
        (("max_categories",), 0),
        (("max_categories",), True),
        (("named",), 1),
        (("kinds",), {"n": "odd"}),
        (("kinds",), {"n": ["numeric"]}),
        (("kinds",), []),
        (("schema",), "numeric"),
        (("schema",), []),
        (("schema", 0, "kind"), "odd"),
        (("schema", 0, "kind"), "ignored"),
        (("blocks",), []),
        (("blocks", 0), 1),
        (("blocks", 0, "unit"), 0.0),
        (("blocks", 0, "spread"), -1.0),
        (("blocks", 0, "spread"), float("nan")),
        (("blocks", 0, "centre"), float("inf")),
        (("blocks", 0, "neutral"), "0"),
        (("blocks", 0, "indicator"), 0),
        (("blocks", 1, "categories"), ["a", "a"]),
        (("blocks", 1, "categories"), [1]),
        (("blocks", 1, "categories"), []),
        (("blocks", 1, "other"), None),
        (("blocks", 2, "indicator"), True),
    ],
)
def test_altered_headers_are_refused(path: tuple[Any, ...], value: Any) -> None:
    header, arrays = small_state()
    target: Any = header
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    with pytest.raises(ModelFileError):
        TableEncoder.from_state(header, arrays)


@pytest.mark.parametrize("key", ["shift", "scale", "references.0", "levels.0"])
@pytest.mark.parametrize(
    "alter",
    [
        lambda array: None,
        lambda array: array.tolist(),
        lambda array: array.astype(np.float32),
        lambda array: array[:, None],
        lambda array: array[:-1],
        lambda array: array * np.nan,
        lambda array: array[:0],
    ],
)
def test_altered_arrays_are_refused(key: str, alter: Any) -> None:
    header, arrays = small_state()
    with pytest.raises(ModelFileError, match=re.escape(key.split(".")[0]) + "|levels"):
        TableEncoder.from_state(header, {**arrays, key: alter(arrays[key])})


def test_inconsistent_arrays_are_refused() -> None:
    header, arrays = small_state()
    for key, value in (("scale", -1.0), ("references.0", -1.0), ("levels.0", 2.0)):
        with pytest.raises(ModelFileError):
            TableEncoder.from_state(header, {**arrays, key: arrays[key] * value})
    with pytest.raises(ModelFileError, match="must be a dict"):
        TableEncoder.from_state(None, arrays)


@pytest.mark.parametrize(
    "change",
    [{"groups": [0, 2]}, {"groups": [1, 1]}, {"groups": [0]}, {"names": (), "groups": [], "categorical": []}],
)
def test_inconsistent_layout_is_refused(change: dict[str, Any]) -> None:
    good: dict[str, Any] = {"names": ("a", "b"), "groups": [0, 1], "categorical": [True, False]}

    def build(content: dict[str, Any]) -> Layout:
        return Layout(content["names"], np.array(content["groups"], dtype=np.intp), np.array(content["categorical"]))

    assert build(good).n_groups == 2
    with pytest.raises(ValueError, match="groups"):
        build(good | change)
