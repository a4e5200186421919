"""`newfound serve`: the workbench, in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from newfound.cli.output import Output


def serve(
    host: Annotated[
        str,
        typer.Option("--host", metavar="ADDRESS", help="Where to listen. Beyond this machine a token is needed."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes any that is free.")] = 8765,
    workdir: Annotated[
        Path, typer.Option("--workdir", metavar="DIR", help="Folder for tables and runs; made if it is not there.")
    ] = Path("newfound-workbench"),
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Discover, understand and name classes in the browser.

    Only this machine can reach it, unless --host says otherwise. Runs stay in the folder, and are there again after a
    restart:

        newfound serve --open
    """
    from newfound.extras import load_extra

    for package in ("fastapi", "uvicorn", "python_multipart"):
        load_extra(package, "The workbench")
    from newfound.web.serving import serve as run_server

    output = Output()
    run_server(host, port, workdir, say=output.say, open_page=open_page)
