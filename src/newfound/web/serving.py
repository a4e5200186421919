"""The server: a socket, the application, and what is said about it."""

from __future__ import annotations

import contextlib
import errno
import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import Callable
from pathlib import Path

from newfound.errors import InputError
from newfound.web.security import Access, is_loopback
from newfound.web.store import held

_BACKLOG = 512
_MOST_CONNECTIONS = 500
_GRACE = 3  # seconds for requests that are under way when the server is told to end


def serve(host: str, port: int, folder: Path, *, say: Callable[[str], None], open_page: bool = False) -> None:
    """Serve until told to end.

    Parameters
    ----------
    host : str
    port : int
        0 takes any that is free.
    folder : Path
        Where tables and runs are kept.
    say : callable
        Prints a line for the user.
    open_page : bool
        Whether to open the page in a browser.

    Raises
    ------
    InputError
        If the address or the folder cannot be used.
    """
    # the port first: where there is none to be had, nothing in the folder has been touched
    with contextlib.closing(_bound(host, port)) as place, held(folder) as notes:
        import uvicorn

        from newfound.web.app import create_app

        number = place.getsockname()[1]
        token = None if is_loopback(host) else secrets.token_urlsafe(32)
        named = f"[{host}]" if ":" in host else host
        address = f"http://{named}:{number}/"
        say(f"The workbench is at {address}" if token is None else f"The workbench is at {address}?token={token}")
        if token is not None:
            say("Whoever has this address can use it; nothing is encrypted on the way. It is said only once.")
        say(f"Tables and runs are kept in {folder}. Ctrl-C ends it.")
        for note in notes:
            say(note)
        app = create_app(folder, access=Access(host, token))
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            backlog=_BACKLOG,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=_GRACE,
        )
        server = uvicorn.Server(config)
        if open_page:
            link = address if token is None else f"{address}?token={token}"
            threading.Thread(target=_open_once_up, args=(server, link), daemon=True).start()
        server.run(sockets=[place])


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens, so that nobody else has the port; InputError where the address cannot be had."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        place = socket.socket(family, kind, protocol)
        try:
            place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            place.bind(address)
            place.listen(_BACKLOG)
        except BaseException:
            place.close()
            raise
    except socket.gaierror:
        raise InputError(f"Got --host {host}, but expected an address of this machine, such as 127.0.0.1.") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InputError(f"Port {port} is in use; choose another with --port, or end what uses it.") from None
        raise InputError(
            f"Cannot listen at --host {host} --port {port}: {error.strerror or error}. Choose others."
        ) from None
    return place


def _open_once_up(server: object, link: str) -> None:
    for _ in range(100):
        if getattr(server, "started", False):
            webbrowser.open(link)
            return
        time.sleep(0.1)
