"""What people made of the classes that a discoverer found: merged, split, and how to apply that to probabilities."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.clustering.centroids import centroid_proba
from newfound.errors import ModelFileError
from newfound.tables.cells import shown
from newfound.tables.state import Entries, finite_floats

Arrays = dict[str, NDArray[Any]]
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Merge:
    """Several classes become one, in the place of the first.

    Attributes
    ----------
    classes : tuple of int
        Their places among all classes, ascending. Only the first may be a known class.
    """

    classes: tuple[int, ...]

    @property
    def n_more(self) -> int:
        """How many more classes there are afterwards."""
        return 1 - len(self.classes)

    def proba(self, before: Floats, latent: Floats | None) -> Floats:
        """Probabilities afterwards: those of the merged classes are added."""
        after = np.delete(before, self.classes[1:], axis=1)
        after[:, self.classes[0]] = before[:, self.classes].sum(axis=1)
        return after

    def codes(self, before: Codes, parts: Codes | None) -> Codes:
        """Places of the same rows' classes afterwards."""
        first, others = self.classes[0], self.classes[1:]
        codes: Codes = np.where(np.isin(before, others), first, before - np.searchsorted(others, before))
        return codes

    def facts(self, before: Floats, sizes: NDArray[np.int64]) -> Floats:
        """Return a number for each class afterwards: the mean of the merged ones, weighed by their rows."""
        after, merged = np.delete(before, self.classes[1:]), list(self.classes)
        weights = sizes[merged] if sizes[merged].any() else None
        after[merged[0]] = np.average(before[merged], weights=weights)
        return after


@dataclass(frozen=True, eq=False)
class Split:
    """One class becomes several, in its place: each takes the rows that are near its centroid.

    Attributes
    ----------
    class_ : int
        Its place among all classes.
    centroids : ndarray of shape (n_parts, n_latent)
        In the discoverer's latent space.
    variance : float
        Of the rows around their centroids.
    """

    class_: int
    centroids: Floats = field(repr=False)
    variance: float = field(repr=False)

    @property
    def n_more(self) -> int:
        """How many more classes there are afterwards."""
        return len(self.centroids) - 1

    def shares(self, latent: Floats) -> Floats:
        """Probability of each part for rows that are of the class; (n, n_latent) to (n, n_parts)."""
        return centroid_proba(latent, self.centroids, self.variance)

    def proba(self, before: Floats, latent: Floats | None) -> Floats:
        """Probabilities afterwards: that of the class is divided among its parts."""
        assert latent is not None
        parts = before[:, [self.class_]] * self.shares(latent)
        return np.hstack([before[:, : self.class_], parts, before[:, self.class_ + 1 :]])

    def codes(self, before: Codes, parts: Codes | None) -> Codes:
        """Places of the same rows' classes afterwards; `parts` (n,) says which part each row would belong to."""
        assert parts is not None
        moved = np.where(before > self.class_, before + self.n_more, before)
        codes: Codes = np.where(before == self.class_, self.class_ + parts, moved)
        return codes

    def facts(self, before: Floats, sizes: NDArray[np.int64]) -> Floats:
        """Return a number for each class afterwards: each part has that of the class."""
        times = np.ones(len(before), dtype=np.int64)
        times[self.class_] = len(self.centroids)
        return np.repeat(before, times)


Step = Merge | Split


