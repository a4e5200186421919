from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
from newfound.cli.app import run
from newfound.web import serving
from newfound.web.store import held


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """Return the applications that would be served, without serving them."""
    import uvicorn

    found: list[Any] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: found.append((self.config.app, sockets)))
    monkeypatch.chdir(tmp_path)
    return found


def test_the_address_is_said_and_the_folder_made(served: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "--port", "0", "--workdir", "bench"]) == 0
    said = capsys.readouterr().out
    assert "The workbench is at http://127.0.0.1:" in said
    assert "token" not in said
    assert "kept in bench" in said
    assert Path("bench").is_dir()
    assert len(served) == 1


def test_another_host_has_a_token_of_its_own_each_time(served: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    tokens = set()
    for _ in range(2):
        assert run(["serve", "--host", "0.0.0.0", "--port", "0"]) == 0
        said = capsys.readouterr().out
        tokens.add(said.partition("?token=")[2].split()[0])
        assert "nothing is encrypted" in said
    assert len(tokens) == 2
    assert min(map(len, tokens)) >= 40


def test_what_cannot_be_served_is_one_line(served: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert run(["serve", "--port", str(port)]) == 2
    assert f"Port {port} is in use" in capsys.readouterr().err
    assert run(["serve", "--port", "0", "--host", "nowhere.invalid"]) == 2
    assert "--host nowhere.invalid" in capsys.readouterr().err
    Path("file").write_text("")
    assert run(["serve", "--port", "0", "--workdir", "file"]) == 2
    assert "--workdir file" in capsys.readouterr().err
    with held(Path("bench")):
        assert run(["serve", "--port", "0", "--workdir", "bench"]) == 2
    assert "Another workbench is using bench" in capsys.readouterr().err
    Path("broken").mkdir()
    Path("broken/index.sqlite").write_bytes(b"no database at all" * 100)
    assert run(["serve", "--port", "0", "--workdir", "broken"]) == 2
    assert "--workdir broken, which cannot be used" in capsys.readouterr().err
    assert served == []


def test_the_extra_is_named_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.setattr(serving, "serve", lambda *_, **__: pytest.fail("it was served"))
    assert run(["serve"]) == 2
    assert "pip install 'newfound[web]'" in capsys.readouterr().err
