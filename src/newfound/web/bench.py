"""What the server holds: the store, the desk, the jobs; and what requests do with them."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException

from newfound.web.curating import Curated, facts_revision, state_file
from newfound.web.jobs import Jobs
from newfound.web.limits import Limits
from newfound.web.problems import plain_problem
from newfound.web.records import DamagedError, Record, read_json
from newfound.web.store import Store, moment
from newfound.web.workers import Desk, NotStartedError, WorkerError, WorkerLostError

_LOST = "The process that worked on this ended unexpectedly; it may have run out of memory. Use a smaller table."
_MOST_LOSSES = 200  # epochs that are told to whoever asks how far a run is
_FIRST_PAGE = 1.5  # seconds until the desk is set up: the first page comes first


class RefusedError(HTTPException):
    """A request that cannot be answered, with what the page is told."""

    def __init__(self, status: int, problem: dict[str, Any] | str) -> None:
        self.problem = plain_problem(problem) if isinstance(problem, str) else problem
        super().__init__(status, self.problem["message"])


class Bench:
    """The state of the server.

    Parameters
    ----------
    folder : Path
        Where everything is kept.
    limits : Limits
    """

    def __init__(self, folder: Path, limits: Limits) -> None:
        folder = folder.absolute()  # processes that get paths of it work in another folder
        self.limits = limits
        self.store = Store(folder)
        self.jobs = Jobs(self.store, limits)
        self.desk = Desk(limits, folder / "workers.log")
        self.scribe = Desk(limits, folder / "workers.log")  # writes facts, while the desk goes on
        self._turns: dict[str, asyncio.Lock] = {}
        self._known_revisions: dict[str, tuple[int, int | None]] = {}
        self._background: set[asyncio.Task[Any]] = set()

    def start(self) -> None:
        """Begin with what need not wait for a request."""
        self.later(self._warm_up())

    async def _warm_up(self) -> None:
        await asyncio.sleep(_FIRST_PAGE)
        await self.desk.warm_up()

    async def close(self) -> None:
        """End all processes, and close the index."""
        for task in list(self._background):
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self.jobs.close()
        await self.desk.close()
        await self.scribe.close()
        self.store.close()

    def later(self, work: Any) -> None:
        """Have something done that no request waits for."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def turn(self, run: str) -> asyncio.Lock:
        """Lock of a run, so that what people do to it happens in turn."""
        return self._turns.setdefault(run, asyncio.Lock())

    # ---- what there is

    def table(self, id_: str) -> Record:
        """Return a table; 404 where there is none."""
        found = self.store.table(id_)
        if found is None:
            raise RefusedError(404, "There is no such table; it may have been removed.")
        return found

    def run(self, id_: str) -> Record:
        """Return a run; 404 where there is none."""
        found = self.store.run(id_)
        if found is None:
            raise RefusedError(404, "There is no such run; it may have been removed.")
        return found

    def finished(self, id_: str) -> Record:
        """Return a run that has a result; 409 where it has none yet."""
        found = self.run(id_)
        if found["status"] != "done":
            raise RefusedError(409, f"This run has no result: it is {found['status']}.")
        return found

    # ---- short tasks

    async def ask(self, task: str, /, **arguments: Any) -> Any:
        """Have the desk do a task; what it refuses is refused."""
        desk = self.scribe if task == "refresh" else self.desk
        try:
            return await desk.ask(task, **arguments)
        except WorkerError as error:
            raise RefusedError(500 if error.is_ours else 400, error.problem) from None
        except NotStartedError as reason:
            raise RefusedError(503, str(reason)) from None
        except WorkerLostError as lost:
            if lost.args == ("timeout",):
                raise RefusedError(503, "This took too long, and was ended. Use a smaller table.") from None
            raise RefusedError(400 if task == "look" else 503, _LOST) from None

    async def ask_about(self, run: Record, task: str, /, **arguments: Any) -> Any:
        """Have the desk do a task about a finished run."""
        table = self.table(run["table_id"])
        return await self.ask(
            task,
            folder=str(run["folder"]),
            path=str(table["path"]),
            name=table["name"],
            options=run["options"],
            **arguments,
        )

    def refresh_later(self, run: Record) -> None:
        """Have the facts follow what people did."""
        self.later(self._refresh(run))

    async def _refresh(self, run: Record) -> None:
        with contextlib.suppress(RefusedError):
            if state_file(run["folder"], "facts", Curated(run["folder"]).revision) is None:
                await self.ask_about(run, "refresh", more=run["facts"].get("more", {}))
        self.changed(run["id"])

    # ---- answers

    def table_answer(self, table: Record) -> dict[str, Any]:
        """Return a table as the pages know it."""
        facts = table["facts"]
        return {
            **{name: table[name] for name in ("id", "name", "n_bytes")},
            "created": moment(table["created"]),
            "example": facts.get("example"),
            **{name: facts[name] for name in ("format", "n_rows", "n_columns", "notes")},
        }

    def run_answer(self, run: Record, *, losses: bool = True) -> dict[str, Any]:
        """Return a run as the pages know it."""
        progress = self.jobs.progress.get(run["id"])
        facts, status = run["facts"] or {}, run["status"]
        answer: dict[str, Any] = {
            name: run[name] for name in ("id", "kind", "title", "parent", "round", "status", "error")
        }
        answer |= {name: moment(run[name]) for name in ("created", "started", "finished")}
        phase = {"queued": "Waiting for its turn", "done": "Done"}.get(status, "")
        seconds = None if run["started"] is None or run["finished"] is None else run["finished"] - run["started"]
        revision, told = 0, None
        if status == "done":
            try:
                revision, told = self._revisions(run)
            except DamagedError as error:  # one run must not take the list of all with it
                answer["error"] = plain_problem(str(error))
        answer |= {
            "table": run["table_id"],
            "table_name": run["options"]["table_name"],
            "phase": phase if progress is None else progress.phase,
            "share_done": 1.0 if status == "done" else 0.0 if progress is None else progress.share,
            "seconds": seconds if progress is None else progress.seconds,
            "seconds_left": None if progress is None else progress.seconds_left,
            "n_epochs": 0 if progress is None else len(progress.epochs),
            "losses": progress.epochs[-_MOST_LOSSES:] if losses and progress is not None else [],
            "notes": facts.get("notes", []),
            "revision": revision,
            "facts_revision": told,
            "n_novel_classes": facts.get("n_novel_classes"),
            "n_known_classes": facts.get("n_known_classes"),
            "options": run["options"],
        }
        return answer

    def _revisions(self, run: Record) -> tuple[int, int | None]:
        """Revisions of a run and of its facts, which every page asks for again and again."""
        found = self._known_revisions.get(run["id"])
        if found is None:
            curated = Curated(run["folder"])
            found = curated.revision, facts_revision(run["folder"], curated)
            self._known_revisions[run["id"]] = found
        return found

    def changed(self, run: str) -> None:
        """Say that something new is known of a run, or that it is gone."""
        self._known_revisions.pop(run, None)

    def classes_answer(self, run: Record) -> dict[str, Any]:
        """Return the classes of a run as they are now."""
        curated = Curated(run["folder"])
        found = state_file(run["folder"], "classes", curated.revision)
        return {
            "revision": curated.revision,
            "facts_revision": facts_revision(run["folder"], curated),
            "undo": curated.undo,
            "redo": curated.redo,
            "classes": [] if found is None else read_json(found),
        }
