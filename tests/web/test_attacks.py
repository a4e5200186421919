"""Hostile tables: each is refused, or rendered harmless, and the workbench goes on."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.tables.files import bombs
from tests.web.conftest import LIMITS, ended, uploaded

SCRIPT = "<script>alert(1)</script>"
FORMULA = "=HYPERLINK(1)"


ATTACKS: dict[str, Callable[[], bytes]] = {
    "million.csv": lambda: b",".join(b"c%d" % i for i in range(1_000_000)) + b"\n1,2\n",
    "wider than allowed.csv": lambda: b"\n".join([b",".join(b"c%d" % i for i in range(LIMITS.columns + 1))] * 3),
    "long.csv": lambda: b"x,y\n" + b"1,2\n" * (LIMITS.rows + 1),
    **{name: bombs.QUICK[name] for name in ("zeros.csv.gz", "nulls.parquet", "texts.xlsx")},
    "empty.csv": lambda: b"",
    "binary.csv": lambda: bytes(range(256)) * 100,
    "model.newfound": lambda: (300).to_bytes(8, "little") + b'{"a":' + b" " * 300,
    "cut.parquet": lambda: b"PAR1" + b"\0" * 100,
}


def check_refused(client: TestClient, content: bytes, name: str) -> None:
    bench = client.app.state.bench  # type: ignore[attr-defined]
    before, process = bench.store.n_tables(), bench.desk._worker
    answer = uploaded(client, content, name)
    assert answer.status_code in (400, 413), answer.text
    message = answer.json()["error"]["message"]
    assert str(bench.store.folder) not in message
    assert "Traceback" not in message
    assert "newfound itself" not in message
    assert bench.store.n_tables() == before
    assert process is None or bench.desk._worker is process  # it lives on


@pytest.mark.parametrize("name", ATTACKS)
def test_hostile_tables_are_refused(client: TestClient, name: str) -> None:
    check_refused(client, ATTACKS[name](), name)


@pytest.mark.slow
@pytest.mark.parametrize("name", bombs.QUICK)
def test_no_bomb_goes_off(client: TestClient, name: str) -> None:
    check_refused(client, bombs.QUICK[name](), name)


def test_markup_in_cells_columns_and_classes_stays_text(client: TestClient) -> None:
    rows = [
        f"{i % 5 + 10 * (i % 3)},{i % 7},{SCRIPT},{['known', SCRIPT, FORMULA][i % 3] if i % 2 else ''}"
        for i in range(90)
    ]
    content = "\n".join([f"a,b{SCRIPT},text,{SCRIPT}", *rows]).encode()
    table = uploaded(client, content, f"{SCRIPT}.csv").json()
    assert table["name"] == "script>.csv"  # of a path, the last part
    columns = client.get(f"/api/tables/{table['id']}/columns", params={"target": SCRIPT})
    assert columns.headers["content-type"] == "application/json"
    assert columns.json()["target"]["n_unlabelled"] == 45
    options = {"table": table["id"], "target": SCRIPT, "method": "kmeans", "n_novel_classes": 2}
    run = ended(client, client.post("/api/runs", json=options).json()["id"])
    assert run["status"] == "done", run
    path = f"/api/runs/{run['id']}"
    renamed = client.post(f"{path}/curation", json={"action": "rename", "names": {"novel_0": f"{SCRIPT}\n2"}})
    assert f"{SCRIPT} 2" in [one["name"] for one in renamed.json()["classes"]]
    formula = client.post(f"{path}/curation", json={"action": "rename", "names": {"novel_1": "=1+1"}})
    assert formula.status_code == 200
    report = client.get(f"{path}/export/report")
    assert SCRIPT not in report.text
    assert "attachment" in report.headers["content-disposition"]
    labels = client.get(f"{path}/export/labels").text
    assert ",'=1+1," in labels
    assert ",=1+1," not in labels
    _compiles(client.get(f"{path}/export/code").text)
    parts = client.get(f"{path}/sections").json()
    pieces = [*(card["html"] for card in parts["cards"]), *filter(None, parts["sections"].values())]
    assert any("&lt;script&gt;" in piece for piece in pieces)
    assert not any("<script" in piece for piece in pieces)


def _compiles(code: str) -> None:
    compile(code, "reproduce.py", "exec")
    assert "\n2" not in code


@pytest.mark.slow
def test_a_crash_while_reading_is_refused_and_the_desk_goes_on(client: TestClient, orchard: dict[str, Any]) -> None:
    desk = client.app.state.bench.desk  # type: ignore[attr-defined]
    before = desk._worker
    os.kill(before.pid, signal.SIGKILL)
    answer = client.get(f"/api/tables/{orchard['id']}/columns", params={"target": "farm", "mark": ["north"]})
    assert answer.status_code in (200, 503)
    again = client.get(f"/api/tables/{orchard['id']}/columns", params={"target": "farm", "mark": ["north"]})
    assert again.json()["target"]["n_unlabelled"] > 0
    assert desk._worker.pid != before.pid
