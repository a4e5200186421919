"""Learn the selector of AutoDiscoverer from synthetic tasks: ``newfound-lab pretrain selector TASKS...``.

The tasks are those that `selector_tasks` has examined. Which candidates are worth making, how much better each is than
k-means on the network's vectors, and how likely it has an ACC above 0.8 are learned from these tasks alone; no real
table has a say.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from safetensors.numpy import save
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from newfound.routing.forest import Forest
from newfound.selection import selector as shipped
from newfound.selection.candidates import CONSENSUS, PAIRS, VOTERS, Name
from newfound.selection.selector import REFERENCE, features_of
from newfound.writing import replacing

Floats = NDArray[np.float64]

PACKAGE = Path(shipped.__file__).parent
GOOD = 0.8  # ACC above which a result counts as right
_N_CANDIDATES = 16
# Of ACC and BACC. Many a candidate gains in one at the expense of the other. With half and half, choosing costs BACC on
# synthetic tasks that the selector has not seen (.003, and gains .010 ACC); with this it costs none.
_WEIGHTS = np.array([0.3, 0.7])
_TREES: dict[str, Any] = {
    "max_iter": 300,
    "learning_rate": 0.05,
    "max_leaf_nodes": 16,
    "min_samples_leaf": 100,
    "l2_regularization": 30.0,
    "random_state": 0,
}
_FEW_TREES = {"max_iter": 150, "max_leaf_nodes": 6, "min_samples_leaf": 200}  # a chance needs no more
_N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Examined:
    """What `selector_tasks` wrote.

    Attributes
    ----------
    names : list of (space, method)
        All candidates, c of them.
    signals : ndarray of shape (t, c, n_signals)
        NaN for candidates that a table does not allow.
    scores : ndarray of shape (t, c, 2)
        ACC and BACC.
    agreement : ndarray of shape (t, c, c)
    facts : ndarray of shape (t, n_facts)
    about : dict
        Seeds, versions, names of problems.
    """

    names: list[Name]
    signals: Floats
    scores: Floats
    agreement: NDArray[np.float32]
    facts: Floats
    about: dict[str, Any]

    @property
    def quality(self) -> Floats:
        """Mean of ACC and BACC; (t, c)."""
        quality: Floats = self.scores.mean(axis=2)
        return quality

    def only(self, places: Sequence[int]) -> Examined:
        """Return the same with some of the candidates."""
        some = list(places)
        names = [self.names[place] for place in some]
        agreement = self.agreement[:, some][:, :, some]
        return Examined(names, self.signals[:, some], self.scores[:, some], agreement, self.facts, self.about)


def load_examined(paths: Sequence[Path]) -> Examined:
    """Read files that `selector_tasks` wrote with the same weights."""
    parts = [dict(np.load(path)) for path in paths]
    first = parts[0]
    if len({str(part["weights"]) for part in parts}) > 1:
        raise ValueError("the tasks were examined with different weights.")
    joined = {name: np.concatenate([part[name] for part in parts]) for name in ("signals", "scores", "facts", "seed")}
    c = len(first["candidates"])
    triangle = np.concatenate([part["agreement"] for part in parts]).astype(np.float32) / 250
    agreement = np.zeros((len(triangle), c, c), dtype=np.float32)
    agreement[(slice(None), *np.triu_indices(c, 1))] = triangle
    agreement += agreement.transpose(0, 2, 1) + np.eye(c, dtype=np.float32)
    about = {"weights": str(first["weights"]), "prior": int(first["prior"]), "seed": int(first["first_seed"])}
    if "problem" in first:
        about["problems"] = np.concatenate([part["problem"] for part in parts])
    space_and_method = [str(name).split(" / ") for name in first["candidates"]]
    return Examined(
        [(space, method) for space, method in space_and_method],
        joined["signals"].astype(np.float64),
        joined["scores"].astype(np.float64),
        agreement,
        joined["facts"].astype(np.float64),
        about,
    )


def worthy(tasks: Examined, most: int = _N_CANDIDATES) -> list[int]:
    """Choose candidates by how much the best of them gains with each further one, those that vote first."""
    always = {*VOTERS, PAIRS, CONSENSUS}
    chosen = [place for place, name in enumerate(tasks.names) if name in always]
    quality = np.nan_to_num(tasks.quality)
    best = quality[:, chosen].max(axis=1)
    while len(chosen) < most:
        gains = np.maximum(quality - best[:, None], 0).mean(axis=0)
        gains[chosen] = -1
        chosen.append(int(gains.argmax()))
        best = np.maximum(best, quality[:, chosen[-1]])
    return sorted(chosen)


@dataclass(frozen=True, eq=False)
class Lessons:
    """Candidates of all tasks, one after the other.

    Attributes
    ----------
    features : ndarray of shape (m, n_features)
    lead : ndarray of shape (m,)
        Weighted mean of ACC and BACC, less that of the reference.
    acc : ndarray of shape (m,)
    task, candidate : ndarray of shape (m,)
    """

    features: Floats
    lead: Floats
    acc: Floats
    task: NDArray[np.intp]
    candidate: NDArray[np.intp]


def worth_of(tasks: Examined) -> Floats:
    """Return how much better each candidate is than the others of its task, on average; (c,)."""
    quality = tasks.quality
    worth: Floats = np.nanmean(quality - np.nanmean(quality, axis=1, keepdims=True), axis=0)
    return worth


def lessons_of(tasks: Examined, worth: Floats) -> Lessons:
    """Gather what there is to learn from."""
    parts = []
    for t in range(len(tasks.facts)):
        there = np.flatnonzero(~np.isnan(tasks.scores[t, :, 0]))
        agreement = tasks.agreement[t][np.ix_(there, there)].astype(np.float64)
        features = features_of(tasks.signals[t, there], tasks.facts[t], agreement, worth[there])
        lead = (tasks.scores[t, there] - tasks.scores[t, tasks.names.index(REFERENCE)]) @ _WEIGHTS
        parts.append((features, lead, tasks.scores[t, there, 0], np.full(len(there), t), there))
    return Lessons(*(np.concatenate(some) for some in zip(*parts, strict=True)))


def _fit_lead(lessons: Lessons, some: NDArray[np.bool_]) -> Any:
    return HistGradientBoostingRegressor(**_TREES).fit(lessons.features[some], lessons.lead[some])


def _fit_level(lessons: Lessons, some: NDArray[np.bool_]) -> Any:
    return HistGradientBoostingClassifier(**_TREES | _FEW_TREES).fit(lessons.features[some], lessons.acc[some] > GOOD)


def chosen_of(lessons: Lessons, leads: Floats) -> NDArray[np.intp]:
    """Places of the best candidate of each task, by expected leads (m,)."""
    order = np.lexsort((-leads, lessons.task))
    _, first = np.unique(lessons.task[order], return_index=True)
    best: NDArray[np.intp] = order[first]
    return best


def learn(tasks: Examined) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Learn a selector; its arrays and its card."""
    kept = worthy(tasks)
    small = tasks.only(kept)
    worth = worth_of(small)
    lessons = lessons_of(small, worth)
    reference = small.names.index(REFERENCE)
    leads, levels = np.zeros(len(lessons.lead)), np.zeros(len(lessons.lead))
    for train, test in GroupKFold(_N_FOLDS).split(lessons.features, groups=lessons.task):
        some = np.isin(np.arange(len(leads)), train)
        expected = _fit_lead(lessons, some).predict(lessons.features[test])
        leads[test] = np.where(lessons.candidate[test] == reference, 0.0, expected)
        levels[test] = _fit_level(lessons, some).decision_function(lessons.features[test])
    best = chosen_of(lessons, leads)
    calibration = LogisticRegression(C=1e6).fit(levels[best, None], lessons.acc[best] > GOOD)
    everything = np.ones(len(leads), dtype=bool)
    arrays = trees_of(_fit_lead(lessons, everything)).arrays("lead.")
    arrays |= trees_of(_fit_level(lessons, everything)).arrays("level.")
    plan: dict[str, list[str]] = {}
    for space, method in small.names:
        if (space, method) not in (PAIRS, CONSENSUS):
            plan.setdefault(space, []).append(method)
    card = {
        "name": "selector of AutoDiscoverer",
        "data": "synthetic tasks alone, drawn from the prior (newfound_lab.prior); no real table, no label of one",
        **tasks.about,
        "tasks": len(tasks.facts),
        "plan": plan,
        "worth": [[*name, round(float(value), 5)] for name, value in zip(small.names, worth, strict=True)],
        "slope": round(float(calibration.coef_[0, 0]), 5),
        "intercept": round(float(calibration.intercept_[0]), 5),
        "synthetic": {
            "what": "ACC and BACC over the tasks; chosen by selectors that had not seen them",
            "chosen": _means(small.scores[lessons.task[best], lessons.candidate[best]]),
            **{
                f"always {space}, {method}": _means(small.scores[:, small.names.index((space, method))])
                for space, method in (REFERENCE, ("whitened", "k-means"), ("columns", "k-means"))
            },
            "best of all, mean of both": round(float(np.nanmax(small.quality, axis=1).mean()), 4),
        },
    }
    return arrays, card


