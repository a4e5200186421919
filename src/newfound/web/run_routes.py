"""Requests about runs: to start, watch and end them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from fastapi import Path as PathPart
from fastapi.responses import FileResponse, JSONResponse, Response

from newfound.registry import registered
from newfound.web import schemas
from newfound.web.bench import Bench, RefusedError
from newfound.web.catalogue import discoverers
from newfound.web.curating import Curated, facts_revision, state_file
from newfound.web.records import Record, read_json
from newfound.web.table_routes import COLUMNS, TheBench

router = APIRouter(prefix="/api/runs", tags=["runs"])

_READ_AT_ONCE = 1 << 20  # bytes that are read sooner than another thread would begin to
_WORKING = ("queued", "running")
_EXPORTS = {
    "labels": ("labels.csv", "text/csv"),
    "model": ("model.newfound", "application/octet-stream"),
    "report": ("report.html", "text/html"),
    "code": ("reproduce.py", "text/x-python"),
}
_PIECES = {"description": "A JSON object", "content": {"application/json": {}}}


@router.post("", response_model=schemas.Run, status_code=201)
async def start(bench: TheBench, wanted: schemas.RunRequest) -> Any:
    """Start a search for novel classes."""
    table = bench.table(wanted.table)
    _check(wanted, table)
    options = {
        **wanted.model_dump(exclude={"table", "title"}),
        "kind": "discovery",
        "table_name": table["name"],
    }
    title = wanted.title or f"{_method_name(wanted.method)} on {table['name']}"
    return _begin(bench, "discovery", table, title, options, None)


def _begin(
    bench: Bench, kind: str, table: Record, title: str, options: dict[str, Any], parent: Record | None
) -> dict[str, Any]:
    run = _new(bench, kind, table, title, options, parent)
    return _go(bench, run)


def _new(bench: Bench, kind: str, table: Record, title: str, options: dict[str, Any], parent: Record | None) -> Record:
    if bench.store.n_runs() >= bench.limits.runs:
        raise RefusedError(409, f"There are {bench.limits.runs} runs already; remove some first.")
    if bench.jobs.n_waiting >= bench.limits.waiting:
        raise RefusedError(429, f"{bench.jobs.n_waiting} runs are waiting already; wait until some have ended.")
    return bench.store.new_run(kind, table["id"], title, options, parent)


def _go(bench: Bench, run: Record) -> dict[str, Any]:
    bench.jobs.add(run["id"])
    return bench.run_answer(bench.run(run["id"]))


def _check(wanted: schemas.RunRequest, table: Record) -> None:
    """Refuse at once what a worker would refuse later."""
    if wanted.method not in registered():
        raise RefusedError(400, f"There is no method {wanted.method!r}; use one of {', '.join(registered())}.")
    names = {column["name"] for column in read_json(table["folder"] / COLUMNS)["columns"]}
    for name in (wanted.target, *wanted.ignore, *wanted.kinds):
        if name not in names:
            raise RefusedError(400, f"The table has no column {name!r}.")
    if wanted.target in wanted.ignore:
        raise RefusedError(400, "The column of the classes cannot be ignored as well.")
    if wanted.time_limit is not None and wanted.method != "auto":
        raise RefusedError(400, "Only the method auto has a time limit.")
    knobs = next(discoverer.knobs for discoverer in discoverers() if discoverer.method == wanted.method)
    for name in wanted.settings:
        if name not in {knob.name for knob in knobs}:
            raise RefusedError(400, f"{wanted.method} has no setting {name!r} here.")


def _method_name(method: str) -> str:
    return next(discoverer.name for discoverer in discoverers() if discoverer.method == method)


@router.get("", response_model=list[schemas.Run])
async def runs(bench: TheBench) -> Any:
    """List all runs, the latest first; without losses."""
    return [bench.run_answer(run, losses=False) for run in bench.store.runs()]


@router.get("/{run}", response_model=schemas.Run)
async def one_run(bench: TheBench, run: schemas.Id) -> Any:
    """Return a run: how far it is, and whether it has ended."""
    return bench.run_answer(bench.run(run))


@router.patch("/{run}", response_model=schemas.Run)
async def retitle(bench: TheBench, run: schemas.Id, wanted: schemas.TitleRequest) -> Any:
    """Give a run another title."""
    found = bench.run(run)
    bench.store.change_run(found["id"], title=wanted.title)
    return bench.run_answer(bench.run(run))


@router.post("/{run}/cancel", response_model=schemas.Run)
async def cancel(bench: TheBench, run: schemas.Id) -> Any:
    """End a run that waits or works."""
    found = bench.run(run)
    if found["status"] not in _WORKING:
        raise RefusedError(409, f"This run cannot be cancelled: it is {found['status']}.")
    await bench.jobs.cancel(found["id"])
    return bench.run_answer(bench.run(run))


@router.post("/{run}/again", response_model=schemas.Run)
async def again(bench: TheBench, run: schemas.Id) -> Any:
    """Start a run again that failed, or was cancelled or interrupted; a training goes on where it was, if it can."""
    found = bench.run(run)
    if found["status"] in (*_WORKING, "done"):
        raise RefusedError(409, f"This run cannot be started again: it is {found['status']}.")
    if bench.jobs.n_waiting >= bench.limits.waiting:
        raise RefusedError(429, f"{bench.jobs.n_waiting} runs are waiting already; wait until some have ended.")
    bench.table(found["table_id"])
    bench.store.change_run(found["id"], status="queued", started=None, finished=None, error=None)
    return _go(bench, found)


@router.delete("/{run}", status_code=204)
async def remove(bench: TheBench, run: schemas.Id) -> None:
    """Remove a run; one that works is ended first."""
    found = bench.run(run)
    if found["status"] in _WORKING:
        await bench.jobs.cancel(found["id"])
    async with bench.turn(found["id"]):
        bench.store.remove_run(found["id"])
    bench.changed(found["id"])


@router.get("/{run}/facts", responses={200: _PIECES})
async def facts(bench: TheBench, run: schemas.Id) -> Response:
    """Return what the report says of the run (`newfound.report_facts`), without the map.

    Of the revision ``workbench.revision``, which may be behind that of the run for a while.
    """
    found = bench.finished(run)
    revision = facts_revision(found["folder"], Curated(found["folder"]))
    return _piece(state_file(found["folder"], "facts", 0 if revision is None else revision))


@router.get("/{run}/sections", responses={200: _PIECES})
async def sections(bench: TheBench, run: schemas.Id) -> Response:
    """Return the parts of the report: texts, and cards and charts as pieces of HTML, of the revision of the facts."""
    found = bench.finished(run)
    revision = facts_revision(found["folder"], Curated(found["folder"]))
    return _piece(state_file(found["folder"], "sections", 0 if revision is None else revision))


@router.get("/{run}/curves", response_model=schemas.Curves)
async def curves(bench: TheBench, run: schemas.Id) -> Any:
    """Draw the losses of a run that goes on, as a piece of HTML."""
    progress = bench.jobs.progress.get(bench.run(run)["id"])
    if progress is None or not progress.epochs:
        return {"html": ""}
    return {"html": await bench.ask("curves", history=progress.epochs)}


@router.get("/{run}/map", responses={200: _PIECES})
async def map_(bench: TheBench, run: schemas.Id) -> Response:
    """Return where rows lie on the map, and the class, probability (0 to 1000) and label of each."""
    found = bench.finished(run)
    return _piece(state_file(found["folder"], "map", Curated(found["folder"]).revision))


def _piece(path: Path | None) -> Response:
    if path is None:
        raise RefusedError(404, "This is not there.")
    if path.stat().st_size > _READ_AT_ONCE:
        return FileResponse(path, media_type="application/json")
    return Response(path.read_bytes(), media_type="application/json")


@router.get("/{run}/columns/{index}", response_class=JSONResponse, responses={200: {"model": schemas.ColumnValues}})
async def column(bench: TheBench, run: schemas.Id, index: Annotated[int, PathPart(ge=0, lt=2**31)]) -> Response:
    """Return the cells of a column in the order of the map."""
    found = bench.finished(run)
    place = state_file(found["folder"], f"column-{index}", Curated(found["folder"]).revision)
    if place is None:
        place = found["folder"] / await bench.ask_about(found, "column", index=index)
    return _piece(place)


@router.post("/{run}/rows", response_model=schemas.Rows)
async def rows(bench: TheBench, run: schemas.Id, wanted: schemas.RowsRequest) -> Any:
    """Return the cells of some rows."""
    return await bench.ask_about(bench.finished(run), "rows", rows=wanted.rows)


@router.get("/{run}/export/{what}", responses={200: {"description": "A file", "content": {"*/*": {}}}})
async def export(bench: TheBench, run: schemas.Id, what: Literal["labels", "model", "report", "code"]) -> FileResponse:
    """Download the labelled table, the model, the report, or the Python code that does the same."""
    found = bench.finished(run)
    async with bench.turn(found["id"]):
        place = await bench.ask_about(found, "export", what=what, more=found["facts"].get("more", {}))
    bench.changed(found["id"])
    name, kind = _EXPORTS[what]
    return FileResponse(found["folder"] / place, media_type=kind, filename=name)
