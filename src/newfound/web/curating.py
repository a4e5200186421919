"""What people made of the classes of a run: a list of steps on the disk, and the model after any of them.

The model that was found stays as it is. A state is the list of steps that lead to it, so that undo only moves back in
the list, and a kill in the middle of a step leaves the state before it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from newfound.runs.names import class_named, class_names, typed_name
from newfound.web.records import damaged, read_json, write_json
from newfound.web.store import RESULT

if TYPE_CHECKING:
    from newfound.discoverers.base import BaseDiscoverer

Step = dict[str, Any]

STATES = "states"
"""Folder of what is written about later states; the first is with the result."""

_FILE = "curation.json"


class Curated:
    """The steps of a run.

    Attributes
    ----------
    states : list of dict
        Each with its ``revision``, a number that no other state of the run ever had, and the ``step`` that led to it.
    place : int
        Of the present state in the list; later ones can be done again.
    """

    def __init__(self, folder: Path) -> None:
        content = read_json(folder / _FILE)
        if content is None:
            content = {"states": [{"revision": 0, "step": None}], "place": 0, "next": 1}
        self._folder = folder
        try:
            self.states: list[dict[str, Any]] = content["states"]
            self.place: int = content["place"]
            self._next: int = content["next"]
            _ = self.revision, self.undo, self.redo  # what cannot be told is found out now
        except (LookupError, TypeError, AttributeError, ValueError):
            raise damaged(_FILE) from None

    @property
    def revision(self) -> int:
        """Of the present state."""
        return int(self.states[self.place]["revision"])

    @property
    def steps(self) -> list[Step]:
        """Steps that lead to the present state."""
        return [state["step"] for state in self.states[1 : self.place + 1]]

    @property
    def undo(self) -> str | None:
        """What can be undone, in words."""
        return None if self.place == 0 else in_words(self.states[self.place]["step"])

    @property
    def redo(self) -> str | None:
        """What can be done again, in words."""
        return None if self.place + 1 == len(self.states) else in_words(self.states[self.place + 1]["step"])

    def move(self, by: int) -> bool:
        """Go back or forth; False where there is nothing to go to."""
        if not 0 <= self.place + by < len(self.states):
            return False
        self.place += by
        self._write()
        return True

    def coming(self) -> int:
        """Return the revision of the next new state."""
        return self._next

    def add(self, step: Step) -> None:
        """Go to a new state; what was undone before is forgotten."""
        self.states = [*self.states[: self.place + 1], {"revision": self._next, "step": step}]
        self.place, self._next = self.place + 1, self._next + 1
        self._write()

    def _write(self) -> None:
        write_json(self._folder / _FILE, {"states": self.states, "place": self.place, "next": self._next})


def state_file(folder: Path, name: str, revision: int) -> Path | None:
    """Path of a file about a revision of a run; None as long as it is not there."""
    for place in (folder / STATES, folder / RESULT):
        found = place / f"{name}-{revision}.json"
        if found.is_file():
            return found
    return None


def facts_revision(folder: Path, curated: Curated) -> int | None:
    """Return the revision whose facts are shown: the present one, or else the last before it that has any."""
    for state in reversed(curated.states[: curated.place + 1]):
        if state_file(folder, "facts", state["revision"]) is not None:
            return int(state["revision"])
    return None


def take_step(model: BaseDiscoverer, step: Step, table: Any, accepted: set[str], *, training: bool) -> None:
    """Do a step to a model and to the names of its accepted classes; InputError where it cannot be done.

    Parameters
    ----------
    model : discoverer
        Changed in place.
    step : dict
        See `newfound.web.schemas.Action`.
    table : Table or Reading
        Of the run.
    accepted : set of str
        Names of accepted classes, changed in place.
    training : bool
        Whether the model was fitted to this table.
    """
    action = step["action"]
    if action == "rename":
        model.rename({class_named(old, model): typed_name(new.strip(), model) for old, new in step["names"].items()})
        renamed = {old.strip(): new.strip() for old, new in step["names"].items()}
        changed = {renamed.get(name, name) for name in accepted}
        accepted.clear()
        accepted.update(changed)
    elif action == "merge":
        names = [name.strip() for name in step["classes"]]
        into = None if step["into"] is None else typed_name(step["into"].strip(), model)
        model.merge([class_named(name, model) for name in names], into=into)
        was_accepted = any(name in accepted for name in names)
        accepted.difference_update(names)
        merged = names[0] if step["into"] is None else step["into"].strip()
        if was_accepted and merged in class_names(model)[len(model.known_classes_) :]:
            accepted.add(merged)
    elif action == "split":
        model.split(class_named(step["name"], model), step["parts"], table, training=training)
        accepted.discard(step["name"].strip())
    else:
        name = step["name"].strip()
        model._novel_place(class_named(name, model))
        (accepted.add if step["accepted"] else accepted.discard)(name)


def in_words(step: Step) -> str:
    """Say what a step did, shortly."""
    action = step["action"]
    if action == "rename":
        old, new = next(iter(step["names"].items()))
        more = len(step["names"]) - 1
        return f"rename {old} to {new}" + (f" and {more} more" if more else "")
    if action == "merge":
        return f"merge {', '.join(step['classes'])}"
    if action == "split":
        return f"split {step['name']}"
    return f"{'accept' if step['accepted'] else 'no longer accept'} {step['name']}"
