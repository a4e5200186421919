from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.errors import InputError
from newfound.metrics import (
    balanced_clustering_accuracy,
    clustering_accuracy,
    expected_calibration_error,
    match_classes,
    novel_scores,
    open_world_scores,
)
from tests.oracles import metrics as oracle

Labels = list[int]
FUNCTIONS = [match_classes, clustering_accuracy, balanced_clustering_accuracy, novel_scores]


@st.composite
def two_partitions(draw: st.DrawFn) -> tuple[Labels, Labels]:
    """The same rows under two labellings, of up to 5 and 4 classes; -1 is a label like any other."""
    n = draw(st.integers(1, 25))
    column = st.integers(1, 5).flatmap(lambda k: st.lists(st.integers(-1, k - 2), min_size=n, max_size=n))
    return draw(column), draw(column)


@given(two_partitions())
def test_accuracy_is_the_best_over_every_matching(labels: tuple[Labels, Labels]) -> None:
    assert clustering_accuracy(*labels) == pytest.approx(oracle.accuracy(*labels))


@given(two_partitions())
def test_matching_is_one_of_the_best_and_bacc_is_its_mean_recall(labels: tuple[Labels, Labels]) -> None:
    matching = match_classes(*labels)
    pairing = {
        matching.true_classes[i]: matching.pred_classes[j] for i, j in enumerate(matching.pred_of_true) if j >= 0
    }
    assert pairing in oracle.best_pairings(*labels)
    assert balanced_clustering_accuracy(*labels) == pytest.approx(oracle.balanced_accuracy(pairing, *labels))


@given(two_partitions())
def test_matching_is_the_same_seen_from_both_sides(labels: tuple[Labels, Labels]) -> None:
    matching = match_classes(*labels)
    for i, j in enumerate(matching.pred_of_true):
        assert j == -1 or matching.true_of_pred[j] == i
    n_pairs = min(len(matching.true_classes), len(matching.pred_classes))
    assert (matching.pred_of_true >= 0).sum() == (matching.true_of_pred >= 0).sum() == n_pairs


@given(two_partitions())
def test_ari_and_nmi_follow_their_definitions(labels: tuple[Labels, Labels]) -> None:
    scores = novel_scores(*labels)
    assert scores["ari"] == pytest.approx(oracle.adjusted_rand(*labels), abs=1e-9)
    assert scores["nmi"] == pytest.approx(oracle.normalised_mutual_information(*labels), abs=1e-9)


@given(two_partitions())
def test_scores_agree_with_the_single_functions_and_stay_in_range(labels: tuple[Labels, Labels]) -> None:
    scores = novel_scores(*labels)
    assert list(scores) == ["acc", "bacc", "nmi", "ari"]
    assert all(type(score) is float for score in scores.values())
    assert scores["acc"] == clustering_accuracy(*labels)
    assert scores["bacc"] == balanced_clustering_accuracy(*labels)
    assert all(0 <= scores[name] <= 1 for name in ("acc", "bacc", "nmi"))
    assert -1 <= scores["ari"] <= 1


@given(two_partitions(), st.randoms(use_true_random=False))
def test_names_of_found_classes_do_not_matter(labels: tuple[Labels, Labels], random) -> None:
    y_true, y_pred = labels
    names = [f"novel_{i}" for i in range(5)]
    random.shuffle(names)
    renamed = [names[label] for label in y_pred]
    before, after = novel_scores(y_true, y_pred), novel_scores(y_true, renamed)
    for name in ("acc", "nmi", "ari"):
        assert after[name] == pytest.approx(before[name], abs=1e-12)


def test_bacc_uses_the_matching_of_acc_even_where_another_is_better_for_bacc() -> None:
    y_true = [0] * 100 + [1] * 10
    y_pred = [0] * 60 + [1] * 40 + [0] * 10
    # ACC pairs 0 with 0 (60 rows, class 1 gets nothing); pairing crosswise would give BACC (0.4 + 1) / 2
    assert clustering_accuracy(y_true, y_pred) == pytest.approx(60 / 110)
    assert balanced_clustering_accuracy(y_true, y_pred) == pytest.approx(0.3)


