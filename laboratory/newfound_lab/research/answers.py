"""Twenty answers: labels of suggested rows against labels of rows drawn at random."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import newfound as nf
from newfound.metrics import open_world_accuracy
from newfound.records import Records
from newfound.suggestions.labels import spread_rows, unsureness, usefulness
from newfound_lab.pretrain.problems import Problem, load_problems

__all__ = ["RULES", "measure_answers", "summarise"]

Rows = NDArray[np.intp]


def _random(latent: Any, proba: Any, n: int, rng: np.random.RandomState) -> Rows:
    return rng.choice(len(proba), n, replace=False)


def _unsure(latent: Any, proba: Any, n: int, rng: np.random.RandomState) -> Rows:
    return np.argsort(-unsureness(proba), kind="stable")[:n]


def _middle(latent: Any, proba: Any, n: int, rng: np.random.RandomState) -> Rows:
    return spread_rows(latent, np.ones(len(latent)), n, rng)[0]


RULES = {"random": _random, "unsure": _unsure, "middle": _middle}
"""Rules to compare with that of `suggest_labels`: any rows, those between two classes, and the middles of regions."""


def measure_answers(
    problems: Path, n: int = 20, seeds: int = 1, rows: int = 1_000, tables: int | None = None, first: int = 0
) -> Iterator[dict[str, Any]]:
    """Yield, for each problem and seed, the accuracy without answers and with those of each rule.

    The seed is the class split too; the first is ``first``, so that splits on which a rule was chosen can be left out.
    Accuracy is over the unlabelled rows that no rule asked about: known classes by name, novel ones after a matching.
    """
    every = [
        problem
        for problem in load_problems(problems)
        if problem.labelled.sum() >= 50 and (~problem.labelled).sum() >= 100
    ]
    names = list(dict.fromkeys(problem.table for problem in every))[:tables]
    for name in names:
        for mixed in (False, True):
            wanted = {f"{name}/{seed}/{'mixed' if mixed else 'pure'}": seed for seed in range(first, first + seeds)}
            for problem in every:
                if problem.name in wanted:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        yield _measured(problem, n, rows, wanted[problem.name])


def _measured(problem: Problem, n: int, rows: int, seed: int) -> dict[str, Any]:
    rng = np.random.RandomState(seed)
    some = np.sort(rng.permutation(len(problem.classes))[:rows])
    table = pd.DataFrame(
        {
            f"x{j}": pd.Series(column).map(lambda cell: None if np.isnan(cell) else f"v{cell:g}") if is_text else column
            for j, (column, is_text) in enumerate(zip(problem.values[some].T, problem.categorical, strict=True))
        }
    )
    truth = np.array([f"c{code}" for code in problem.classes[some]], dtype=object)
    labelled = problem.labelled[some]
    labels = [
        name if is_labelled else None for name, is_labelled in zip(truth.tolist(), labelled.tolist(), strict=True)
    ]
    n_novel = len(np.unique(truth[~np.isin(truth, truth[labelled])]))
    model = nf.WhitenedKMeans(max(1, n_novel), unlabelled="mixed" if problem.mixed else "novel", random_state=seed)
    model.fit(table, labels)
    batch, told = table[~labelled].reset_index(drop=True), truth[~labelled]
    proba, latent = model.predict_proba(batch), model.transform(batch)
    asked = {
        rule: choose(latent, proba, min(n, len(batch) // 2), np.random.RandomState(seed))
        for rule, choose in RULES.items()
    }
    weights = usefulness(proba, len(model.known_classes_))
    asked["suggested"] = spread_rows(latent, weights, min(n, len(batch) // 2), np.random.RandomState(seed))[0]
    judged = np.setdiff1d(np.arange(len(batch)), np.concatenate(list(asked.values())))
    known = np.unique(truth[labelled])

    def accuracy(predicted: Any) -> float:
        shown = np.array([str(name) for name in predicted[judged]])
        return float(open_world_accuracy(told[judged].astype(str), shown, known.astype(str)))

    line: dict[str, Any] = {"problem": problem.name, "seed": seed, "before": accuracy(model.predict(batch))}
    for rule, chosen in asked.items():
        y = np.full(len(batch), None, dtype=object)
        y[chosen] = told[chosen]
        after = copy.deepcopy(model)
        after.update(batch, y)
        line[rule] = accuracy(after.predict(batch))
    return line


def summarise(lines: list[dict[str, Any]], draws: int = 2_000) -> Records:
    """Mean of each rule, and its lead over random rows with an interval of nine in ten that draws whole tables."""
    frame = pd.DataFrame(lines)
    frame["table"] = [name.split("/")[0] for name in frame["problem"]]
    rng = np.random.default_rng(0)
    records = Records()
    for rule in ["before", *RULES, "suggested"]:
        leads = (frame[rule] - frame["random"]).groupby(frame["table"]).mean().to_numpy()
        drawn = rng.choice(leads, (draws, len(leads))).mean(axis=1)
        low, high = np.quantile(drawn, [0.05, 0.95])
        records.append(
            {
                "rule": rule,
                "accuracy": float(frame[rule].mean()),
                "lead": float(leads.mean()),
                "low": float(low),
                "high": float(high),
                "tables": len(leads),
            }
        )
    return records
