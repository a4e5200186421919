from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import newfound as nf
from newfound.reporting import write_report
from newfound.reporting.facts import report_facts

HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"


class Case:
    """A model with the table and the labels it was fitted to."""

    def __init__(self, model: Any, X: Any, y: Any) -> None:
        self.model, self.X, self.y = model, X, y

    def facts(self, **options: Any) -> dict[str, Any]:
        return report_facts(self.model, self.X, self.y, **options)


def mixed_table(n: int = 300) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Numbers, texts that look like markup, dates, booleans and missing cells; two of five classes are novel."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, n)
    cities = np.array(["Lyon", HOSTILE, "Київ", "New York & co", "São Paulo"], dtype=object)
    X = pd.DataFrame(
        {
            "age": rng.normal(30 + 12 * truth, 3).round(),
            "income": np.exp(rng.normal(8 + truth, 0.3)).round(2),
            "<b>city</b>": cities[truth],
            "joined": pd.Timestamp("2015-01-01") + pd.to_timedelta(300 * truth + rng.integers(0, 99, n), unit="D"),
            "member": rng.random(n) < 0.1 + 0.2 * truth,
            "constant": 1,
        }
    )
    X.loc[rng.random(n) < 0.1, "income"] = np.nan
    X.loc[rng.random(n) < 0.1, "<b>city</b>"] = None
    X.loc[rng.random(n) < 0.1, "joined"] = pd.NaT
    y = np.array(["bronze", "silver", "<i>gold</i>", None, None], dtype=object)[truth]
    return X, y


@pytest.fixture(scope="session")
def mixed() -> Case:
    X, y = mixed_table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the constant column
        model = nf.TabularNCD(2, epochs=2, pretrain_epochs=2, n_members=2, random_state=0).fit(X, y)
    return Case(model, X, y)


@pytest.fixture(scope="session")
def mixed_facts(mixed: Case) -> dict[str, Any]:
    return mixed.facts(title=HOSTILE)


@pytest.fixture(scope="session")
def numeric() -> Case:
    data = nf.datasets.make_table(240, random_state=0)
    model = nf.KMeansDiscoverer(3, random_state=0).fit(data.X_train, data.y_train)
    return Case(model, data.X_train, data.y_train)


@pytest.fixture(scope="session")
def mixed_file(mixed: Case, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(mixed.model, mixed.X, mixed.y, tmp_path_factory.mktemp("report") / "mixed.html", title=HOSTILE)