def test_more_true_classes_than_found_ones() -> None:
    matching = match_classes([0, 0, 1, 2, 2, 2], ["a"] * 6)
    assert matching.pred_of_true.tolist() == [-1, -1, 0]
    assert matching.true_of_pred.tolist() == [2]
    assert matching.matched_counts.tolist() == [0, 0, 3]
    assert balanced_clustering_accuracy([0, 0, 1, 2, 2, 2], ["a"] * 6) == pytest.approx(1 / 3)


def test_more_found_classes_than_true_ones() -> None:
    matching = match_classes(["x"] * 5, [4, 4, 4, 9, 7])
    assert matching.pred_classes[matching.pred_of_true].tolist() == [4]
    assert matching.true_of_pred.tolist() == [0, -1, -1]
    assert clustering_accuracy(["x"] * 5, [4, 4, 4, 9, 7]) == pytest.approx(0.6)


def test_counts_are_the_contingency_table() -> None:
    matching = match_classes(["b", "a", "b"], [1, 0, 0])
    assert matching.true_classes.tolist() == ["a", "b"]
    assert matching.counts.tolist() == [[1, 0], [1, 1]]


TRUE = [3, 1, 1, 3, 2]


@pytest.mark.parametrize(
    "y",
    [
        np.array(TRUE, dtype=np.int8),
        np.array(TRUE, dtype=np.float32),
        np.array([f"c{i}" for i in TRUE]),
        np.array([f"c{i}" for i in TRUE], dtype=object),
        np.array(TRUE, dtype="datetime64[D]"),
        tuple(TRUE),
    ],
    ids=lambda y: str(getattr(y, "dtype", type(y).__name__)),
)
def test_any_label_type_on_either_side(y) -> None:
    assert novel_scores(y, TRUE) == pytest.approx({"acc": 1, "bacc": 1, "nmi": 1, "ari": 1})
    assert novel_scores(TRUE, y) == pytest.approx({"acc": 1, "bacc": 1, "nmi": 1, "ari": 1})


def test_booleans() -> None:
    assert clustering_accuracy([True, False, True], np.array([False, True, False])) == 1.0


@pytest.mark.parametrize("dtype", ["int64", "Int64", "str", "string", "category"])
def test_pandas_series(dtype: str) -> None:
    pd = pytest.importorskip("pandas")
    y = pd.Series([str(i) for i in TRUE] if dtype in ("str", "string") else TRUE, dtype=dtype, index=range(10, 15))
    assert clustering_accuracy(y, TRUE) == 1.0
    with pytest.raises(InputError, match=r"y_pred has 1 missing .* row 4"):
        clustering_accuracy(TRUE, pd.concat([y[:4], pd.Series([None], dtype=dtype if dtype != "int64" else float)]))


def test_polars_series() -> None:
    pl = pytest.importorskip("polars")
    assert clustering_accuracy(pl.Series([str(i) for i in TRUE]), TRUE) == 1.0
    with pytest.raises(InputError, match=r"y_true has 1 missing"):
        clustering_accuracy(pl.Series(["a", None]), [1, 2])


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([], "is empty"),
        (np.array([], dtype=np.int64), "is empty"),
        (np.zeros((3, 1)), r"one-dimensional.*\(3, 1\)"),
        ([[1], [2], [3]], r"one-dimensional.*\(3, 1\)"),
        ([[1], [2, 3], [4]], "lists or arrays inside"),
        ([np.zeros(2), np.zeros((2, 2)), 1], "lists or arrays inside"),
        (7, "one-dimensional"),
        ([1, None, 2], r"1 missing .* first at row 1"),
        (["a", "b", float("nan")], r"1 missing .* first at row 2"),
        (np.array([np.nan, np.nan, 1.0]), r"2 missing .* first at row 0"),
        (np.array(["2020-01-01", "NaT", "2020-01-02"], dtype="datetime64[D]"), "1 missing"),
        ([1, "a", 2], r"cannot be compared.*int, str"),
    ],
    ids=repr,
)
def test_bad_labels_on_either_side(function, bad, message: str) -> None:
    with pytest.raises(InputError, match=f"(?s)y_true.*{message}"):
        function(bad, [1, 2, 3])
    with pytest.raises(InputError, match=f"(?s)y_pred.*{message}"):
        function([1, 2, 3], bad)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_different_lengths_name_both(function) -> None:
    with pytest.raises(InputError, match="y_true has 3 labels and y_pred has 2"):
        function([1, 2, 3], [1, 2])


# ---- known and novel rows together


