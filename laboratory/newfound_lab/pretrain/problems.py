"""Development problems as stored arrays: tables, class splits, and what simple methods reach on them.

Reading them needs numpy alone; `development` makes the file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Problem:
    """A table of which some classes are novel.

    Attributes
    ----------
    name : str
        Table, split and mode, such as "car/0/pure".
    values : ndarray of shape (n, d), float32
        Numbers, or codes of levels; NaN where missing.
    categorical : ndarray of shape (d,), bool
    classes : ndarray of shape (n,), int64
        True classes, the known ones first.
    labelled : ndarray of shape (n,), bool
    scores : dict
        What other methods reach on the unlabelled rows.
    """

    name: str
    values: NDArray[np.float32]
    categorical: NDArray[np.bool_]
    classes: NDArray[np.int64]
    labelled: NDArray[np.bool_]
    scores: dict[str, Any] = field(default_factory=dict)

    @property
    def table(self) -> str:
        """Name of the table."""
        return self.name.split("/")[0]

    @property
    def mixed(self) -> bool:
        """Whether rows of known classes are among the unlabelled ones."""
        return self.name.endswith("mixed")

    @property
    def labels(self) -> NDArray[np.int64]:
        """Known class of each row, -1 where unlabelled."""
        return np.where(self.labelled, self.classes, -1)

    @property
    def novel(self) -> NDArray[np.bool_]:
        """Rows of classes without a labelled row."""
        return ~np.isin(self.classes, self.classes[self.labelled])

    @property
    def n_novel(self) -> int:
        """Novel classes among the unlabelled rows."""
        return len(np.unique(self.classes[self.novel]))


def save_problems(path: Path, problems: list[Problem]) -> None:
    """Write problems to an npz file."""
    arrays: dict[str, NDArray[Any]] = {}
    scores = {}
    for problem in problems:
        arrays[f"{problem.name}/values"] = problem.values.astype(np.float16 if _small(problem) else np.float32)
        arrays[f"{problem.name}/categorical"] = problem.categorical
        arrays[f"{problem.name}/classes"] = problem.classes.astype(np.int8)
        arrays[f"{problem.name}/labelled"] = problem.labelled
        scores[problem.name] = problem.scores
    arrays["scores"] = np.array(json.dumps(scores))
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def _small(problem: Problem) -> bool:
    """Whether half precision holds the values exactly."""
    with np.errstate(over="ignore"):
        return bool(
            np.array_equal(problem.values.astype(np.float16).astype(np.float32), problem.values, equal_nan=True)
        )


def load_problems(path: Path) -> list[Problem]:
    """Read what `save_problems` wrote."""
    with np.load(path) as stored:
        scores = json.loads(str(stored["scores"]))
        return [
            Problem(
                name,
                stored[f"{name}/values"].astype(np.float32),
                stored[f"{name}/categorical"],
                stored[f"{name}/classes"].astype(np.int64),
                stored[f"{name}/labelled"],
                found,
            )
            for name, found in scores.items()
        ]
