from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
from fastapi.testclient import TestClient

from newfound.web.app import create_app
from newfound.web.examples import write_example
from newfound.web.limits import Limits

HOST = "http://127.0.0.1:8765"
OPTIONS = {"target": "fruit", "method": "ncd_kmeans", "n_novel_classes": 3, "unlabelled": "mixed"}
LIMITS = Limits(upload_bytes=8 << 20, rows=5_000, columns=200, memory=1 << 30, running=1)


def client_of(folder: Path, **more: Any) -> TestClient:
    """Return a client of a workbench, which sends the header that pages send; use it within `with`."""
    app = create_app(folder, **{"limits": LIMITS, **more})
    return TestClient(app, base_url=HOST, headers={"X-Newfound": "1"}, raise_server_exceptions=False)


def ended(client: Any, run: str, seconds: float = 90) -> dict[str, Any]:
    """Wait until a run has ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found: dict[str, Any] = client.get(f"/api/runs/{run}").json()
        if found["status"] not in ("queued", "running"):
            return found
        time.sleep(0.05)
    raise AssertionError(f"the run has not ended: {found}")


def uploaded(client: TestClient, content: bytes, name: str = "table.csv") -> Any:
    return client.post("/api/tables", files={"file": (name, content)})


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One workbench for all tests that need its workers, which take seconds to start."""
    with client_of(tmp_path_factory.mktemp("workbench")) as found:
        yield found


@pytest.fixture(scope="session")
def orchard_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A few rows of the example."""
    path = tmp_path_factory.mktemp("orchard") / "orchard.csv"
    write_example("orchard", path)
    return b"".join(path.read_bytes().splitlines(keepends=True)[:241])


@pytest.fixture(scope="session")
def orchard(client: TestClient, orchard_file: bytes) -> dict[str, Any]:
    answer = uploaded(client, orchard_file, "orchard.csv")
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.fixture(scope="session")
def run(client: TestClient, orchard: dict[str, Any]) -> str:
    answer = client.post("/api/runs", json={"table": orchard["id"], **OPTIONS})
    assert answer.status_code == 201, answer.text
    found = ended(client, answer.json()["id"])
    assert found["status"] == "done", found
    assert (found["n_known_classes"], found["n_novel_classes"], found["share_done"]) == (4, 3, 1.0)
    return str(found["id"])
