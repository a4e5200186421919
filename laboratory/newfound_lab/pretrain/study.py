"""A small study of what matters: families of the prior left out one by one, and networks of other sizes.

``python -m newfound_lab.pretrain.study train FOLDER --seconds 300`` trains a small network for each question, all of
them side by side on one GPU, which takes a core for each.
``python -m newfound_lab.pretrain.study judge FOLDER PROBLEMS OUT.jsonl`` judges them on development problems and on
synthetic tasks of every family.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.cluster import KMeans

from newfound.incontext import InContextNetwork, NetworkShape
from newfound.metrics import novel_scores
from newfound_lab.pretrain.checkpoint import load_network, save_weights
from newfound_lab.pretrain.problems import load_problems
from newfound_lab.pretrain.train import Settings, Trainer
from newfound_lab.pretrain.validate import judge, look, summarise
from newfound_lab.prior import sample_tasks
from newfound_lab.prior.source import Source
from newfound_lab.prior.tasks import FAMILIES

SMALL = NetworkShape(cell_width=64, row_heads=4, plan="crcrrr")
_SETTINGS = Settings(lr=3e-3, cells=65_000, warmup=100, average=0.99)
_COOLDOWN = 0.3  # of the time
_SEED = 78  # of synthetic tasks; no training has it
_TASKS, _ROWS, _COLUMNS = 12, 256, 16


@dataclass(frozen=True)
class Variant:
    """A network to train: ``shape`` and ``settings``; its name says what is special about it."""

    name: str
    shape: NetworkShape = SMALL
    settings: Settings = _SETTINGS


def variants() -> list[Variant]:
    """Return all that are compared; the first few differ by their seeds alone and show what chance does."""
    found = [Variant(f"all, seed {seed}", settings=replace(_SETTINGS, seed=seed)) for seed in range(3)]
    found += [Variant(f"without {name}", settings=replace(_SETTINGS, without=name)) for name in FAMILIES]
    found.append(Variant("half as wide", replace(SMALL, cell_width=32)))
    found.append(Variant("half as many blocks", replace(SMALL, plan="crr")))
    return found


def train(variant: Variant, folder: Path, seconds: float) -> None:
    """Train a variant for some seconds, the rate falling at the end, and write its weights."""
    os.nice(15)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_num_threads(1)
    torch.backends.cuda.enable_cudnn_sdp(False)  # see `train`
    torch.manual_seed(variant.settings.seed)
    trainer = Trainer(InContextNetwork(variant.shape).to(device), variant.settings)
    start = time.monotonic()
    while (left := start + seconds - time.monotonic()) > 0:
        trainer.factor = min(1.0, left / (_COOLDOWN * seconds))
        found = trainer.train_step()
        if trainer.step % 100 == 0:
            print(f"{variant.name}: step {trainer.step}, {found['all'].item():.3f}, {left:.0f} s left", flush=True)  # noqa: T201
    trainer.seconds = time.monotonic() - start
    path = folder / f"{variant.name.replace(' ', '_').replace(',', '')}.safetensors"
    save_weights(path, trainer.averaged(), variant.shape, trainer.facts() | {"variant": variant.name})


@torch.no_grad()
def accuracy_by_family(network: InContextNetwork) -> dict[str, float]:
    """ACC of k-means on the embedding of pure synthetic tasks of each family, the number of classes given."""
    found = {}
    for place, name in enumerate(FAMILIES):
        source = Source(_SEED * 1_000 + place)
        scores: list[float] = []
        while len(scores) < _TASKS:
            tasks = sample_tasks(source, 1, _ROWS, _COLUMNS, weights={name: 1.0}, parts=1)
            free, novel = tasks.context.labels[0] < 0, tasks.novel[0]
            k = len(tasks.classes[0][free].unique())
            if k < 2 or not novel[free].all():
                continue
            vectors = look(network, tasks.context, 1)[0].embedding[0][free].numpy()
            groups = KMeans(k, n_init=4, random_state=0).fit_predict(vectors)
            scores.append(novel_scores(tasks.classes[0][free].numpy(), groups)["acc"])
        found[name] = round(float(np.mean(scores)), 4)
    return found


def judged(path: Path, problems: Path) -> dict[str, Any]:
    """Judge the network of a file."""
    torch.set_num_threads(1)
    network, facts = load_network(path)
    network.eval()
    given = [problem for problem in load_problems(problems) if not problem.mixed]
    found = summarise(given, [judge(network, problem, 1) for problem in given])
    told = {name: facts[name] for name in ("variant", "step", "tables", "seconds")}
    scores = {name: round(found[name], 4) for name in ("acc", "bacc", "k_error")}
    size = sum(parameter.numel() for parameter in network.parameters())
    return told | {"parameters": size} | scores | {"families": accuracy_by_family(network)}


def main(given: Sequence[str] | None = None) -> None:
    """Train or judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "judge"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("problems", type=Path, nargs="?")
    parser.add_argument("out", type=Path, nargs="?", help="lines are added to this file")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--processes", type=int, default=2, help="that judge at a time")
    options = parser.parse_args(given)
    spawn = multiprocessing.get_context("spawn")
    if options.what == "train":
        workers = [spawn.Process(target=train, args=(v, options.folder, options.seconds)) for v in variants()]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return
    if options.out is None:
        parser.error("judge needs PROBLEMS and OUT.jsonl")
    paths = sorted(options.folder.glob("*.safetensors"))
    with spawn.Pool(options.processes) as pool, options.out.open("a") as out:
        for line in pool.starmap(judged, [(path, options.problems) for path in paths], chunksize=1):
            print(json.dumps(line), file=out, flush=True)


if __name__ == "__main__":
    main()
