"""The service of docs/deployment.md: it needs neither newfound nor torch, and answers as predict_proba does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from numpy.testing import assert_allclose

import newfound as nf
from tests.golden.make import FOLDER, tiny_table

PAGE = (Path(__file__).parents[2] / "docs" / "deployment.md").read_text()
LEAN = """
import runpy, sys
sys.modules["newfound"] = sys.modules["torch"] = None  # importing them fails
runpy.run_path("service.py", run_name="__main__")
"""


def ask(url: str, body: bytes | None = None) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=body), timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[str]:
    """The address of a service that scores the golden PBN."""
    code = next(code for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "ThreadingHTTPServer" in code)
    (tmp_path / "service.py").write_text(code)
    nf.export_onnx(nf.load(FOLDER / "v2-PBN.newfound"), tmp_path / "model.onnx")
    command = [sys.executable, "-c", LEAN, "model.onnx", "0"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def test_the_service_answers_as_predict_proba(service: str) -> None:
    model = nf.load(FOLDER / "v2-PBN.newfound")
    table = tiny_table()[0]
    table.loc[0, "city"] = "Ulan Bator"
    table["since"] += pd.Timedelta(hours=6)
    rows = json.loads(table.to_json(orient="records", date_format="iso"))
    status, answer = ask(f"{service}/predict", json.dumps({"rows": rows}).encode())
    assert status == 200
    found = [list(prediction["probabilities"].values()) for prediction in answer["predictions"]]
    assert_allclose(found, model.predict_proba(table), atol=1e-9)
    assert [prediction["label"] for prediction in answer["predictions"]] == model.predict(table).tolist()
    assert ask(f"{service}/about")[1]["classes"] == model.classes_.tolist()
    lacking = {name: cell for name, cell in rows[0].items() if name != "city"}
    for refused, reason in (
        ({"rows": [lacking]}, "'city' is missing"),
        ({"rows": [rows[0] | {"income": "much"}]}, "could not convert"),
        ({"rows": [rows[0] | {"income": 1e999}]}, "infinite"),
        ({"rows": []}, "at least one"),
        ({}, "'rows' is missing"),
    ):
        status, answer = ask(f"{service}/predict", json.dumps(refused).encode())
        assert (status, reason in answer["error"]) == (400, True)
    assert ask(f"{service}/predict", b"no JSON")[0] == 400
    assert ask(f"{service}/nothing", b"{}")[0] == 404


def test_the_recipe_has_the_versions_of_the_tests() -> None:
    pins = re.search(r"pip install --no-cache-dir (\S+) (\S+)", PAGE)
    assert pins is not None
    assert set(pins.groups()) <= set((Path(__file__).parents[2] / "constraints.txt").read_text().split())
