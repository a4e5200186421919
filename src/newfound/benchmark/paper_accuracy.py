"""Compare TabularNCD with the paper's figures: ``python -m newfound.benchmark.paper_accuracy --datasets pendigits``.

The paper's hyper-parameters, inductive: fitted on the training rows, scored on the test rows of the novel classes. The
seeds are the members of one packed fit, each of which is exactly what it would be alone.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from typing import Any

import numpy as np

from newfound import datasets
from newfound.benchmark import paper
from newfound.discoverers import TabularNCD
from newfound.errors import NewfoundError, TrainingInterrupted
from newfound.metrics import novel_scores

METRICS = ("acc", "bacc", "nmi", "ari")


def measure(dataset_name: str, settings: dict[str, Any], n_seeds: int, device: str) -> dict[str, Any]:
    """Fit all seeds at once on a benchmark, and score each on the novel test rows.

    Returns
    -------
    dict
        ``dataset``, ``settings``, ``seconds`` of the fit, the ``device``, and a list of scores for each metric; ACC and
        BACC in percent, as in the paper.
    """
    data = datasets.load(dataset_name)
    model = TabularNCD(
        len(data.novel_classes), n_members=n_seeds, encoder=data.encoder(), device=device, random_state=0, **settings
    )
    start = time.perf_counter()
    with warnings.catch_warnings():
        # A seed that leaves a class empty is a result here, and shows in its scores.
        warnings.filterwarnings("ignore", message=".*have no rows")
        warnings.simplefilter("error", TrainingInterrupted)  # half a training is no result
        model.fit(data.X_train, data.y_train)
    seconds = time.perf_counter() - start
    novel = data.test_novel
    X_novel, truth = data.X_test[novel], data.y_test[novel]
    scores = [novel_scores(truth, model.member(m).predict_novel(X_novel)) for m in range(n_seeds)]
    percent = {"acc": 100.0, "bacc": 100.0}
    return {
        "dataset": dataset_name,
        "settings": settings,
        "seconds": seconds,
        "device": device,
        **{metric: [score[metric] * percent.get(metric, 1.0) for score in scores] for metric in METRICS},
    }


def show(result: dict[str, Any], label: str) -> str:
    """Format one line of the table: ours beside the paper's."""
    cells = []
    for metric in METRICS:
        digits = 1 if metric in ("acc", "bacc") else 2
        ours, (mean, sd) = result[metric], paper.TABULAR_NCD[result["dataset"]][metric]
        cells.append(f"{np.mean(ours):6.{digits}f} ± {np.std(ours):4.{digits}f} ({mean:.{digits}f} ± {sd:.{digits}f})")
    return f"{label:19}  " + "  ".join(f"{cell:24}" for cell in cells) + f"  {result['seconds']:7.1f} s"


def main(arguments: list[str] | None = None) -> None:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="pendigits,satimage,letter,forest", help="names, separated by commas")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", help="file to which each result is added as a line of JSON")
    options = parser.parse_args(arguments)
    names = options.datasets.split(",")
    unknown = [name for name in names if name not in paper.SETTINGS]
    if unknown:
        parser.error(f"--datasets has {', '.join(unknown)}, but the paper has only {', '.join(paper.SETTINGS)}")
    print(f"Mean ± sd over {options.seeds} seeds, novel test rows; in parentheses the paper's.")
    print("Hyper-parameters are those of the paper's appendix; 'published' has those of its published code.\n")
    print(f"{'':19}  " + "  ".join(f"{metric.upper():>24}" for metric in METRICS))
    try:
        for name in names:
            compare(name, options.seeds, options.device, options.out)
    except NewfoundError as error:
        parser.error(str(error))


def compare(name: str, n_seeds: int, device: str, out: str | None) -> None:
    """Measure one benchmark with each of its settings, and print and keep the results."""
    runs = {name: paper.SETTINGS[name]}
    if name in paper.PUBLISHED_SETTINGS:
        runs[f"{name}, published"] = paper.PUBLISHED_SETTINGS[name]
    for label, settings in runs.items():
        result = measure(name, settings, n_seeds, device)
        print(show(result, label), flush=True)
        if out:
            with open(out, "a") as file:
                file.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
