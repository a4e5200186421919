"""Judge weights on development problems and on synthetic tasks.

``python -m newfound_lab.pretrain.validate WEIGHTS PROBLEMS OUT`` appends a line to the file OUT; with
``--watch SECONDS`` it does so whenever the weights change, beside a training that is under way.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.cluster import KMeans
from sklearn.metrics import roc_auc_score
from torch import Tensor

from newfound.incontext import ALL_NOVEL, MIXED, Context, Draws, InContextNetwork, NetworkOutput, prepare
from newfound.metrics import novel_scores
from newfound_lab.pretrain.checkpoint import load_network
from newfound_lab.pretrain.losses import losses
from newfound_lab.pretrain.problems import Problem, load_problems
from newfound_lab.pretrain.train import Settings, draw_step

_SEED = 77  # of synthetic tasks; no training has it


def context_of(problem: Problem) -> Context:
    """Make a problem a batch of one table."""
    values = torch.from_numpy(problem.values)[None]
    return Context(
        values.nan_to_num(),
        torch.from_numpy(problem.categorical)[None],
        values.isnan(),
        torch.from_numpy(problem.labels)[None],
        torch.tensor([MIXED if problem.mixed else ALL_NOVEL]),
    )


def look(network: InContextNetwork, context: Context, views: int) -> list[NetworkOutput]:
    """Show a context of one table to a network, each time with other random vectors."""
    device = next(network.parameters()).device
    here = context.to(device)
    levels = torch.where(here.categorical, here.values.amax(1).long() + 1, 1)
    outputs = []
    for view in range(views):
        draws = Draws.draw(1, here.values.shape[2], torch.Generator(device).manual_seed(view), n_levels=levels)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            outputs.append(network(prepare(here, draws)))
    return outputs


def _mean(tensors: Sequence[Tensor]) -> np.ndarray[Any, Any]:
    """Mean over views of the first table, as an array."""
    return torch.stack([tensor[0].float() for tensor in tensors]).mean(0).cpu().numpy()


@torch.no_grad()
def judge(network: InContextNetwork, problem: Problem, views: int = 2) -> dict[str, float]:
    """Score a network on a problem.

    Returns
    -------
    dict of str to float
        Pure: "acc", "bacc" of k-means with the true number of classes on the embedding. Mixed: "auroc" of novelty,
        "known": accuracy on unlabelled rows of known classes, "routed": known or novel at a logit of 0. Both: "k",
        the median of the distribution of the number of novel classes, and "k_error".
    """
    outputs = look(network, context_of(problem), views)
    free = ~problem.labelled
    chances = torch.stack([output.n_novel[0].float().softmax(0) for output in outputs]).mean(0).cpu().numpy()
    k = int(np.searchsorted(chances.cumsum(), 0.5))
    found: dict[str, float] = {"k": k, "k_error": abs(k - problem.n_novel)}
    if problem.mixed:
        novelty, novel = _mean([output.novelty for output in outputs])[free], problem.novel[free]
        known = _mean([output.known.softmax(2) for output in outputs])[free].argmax(1)
        found["auroc"] = float(roc_auc_score(novel, novelty))
        found["known"] = float((known == problem.classes[free])[~novel].mean())
        found["routed"] = float(((novelty > 0) == novel).mean())
        return found
    vectors = np.concatenate([output.embedding[0].float().cpu().numpy()[free] for output in outputs], 1)
    groups = KMeans(problem.n_novel, n_init=10, random_state=0).fit_predict(vectors)
    scores = novel_scores(problem.classes[free], groups)
    return found | {"acc": scores["acc"], "bacc": scores["bacc"]}


@torch.no_grad()
def synthetic(network: InContextNetwork, steps: int = 24, cells: int = 60_000) -> dict[str, float]:
    """Losses on synthetic tasks that are the same for every network."""
    device = next(network.parameters()).device
    sums: dict[str, float] = {}
    for step in range(steps):
        tasks, draws = draw_step(_SEED, step, Settings(cells=cells), device)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            output = network(prepare(tasks.context, draws))
        for name, loss in losses(output, tasks).items():
            sums[name] = sums.get(name, 0.0) + loss.item() / steps
    return sums


def summarise(problems: Sequence[Problem], found: Sequence[dict[str, float]]) -> dict[str, float]:
    """Means over tables of the means over their problems, beside what other methods reach on the same problems."""
    tables: dict[str, dict[str, list[float]]] = {}
    for problem, scores in zip(problems, found, strict=True):
        others = {f"{name}_{kind}": s for name, reached in problem.scores.items() for kind, s in reached.items()}
        for name, score in (scores | others).items():
            kind = f"mixed_{name}" if problem.mixed and name.startswith("k_") else name
            tables.setdefault(kind, {}).setdefault(problem.table, []).append(score)
    return {
        name: float(np.mean([np.mean(scores) for scores in by_table.values()]))
        for name, by_table in tables.items()
        if name != "k"
    }


def validate(
    weights: Path, problems: list[Problem], views: int, device: str
) -> tuple[dict[str, Any], list[dict[str, float]]]:
    """Judge a file of weights: a summary, and the scores of each problem."""
    network, facts = load_network(weights)
    network = network.to(device).eval()
    found = [judge(network, problem, views) for problem in problems]
    line = {"step": facts["step"], "seconds": facts["seconds"]} | summarise(problems, found)
    line |= {f"synthetic_{name}": loss for name, loss in synthetic(network).items()}
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in line.items()}, found


def main(given: Sequence[str] | None = None) -> None:
    """Judge weights, once or whenever they change."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("problems", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--views", type=int, default=2)
    parser.add_argument("--watch", type=float, default=0, help="go on for so many seconds")
    parser.add_argument("--pause", type=float, default=120, help="seconds to leave the device to the training")
    arguments = parser.parse_args(given)
    torch.backends.cuda.enable_cudnn_sdp(False)  # see `train`
    problems = load_problems(arguments.problems)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    start, last = time.monotonic(), None
    while True:
        seen = arguments.weights.stat().st_mtime_ns if arguments.weights.exists() else None
        if seen != last:
            line, found = validate(arguments.weights, problems, arguments.views, device)
            with arguments.out.open("a") as out:
                out.write(json.dumps(line) + "\n")
            each = {problem.name: scores | problem.scores for problem, scores in zip(problems, found, strict=True)}
            arguments.out.with_suffix(".problems.json").write_text(json.dumps(each, indent=0))
            last = seen
        if time.monotonic() - start >= arguments.watch:
            return
        time.sleep(arguments.pause if seen else 2)


if __name__ == "__main__":
    main()