@given(two_partitions(), st.integers(0, 4))
def test_open_world_scores_follow_from_their_definition(labels: tuple[Labels, Labels], n_known: int) -> None:
    known = list(range(-1, n_known - 1))
    scores = open_world_scores(*labels, known)
    rows = {"known": [t in known for t in labels[0]], "novel": [t not in known for t in labels[0]]}
    rights = oracle.open_world_rights(*labels, known)
    for name, inside in rows.items():
        if not any(inside):
            assert scores[name] is None
            continue
        assert scores[name]["rows"] == sum(inside)
        expected = [sum(r for r, i in zip(right, inside, strict=True) if i) / sum(inside) for right in rights]
        assert scores[name]["acc"] == pytest.approx(expected[0])
    assert scores["all"]["acc"] == pytest.approx(sum(rights[0]) / len(rights[0]))
    means = [oracle.mean_recall(labels[0], right) for right in rights]
    assert any(scores["all"]["bacc"] == pytest.approx(mean) for mean in means)
    assert scores["auroc"] is None
    assert scores["told_novel"] is None


def test_open_world_scores_of_rows_by_hand() -> None:
    truth = ["a", "a", "b", "n", "n", "m"]
    found = ["a", "b", "novel_0", "novel_0", "novel_0", "a"]
    told = ["novel_1"] * 3 + ["novel_0", "novel_0", "novel_1"]
    novelty = [0.1, 0.2, 0.8, 0.9, 0.7, 0.3]
    scores = open_world_scores(truth, found, ["a", "b", "c"], novelty=novelty, told_novel=told)
    assert scores["known"]["acc"] == pytest.approx(1 / 3)
    assert scores["known"]["bacc"] == pytest.approx(1 / 4)
    assert scores["novel"]["acc"] == pytest.approx(2 / 3)
    assert scores["novel"]["bacc"] == pytest.approx(1 / 2)
    assert scores["all"]["acc"] == pytest.approx(3 / 6)
    assert scores["auroc"] == pytest.approx(7 / 9)
    assert scores["told_novel"] == {"rows": 3, "acc": 1.0, "bacc": 1.0, "nmi": 1.0, "ari": 1.0}


def test_open_world_scores_have_a_calibration_error_where_probabilities_are_given() -> None:
    truth, found = ["a", "a", "n", "n"], ["a", "b", "novel_0", "a"]
    scores = open_world_scores(truth, found, ["a", "b"], confidence=[0.9, 0.7, 1.0, 0.5])
    assert scores["known"]["ece"] == pytest.approx((0.1 + 0.7) / 2)
    assert scores["novel"]["ece"] == pytest.approx(0.5 / 2)
    assert scores["all"]["ece"] == pytest.approx((0.1 + 0.7 + 0.5) / 4)
    assert "ece" not in open_world_scores(truth, found, ["a", "b"])["all"]


# in 64ths, of which no bin has an end that is not exact
@given(st.lists(st.tuples(st.integers(0, 64), st.booleans()), min_size=1, max_size=30), st.sampled_from([1, 4, 16]))
def test_calibration_error_is_what_the_bins_say(rows: list[tuple[int, bool]], n_bins: int) -> None:
    confidence, right = [sure / 64 for sure, _ in rows], [hit for _, hit in rows]
    expected = oracle.calibration_error(confidence, right, n_bins)
    assert expected_calibration_error(confidence, right, n_bins=n_bins) == pytest.approx(expected)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30))
def test_calibration_error_is_a_share_and_at_least_the_error_of_the_mean(rows: list[tuple[float, bool]]) -> None:
    confidence, right = zip(*rows, strict=True)
    error = expected_calibration_error(confidence, right)
    assert abs(np.mean(confidence) - np.mean(right)) - 1e-9 <= error <= 1 + 1e-9


@pytest.mark.parametrize(
    ("confidence", "right", "message"),
    [
        ([0.5, 0.5], [True], r"shape \(2,\) and right of shape \(1,\)"),
        ([], [], "at least one row"),
        ([1.5], [True], "above 1"),
        ([float("nan")], [True], "missing"),
    ],
)
def test_calibration_error_needs_a_probability_for_each_row(
    confidence: list[float], right: list[bool], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        expected_calibration_error(confidence, right)


def test_open_world_scores_need_equally_many_rows() -> None:
    with pytest.raises(InputError, match="y_true has 2 labels and y_pred has 1"):
        open_world_scores(["a", "b"], ["a"], ["a"])
