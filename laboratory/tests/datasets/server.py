"""A real HTTP server on this machine that serves a few files, and misbehaves on request."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Server:
    """What is served, how, and what was asked for.

    ``moods`` are used up one a request, after which the server behaves. "cut" sends half of what it promised; "hang"
    sends half and then nothing, until ``go_on`` is set.
    """

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    moods: list[Any] = field(default_factory=list)
    requests: list[Message] = field(default_factory=list)
    etag: str | None = '"first"'
    modified: str | None = None
    ranges: bool = True
    length: bool = True
    go_on: threading.Event = field(default_factory=threading.Event)
    half_sent: threading.Event = field(default_factory=threading.Event)

    def url(self, file: str) -> str:
        return f"{self.address}/{file}"


@contextmanager
def serving() -> Iterator[Server]:
    served = Server()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            served.requests.append(self.headers)
            mood = served.moods.pop(0) if served.moods else "fine"
            content = served.files.get(self.path.lstrip("/"))
            if content is None:
                mood = 404
            if isinstance(mood, int):
                self.send_error(mood)
            else:
                assert content is not None
                self.send(content, mood)

        def send(self, content: bytes, mood: str) -> None:
            total, start = len(content), self.start_of_range(content)
            if start is not None and start >= total:
                self.send_error(416)
                return
            self.send_response(200 if start is None else 206)
            if start is not None:
                first = start + 1 if mood == "wrong range" else start
                self.send_header("Content-Range", f"bytes {first}-{total - 1}/{total}")
                content = content[start:]
            promised = len(content) + {"promise more": 7, "promise less": -7}.get(mood, 0)
            if served.length:
                self.send_header("Content-Length", str(promised))
            if served.etag:
                self.send_header("ETag", served.etag)
            if served.modified:
                self.send_header("Last-Modified", served.modified)
            self.end_headers()
            if mood in ("cut", "hang"):
                self.wfile.write(content[: len(content) // 2])
                self.wfile.flush()
                served.half_sent.set()
                if mood == "hang":
                    served.go_on.wait(30)
            else:
                self.wfile.write(content)

        def start_of_range(self, content: bytes) -> int | None:
            asked, known = self.headers.get("Range"), self.headers.get("If-Range")
            if not asked or not served.ranges or known not in (None, served.etag, served.modified):
                return None
            return int(asked.removeprefix("bytes=").rstrip("-"))

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    served.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield served
    finally:
        served.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join()
