"""What is measured: a trial is a line of the results to come."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

Regime = Literal["oracle", "label-free"]
Protocol = Literal["inductive", "transductive"]
K = Literal["given", "estimated"]


@dataclass(frozen=True)
class Trial:
    """One measurement: a method with its settings and a seed, on a benchmark.

    Attributes
    ----------
    experiment : str
        Which of the experiments it belongs to, e.g. "main".
    dataset, method : str
        Names in :func:`newfound.datasets.names` and in `newfound_lab.suites.experiments.METHOD_NAMES`.
    variant : str
        What tells the trials of one experiment apart, e.g. "without_ssl" or "top_k"; may be empty.
    regime : {"oracle", "label-free"}
        Whether the settings were found with novel labels.
    protocol : {"inductive", "transductive"}
        Novel classes sought among the training rows, or among the novel test rows themselves, as the paper does with
        every method but TabularNCD.
    seed : int
        The discoverer's ``random_state``.
    settings : mapping
        Hyper-parameters that differ from the method's defaults, as JSON can hold them.
    class_split : int
        Which classes are known and which are novel: 0 for the benchmark's own, see
        :meth:`newfound.datasets.Dataset.resplit`.
    k : {"given", "estimated"}
        Whether the method is told the number of novel classes, or gets an estimate of it.
    """

    experiment: str
    dataset: str
    method: str
    variant: str
    regime: Regime
    protocol: Protocol
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    class_split: int = 0
    k: K = "given"

    @property
    def key(self) -> str:
        """What identifies the trial: two trials with one key are the same work."""
        return _key(asdict(self))

    @property
    def builds_on(self) -> Trial | None:
        """The trial whose result this one needs: the estimate of k that all methods share."""
        if self.k == "given":
            return None
        return Trial(
            "n_classes", self.dataset, "estimate", "", "label-free", "inductive", self.seed, {}, self.class_split
        )

    def line(self, measured: Mapping[str, Any]) -> dict[str, Any]:
        """Return the trial and what was measured, as one line of the results."""
        return asdict(self) | dict(measured)


def key_of(line: Mapping[str, Any]) -> str:
    """Key of the trial that a line of the results belongs to; KeyError where the line is not of a trial."""
    return _key(facts_of(line))


def facts_of(line: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of the trial that a line of the results belongs to; KeyError where the line is not of a trial."""
    return {
        entry.name: line.get(entry.name, _ADDED[entry.name]) if entry.name in _ADDED else line[entry.name]
        for entry in _FIELDS
    }


_FIELDS = fields(Trial)
# fields that came later; lines that were written before have their defaults
_ADDED = {"class_split": 0, "k": "given"}


def _key(facts: Mapping[str, Any]) -> str:
    """Write facts as JSON, without those of later fields that have their defaults, so that old keys stay."""
    shown = {name: value for name, value in facts.items() if name not in _ADDED or value != _ADDED[name]}
    return json.dumps(shown, sort_keys=True)
