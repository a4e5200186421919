"""Picture of a training: losses on the prior, and accuracy on development tables, over the steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from newfound_lab.pictures.curves import Curve, CurvePanel, write_curves

_LOSSES = {"pairs": "pairs", "known": "known classes", "novelty": "novelty"}
_SCORES = {
    "acc": "embedding",
    "WhitenedKMeans_acc": "WhitenedKMeans",
    "KMeansDiscoverer_acc": "k-means",
}
_SMOOTHED = 5  # lines of the log in a moving mean


def _read(path: Path) -> list[dict[str, Any]]:
    """Lines of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def _curve(name: str, lines: list[dict[str, Any]], key: str, smoothed: int) -> Curve:
    """Values of a key over the steps, as moving means with their deviation; lines without it are left out."""
    lines = [line for line in lines if key in line]
    width = min(smoothed, len(lines))
    windows = np.lib.stride_tricks.sliding_window_view(np.array([line[key] for line in lines]), width)
    steps = np.lib.stride_tricks.sliding_window_view(np.array([line["step"] for line in lines], dtype=float), width)
    return Curve(name, steps.mean(1) / 1000, windows.mean(1), windows.std(1))


def write_progress(log: Path, validation: Path, picture: Path) -> None:
    """Draw a training.

    Parameters
    ----------
    log, validation : Path
        What `train` and `validate` wrote.
    picture : Path
        PNG or SVG.
    """
    steps, judged = _read(log), _read(validation)
    losses = [_curve(name, steps, key, _SMOOTHED) for key, name in _LOSSES.items()]
    scores = [_curve(name, judged, key, 1) for key, name in _SCORES.items()]
    panels = [
        CurvePanel("Losses on synthetic tables", "thousand steps", "loss", losses),
        CurvePanel("Development tables, k given", "thousand steps", "ACC", scores),
    ]
    names = [*_LOSSES.values(), *_SCORES.values()]
    write_curves([picture], panels, names, title="Training of the in-context network")
