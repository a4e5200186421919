from __future__ import annotations

import hashlib
import io
import os
import socket
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from laboratory.tests.datasets.server import Server, serving
from newfound_lab.datasets import transfer

DATA = os.environ.get("NEWFOUND_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="NEWFOUND_DATA does not name the folder with the benchmark files")

not_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may go everywhere")


def zipped(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reaches the internet, not even by mistake, and none waits long for another try."""
    look_up = socket.getaddrinfo

    def refuse(host: object, *args: object, **options: object) -> object:
        if host not in ("127.0.0.1", "localhost"):
            raise socket.gaierror(-2, "Name or service not known")
        return look_up(host, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(transfer, "FIRST_WAIT", 0.001)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as served:
        yield served


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that NEWFOUND_DATA names; the cache is empty too."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("NEWFOUND_DATA", str(folder))
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder, which does not exist yet; there is no data folder."""
    folder = tmp_path / "cache"
    monkeypatch.delenv("NEWFOUND_DATA", raising=False)
    monkeypatch.setenv("NEWFOUND_CACHE", str(folder))
    return folder


@pytest.fixture
def sha256() -> Callable[[Path], str]:
    return lambda path: hashlib.sha256(path.read_bytes()).hexdigest()
