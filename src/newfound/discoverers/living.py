"""Classes that live on: a fitted discoverer takes one batch of rows after the other."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from newfound.discoverers.batch_labels import Naming
from newfound.discoverers.curatable import Curatable
from newfound.discoverers.curation import Curation, Split, Step
from newfound.discoverers.fitted import Codes, FittedState, Floats
from newfound.discoverers.flat import FlatState, first_counts
from newfound.discoverers.memory import Memory
from newfound.discoverers.placing import FEWEST_ROWS, Placement, corrected, place_batch
from newfound.discoverers.update import Update, first_records, later_records, tell
from newfound.errors import InputError
from newfound.learning.machine import threads_for_table
from newfound.parameters import pick_generator
from newfound.records import Records
from newfound.routing import Forest
from newfound.routing.batches import columns_beyond
from newfound.routing.calibration import fit_temperature, rows_to_hold_out
from newfound.tables import TableEncoder, all_classes, novel_class_names, read_labels
from newfound.tables.labels import class_array
from newfound.tables.task import DiscoveryTask

_MOST_TAUGHT = 1_000  # rows of a class in a batch from which the forest learns
_SURE = 0.5  # probability from which on a row is kept for its class


class Living(Curatable):
    """Part of a discoverer: updates by further batches.

    It keeps some encoded rows of each class (`Memory`). An update compares the batch with them. What the discoverer
    predicts with afterwards is one forest over all classes, so the cost of a batch depends on the batch and on the
    bounded memory, and not on how many batches there were.
    """

    encoder_: TableEncoder
    temperature_: float
    batches_: Records
    random_state: Any

    _state: FittedState
    _memory: Memory | None = None
    _updated: FlatState | None = None
    _forest: Forest | None

    def update(self, X: Any, y: Any = None) -> Update:
        """Take a further batch of rows: classes stay, and rows that fit none of them are searched for further ones.

        Parameters
        ----------
        X : table of shape (n, n_columns)
            The batch, with the columns of `fit`.
        y : labels of shape (n,), optional
            Labels of some of its rows; -1, None or NaN elsewhere. A label may name a known class, a novel class that
            was found, or a class that is not there yet: a known class from now on.

        Returns
        -------
        Update
            The class of each row, classes that are new, drift or have no rows, and the share of rows that fit none.

        Raises
        ------
        InputError
            For a batch or labels that cannot be used, or where the discoverer keeps no rows. It is then as it was.

        Notes
        -----
        Known and novel classes keep their names; new ones get names that were never used. From now on the discoverer
        predicts by a forest that learned from kept rows and the batch. ``labels_``, ``history_`` and whatever else
        speaks of the training stay those of `fit`, and so does the latent space of `transform`. ``batches_`` tells how
        the classes fared over the batches. A new class has at least 20 rows; fewer rows that fit no class wait for the
        next batch.

        Examples
        --------
        >>> from newfound import NCDKMeans
        >>> rng = np.random.default_rng(0)
        >>> X = np.repeat([[0.0, 0], [9, 0], [0, 9]], 60, axis=0) + rng.normal(size=(180, 2))
        >>> model = NCDKMeans(1, random_state=0).fit(X, ["ant"] * 60 + ["bee"] * 60 + [None] * 60)
        >>> batch = np.repeat([[0.0, 0], [9, 9]], 60, axis=0) + rng.normal(size=(120, 2))
        >>> model.update(batch).new_classes
        ['novel_1']
        """
        self._check_is_fitted()
        memory = self._kept()
        rows = self._encode(X).astype(np.float32).astype(np.float64)  # as precise as the rows that are kept
        if not len(rows):
            raise InputError.about("X", "has no rows", "Pass a batch of at least one row.")
        naming = Naming.of(read_labels(y, len(rows)), self.known_classes_, self.novel_classes_, self._used_names)
        with threads_for_table(len(rows) + len(memory.codes), rows.shape[1]):
            return self._take(memory.relabelled(naming.places), rows, naming)

    def plot_batches(self, path: str | PathLike[str] | None = None) -> Any:
        """Draw the share of each class in each batch, and how far it has moved.

        Parameters
        ----------
        path : str or path, optional
            A file to write as well, .png or .svg.

        Returns
        -------
        matplotlib.figure.Figure
        """
        self._check_is_fitted()
        if not self.batches_:
            raise InputError("There are no batches to draw yet; call update first.", cure="call update first")
        from newfound.pictures.batches import draw_batches

        return draw_batches([] if path is None else [Path(path)], self.batches_)

    # ---- inside

    def _take(self, memory: Memory, rows: Floats, naming: Naming) -> Update:
        """Take a batch of encoded rows (n, d), all at once."""
        batch = self._n_batches + 1
        rng = np.random.RandomState([int(pick_generator(self.random_state).randint(2**31 - 1)), batch])
        has_class = memory.codes >= 0
        kept, waiting = (memory.rows[some].astype(np.float64) for some in (has_class, ~has_class))
        kept_codes = memory.codes[has_class].astype(np.int64)
        everything = np.concatenate([rows, waiting])
        codes = np.append(naming.codes, np.full(len(waiting), -1))
        expected = np.zeros((len(everything), naming.n_classes))
        expected[:, naming.places] = self._curated_proba(everything)
        kept_codes = corrected(kept, kept_codes, rows, naming.codes, expected[: len(rows)], len(naming.known))
        layout = self.encoder_.layout_
        beyond = columns_beyond(kept, rows, layout) if len(kept) and len(rows) >= FEWEST_ROWS else []
        compared = [_without(some, beyond) for some in (kept, everything)]
        placement = place_batch(compared[0], kept_codes, compared[1], codes, expected, layout, rng)
        new = novel_class_names(naming.known, len(placement.recognised), {*self._used_names}).tolist()
        novel = class_array([*self.novel_classes_.tolist(), *new], self.novel_classes_)
        classes = all_classes(naming.known, novel)
        forest, temperature = _grown(kept, kept_codes, everything, placement, rng)
        # Rows that fit no class wait in the memory; they were not counted yet if they find one later.
        sure = (placement.codes < 0) | (placement.proba.max(axis=1) >= _SURE) | (codes >= 0)
        update = tell(
            batch,
            classes,
            (len(naming.known), len(novel) - len(new)),
            (kept, kept_codes),
            (rows, placement.codes[: len(rows)]),
            self.batches_,
            layout.names,
            [layout.names[column] for column in beyond],
        )
        before = self.batches_ or first_records(self.classes_, self._codes_of(self.labels_))
        counts = (len(self.known_classes_), self.curation_.n_found)
        changed: dict[str, Any] = {
            "known_classes_": naming.known,
            "novel_classes_": novel,
            "classes_": classes,
            "curation_": Curation(len(naming.known), len(novel)),
            "temperature_": temperature,
            "batches_": later_records(before, update),
            "_used_names": tuple(dict.fromkeys([*self._used_names, *new])),
            "_memory": memory.with_codes(kept_codes).joined(everything[sure], placement.codes[sure], len(classes), rng),
            "_updated": FlatState(
                forest, self._state, len(naming.known), self._updated.first_counts if self._updated else counts
            ),
            "_forest": None,
        }
        # A new class is as certain as it was recognised.
        changed |= {name: np.append(getattr(self, name), placement.recognised) for name in self._class_facts}
        vars(self).update(changed)
        return update

    @property
    def _n_batches(self) -> int:
        return int(self.batches_[-1]["batch"]) if self.batches_ else 0

    def _remember(self, task: DiscoveryTask, codes: Codes) -> None:
        """Keep some of the rows of a fit: those that had a label, and those of novel classes; codes (n,) as found."""
        kept = (task.codes >= 0) | (codes >= task.n_known)
        # A seed of its own: what a fit draws does not depend on what is kept of it.
        own = np.random.RandomState(0)
        self._memory = Memory.of(task.rows[kept], codes[kept], task.n_known + task.n_novel, own)
        self._updated = None
        self.batches_ = Records()

    def _kept(self) -> Memory:
        """Rows that are kept, with the classes as users know them."""
        if self._memory is None:
            cure = "fit again, and save with rows"
            raise InputError(
                f"This {type(self).__name__} keeps no rows of its classes, which this needs: it was saved without "
                f"them, or by an earlier version of newfound; {cure}.",
                cure=cure,
            )
        if not self.curation_.steps:
            return self._memory
        codes, rows = self._memory.codes.astype(np.int64), self._memory.rows.astype(np.float64)
        has_class = codes >= 0
        codes[has_class] = self._curated(codes[has_class], rows[has_class])
        sizes = np.bincount(codes[has_class], minlength=len(self.classes_))
        return Memory(self._memory.rows, codes.astype(np.int32), sizes.astype(np.int32))

    def _curated(self, codes: Codes, rows: Floats) -> Codes:
        """Classes as users know them of rows (n, d) whose classes (n,) are those that were found."""
        latent = self._latent(rows) if self.curation_.splits else None
        for step in self.curation_.steps:
            parts = step.shares(latent).argmax(axis=1) if isinstance(step, Split) and latent is not None else None
            codes = step.codes(codes, parts)
        return codes

    def _adopt(self, novel_names: list[Any], step: Step | None = None, parts: Codes | None = None) -> Self:
        """Take a step and new names, in ``batches_`` too; what was merged or split keeps its earlier records."""
        before = self._novel_names()
        super()._adopt(novel_names, step, parts)
        if step is None and self.batches_:
            names = dict(zip(before, novel_names, strict=True))
            self.batches_ = Records(
                record | {"class": names.get(record["class"], record["class"])} for record in self.batches_
            )
        return self

    # ---- the model file

    def _before_updates(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return a discoverer with as many classes as `fit` found, to restore its state; itself without an update."""
        counts = first_counts(arrays, len(self.known_classes_))
        if counts is None:
            return self
        first = copy.copy(self)
        first.known_classes_, first.curation_ = self.known_classes_[: counts[0]], Curation(*counts)
        return first

    def _restore_updated(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore what an update has left, around the state of fit."""
        n_columns, n_known = self.encoder_.layout_.n_columns, len(self.known_classes_)
        self._updated = None
        if first_counts(arrays, n_known) is not None:
            self._updated = FlatState.restore(arrays, self._state, n_columns, n_known, self.curation_.n_found)


def _without(rows: Floats, columns: list[int]) -> Floats:
    """Rows (n, d) that are all alike in some columns."""
    if not columns:
        return rows
    alike = rows.copy()
    alike[:, columns] = 0.0
    return alike


def _grown(
    kept: Floats, kept_codes: Codes, rows: Floats, placement: Placement, rng: np.random.RandomState
) -> tuple[Forest, float]:
    """Grow a forest from kept rows and a batch, and fit its temperature to kept rows that a first one has not seen."""
    n_classes = placement.proba.shape[1]
    of_classes = (rng.permutation(np.flatnonzero(placement.codes == code)) for code in range(n_classes))
    taught = np.concatenate([places[:_MOST_TAUGHT] for places in of_classes])
    every = np.concatenate([kept, rows[taught]])
    targets = np.concatenate([np.eye(n_classes)[kept_codes], placement.proba[taught]])
    held_out, seed, temperature = rows_to_hold_out(kept_codes, rng), int(rng.randint(2**31 - 1)), 1.0
    if len(held_out):
        rest = np.setdiff1d(np.arange(len(every)), held_out)
        proba = Forest.grow(every[rest], targets[rest], seed).proba(every[held_out])
        temperature = fit_temperature(proba, kept_codes[held_out])
    return Forest.grow(every, targets, seed), temperature
