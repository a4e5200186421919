"""Requests made up from the interface's own description: none is answered by a mistake of ours."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st


def check_no_mistake_of_ours(client: TestClient, orchard: dict[str, Any], run: str, n_requests: int) -> None:
    """Send requests that are right, and such that are not, with ids that are there and such that are not."""
    schemathesis = pytest.importorskip("schemathesis")  # here, since it takes a second to import
    schema = schemathesis.openapi.from_dict(client.app.openapi())  # type: ignore[attr-defined]
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) > 20
    kinds = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]
    cases = st.one_of(*(one.as_strategy(generation_mode=kind) for one in operations for kind in kinds))

    @settings(
        max_examples=n_requests,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
        derandomize=True,
        database=None,
    )
    @given(case=cases, known=st.booleans())
    def send(case: Any, known: bool) -> None:
        if known and case.path_parameters and case.method != "DELETE":
            for name, value in (("table", orchard["id"]), ("run", run)):
                if name in case.path_parameters:
                    case.path_parameters[name] = value
        request = case.as_transport_kwargs(base_url="http://127.0.0.1:8765")
        request["headers"] = {**dict(request.get("headers") or {}), "X-Newfound": "1"}
        request.pop("cookies", None)
        answer = client.request(**{name: value for name, value in request.items() if value is not None})
        assert answer.status_code < 500, (case.method, case.formatted_path, case.body, answer.text)
        if answer.status_code >= 400:
            assert set(answer.json()["error"]) == {"message", "parameter", "expected", "cure"}

    send()
    _take_back(client, f"/api/runs/{run}")


def _take_back(client: TestClient, run: str) -> None:
    """Leave the run to other tests as it was."""
    while client.post(f"{run}/curation", json={"action": "undo"}).status_code == 200:
        pass
    given = client.get(f"{run}/labels").json()["labels"]
    client.post(f"{run}/labels", json={"labels": [{**one, "label": None} for one in given]})


def test_requests_that_anybody_could_send(client: TestClient, orchard: dict[str, Any], run: str) -> None:
    check_no_mistake_of_ours(client, orchard, run, 40)


@pytest.mark.slow
def test_many_requests_that_anybody_could_send(client: TestClient, orchard: dict[str, Any], run: str) -> None:
    check_no_mistake_of_ours(client, orchard, run, 5_000)
