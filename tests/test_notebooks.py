"""The notebooks run from the first to the last cell, and show what they promise."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"


def executed(name: str, folder: Path) -> dict[str, list[Any]]:
    """Run a notebook in a folder; returns the outputs of each cell that has some, by the last line of the cell."""
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    return {cell.source.splitlines()[-1]: cell.outputs for cell in notebook.cells if cell.get("outputs")}


def html(outputs: list[Any]) -> str:
    return "".join(output.data.get("text/html", "") for output in outputs if "data" in output)


def streams(outputs: dict[str, list[Any]], name: str) -> str:
    return "".join(output.text for some in outputs.values() for output in some if output.get("name") == name)


def test_digits(tmp_path: Path) -> None:
    outputs = executed("digits", tmp_path)
    assert "<b>5 novel classes</b>" in html(outputs["nf.estimate_n_novel_classes(X, y, random_state=0)"])
    assert "5 novel classes beside 5 known classes, in 600 training rows" in html(outputs["model"])
    assert "<iframe srcdoc=" in html(outputs["report"])
    assert streams(outputs, "stderr") == ""


@pytest.mark.slow
def test_mixed_table(tmp_path: Path) -> None:
    for name in ("repairs.csv", "repairs_truth.csv"):
        shutil.copy(FOLDER / name, tmp_path)
    outputs = executed("mixed_table", tmp_path)
    assert "2 novel classes beside 4 known classes" in html(outputs["model"])
    bars = [output["data"]["text/plain"] for output in outputs["model"] if output["output_type"] == "display_data"]
    assert any("2/2" in bar for bar in bars)
    assert "ipywidgets" not in streams(outputs, "stderr")
    assert "more; [:] shows all" in html(outputs["model.leaderboard_"])
    assert "Unlike the rest of the table" in html(outputs["nf.explain(model, repairs)"])
    assert {"repairs.newfound", "repairs.html"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_they_are_kept_without_outputs(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
