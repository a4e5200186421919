"""AutoDiscoverer ends in time, and within its memory, whatever table it is given."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
import pytest

import newfound as nf
from newfound.metrics import clustering_accuracy

LIMIT, SLACK = 1.5, 3.0  # seconds; the slack is what is done in any case

LARGE = """
import json, resource, sys, time, warnings
import numpy as np
import newfound as nf
n, d, limit = json.loads(sys.argv[1])
rng = np.random.default_rng(0)
truth = rng.integers(10, size=n)
X = 2.5 * rng.normal(size=(10, d))[truth] / max(1.0, np.sqrt(d / 10)) + rng.normal(size=(n, d))
warnings.simplefilter("ignore")
model = nf.AutoDiscoverer(time_limit=limit, random_state=0)
begin = time.process_time()
model.fit(X, np.where(truth < 6, truth, -1))
mebibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([time.process_time() - begin, mebibytes, len(model.labels_)]))
"""


@pytest.fixture(scope="module", autouse=True)
def small_forests() -> None:
    """Keep whole forests here."""


def table(n: int, d: int, n_known: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Round classes of numbers: rows, labels, and all classes."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % (n_known + 3)
    X = 4 * rng.normal(size=(n_known + 3, d))[truth] / max(1.0, np.sqrt(d / 10)) + rng.normal(size=(n, d))
    return X, np.where(truth < n_known, truth, -1), truth


def words() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Six columns of 50 words each, with half of the known rows unlabelled."""
    rng = np.random.default_rng(0)
    truth = rng.integers(7, size=3_000)
    codes = np.where(rng.random((3_000, 6)) < 0.6, 7 * truth[:, None] + rng.integers(7, size=(3_000, 6)), 49)
    X = np.array([f"w{code}" for code in range(50)], dtype=object)[codes]
    return X, np.where((truth < 4) & (rng.random(3_000) < 0.5), truth, -1), truth


@pytest.mark.parametrize(
    ("X", "y", "truth"), [table(40_000, 6), table(300, 1_200), words()], ids=["rows", "columns", "words"]
)
def test_the_time_limit_is_kept(X: Any, y: Any, truth: Any) -> None:
    model = nf.AutoDiscoverer(time_limit=LIMIT, device="cpu", random_state=0)
    begin = time.process_time()  # what other programs take does not count
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    assert time.process_time() - begin < 1.3 * LIMIT + SLACK
    assert len(model.labels_) == len(y)
    assert np.isfinite(model.predict_proba(X[:50])).all()
    if len(X) == 40_000:
        assert model.n_novel_classes_ == 3
        assert clustering_accuracy(truth[y < 0], model.labels_[y < 0]) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "d", "limit", "seconds", "mebibytes"),
    [(110_000, 10, 10, 15, 1_500), (1_000, 2_000, 20, 28, 2_048), (1_000, 2_000, None, 60, 2_048)],
)
def test_large_tables_end_within_time_and_memory(
    n: int, d: int, limit: float | None, seconds: float, mebibytes: float
) -> None:
    told = subprocess.run(
        [sys.executable, "-c", LARGE, json.dumps([n, d, limit])], check=True, capture_output=True, text=True
    )
    took, peak, n_labels = json.loads(told.stdout)
    assert took < seconds
    assert peak < mebibytes
    assert n_labels == n