@dataclass(frozen=True)
class Curation:
    """From the classes that a discoverer found to those that people made of them.

    Classes are places: the known classes first, then the novel ones. The steps are kept in the order in which they
    were taken, each speaking of the classes that the one before has left.

    Attributes
    ----------
    n_known : int
        Number of known classes, which no step changes.
    n_found : int
        Number of novel classes that the discoverer found.
    steps : tuple of Merge and Split

    Examples
    --------
    >>> curation = Curation(n_known=1, n_found=3).then(Merge((1, 3)))
    >>> curation.n_novel
    2
    >>> curation.proba(np.array([[0.25, 0.5, 0.125, 0.125]]), None)
    array([[0.25 , 0.625, 0.125]])
    """

    n_known: int
    n_found: int
    steps: tuple[Step, ...] = ()

    @property
    def n_novel(self) -> int:
        """Number of novel classes after all steps."""
        return self.n_found + sum(step.n_more for step in self.steps)

    @property
    def splits(self) -> tuple[Split, ...]:
        """The steps that need latent rows."""
        return tuple(step for step in self.steps if isinstance(step, Split))

    def then(self, step: Step) -> Curation:
        """Return this curation and one more step."""
        return replace(self, steps=(*self.steps, step))

    def within(self, dimensions: slice) -> Curation:
        """Return the same curation for a discoverer that has only some of the latent dimensions."""
        steps = (
            replace(step, centroids=step.centroids[:, dimensions].copy()) if isinstance(step, Split) else step
            for step in self.steps
        )
        return replace(self, steps=tuple(steps))

    def proba(self, found: Floats, latent: Floats | None) -> Floats:
        """Probabilities of the classes after all steps.

        Parameters
        ----------
        found : ndarray of shape (n, n_known + n_found)
        latent : ndarray of shape (n, n_latent) or None
            The same rows in the latent space; needed where there are `splits`.

        Returns
        -------
        ndarray of shape (n, n_known + n_novel)
            Rows sum to what they did. Without steps it is `found` itself.
        """
        for step in self.steps:
            found = step.proba(found, latent)
        return found

    # ---- the model file

    def to_state(self) -> tuple[dict[str, Any], Arrays]:
        """Return what JSON can hold, and arrays."""
        steps: list[dict[str, Any]] = []
        arrays: Arrays = {}
        for i, step in enumerate(self.steps):
            if isinstance(step, Merge):
                steps.append({"merge": list(step.classes)})
            else:
                steps.append({"split": step.class_})
                arrays |= {f"{i}.centroids": step.centroids, f"{i}.variance": np.array([step.variance])}
        return {"n_found": self.n_found, "steps": steps}, arrays

    @classmethod
    def from_state(cls, content: Any, arrays: Mapping[str, NDArray[Any]], n_known: int) -> Curation:
        """Read `to_state`; ModelFileError where a step speaks of classes that are not there."""
        entries = Entries(content, "the curation")
        n_found, contents = entries.get("n_found", int), entries.get("steps", list)
        if set(content) != {"n_found", "steps"} or n_found < 0:
            raise ModelFileError("the curation must hold the number of classes found and the steps, and nothing else.")
        steps: list[Step] = []
        n_classes = n_known + n_found
        for i, step in enumerate(contents):
            steps.append(_read_step(step, arrays, i, n_known, n_classes))
            n_classes += steps[-1].n_more
        return cls(n_known, n_found, tuple(steps))


def _read_step(content: Any, arrays: Mapping[str, NDArray[Any]], i: int, n_known: int, n_classes: int) -> Step:
    kind: Any
    what: Any
    kind, what = next(iter(content.items())) if isinstance(content, dict) and len(content) == 1 else (None, None)
    novel = range(n_known, n_classes)
    if kind == "merge" and _can_merge(what, novel):
        return Merge(tuple(what))
    if kind == "split" and type(what) is int and what in novel:
        centroids = finite_floats(arrays, f"{i}.centroids", (-1, -1))
        variance = finite_floats(arrays, f"{i}.variance", (1,), positive=True)
        if len(centroids) > 1:
            return Split(what, centroids, float(variance[0]))
    raise ModelFileError(f"step {i} of the curation is not understood: {shown(content)}.")


def _can_merge(places: Any, novel: range) -> bool:
    """Whether these are places of several classes, ascending, of which only the first may be a known one."""
    if not isinstance(places, list) or len(places) < 2 or any(type(place) is not int for place in places):
        return False
    ascending = all(place < other for place, other in itertools.pairwise(places))
    return ascending and places[0] >= 0 and places[1] in novel and places[-1] in novel
