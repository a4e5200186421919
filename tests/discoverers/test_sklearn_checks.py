"""scikit-learn's own checks of estimators, on every discoverer and on the encoder of tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from newfound import TableEncoder
from tests.discoverers.common import CLASSES, DISCOVERERS, PLAIN, WITHOUT_LABELS

# Every check that is expected to fail, and why that is right. An exception that is no longer needed fails the tests.
_MINUS_ONE = {"check_classifiers_classes": "its last labels are -1 and 1, and -1 is the mark of an unlabelled row"}
_NAN = {"check_supervised_y_no_nan": "NaN is the mark of an unlabelled row, and this one runs without known classes"}
_BY_NAME = {"check_dataframe_column_names_consistency": "columns are matched by name, so another order is right"}

EXPECTED_FAILURES: dict[type[BaseEstimator], dict[str, str]] = {
    **dict.fromkeys(CLASSES, _MINUS_ONE | _BY_NAME),
    **{type(make()): _MINUS_ONE | _BY_NAME | _NAN for make in WITHOUT_LABELS},
    TableEncoder: _BY_NAME,
}

# All rows of the checks are labelled, so that there is nothing to route: one discoverer of mixed rows stands for all.
ESTIMATORS = [*(make(unlabelled="novel") for make in DISCOVERERS), PLAIN(unlabelled="mixed"), TableEncoder()]

# Checks that scikit-learn has for its own estimators and does not yet hand out to others.
FURTHER_CHECKS: tuple[Callable[[str, BaseEstimator], None], ...] = (
    estimator_checks.check_dataframe_column_names_consistency,
    estimator_checks.check_get_feature_names_out_error,
    estimator_checks.check_global_output_transform_pandas,
    estimator_checks.check_global_set_output_transform_polars,
    estimator_checks.check_set_output_transform,
    estimator_checks.check_set_output_transform_pandas,
    estimator_checks.check_set_output_transform_polars,
    estimator_checks.check_transformer_get_feature_names_out,
    estimator_checks.check_transformer_get_feature_names_out_pandas,
)


@parametrize_with_checks(
    ESTIMATORS, expected_failed_checks=lambda estimator: EXPECTED_FAILURES[type(estimator)], xfail_strict=True
)
@pytest.mark.filterwarnings("ignore")  # the checks' own tables are odd on purpose
def test_estimator_checks(estimator: BaseEstimator, check: Callable[[BaseEstimator], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("check", FURTHER_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "estimator",
    ESTIMATORS,
    ids=lambda estimator: f"{type(estimator).__name__}-{getattr(estimator, 'unlabelled', '')}",
)
def test_further_checks(estimator: BaseEstimator, check: Callable[[str, BaseEstimator], Any]) -> None:
    if check.__name__ in EXPECTED_FAILURES[type(estimator)]:
        with pytest.raises(AssertionError, match="did not raise"):
            check(type(estimator).__name__, estimator)
    else:
        check(type(estimator).__name__, estimator)


def test_exceptions_name_real_checks() -> None:
    names = {name for failures in EXPECTED_FAILURES.values() for name in failures}
    assert [name for name in names if not hasattr(estimator_checks, name)] == []
