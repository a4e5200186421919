"""Requests about the classes of a finished run: to name, merge, split and accept them, and to go on."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.concurrency import run_in_threadpool

from newfound.web import schemas
from newfound.web.bench import Bench, RefusedError
from newfound.web.curating import Curated, state_file
from newfound.web.records import Record, read_json
from newfound.web.run_routes import _go, _new
from newfound.web.table_routes import COLUMNS, TheBench

router = APIRouter(prefix="/api/runs", tags=["classes"])

_ANSWERS = "answers.json"


@router.get("/{run}/classes", response_model=schemas.Classes)
async def classes(bench: TheBench, run: schemas.Id) -> Any:
    """Return the classes of a run as they are now."""
    return bench.classes_answer(bench.finished(run))


@router.post("/{run}/curation", response_model=schemas.Classes)
async def curate(bench: TheBench, run: schemas.Id, action: schemas.Action) -> Any:
    """Rename, merge, split or accept classes, undo that, or do it again."""
    found = bench.finished(run)
    async with bench.turn(found["id"]):
        if isinstance(action, schemas.Undo):
            curated = Curated(found["folder"])
            moved = await run_in_threadpool(curated.move, -1 if action.action == "undo" else 1)
            if not moved:
                raise RefusedError(409, f"There is nothing to {action.action}.")
        else:
            await bench.ask_about(found, "curate", step=action.model_dump())
    bench.changed(found["id"])
    if state_file(found["folder"], "facts", Curated(found["folder"]).revision) is None:
        bench.refresh_later(found)
    return bench.classes_answer(found)


@router.get("/{run}/suggestions", response_model=schemas.Suggestions)
async def suggestions(bench: TheBench, run: schemas.Id) -> Any:
    """Say which classes may be one, and which rows are worth a label."""
    return await bench.ask_about(bench.finished(run), "suggest")


@router.get("/{run}/labels", response_model=schemas.Labels)
async def labels(bench: TheBench, run: schemas.Id) -> Any:
    """Return the labels that were given to rows of a run."""
    found = await run_in_threadpool(read_json, bench.finished(run)["folder"] / _ANSWERS)
    return {"labels": [{"row": int(row), "label": label} for row, label in (found or {}).items()]}


@router.post("/{run}/labels", response_model=schemas.Labels)
async def give_labels(bench: TheBench, run: schemas.Id, wanted: schemas.LabelsRequest) -> Any:
    """Give rows labels, or take them back; the next round learns from them."""
    found = bench.finished(run)
    async with bench.turn(found["id"]):
        kept = await bench.ask_about(found, "label", labels=[[answer.row, answer.label] for answer in wanted.labels])
    return {"labels": [{"row": row, "label": label} for row, label in kept]}


@router.post("/{run}/next", response_model=schemas.Run, status_code=201)
async def next_round(bench: TheBench, run: schemas.Id, wanted: schemas.NextRequest) -> Any:
    """Start the next round: accepted classes and the labels given are known in it."""
    found = bench.finished(run)
    if found["kind"] == "update":
        raise RefusedError(409, "A next round follows on a search, not on an update.")
    options = {**found["options"], "hide": []}
    title = wanted.title or f"{found['title']}, round {found['round'] + 1}"
    return await _follow(bench, found, "discovery", bench.table(found["table_id"]), title, options, "next_round")


@router.post("/{run}/batches", response_model=schemas.Run, status_code=201)
async def batch(bench: TheBench, run: schemas.Id, wanted: schemas.BatchRequest) -> Any:
    """Update the model of a run by a further table: what is new, what has moved."""
    found, table = bench.finished(run), bench.table(wanted.table)
    names = {column["name"] for column in read_json(table["folder"] / COLUMNS)["columns"]}
    if wanted.target is not None and wanted.target not in names:
        raise RefusedError(400, f"The table has no column {wanted.target!r}.")
    options = {
        **found["options"],
        "kind": "update",
        "table_name": table["name"],
        "target": wanted.target,
        "ignore": [],
        "kinds": {},
        "hide": [],
        "marks": None,
    }
    title = wanted.title or f"{found['title']}, updated by {table['name']}"
    return await _follow(bench, found, "update", table, title, options, "hand_over")


async def _follow(
    bench: Bench, parent: Record, kind: str, table: Record, title: str, options: dict[str, Any], task: str
) -> Any:
    """Start a run that follows on another one, once that has handed over what it needs."""
    fresh = _new(bench, kind, table, title, options, parent)
    try:
        async with bench.turn(parent["id"]):
            await bench.ask_about(parent, task, fresh=str(fresh["folder"]))
    except BaseException:
        bench.store.remove_run(fresh["id"])
        raise
    return _go(bench, fresh)
