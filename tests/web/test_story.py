from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from newfound.cli.app import run as run_command
from tests.web.conftest import OPTIONS, ended, uploaded


@pytest.fixture
def curated(client: TestClient, run: str) -> Any:
    """Return what does an action, and undo them all in the end."""

    def act(**action: Any) -> Any:
        return client.post(f"/api/runs/{run}/curation", json=action)

    yield act
    while act(action="undo").status_code == 200:
        pass


def names(answer: Any) -> list[str]:
    return [one["name"] for one in answer.json()["classes"]]


def test_columns_are_told_with_kinds_and_the_likely_target(client: TestClient, orchard: dict[str, Any]) -> None:
    path = f"/api/tables/{orchard['id']}/columns"
    facts = client.get(path, params={"target": "fruit"}).json()
    kinds = {one["name"]: one["kind"] for one in facts["columns"]}
    assert kinds["weight_g"] == "numeric"
    assert kinds["colour"] == "categorical"
    assert kinds["picked"] == "date"
    assert facts["suggested_target"]["name"] == "fruit"
    weight = facts["columns"][0]
    assert sum(weight["histogram"]["counts"]) == round(orchard["n_rows"] * (1 - weight["missing_share"]))
    assert sorted(one["name"] for one in facts["target"]["classes"]) == ["apple", "banana", "cherry", "lemon"]
    assert facts["target"]["n_labelled"] + facts["target"]["n_unlabelled"] == orchard["n_rows"]


def test_an_example_is_there_once(client: TestClient) -> None:
    first, second = (client.post("/api/tables/example", json={"name": "orchard"}).json() for _ in range(2))
    assert first == second
    assert first["n_rows"] == 1200
    assert client.post("/api/tables/example", json={"name": "none"}).status_code == 404


