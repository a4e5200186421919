"""Train the in-context network on the prior, piece by piece.

``python -m newfound_lab.pretrain.train OUT --seconds 540`` trains and leaves in the folder OUT

- ``state.safetensors``: everything, to go on as if there had been no pause (``--resume OUT/state.safetensors``);
- ``weights.safetensors`` and ``average.safetensors``: the weights and their running mean in half precision, from either
  of which a later training can go on with its optimisers warmed up anew (``--resume OUT/average.safetensors``);
- ``log.jsonl``: a line every hundred steps;
- ``before_cooldown/``: weights and running mean before the rate fell, where ``--cooldown`` is given.

The rate rises, stays, and falls only where ``--cooldown`` is given: what was not cooled down can be trained further.
A step's tables depend on the seed and the step's number alone.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from newfound.incontext import Draws, InContextNetwork, NetworkShape, prepare
from newfound.incontext.features import Prepared, cell_columns
from newfound.incontext.layers import Norm
from newfound_lab.pretrain.ahead import Ahead
from newfound_lab.pretrain.checkpoint import (
    load_tensors,
    optimiser_tensors,
    restore_optimisers,
    save_tensors,
    save_weights,
)
from newfound_lab.pretrain.losses import PairLosses, losses, pair_losses
from newfound_lab.pretrain.optimiser import make_optimisers
from newfound_lab.prior import PRIOR_VERSION, Tasks, sample_tasks
from newfound_lab.prior.source import Source
from newfound_lab.prior.tasks import FAMILIES

ROWS = {64: 0.05, 128: 0.11, 256: 0.22, 512: 0.32, 1024: 0.24, 2048: 0.06}
COLUMNS = {3: 0.04, 5: 0.1, 8: 0.15, 12: 0.15, 18: 0.15, 28: 0.13, 40: 0.09, 56: 0.07, 100: 0.07, 200: 0.05}
_LOG_EVERY = 100


@dataclass(frozen=True)
class Settings:
    """How to train.

    Parameters
    ----------
    lr, weight_decay : float
        The rate is that of the matrices inside the blocks; the rest has half of it.
    warmup : int
        Steps in which the rate rises, after every start without the optimisers' state.
    cells : int
        Tokens of cells in a step.
    most_rows : int
        Rows of all tables of a step; attention on a GPU takes at most 65,535 sequences.
    average : float
        How much of the running mean of the weights a step leaves.
    without : str
        A family of the prior that is left out.
    seed : int
    """

    lr: float = 2e-3
    weight_decay: float = 0.02
    warmup: int = 300
    cells: int = 520_000
    most_rows: int = 60_000
    average: float = 0.999
    without: str = ""
    seed: int = 0


def draw_size(source: Source, settings: Settings) -> tuple[int, int, int]:
    """Draw tables, rows and columns of a step."""
    rows = source.host.choices(list(ROWS), list(ROWS.values()))[0]
    columns = source.host.choices(list(COLUMNS), list(COLUMNS.values()))[0]
    batch = min(settings.cells // (rows * (cell_columns(columns) + 2)), settings.most_rows // rows)
    return max(2, batch), rows, columns


def draw_step(seed: int, step: int, settings: Settings, device: torch.device) -> tuple[Tasks, Draws]:
    """Draw the tasks of a step and their random vectors."""
    source = Source(seed * 100_000_007 + step, device)
    batch, rows, columns = draw_size(source, settings)
    weights = {name: entry.weight for name, entry in FAMILIES.items() if name != settings.without}
    tasks = sample_tasks(source, batch, rows, columns, weights=weights)
    levels = torch.where(tasks.context.categorical, tasks.context.values.amax(1).long() + 1, 1)
    return tasks, Draws.draw(batch, columns, source.generator, n_levels=levels)


class Trainer:
    """A training that can be paused.

    Parameters
    ----------
    network : InContextNetwork
        On the device to train on.
    settings : Settings
    """

    def __init__(self, network: InContextNetwork, settings: Settings) -> None:
        self.network, self.settings = network, settings
        self.device = next(network.parameters()).device
        self.optimisers = make_optimisers(network, settings.lr, settings.weight_decay)
        self.average = [p.detach().clone() for p in network.parameters()]
        self.step, self.warm, self.seconds, self.tables = 0, 0, 0.0, 0
        self.pairs: PairLosses = pair_losses
        self.ahead = Ahead(self._draw, self.device)
        self.factor = 1.0  # of the rate, below 1 while cooling down

    def _draw(self, step: int) -> tuple[Tasks, Prepared]:
        """Draw the tasks of a step, and what the network is shown of them."""
        tasks, draws = draw_step(self.settings.seed, step, self.settings, self.device)
        return tasks, prepare(tasks.context, draws)

    def train_step(self) -> dict[str, Tensor]:
        """Take one step; returns the losses."""
        tasks, prepared = self.ahead.take(self.step)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            output = self.network(prepared)
        found = losses(output, tasks, self.pairs)
        found["all"].backward()
        parameters = list(self.network.parameters())
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        rate = self.factor * min(1.0, (self.warm + 1) / max(1, self.settings.warmup))
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = group["peak"] * rate
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        self.step += 1
        self.warm += 1
        self.tables += len(tasks.classes)
        keep = min(self.settings.average, self.warm / (self.warm + 10))
        torch._foreach_lerp_(self.average, [p.detach() for p in parameters], 1 - keep)
        return {name: loss.detach() for name, loss in found.items()}

    def facts(self) -> dict[str, Any]:
        """Return what is to be said about the weights."""
        return {"step": self.step, "seconds": round(self.seconds, 1), "tables": self.tables, "seed": self.settings.seed}

    def averaged(self) -> dict[str, Tensor]:
        """Return the running mean of the weights, by name."""
        return dict(zip((name for name, _ in self.network.named_parameters()), self.average, strict=True))

    def save(self, folder: Path, *, whole: bool = False) -> None:
        """Write weights and their running mean, and the whole state if asked for."""
        weights = dict(self.network.named_parameters())
        save_weights(folder / "weights.safetensors", weights, self.network.shape, self.facts())
        save_weights(folder / "average.safetensors", self.averaged(), self.network.shape, self.facts())
        if whole:
            tensors: dict[str, Tensor] = {f"weights/{name}": weight for name, weight in weights.items()}
            tensors |= {f"average/{name}": weight for name, weight in self.averaged().items()}
            tensors |= {f"optimisers/{name}": value for name, value in optimiser_tensors(self.optimisers).items()}
            save_tensors(
                folder / "state.safetensors", tensors, {**self.facts(), "warm": self.warm, "prior": PRIOR_VERSION}
            )

    @torch.no_grad()
    def resume(self, path: Path) -> None:
        """Go on from a whole state, or from weights alone with a new warm-up."""
        tensors, facts = load_tensors(path)
        whole = "warm" in facts
        for (name, parameter), average in zip(self.network.named_parameters(), self.average, strict=True):
            parameter.copy_(tensors[f"weights/{name}" if whole else name])
            average.copy_(tensors[f"average/{name}" if whole else name])
        if whole:
            marked = {
                name.removeprefix("optimisers/"): value
                for name, value in tensors.items()
                if name.startswith("optimisers/")
            }
            restore_optimisers(self.optimisers, marked)
        self.step, self.seconds, self.tables = facts["step"], facts["seconds"], facts["tables"]
        self.warm = facts["warm"] if whole else 0


def compile_parts(trainer: Trainer, parts: str) -> None:
    """Compile, once for all sizes, the norms and the losses of pairs ("norms"), or whole blocks ("blocks").

    Norms are small kernels in which nearly a third of a step goes if nothing is compiled. Blocks took 130 to 220 s to
    compile on an H200 and made a step of 150 ms one of 95 ms: worth it for half an hour and more, or with kernels kept
    from an earlier piece.
    """
    torch._dynamo.config.recompile_limit = 64
    if parts == "blocks":
        for block in trainer.network.blocks:
            block.compile(dynamic=True)
    else:
        for module in trainer.network.modules():
            if isinstance(module, Norm):
                module.compile(dynamic=True)
    trainer.pairs = torch.compile(pair_losses, dynamic=True)


def keep_kernels(path: Path) -> None:
    """Write what was compiled so far, for `--kernels` of a later piece."""
    kept = torch.compiler.save_cache_artifacts()
    if kept:
        path.write_bytes(kept[0])


def run(
    trainer: Trainer,
    folder: Path,
    seconds: float,
    *,
    cooldown: float = 0.0,
    save_every: float = 60.0,
    kernels: Path | None = None,
) -> None:
    """Train for some seconds, log, and save now and then."""
    folder.mkdir(parents=True, exist_ok=True)
    start = saved = time.monotonic()
    before = trainer.seconds
    sums: list[dict[str, Tensor]] = []
    tables, counted = trainer.tables, start
    with (folder / "log.jsonl").open("a") as log:
        while (left := start + seconds - time.monotonic()) > 0:
            if left < cooldown and trainer.factor == 1.0:
                trainer.save(folder / "before_cooldown")
            trainer.factor = min(1.0, left / cooldown + 0.02) if cooldown else 1.0
            sums.append(trainer.train_step())
            if len(sums) == _LOG_EVERY:
                means = {name: torch.stack([s[name] for s in sums]).mean().item() for name in sums[0]}
                now = time.monotonic()
                trainer.seconds = before + now - start
                line = trainer.facts() | {name: round(mean, 4) for name, mean in means.items()}
                line |= {
                    "tables_per_second": round((trainer.tables - tables) / (now - counted)),
                    "factor": trainer.factor,
                }
                log.write(json.dumps(line) + "\n")
                log.flush()
                sums, tables, counted = [], trainer.tables, now
                if now - saved > save_every:
                    trainer.save(folder)
                    saved = now
                    if kernels and not kernels.exists():
                        keep_kernels(kernels)
    trainer.seconds = before + time.monotonic() - start
    trainer.save(folder, whole=True)


def main(given: Sequence[str] | None = None) -> None:
    """Train for a while."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--cooldown", type=float, default=0, help="seconds at the end in which the rate falls")
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--cells", type=int, default=Settings.cells)
    parser.add_argument("--rate", type=float, default=Settings.lr)
    parser.add_argument("--plan", default=NetworkShape.plan)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compile", choices=("nothing", "norms", "blocks"), default="norms")
    parser.add_argument(
        "--kernels", type=Path, help="file of compiled kernels, read at the start, or written if it is not there"
    )
    arguments = parser.parse_args(given)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cuda.enable_cudnn_sdp(False)  # it plans anew for every size, which takes longer than a step
    torch.set_float32_matmul_precision("high")  # for the answers, which are not in half precision
    torch.manual_seed(arguments.seed)
    network = InContextNetwork(NetworkShape(plan=arguments.plan)).to(device)
    trainer = Trainer(network, Settings(lr=arguments.rate, cells=arguments.cells, seed=arguments.seed))
    if arguments.resume:
        trainer.resume(arguments.resume)
    if arguments.kernels and arguments.kernels.exists():
        torch.compiler.load_cache_artifacts(arguments.kernels.read_bytes())
    if arguments.compile != "nothing":
        compile_parts(trainer, arguments.compile)
    run(trainer, arguments.out, arguments.seconds, cooldown=arguments.cooldown, kernels=arguments.kernels)


if __name__ == "__main__":
    main()
