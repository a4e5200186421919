"""A finished run in a worker: its model as people have made it, its table, and what is written about it."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.discoverers.reading import Reading
from newfound.persistence import load
from newfound.reporting.facts import plain, report_facts
from newfound.reporting.fragments import fragments
from newfound.reporting.layout import Places, drawn_rows, middle_of
from newfound.runs.labelling import Labelling, label_rows
from newfound.runs.names import class_names
from newfound.web.curating import Step, take_step
from newfound.web.records import read_json, write_json
from newfound.web.sources import Source

Facts = dict[str, Any]

MODEL, PLACES_FILE, CODES, SUMMARY = "model.newfound", "places.npy", "codes.npy", "run.json"
FRAMES = "frames.json"
ANSWERS = "answers.json"
_MOST_DRAWN = 100_000
_MOST_FOR_MIDDLE = 1_000
_WIDTH = 10_000  # of the map, whose places are whole numbers


class Opened:
    """A finished run after some steps.

    Parameters
    ----------
    folder : Path
        Of the run.
    result : Path
        Folder of its result, which may be under way.
    source : Source
        Its table and labels.
    options : dict
    steps : list of dict
        What people did.
    """

    def __init__(self, folder: Path, result: Path, source: Source, options: Facts, steps: list[Step]) -> None:
        self.folder, self.result, self.source, self.options = folder, result, source, options
        self.model: Any = load(result / MODEL)
        self.accepted: set[str] = set()
        self.is_training = not (result / CODES).is_file()
        for step in steps:
            take_step(self.model, step, source.table, self.accepted, training=self.is_training)

    @cached_property
    def reading(self) -> Reading:
        """The table as the model reads it."""
        return Reading.of(self.model, self.source.table)

    @cached_property
    def places(self) -> Places:
        """Where all rows lie on the map."""
        found = np.load(self.result / PLACES_FILE, allow_pickle=False)
        return Places(found.astype(np.float64) / _WIDTH, read_json(self.result / "method.json") or "t-SNE")

    @cached_property
    def labelling(self) -> Labelling:
        """The class of each row: its label, or else what the model says; of a batch, what the update said."""
        if self.is_training:
            return label_rows(self.model, self.reading, self.source.labels)
        told = np.load(self.result / CODES, allow_pickle=False).astype(np.int64)
        fits = told >= 0
        codes = told.copy()
        if self.model.curation_.steps:
            codes[fits] = self.model._curated(told[fits], self.reading.rows[fits])
        proba = self.model.predict_proba(self.reading)
        probability = np.where(fits, proba[np.arange(len(codes)), codes], proba.max(axis=1))
        return Labelling(codes.astype(np.intp), probability, class_names(self.model), len(self.model.known_classes_))

    @property
    def answers(self) -> dict[int, str]:
        """Labels that somebody gave rows."""
        found = read_json(self.folder / ANSWERS) or {}
        return {int(row): label for row, label in found.items()}

    def answered(self) -> NDArray[Any]:
        """Labels of the run with the answers in them, None where a row is unlabelled; shape (n,)."""
        labels = self.source.labels.copy()
        for row, label in self.answers.items():
            labels[row] = label
        return labels

    # ---- what is written

    def write_classes(self, place: Path, revision: int) -> None:
        """Write the classes and the map."""
        labelling = self.labelling
        unlabelled = self.source.target.unlabelled
        counts = np.bincount(labelling.codes[labelling.codes >= 0], minlength=len(labelling.classes))
        free = labelling.codes[unlabelled]
        of_free = np.bincount(free[free >= 0], minlength=len(labelling.classes))
        classes = [
            {
                "name": name,
                "is_novel": code >= labelling.n_known,
                "n_rows": int(counts[code]),
                "n_unlabelled": int(of_free[code]),
                "accepted": name in self.accepted,
            }
            for code, name in enumerate(labelling.classes)
        ]
        write_json(place / f"map-{revision}.json", self._map(labelling))
        write_json(place / f"classes-{revision}.json", classes)

    def _map(self, labelling: Labelling) -> Facts:
        n, rng = len(labelling.codes), np.random.RandomState(0)
        rows = drawn_rows(labelling.codes, _MOST_DRAWN, np.empty(0, dtype=np.int64), rng)
        points = (self.places.points[rows] * _WIDTH).round().astype(np.int64)
        codes = labelling.codes[rows]
        given = {name: code for code, name in enumerate(dict.fromkeys(x for x in self.source.labels if x is not None))}
        middles = []
        for code in range(len(labelling.classes)):
            members = np.flatnonzero(codes == code)
            if len(members) > _MOST_FOR_MIDDLE:
                members = np.sort(rng.choice(members, _MOST_FOR_MIDDLE, replace=False))
            middles.append(int(members[middle_of(points[members].astype(np.float64))]) if len(members) else None)
        facts: Facts = plain(
            {
                "n": len(rows),
                "n_rows": n,
                "method": self.places.method,
                "width": _WIDTH,
                "rows": None if len(rows) == n else rows,
                "x": points[:, 0],
                "y": points[:, 1],
                "classes": codes,
                "probabilities": (labelling.probability[rows] * 1000).round().astype(np.int64),
                "labels": [-1 if label is None else given[label] for label in self.source.labels[rows]],
                "label_names": list(given),
                "class_names": labelling.classes,
                "is_novel": [code >= labelling.n_known for code in range(len(labelling.classes))],
                "middles": middles,
                "frames": read_json(self.result / FRAMES) or [],
            }
        )
        return facts

    def write_facts(self, place: Path, revision: int, more: Facts) -> None:
        """Write what the report says; for the pages without the map, which they have already."""
        title = f"Novel classes in {self.options['table_name']}"
        labels = self.source.labels if any(label is not None for label in self.source.labels) else None
        facts = report_facts(
            self.model, self.reading, labels, title=title, random_state=self.options["seed"], places=self.places
        )
        facts["workbench"] = {**more, "revision": revision}
        more = {"revision": revision, "workbench": facts["workbench"]}
        write_json(place / f"sections-{revision}.json", {**plain(fragments(facts)), **more})
        write_json(place / f"report-{revision}.json", facts)
        write_json(place / f"facts-{revision}.json", {name: fact for name, fact in facts.items() if name != "map"})
