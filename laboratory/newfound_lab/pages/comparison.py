"""Lines of a comparison of methods -> what its tables and figures show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from newfound_lab.pages.captions import Line, Lines, datasets_of, machine_of, sorted_lines
from newfound_lab.pages.significance import Lead, interval_over_tables, lead
from newfound_lab.pages.summary import score_of
from newfound_lab.paper.published import Score
from newfound_lab.suites.experiments import LABEL_FREE_METHODS, N_CLASS_SPLITS, N_LABEL_FREE_SEEDS

REFERENCE = "kmeans"
"""The method that all others are compared with."""

COMBINED = "combined"
"""The estimate of k that is made of all criteria."""

Pair = tuple[str, int]
"""A dataset and the number of a class split."""


class Rank(NamedTuple):
    """An average rank, and its interval over datasets; None for a single dataset."""

    mean: float
    interval: tuple[float, float] | None


class Comparison:
    """The methods of a comparison, with k given or with k estimated.

    Parameters
    ----------
    lines : sequence of mapping
        Lines of the results; those of other experiments are left out.
    k : {"given", "estimated"}
    class_split : int, optional
        Only this one; None for all of them.
    experiment : {"label_free", "open_world"}

    Attributes
    ----------
    lines : list of mapping
        Those that are compared.
    methods, datasets : list of str
        Those that have lines, in the order in which they are shown.
    """

    def __init__(self, lines: Lines, k: str, class_split: int | None = None, experiment: str = "label_free") -> None:
        self.lines = sorted_lines(
            line
            for line in lines
            if (line["experiment"], line.get("k")) == (experiment, k) and class_split in (None, line["class_split"])
        )
        self.datasets = datasets_of(self.lines)
        self._runs: dict[tuple[str, str], dict[tuple[int, int], Line]] = {}
        for line in self.lines:
            cell = self._runs.setdefault((line["dataset"], line["method"]), {})
            cell[line["class_split"], line["seed"]] = line
        self.methods = [name for name in LABEL_FREE_METHODS if any(name == method for _, method in self._runs)]
        self._ranks: dict[str, dict[str, NDArray[np.float64]]] = {}
        self._n_planned = N_LABEL_FREE_SEEDS * (N_CLASS_SPLITS if class_split is None else 1)

    def runs(self, dataset: str, method: str) -> list[Line]:
        """Lines of a method on a dataset, by class split and seed."""
        runs = self._runs.get((dataset, method), {})
        return [runs[key] for key in sorted(runs)]

    def values(self, dataset: str, method: str, metric: str) -> list[float]:
        """Values of a metric, by class split and seed; lines without it are left out."""
        return [run[metric] for run in self.runs(dataset, method) if run.get(metric) is not None]

    def score(self, dataset: str, method: str, metric: str) -> Score | None:
        """Mean and standard deviation over class splits and seeds; None where no line has the metric."""
        values = self.values(dataset, method, metric)
        return score_of(values, metric) if values else None

    def best(self, dataset: str, metric: str, choose: Callable[..., Score] = max) -> Score | None:
        """Highest mean of all methods, or the lowest where ``choose`` is min; None where no line has the metric."""
        scores = [score for method in self.methods if (score := self.score(dataset, method, metric))]
        return choose(scores, key=lambda score: score.mean) if scores else None

    def is_whole(self, dataset: str, method: str) -> bool:
        """Whether every class split and seed that is planned has a line."""
        return len(self.runs(dataset, method)) >= self._n_planned

    def is_reduced(self, dataset: str) -> bool:
        """Whether the table lacks columns that the paper had."""
        return any(line["reduced"] for line in self.lines if line["dataset"] == dataset)

    def worst(self, dataset: str, method: str, metric: str = "acc") -> float | None:
        """Lowest ACC, or other metric, of any class split and seed, in percent."""
        values = self.values(dataset, method, metric)
        return 100.0 * min(values) if values else None

    def gain(self, dataset: str, method: str) -> float | None:
        """How far the mean ACC on a dataset lies above that of k-means, in points, where both have the same runs."""
        ours, theirs = (self._runs.get((dataset, name), {}) for name in (method, REFERENCE))
        shared = ours.keys() & theirs.keys()
        return 100.0 * float(np.mean([ours[run]["acc"] - theirs[run]["acc"] for run in shared])) if shared else None

    @cached_property
    def shared_datasets(self) -> list[str]:
        """Datasets on which all methods have lines."""
        return [name for name in self.datasets if all((name, method) in self._runs for method in self.methods)]

    def mean(self, method: str, metric: str) -> Score | None:
        """Mean over the datasets that all methods share, each dataset counting once."""
        means = [score.mean for name in self.shared_datasets if (score := self.score(name, method, metric))]
        return Score(float(np.mean(means))) if means else None

    @cached_property
    def pairs(self) -> list[Pair]:
        """Datasets and class splits of which all methods have lines."""
        splits = sorted({line["class_split"] for line in self.lines})
        pairs = [(dataset, class_split) for dataset in self.datasets for class_split in splits]
        return [pair for pair in pairs if all(self._of_pair(pair, method, "acc") for method in self.methods)]

    def lead(self, method: str, other: str, metric: str) -> Lead | None:
        """How far a method lies above another over the datasets that all methods share, in the units of tables.

        A dataset counts once, by its mean over class splits and seeds.
        """
        ours, theirs = (
            [score.mean for name in self.shared_datasets if (score := self.score(name, compared, metric))]
            for compared in (method, other)
        )
        return lead(ours, theirs) if len(ours) == len(theirs) else None

    def ranks(self, metric: str = "acc") -> dict[str, NDArray[np.float64]]:
        """Rank of each method on each of ``pairs``, 1 for the best; equal ones share the mean of their ranks."""
        if metric not in self._ranks and self.pairs:
            means = np.array(
                [[np.mean(self._of_pair(pair, method, metric)) for method in self.methods] for pair in self.pairs]
            )
            # rounded, so that what differs by the rounding of sums alone is equal
            ranks = rankdata(-means.round(9), axis=1)
            self._ranks[metric] = {method: ranks[:, i] for i, method in enumerate(self.methods)}
        return self._ranks.get(metric, {})

    def rank(self, method: str, metric: str = "acc") -> Rank | None:
        """Average rank of a method, each dataset counting once by the mean over its class splits."""
        ranks = self.ranks(metric).get(method)
        if ranks is None:
            return None
        datasets = np.array([dataset for dataset, _ in self.pairs])
        means = [float(ranks[datasets == name].mean()) for name in dict.fromkeys(datasets)]
        return Rank(float(np.mean(means)), interval_over_tables(means) if len(means) > 1 else None)

    def seconds(self, method: str, dataset: str | None = None, machine: str | None = None) -> float | None:
        """Median seconds of fitting and predicting for one seed, over datasets and machines where none is named."""
        seconds = [
            line["fit_seconds"] / line["n_packed"] + line["predict_seconds"]
            for name in (self.datasets if dataset is None else [dataset])
            for line in self.runs(name, method)
            if machine in (None, machine_of(line))
        ]
        return float(np.median(seconds)) if seconds else None

    def _of_pair(self, pair: Pair, method: str, metric: str) -> list[float]:
        dataset, class_split = pair
        return [run[metric] for run in self.runs(dataset, method) if run["class_split"] == class_split]


class Estimates:
    """Estimates of the number of novel classes, combined and by each criterion.

    Parameters
    ----------
    lines : sequence of mapping
        Lines of the results; those of other experiments are left out.

    Attributes
    ----------
    lines : list of mapping
        Those with an estimate.
    names : list of str
        ``COMBINED``, then the criteria in the order of their first mention.
    """

    def __init__(self, lines: Lines) -> None:
        self.lines = sorted_lines(line for line in lines if line["experiment"] == "n_classes")
        criteria = dict.fromkeys(criterion["criterion"] for line in self.lines for criterion in line["criteria"])
        self.names = [COMBINED, *criteria] if self.lines else []

    def of(self, name: str, datasets: Iterable[str] | None = None) -> dict[Pair, NDArray[np.float64]]:
        """Estimates minus the truth for each dataset and class split; shape (n_seeds,) each."""
        errors: dict[Pair, list[float]] = {}
        for line in self.lines:
            found = _estimate(line, name)
            if found is not None and (datasets is None or line["dataset"] in datasets):
                errors.setdefault((line["dataset"], line["class_split"]), []).append(found - line["n_novel"])
        return {pair: np.array(values, dtype=float) for pair, values in errors.items()}

    def share_of_pairs(self, name: str, within: int, datasets: Iterable[str] | None = None) -> float | None:
        """Share of the datasets and class splits whose median estimate is so near to the truth."""
        errors = self.of(name, datasets).values()
        return float(np.mean([abs(np.median(of_table)) <= within for of_table in errors])) if errors else None

    def weight(self, name: str) -> float | None:
        """Mean weight of a criterion in the combined estimate; None for that itself."""
        weights = [
            criterion["weight"]
            for line in self.lines
            for criterion in line["criteria"]
            if criterion["criterion"] == name
        ]
        return float(np.mean(weights)) if weights else None


def _estimate(line: Mapping[str, Any], name: str) -> int | None:
    if name == COMBINED:
        return int(line["n_classes"])
    return next((int(criterion["n_classes"]) for criterion in line["criteria"] if criterion["criterion"] == name), None)