def test_labels_are_those_of_the_command_line(
    client: TestClient, run: str, orchard: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder: Path = client.app.state.bench.store.table(orchard["id"])["path"]  # type: ignore[attr-defined]
    Path("orchard.csv").write_bytes(folder.read_bytes())
    command = "discover orchard.csv --target fruit --method ncd_kmeans --novel-classes 3 --rows mixed --out found"
    assert run_command(command.split()) == 0
    exported = client.get(f"/api/runs/{run}/export/labels")
    assert exported.headers["content-disposition"] == 'attachment; filename="labels.csv"'
    assert exported.content == Path("found/labels.csv").read_bytes()
    assert client.get(f"/api/runs/{run}/export/report").text.startswith("<!doctype html>")


def test_map_facts_rows_and_columns_speak_of_the_same_rows(
    client: TestClient, run: str, orchard: dict[str, Any]
) -> None:
    drawn = client.get(f"/api/runs/{run}/map").json()
    classes = client.get(f"/api/runs/{run}/classes").json()["classes"]
    n = orchard["n_rows"]
    assert all(len(drawn[name]) == n for name in ("x", "y", "classes", "probabilities", "labels"))
    counted = [drawn["classes"].count(code) for code in range(len(classes))]
    assert counted == [one["n_rows"] for one in classes]
    assert drawn["class_names"] == [one["name"] for one in classes]
    facts = client.get(f"/api/runs/{run}/facts").json()
    assert "map" not in facts
    assert [one["name"] for one in facts["explanation"]["classes"]] == drawn["class_names"][4:]
    some = client.post(f"/api/runs/{run}/rows", json={"rows": [7, 3]}).json()
    assert [one["row"] for one in some["rows"]] == [7, 3]
    assert some["rows"][0]["class_name"] == drawn["class_names"][drawn["classes"][7]]
    colours = client.get(f"/api/runs/{run}/columns/4").json()
    place = some["columns"].index("colour")
    assert colours["texts"][colours["cells"][7]] == some["rows"][0]["cells"][place]
    assert client.post(f"/api/runs/{run}/rows", json={"rows": [n]}).status_code == 400
    assert client.get(f"/api/runs/{run}/columns/99").status_code == 400


def test_classes_are_renamed_merged_split_and_all_is_undone(client: TestClient, run: str, curated: Any) -> None:
    before = client.get(f"/api/runs/{run}/classes").json()["classes"]
    assert "worm" in names(curated(action="rename", names={"novel_0": "worm"}))
    accepted = curated(action="accept", name="worm")
    assert [one["accepted"] for one in accepted.json()["classes"] if one["name"] == "worm"] == [True]
    merged = curated(action="merge", classes=["worm", "novel_1"], into="snake")
    assert names(merged)[4:] == ["snake", "novel_2"]
    snake = merged.json()["classes"][4]
    assert snake["accepted"]
    assert snake["n_rows"] == before[4]["n_rows"] + before[5]["n_rows"]
    parts = curated(action="split", name="snake", parts=2)
    assert names(parts)[4:] == ["snake_1", "snake_2", "novel_2"]
    assert sum(one["n_rows"] for one in parts.json()["classes"]) == sum(one["n_rows"] for one in before)
    assert parts.json()["undo"] == "split snake"
    for _ in range(4):
        last = curated(action="undo")
    assert last.json()["classes"] == before
    assert last.json()["undo"] is None
    assert curated(action="undo").status_code == 409
    assert "worm" in names(curated(action="redo"))
    known = curated(action="merge", classes=["worm", "apple"]).json()["classes"]
    assert [one["name"] for one in known] == [*(one["name"] for one in before[:4]), "novel_1", "novel_2"]
    assert known[0]["n_rows"] == before[0]["n_rows"] + before[4]["n_rows"]
    curated(action="undo")
    wrong = curated(action="rename", names={"worm": "apple"})
    assert wrong.status_code == 400
    assert "is there already" in wrong.json()["error"]["message"]


def test_the_next_round_the_code_and_a_batch(
    client: TestClient,
    run: str,
    curated: Any,
    orchard: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    curated(action="rename", names={"novel_0": "fig\"'\n<b>"})
    curated(action="accept", name="fig\"' <b>")
    advice = client.get(f"/api/runs/{run}/suggestions").json()
    assert len(advice["merges"]) == 3
    row = advice["rows"][0]["row"]
    given = client.post(f"/api/runs/{run}/labels", json={"labels": [{"row": row, "label": "apple"}]})
    assert given.json()["labels"] == [{"row": row, "label": "apple"}]
    second = client.post(f"/api/runs/{run}/next", json={}).json()
    batch = client.post(f"/api/runs/{run}/batches", json={"table": orchard["id"], "target": "fruit"}).json()
    found = ended(client, second["id"])
    assert (found["status"], found["round"], found["parent"]) == ("done", 2, run)
    classes = client.get(f"/api/runs/{found['id']}/classes").json()["classes"]
    assert "fig\"' <b>" in [one["name"] for one in classes if not one["is_novel"]]
    _same_labels_by_code(client, found["id"], orchard, tmp_path)
    updated = ended(client, batch["id"])
    assert (updated["status"], updated["kind"]) == ("done", "update")
    told = client.get(f"/api/runs/{updated['id']}/facts").json()["workbench"]["update"]
    assert told["n_rows"] == orchard["n_rows"]
    assert told["new_classes"] == []


def _same_labels_by_code(client: TestClient, run: str, table: dict[str, Any], folder: Path) -> None:
    """Run the exported code beside the table, and compare its labels with those that are exported."""
    code = client.get(f"/api/runs/{run}/export/code").text
    path: Path = client.app.state.bench.store.table(table["id"])["path"]  # type: ignore[attr-defined]
    (folder / "orchard.csv").write_bytes(path.read_bytes())
    made: dict[str, Any] = {}
    exec(code, made)
    exported = csv.DictReader(io.StringIO(client.get(f"/api/runs/{run}/export/labels").text))
    assert [one["class"] for one in exported] == made["labels"]


def test_hidden_classes_are_a_rehearsal_and_a_training_is_a_film(client: TestClient, orchard: dict[str, Any]) -> None:
    options = {"table": orchard["id"], **OPTIONS, "hide": ["lemon"], "unlabelled": "novel"}
    options |= {"method": "classifier_projection", "settings": {"epochs": 6}}
    found = ended(client, client.post("/api/runs", json={**options, "n_novel_classes": 4}).json()["id"])
    assert found["status"] == "done", found
    rehearsal = client.get(f"/api/runs/{found['id']}/facts").json()["workbench"]["rehearsal"]
    assert 0 <= rehearsal["scores"]["acc"] <= 1
    assert {one["hidden"] for one in rehearsal["table"]} == {"lemon"}
    drawn = client.get(f"/api/runs/{found['id']}/map").json()
    assert [frame["epoch"] for frame in drawn["frames"]] == [1, 2, 3, 4, 5, 6]
    off = [sum(abs(a - b) for a, b in zip(frame["x"], drawn["x"], strict=True)) for frame in drawn["frames"]]
    assert off[-1] < off[0]
    assert off[-1] < 100 * len(drawn["x"])  # in the end all rows are where the map has them, of a width of 10,000


def test_what_a_run_cannot_use_is_said_on_the_run(client: TestClient, run: str) -> None:
    labelled = "x,y,kind\n" + "".join(f"{i},{i % 7},{'ab'[i % 2]}\n" for i in range(40))
    table = uploaded(client, labelled.encode(), "all labelled.csv").json()
    refused = client.get(f"/api/tables/{table['id']}/columns", params={"target": "x"}).json()
    assert refused["target"] is None
    assert "all labelled.csv holds 40 different values" in refused["target_problem"]["message"]
    found = client.post("/api/runs", json={"table": table["id"], "target": "kind", "method": "kmeans"}).json()
    error = ended(client, found["id"])["error"]
    assert "all labelled.csv has a label in 'kind', so there is nothing to discover" in error["message"]
    batch = client.post(f"/api/runs/{run}/batches", json={"table": table["id"]}).json()
    lacking = ended(client, batch["id"])["error"]["message"]
    assert lacking.startswith("all labelled.csv lacks columns 'weight_g', ")
    assert "under the same names" in lacking


def test_a_run_can_be_cancelled_started_again_and_removed(client: TestClient, orchard: dict[str, Any]) -> None:
    slow = {"table": orchard["id"], **OPTIONS, "method": "tabular_ncd", "settings": {"epochs": 1000, "n_members": 50}}
    first = client.post("/api/runs", json=slow).json()["id"]
    waiting = client.post("/api/runs", json=slow).json()["id"]
    assert client.post(f"/api/runs/{waiting}/cancel").json()["status"] == "cancelled"
    assert client.get(f"/api/runs/{first}/facts").status_code == 409
    assert client.post(f"/api/runs/{first}/cancel").json()["status"] == "cancelled"
    assert client.post(f"/api/runs/{first}/cancel").status_code == 409
    assert client.post(f"/api/runs/{first}/again").json()["status"] == "queued"
    assert client.delete(f"/api/tables/{orchard['id']}").status_code == 409
    for one in (first, waiting):
        assert client.delete(f"/api/runs/{one}").status_code == 204
        assert client.get(f"/api/runs/{one}").status_code == 404
