"""What is measured: a trial is a line of the results to come."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

Regime = Literal["oracle", "label-free"]
Protocol = Literal["inductive", "transductive"]


@dataclass(frozen=True)
class Trial:
    """One measurement: a method with its settings and a seed, on a benchmark.

    Attributes
    ----------
    experiment : str
        Which of the experiments it belongs to, e.g. "main".
    dataset, method : str
        Names in :func:`newfound.datasets.names` and in `newfound.benchmark.methods.METHODS`.
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
    """

    experiment: str
    dataset: str
    method: str
    variant: str
    regime: Regime
    protocol: Protocol
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What identifies the trial: two trials with one key are the same work."""
        return _key(asdict(self))

    def line(self, measured: Mapping[str, Any]) -> dict[str, Any]:
        """Return the trial and what was measured, as one line of the results."""
        return asdict(self) | dict(measured)


def key_of(line: Mapping[str, Any]) -> str:
    """Key of the trial that a line of the results belongs to; KeyError where the line is not of a trial."""
    return _key({name: line[name] for name in _FIELDS})


_FIELDS = tuple(one.name for one in fields(Trial))


def _key(facts: Mapping[str, Any]) -> str:
    return json.dumps(facts, sort_keys=True)