def _means(scores: Floats) -> list[float]:
    """Mean ACC and BACC of (t, 2)."""
    return [round(float(mean), 4) for mean in np.nanmean(scores, axis=0)]


def trees_of(model: Any) -> Forest:
    """Freeze boosted trees; the mean over trees of their leaves is what they predict, or its logit."""
    trees = [predictors[0].nodes for predictors in model._predictors]
    sizes = np.array([len(nodes) for nodes in trees])
    starts = np.concatenate([[0], sizes.cumsum()[:-1]]).astype(np.int32)
    nodes = np.concatenate(trees)
    is_leaf = nodes["is_leaf"].astype(bool)
    offset = np.repeat(starts, sizes)
    children = np.stack([nodes["left"] + offset, nodes["right"] + offset], 1).astype(np.int32)
    children[is_leaf, 0], children[is_leaf, 1] = np.arange(is_leaf.sum()), 0
    columns = np.where(is_leaf, -1, nodes["feature_idx"]).astype(np.int32)
    cuts = np.where(is_leaf, 0.0, nodes["num_threshold"])
    baseline = float(np.ravel(model._baseline_prediction)[0])
    leaves = nodes["value"][is_leaf] * len(trees) + baseline
    return Forest(starts, columns, cuts, children, np.ascontiguousarray(leaves[:, None]))


def ship(arrays: dict[str, NDArray[Any]], card: dict[str, Any], folder: Path = PACKAGE) -> dict[str, Any]:
    """Write a selector and its card."""
    content = save(arrays)
    card = {**card, "sha256": hashlib.sha256(content).hexdigest()}
    for name, data in (
        (shipped.ARRAYS, content),
        (shipped.CARD, (json.dumps(card, indent=1) + "\n").encode()),
    ):
        with replacing(folder / name) as fresh:
            Path(fresh).write_bytes(data)
    return card


def main(arguments: Sequence[str] | None = None) -> None:
    """Learn a selector, and ship it."""
    parser = argparse.ArgumentParser(prog="newfound-lab pretrain selector", description=__doc__.split("\n")[0])
    parser.add_argument("tasks", type=Path, nargs="+", help="what selector_tasks wrote")
    parser.add_argument("--folder", type=Path, default=PACKAGE)
    given = parser.parse_args(arguments)
    card = ship(*learn(load_examined(given.tasks)), given.folder)
    typer.echo(json.dumps({name: card[name] for name in ("tasks", "synthetic", "sha256")}, indent=1))


if __name__ == "__main__":
    main()
