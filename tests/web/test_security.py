"""The attacks on the server that need no worker: each is refused, and says nothing of the inside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from newfound.web.security import CONTENT_SECURITY, COOKIE, Access, is_loopback
from newfound.web.table_routes import ending_of, safe_name
from tests.web.conftest import HOST, LIMITS, client_of

TOKEN = "t" * 43


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with client_of(tmp_path_factory.mktemp("quiet")) as found:
        yield found


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with client_of(tmp_path_factory.mktemp("public"), access=Access("0.0.0.0", TOKEN)) as found:
        yield found


def test_answers_carry_the_headers_that_protect_pages(client: TestClient) -> None:
    for path in ("/", "/api/state", "/api/docs", "/api/runs/none", "/nothing"):
        headers = client.get(path).headers
        assert headers["content-security-policy"] == CONTENT_SECURITY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers
    assert "unsafe" not in CONTENT_SECURITY
    page = client.get("/").text
    assert "<script>" not in page
    assert " style=" not in page
    assert "<script" not in client.get("/api/docs").text


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "169.254.1.1"])
def test_other_names_for_this_machine_are_refused(client: TestClient, host: str) -> None:
    assert client.get("/api/state", headers={"host": host}).status_code == 421
    assert client.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1:8765"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"x-newfound": ""},
    ],
)
def test_requests_of_other_pages_change_nothing(client: TestClient, headers: dict[str, str]) -> None:
    before = client.get("/api/tables").json()
    for path, body in (("/api/tables/example", {"name": "orchard"}), ("/api/runs", {})):
        assert client.post(path, json=body, headers=headers).status_code == 403
    assert client.delete("/api/tables/0123456789abcdef", headers=headers).status_code == 403
    assert client.get("/api/tables").json() == before


def test_other_pages_may_link_but_not_read(client: TestClient) -> None:
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert client.get("/", headers=link).status_code == 200
    assert client.get("/api/runs", headers=link).status_code == 403
    assert client.get("/", headers={**link, "sec-fetch-dest": "iframe"}).status_code == 403
    assert client.get("/api/state", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    same = {"origin": HOST, "sec-fetch-site": "same-origin"}
    assert client.post("/api/tables/example", json={"name": "none"}, headers=same).status_code == 404


def test_a_public_bind_needs_its_token(public: TestClient) -> None:
    for path in ("/", "/api/state", "/api/tables", "/api/openapi.json", "/shared/map.js"):
        assert public.get(path).status_code == 401
    assert public.get("/", params={"token": "wrong"}, follow_redirects=False).status_code == 401
    assert public.post("/api/tables/example", json={"name": "orchard"}).status_code == 401
    assert public.get("/api/state", headers={"authorization": f"Bearer {TOKEN}x"}).status_code == 401
    assert public.get("/api/state", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    entry = public.get("/", params={"token": TOKEN}, follow_redirects=False)
    assert (entry.status_code, entry.headers["location"]) == (303, "/")
    cookie = entry.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}={TOKEN};")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    public.cookies.clear()
    assert public.get("/api/state", headers={"cookie": f"{COOKIE}={TOKEN}"}).status_code == 200
    assert public.get("/api/state", headers={"cookie": f"{COOKIE}={TOKEN[1:]}"}).status_code == 401


def test_a_public_bind_is_known_by_addresses_not_by_strange_names() -> None:
    access = Access("0.0.0.0", TOKEN)
    assert all(access.knows_host(host) for host in ("10.0.0.7:8765", "[fe80::1]:8765", "localhost", "127.0.0.1:1"))
    assert not access.knows_host("evil.example:8765")
    assert Access("bench.example", TOKEN).knows_host("bench.example:8765")
    assert is_loopback("127.0.0.1")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("::")


@pytest.mark.parametrize(
    "path",
    [
        "/../../../etc/passwd",
        "/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2f..%2fetc%2fpasswd",
        "/static/..%5c..%5cetc%5cpasswd",
        "/shared/..%2fentry.py",
        "/shared/report.css",
        "/api/tables/..%2f..%2findex.sqlite",
        "/api/runs/..%2f..%2findex.sqlite/facts",
        "/api/runs/0123456789abcdef/export/..%2fmodel.newfound",
        "/api/runs/0123456789abcdeg",
        "/index.sqlite",
        "/app.py",
    ],
)
def test_no_path_leads_out(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (404, 422)
    assert "root:" not in answer.text
    assert "/work" not in answer.text
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("given", "shown", "ending"),
    [
        ("../../etc/passwd", "passwd", ""),
        ("C:\\Windows\\table.CSV", "table.CSV", ".csv"),
        ("a\r\nSet-Cookie: x=1.csv", "a Set-Cookie: x=1.csv", ".csv"),
        ("table.parquet/..", "table", ""),
        ("t.csv.gz", "t.csv.gz", ".csv.gz"),
        ("x.py", "x.py", ""),
        ("\x1b[31m.csv", "[31m.csv", ".csv"),
        ("", "table", ""),
        ("a" * 500 + ".parquet", "a" * 112 + ".parquet", ".parquet"),
    ],
)
def test_names_of_uploads_are_shown_and_never_opened(given: str, shown: str, ending: str) -> None:
    assert safe_name(given) == shown
    assert ending_of(safe_name(given)) == ending


def test_what_is_too_large_is_refused_while_it_comes(client: TestClient) -> None:
    folder = client.app.state.bench.store.folder  # type: ignore[attr-defined]
    content = b"a,b\n" + b"1,2\n" * (LIMITS.upload_bytes // 4 + 20_000)
    assert client.post("/api/tables", files={"file": ("big.csv", content)}).status_code == 413

    def pieces() -> Iterator[bytes]:  # without a length in the head
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="big.csv"\r\n\r\n'
        yield content

    form = {"content-type": "multipart/form-data; boundary=x"}
    answer = client.post("/api/tables", content=pieces(), headers=form)
    assert answer.status_code == 413
    assert "bytes that are accepted" in answer.json()["error"]["message"]
    assert client.post("/api/runs", content=b"[" * (3 << 20)).status_code == 413
    assert client.post("/api/runs", content=b"x", headers={"content-length": "-1"}).status_code == 413
    assert client.get("/api/tables").json() == []
    assert list((folder / "tables").iterdir()) == []


def test_our_mistakes_say_nothing_of_the_inside(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the secret of /etc/shadow")

    monkeypatch.setattr(client.app.state.bench.store, "runs", fail)  # type: ignore[attr-defined]
    answer = client.get("/api/runs")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    assert set(answer.json()["error"]) == {"message", "parameter", "expected", "cure"}
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY


def test_deep_and_broken_json_is_not_understood(client: TestClient) -> None:
    for body in (b"[" * 100_000, b"{", b"\xff\xfe", b"null", b'{"table": NaN}', b'{"table": "' + b"a" * 10_000 + b'"}'):
        answer = client.post("/api/runs", content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 422), body[:10]
        assert len(answer.text) < 2_000


def test_the_server_imports_nothing_slow(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = f"import sys; from newfound.web.app import create_app; create_app({str(tmp_path)!r}); "
    slow = "print([name for name in ('torch', 'numpy', 'sklearn', 'pyarrow', 'pandas') if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code + slow], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
