"""How quickly the workbench answers while it works: `python -m newfound_lab.runner.workbench [SECONDS]`.

A run trains, 50 clients ask how far it is as a page does, and 5 upload tables. Printed are the times of reads, and
whether anything failed.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

N_POLLING, N_UPLOADING = 50, 5
SECONDS = 60.0
MOST = 0.25
"""Seconds that 99 reads in 100 may take at most."""

_PAUSE = 0.8  # seconds between two questions of a page
_ROWS = 20_000  # of an uploaded table
_TRAINING = {"target": "fruit", "method": "tabular_ncd", "settings": {"epochs": 1_000, "n_members": 50}}
_QUICK = {"target": "fruit", "method": "ncd_kmeans", "n_novel_classes": 3}
_PATIENCE = 300.0


@dataclass
class Seen:
    """What the clients saw.

    Attributes
    ----------
    reads, uploads : list of float
        Seconds of each.
    failures : Counter
        Requests that failed, by what was answered.
    """

    reads: list[float] = field(default_factory=list)
    uploads: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)


class Client:
    """One connection to the server, which stays open."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes = b"", kind: str = "application/json") -> tuple[int, bytes]:
        """Send a request; returns the status and the content of the answer."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nX-Newfound: 1\r\n"
        head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = re.search(r"content-length: (\d+)", answer, re.IGNORECASE)
        content = await reader.readexactly(int(length[1])) if length else b""
        if "connection: close" in answer.lower():
            writer.close()
            self._streams = None
        return int(answer.split()[1]), content

    async def json(self, method: str, path: str, body: Any = None) -> Any:
        """Send and receive JSON; RuntimeError where it is refused."""
        status, content = await self.ask(method, path, b"" if body is None else json.dumps(body).encode())
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {content[:300]!r}")
        return json.loads(content)


async def measure(port: int, seconds: float) -> Seen:
    """Have all clients at work for so long, while a run trains."""
    one = Client(port)
    table = (await one.json("POST", "/api/tables/example", {"name": "orchard"}))["id"]
    done = await _ended(one, (await one.json("POST", "/api/runs", {"table": table, **_QUICK}))["id"])
    training = (await one.json("POST", "/api/runs", {"table": table, **_TRAINING}))["id"]
    await _working(one, training)
    seen, end = Seen(), time.monotonic() + seconds
    paths = [f"/api/runs/{training}", "/api/runs", f"/api/runs/{done}/facts", f"/api/runs/{done}/map", "/api/tables"]
    polling = (_poll(Client(port), [paths[0], paths[i % len(paths)]], i, end, seen) for i in range(N_POLLING))
    uploading = (_upload(Client(port), end, seen) for _ in range(N_UPLOADING))
    await asyncio.gather(*polling, *uploading)
    one = Client(port)  # the first connection was idle for too long
    if (await one.json("GET", f"/api/runs/{training}"))["status"] != "running":
        seen.failures["the training did not last"] += 1
    else:
        await one.json("POST", f"/api/runs/{training}/cancel")
    return seen


async def _poll(client: Client, paths: list[str], place: int, end: float, seen: Seen) -> None:
    await asyncio.sleep(_PAUSE * place / N_POLLING)  # pages are not opened at the same moment
    while time.monotonic() < end:
        for path in paths:
            seen.reads.append(await _timed(client, seen, "GET", path))
        await asyncio.sleep(_PAUSE)


async def _upload(client: Client, end: float, seen: Seen) -> None:
    rows = "".join(f"{i % 97},{i % 89 / 7:.3f},{'abc'[i % 3]},{'x' if i % 2 else ''}\n" for i in range(_ROWS))
    begin = b'--cut\r\nContent-Disposition: form-data; name="file"; filename="batch.csv"\r\n\r\na,b,c,kind\n'
    body = begin + rows.encode() + b"\r\n--cut--\r\n"
    while time.monotonic() < end:
        start = time.monotonic()
        status, content = await client.ask("POST", "/api/tables", body, "multipart/form-data; boundary=cut")
        seen.uploads.append(time.monotonic() - start)
        if status != 201:
            seen.failures[f"POST /api/tables: {status}"] += 1
            continue
        await _timed(client, seen, "DELETE", f"/api/tables/{json.loads(content)['id']}")


async def _timed(client: Client, seen: Seen, method: str, path: str) -> float:
    start = time.monotonic()
    status, _ = await client.ask(method, path)
    if status >= 300:
        seen.failures[f"{method} {path}: {status}"] += 1
    return time.monotonic() - start


async def _ended(client: Client, run: str) -> str:
    return await _once(client, run, lambda found: found["status"] == "done")


async def _working(client: Client, run: str) -> str:
    return await _once(client, run, lambda found: bool(found["losses"]))


async def _once(client: Client, run: str, is_so: Any) -> str:
    end = time.monotonic() + _PATIENCE
    while not is_so(found := await client.json("GET", f"/api/runs/{run}")):
        if time.monotonic() > end or found["error"]:
            raise RuntimeError(f"this run did not get so far: {found}")
        await asyncio.sleep(0.2)
    return run


def quantile(values: list[float], share: float) -> float:
    """Return the smallest value that so great a share is not above."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else math.nan


def main() -> int:
    """Measure, print, and say by the exit code whether it was quick enough."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", "-m", "newfound", "serve", "--port", "0", "--workdir", folder]
        start = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                port = int((re.search(r":(\d+)/", server.stdout.readline()) or ["", "0"])[1])
                first = asyncio.run(_first_page(port)) - start
                seen = asyncio.run(measure(port, seconds))
            finally:
                server.terminate()
    print(f"first page {first:.2f} s after the command")
    print(f"{len(seen.reads):,} reads by {N_POLLING} clients in {seconds:.0f} s")
    print(f"{len(seen.uploads):,} uploads by {N_UPLOADING} clients, of {_ROWS:,} rows each")
    shares = (("median", 0.5), ("p90", 0.9), ("p99", 0.99), ("slowest", 1.0))
    print("reads:   " + ", ".join(f"{name} {1000 * quantile(seen.reads, share):.0f} ms" for name, share in shares))
    print("uploads: " + ", ".join(f"{name} {1000 * quantile(seen.uploads, share):.0f} ms" for name, share in shares))
    print(f"failures: {dict(seen.failures) or 'none'}")
    return int(bool(seen.failures) or quantile(seen.reads, 0.99) > MOST)


async def _first_page(port: int) -> float:
    for path in ("/", "/workbench.css", "/main.js", "/shared/pictures.css", "/api/state", "/api/tables", "/api/runs"):
        while True:
            try:
                await Client(port).ask("GET", path)
            except OSError:
                await asyncio.sleep(0.01)
            else:
                break
    return time.monotonic()


if __name__ == "__main__":
    sys.exit(main())
