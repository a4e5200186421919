"""Who may ask: the right host, the same origin, a header that no form can send, and a token beyond this machine."""

from __future__ import annotations

import hmac
import ipaddress
import json
import logging
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from newfound.web.problems import OURS

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_LOG = logging.getLogger("newfound.web")

COOKIE = "newfound_token"
CSRF_HEADER = "x-newfound"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

CONTENT_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", CONTENT_SECURITY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]


def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone."""
    if host in _LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Access:
    """Who may ask.

    Parameters
    ----------
    host : str
        That the server is bound to.
    token : str or None
        That every request must carry; None where only this machine can ask.
    names : frozenset of str
        Hosts that requests may name besides.
    """

    host: str = "127.0.0.1"
    token: str | None = None
    names: frozenset[str] = field(default_factory=frozenset)

    def knows_host(self, header: str) -> bool:
        """Whether the Host header names this server, and not a stranger's name that leads here."""
        name = _host_of(header)
        if name in _LOOPBACK or name in self.names or name == self.host.lower():
            return True
        if is_loopback(self.host):
            return False
        try:  # an address cannot be a stranger's name
            ipaddress.ip_address(name)
        except ValueError:
            return name == socket.gethostname().lower()
        return True

    def has_token(self, given: str | None) -> bool:
        """Whether a request may pass."""
        return self.token is None or (given is not None and hmac.compare_digest(given.encode(), self.token.encode()))


class Guard:
    """Lets through what `Access` allows, within the bounds of size, and adds the headers that protect the pages.

    Parameters
    ----------
    app : ASGI application
    access : Access
    sizes : callable
        Bytes that the body of a request to a path may have.
    """

    def __init__(self, app: App, access: Access, sizes: Callable[[str], int]) -> None:
        self.app, self.access, self.sizes = app, access, sizes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        out = _with_headers(send, scope["path"])
        refusal = self._refusal(scope, headers)
        if refusal is None:
            entry = self._entry(scope)
            if entry is not None:
                await _answer(out, *entry)
                return
            if not self.access.has_token(_token_of(headers)):
                refusal = (401, "A token is needed: open the address that `newfound serve` has printed.")
        if refusal is None:
            most = self.sizes(scope["path"])
            length = headers.get("content-length", "0")
            if not length.isascii() or not length.isdigit() or int(length[:20]) > most:
                refusal = (413, f"This is more than the {most:,} bytes that are accepted.")
        if refusal is not None:
            await _answer(out, refusal[0], [(b"content-type", b"application/json")], _error(refusal[1]))
            return
        await self._pass_on(scope, _bounded(receive, most), out)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have the application answer; a mistake of ours goes to the log, and is told without details."""
        started = False

        async def watched(message: MutableMapping[str, Any]) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception:
            _LOG.exception("%s %s", scope["method"], scope["path"].encode("ascii", "backslashreplace").decode())
            if started:
                raise
            await _answer(send, 500, [(b"content-type", b"application/json")], _error(OURS))

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if not self.access.knows_host(host):
            return 421, "This server is not known by that name."
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not _is_page(scope, headers):
            return 403, "Requests of other pages are refused."
        if scope["method"] in _SAFE_METHODS:
            return None
        origin = headers.get("origin")
        if origin is not None and origin != f"{scope.get('scheme', 'http')}://{host}":
            return 403, "Requests of other pages are refused."
        if headers.get(CSRF_HEADER) != "1":
            return 403, "The header X-Newfound: 1 is missing."
        return None

    def _entry(self, scope: Scope) -> tuple[int, list[tuple[bytes, bytes]], bytes] | None:
        """Answer to the address with a token: it goes to a cookie, and out of sight."""
        if self.access.token is None or scope["path"] != "/" or not scope["query_string"]:
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if not self.access.has_token(given):
            return None
        cookie = f"{COOKIE}={self.access.token}; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000"
        return 303, [(b"location", b"/"), (b"set-cookie", cookie.encode())], b""


def _bounded(receive: Receive, most: int) -> Receive:
    """Count the bytes of a body while they come, whatever its header has said."""
    seen = 0

    async def counted() -> MutableMapping[str, Any]:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise too_large(most)
        return message

    return counted


def too_large(most: int) -> Exception:
    """Return the error for a body beyond its limit, which the application turns into an answer."""
    from fastapi import HTTPException

    return HTTPException(413, f"This is more than the {most:,} bytes that are accepted.")


def _with_headers(send: Send, path: str) -> Send:
    async def guarded(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            more = [pair for pair in _HEADERS if pair[0] not in there]
            if path.startswith("/api/") and b"cache-control" not in there:
                more.append((b"cache-control", b"no-store"))
            message["headers"] = [*message["headers"], *more]
        await send(message)

    return guarded


async def _answer(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _error(message: str) -> bytes:
    nothing = {"parameter": None, "expected": None, "cure": None}
    return json.dumps({"error": {"message": message, **nothing}}).encode()


def _host_of(header: str) -> str:
    """Name of the host in a Host header, without its port."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


def _is_page(scope: Scope, headers: dict[str, str]) -> bool:
    """Whether somebody follows a link to a page, which tells the other page nothing."""
    return (
        scope["method"] == "GET"
        and not scope["path"].startswith("/api/")
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )


def _token_of(headers: dict[str, str]) -> str | None:
    authorization = headers.get("authorization", "")
    if authorization.lower().startswith("bearer "):
        return authorization[7:].strip()
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return None if cookie is None else cookie.value
