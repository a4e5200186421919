"""Picture of how far confidence can be trusted: ``python -m newfound_lab.pretrain.reliability LINES.jsonl PICTURE``.

The lines are those that `compare` wrote about AutoDiscoverer.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound_lab.pictures.curves import Curve, CurvePanel, write_curves
from newfound_lab.pretrain.confidence import GOOD

EDGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
_NAMES = ("AutoDiscoverer", "as confident as right")


def reliability(confidence: NDArray[Any], right: NDArray[Any]) -> NDArray[np.float64]:
    """Compare confidence (n,) with what was right (n,), bool.

    Returns
    -------
    ndarray of shape (n_bins, 4)
        Mean confidence, share that was right, its standard error, and number of results of each bin that has any.
    """
    places = np.clip(np.searchsorted(EDGES, confidence, side="right") - 1, 0, len(EDGES) - 2)
    bins = []
    for place in np.unique(places):
        inside = places == place
        share, n = right[inside].mean(), inside.sum()
        error = np.sqrt((n * share + 1) / (n + 2) * (n * (1 - share) + 1) / (n + 2) / n)
        bins.append([confidence[inside].mean(), share, error, n])
    return np.array(bins, dtype=np.float64)


def main(given: Sequence[str] | None = None) -> None:
    """Draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", type=Path)
    parser.add_argument("picture", type=Path)
    options = parser.parse_args(given)
    lines = [json.loads(line) for line in options.lines.read_text().splitlines()]
    told = np.array([[line["confidence"], line["all_acc"] > GOOD] for line in lines if "confidence" in line])
    x, share, error, _ = reliability(told[:, 0], told[:, 1]).T
    even = np.array([0.0, 1.0])
    curves = [Curve(_NAMES[0], x, share, error), Curve(_NAMES[1], even, even, 0 * even)]
    panel = CurvePanel("ACC above .8", "confidence", "share of the results", curves, limits=(0.0, 1.0))
    write_curves([options.picture], [panel], _NAMES, title="How far confidence can be trusted", columns=1)


if __name__ == "__main__":
    main()
