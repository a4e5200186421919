"""Requests about tables."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Query, Request, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response

from newfound.plain import printable
from newfound.web import schemas
from newfound.web.bench import Bench, RefusedError
from newfound.web.catalogue import EXAMPLES
from newfound.web.records import DamagedError, Record, read_json, write_json

COLUMNS = "columns.json"
FORMATS = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet", ".feather", ".arrow", ".xlsx", ".data")
_LONGEST_NAME = 120
_MOST_TARGETS = 50  # of a table, about which is kept what was asked

router = APIRouter(prefix="/api/tables", tags=["tables"])


async def the_bench(request: Request) -> Bench:  # not a plain function, which would be called in another thread
    """Return the state of the server."""
    bench: Bench = request.app.state.bench
    return bench


TheBench = Annotated[Bench, Depends(the_bench)]


def safe_name(given: str | None) -> str:
    """Return the name of an upload as it is shown: its last part, on one line, and never a path that is opened."""
    last = re.split(r"[/\\]", given or "")[-1]
    name = " ".join(printable(last).split())
    if len(name) > _LONGEST_NAME:
        stem, ending = os.path.splitext(name)
        name = stem[: _LONGEST_NAME - len(ending[:10])] + ending[:10]
    return name.strip(". ") or "table"


def ending_of(name: str) -> str:
    """Return the ending of the stored file, one of a fixed list."""
    small = name.lower()
    packed = ".gz" if small.endswith(".gz") else ""
    plain = os.path.splitext(small.removesuffix(".gz"))[1]
    return (plain if plain in FORMATS else "") + packed


@router.post("", response_model=schemas.Table, status_code=201)
async def upload(bench: TheBench, file: Annotated[UploadFile, File()]) -> Any:
    """Upload a table: CSV, JSON lines, Parquet, Feather or Excel, also with .gz."""
    _refuse_too_many(bench)
    name = safe_name(file.filename)
    id_, path = bench.store.new_table(name, ending_of(name))
    try:
        n_bytes = await run_in_threadpool(_keep, file, path)
        facts = await _look(bench, path, name)
        bench.store.finish_table(id_, n_bytes, facts)
    except BaseException:
        bench.store.remove_table(id_)
        raise
    bench.jobs.warm_up()
    return bench.table_answer(bench.table(id_))


def _keep(file: UploadFile, path: Path) -> int:
    with path.open("xb") as stream:
        shutil.copyfileobj(file.file, stream, 1 << 20)
        return stream.tell()


@router.post("/example", response_model=schemas.Table, status_code=201)
async def example(bench: TheBench, wanted: schemas.ExampleRequest) -> Any:
    """Get an example that comes with the workbench; the same again where it is there already."""
    found = next((example for example in EXAMPLES if example.name == wanted.name), None)
    if found is None:
        raise RefusedError(404, "There is no such example.")
    there = bench.store.table_of_example(found.name)
    if there is None:
        _refuse_too_many(bench)
        name = f"{found.name}.csv"
        id_, path = bench.store.new_table(name, ".csv")
        try:
            await bench.ask("example", path=str(path), name=found.name)
            facts = await _look(bench, path, name)
            bench.store.finish_table(id_, path.stat().st_size, {**facts, "example": found.name})
        except BaseException:
            bench.store.remove_table(id_)
            raise
        there = bench.table(id_)
    bench.jobs.warm_up()
    return bench.table_answer(there)


async def _look(bench: Bench, path: Path, name: str) -> Any:
    limits = bench.limits
    return await bench.ask("look", path=str(path), name=name, most_rows=limits.rows, most_columns=limits.columns)


def _refuse_too_many(bench: Bench) -> None:
    if bench.store.n_tables() >= bench.limits.tables:
        raise RefusedError(409, f"There are {bench.limits.tables} tables already; remove some first.")


@router.get("", response_model=list[schemas.Table])
async def tables(bench: TheBench) -> Any:
    """List all tables, the latest first."""
    return [bench.table_answer(table) for table in bench.store.tables()]


@router.get("/{table}", response_model=schemas.Table)
async def one_table(bench: TheBench, table: schemas.Id) -> Any:
    """Return a table."""
    return bench.table_answer(bench.table(table))


@router.delete("/{table}", status_code=204)
async def remove_table(bench: TheBench, table: schemas.Id) -> None:
    """Remove a table that no run needs."""
    found = bench.table(table)
    n_runs = bench.store.runs_of_table(found["id"])
    if n_runs:
        raise RefusedError(409, f"{n_runs} run{'s' * (n_runs > 1)} of this table would be lost; remove them first.")
    bench.store.remove_table(found["id"])


@router.get("/{table}/columns", response_class=JSONResponse, responses={200: {"model": schemas.Columns}})
async def columns(
    bench: TheBench,
    table: schemas.Id,
    target: Annotated[str | None, Query(max_length=1_000)] = None,
    mark: Annotated[list[str] | None, Query(max_length=100)] = None,
) -> Response:
    """Say what each column holds; with a target, which classes it has and how many rows have none.

    ``mark`` may be repeated: what stands in the target of unlabelled rows, besides nothing.
    """
    found = bench.table(table)
    facts = await run_in_threadpool(read_json, found["folder"] / COLUMNS)
    about: Any = {"target": None, "target_problem": None}
    if target is not None:
        about = await _target(bench, found, [column["name"] for column in facts["columns"]], target, mark)
    # There may be thousands of columns, and the worker has checked them: meanwhile others are answered.
    return await run_in_threadpool(JSONResponse, {**facts, **about})


async def _target(bench: Bench, table: Record, names: list[str], target: str, marks: list[str] | None) -> Any:
    if target not in names:
        raise RefusedError(404, "The table has no such column.")
    cached = table["folder"] / f"target-{names.index(target)}.json"
    if marks is None and cached.is_file():
        with contextlib.suppress(DamagedError):  # it is asked again
            return read_json(cached)
    answer = await bench.ask("target", path=str(table["path"]), name=table["name"], column=target, marks=marks)
    if marks is None and len(list(table["folder"].glob("target-*.json"))) < _MOST_TARGETS:
        await run_in_threadpool(write_json, cached, answer)
    return answer
