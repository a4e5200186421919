"""The application: pages, the interface that they use, and how errors are answered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from newfound import __version__
from newfound.reporting.assets import shared_files
from newfound.web import class_routes, run_routes, schemas, table_routes
from newfound.web.bench import Bench, RefusedError
from newfound.web.catalogue import EXAMPLES, discoverers
from newfound.web.limits import Limits
from newfound.web.pages import api_page
from newfound.web.problems import plain_problem
from newfound.web.records import DamagedError
from newfound.web.security import Access, Guard

STATIC = Path(__file__).parent / "static"

_TYPES = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
_ROOM_FOR_FORM = 64 << 10  # bytes of a form around its file


def create_app(folder: Path | str, *, access: Access | None = None, limits: Limits | None = None) -> FastAPI:
    """Make the application.

    Parameters
    ----------
    folder : path
        Where tables and runs are kept; made if it is not there.
    access : Access, optional
        Who may ask; by default this machine alone.
    limits : Limits, optional
    """
    bounds, place = limits or Limits(), Path(folder)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        bench = app.state.bench = Bench(place, bounds)
        bench.start()
        try:
            yield
        finally:
            await bench.close()

    errors: dict[int | str, dict[str, Any]] = {
        code: {"model": schemas.ErrorAnswer, "description": "Refused, with a reason"}
        for code in (400, 401, 403, 404, 409, 413, 421, 422, 429, 503)
    }
    app = FastAPI(
        title="newfound workbench",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        responses=errors,
        redirect_slashes=False,
    )
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _not_understood)
    app.add_exception_handler(DamagedError, _damaged)

    @app.get("/api/state", response_model=schemas.State, tags=["state"])
    async def state() -> Any:
        """Say what there is: limits, discoverers with their knobs, examples, formats."""
        return {
            "version": __version__,
            "limits": asdict(bounds),
            "discoverers": discoverers(),
            "examples": EXAMPLES,
            "formats": table_routes.FORMATS,
        }

    @app.get("/api/docs", response_class=HTMLResponse, include_in_schema=False)
    async def documentation() -> HTMLResponse:
        return HTMLResponse(api_page(app.openapi()))

    for router in (table_routes.router, run_routes.router, class_routes.router):
        app.include_router(router)
    shared = shared_files()

    @app.get("/shared/{name}", include_in_schema=False)
    async def shared_file(name: str) -> Response:
        if name not in shared:
            raise RefusedError(404, "There is no such file.")
        return Response(shared[name], media_type=_TYPES[name.rpartition(".")[2]])

    app.mount("/", StaticFiles(directory=STATIC, html=True), name="pages")
    app.add_middleware(Guard, access=access or Access(), sizes=_sizes(bounds))
    return app


def _sizes(limits: Limits) -> Any:
    def most(path: str) -> int:
        return limits.upload_bytes + _ROOM_FOR_FORM if path == "/api/tables" else limits.request_bytes

    return most


async def _refused(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    problem = error.problem if isinstance(error, RefusedError) else plain_problem(str(error.detail))
    return JSONResponse({"error": problem}, error.status_code, headers=error.headers)


async def _damaged(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": plain_problem(str(error))}, 409)


async def _not_understood(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
    problem = plain_problem(f"{where[:200]}: {first['msg'][:300]}") | {"parameter": where[:200]}
    return JSONResponse({"error": problem}, 422)
