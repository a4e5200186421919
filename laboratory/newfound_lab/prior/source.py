"""Seeded randomness for batches of tables, and the small functions that all families use."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

CLASSES = 40  # at most so many classes in a table


class Source:
    """Random draws: tensors on a device, and choices of structure that a whole batch shares.

    No draw waits for the device: what decides about shapes is drawn on the host.

    Parameters
    ----------
    seed : int
    device : torch.device or str
    """

    def __init__(self, seed: int, device: torch.device | str = "cpu") -> None:
        self.generator = torch.Generator(device).manual_seed(seed)
        self.host = random.Random(seed)  # noqa: S311

    @property
    def device(self) -> torch.device:
        """Where tensors are drawn."""
        return self.generator.device

    def normal(self, *shape: int) -> Tensor:
        """Draw from the standard normal distribution."""
        return torch.randn(*shape, generator=self.generator, device=self.device)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        """Draw uniformly between low and high."""
        return low + (high - low) * torch.rand(*shape, generator=self.generator, device=self.device)

    def log_normal(self, *shape: int, median: float, spread: float) -> Tensor:
        """Draw positive numbers around a median; ``spread`` is the deviation of their logarithm."""
        return median * torch.exp(spread * self.normal(*shape))

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Draw integers from low to high, both included."""
        return torch.randint(low, high + 1, shape, generator=self.generator, device=self.device)

    def chance(self, probability: float | Tensor, *shape: int) -> Tensor:
        """Draw booleans that are true with a probability."""
        return self.uniform(*shape) < probability

    def gamma(self, shape: Tensor) -> Tensor:
        """Draw from gamma distributions of the given shapes (Marsaglia and Tsang), one try each, close enough."""
        boosted = shape + 1.0
        d = boosted - 1.0 / 3.0
        cube = (1 + self.normal(*shape.shape) / (9 * d).sqrt()).clamp(min=1e-3) ** 3
        return d * cube * self.uniform(*shape.shape).clamp(min=1e-6) ** (1.0 / shape)

    def pick(self, weights: Tensor, count: int) -> Tensor:
        """Draw ``count`` different entries by weight; (B, K) to (B, count) indices (keys of Efraimidis)."""
        keys = self.uniform(*weights.shape).clamp(min=1e-9).log() / weights.clamp(min=1e-9)
        return keys.topk(count, 1).indices


def standardise(x: Tensor) -> Tensor:
    """Centre and scale over rows, dimension 1."""
    return (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-6)


def ranks(x: Tensor) -> Tensor:
    """Ranks over rows (dimension 1), strictly between 0 and 1."""
    return (x.argsort(1).argsort(1).float() + 0.5) / x.shape[1]


def take(table: Tensor, index: Tensor) -> Tensor:
    """Look up rows: entries (B, K, q) at (B, N) become (B, N, q)."""
    return table.gather(1, index[..., None].expand(-1, -1, table.shape[2]))


def below(count: Tensor, size: int) -> Tensor:
    """Mask of the first ``count`` (B,) of ``size`` places; (B, size)."""
    return torch.arange(size, device=count.device) < count[:, None]


def number_of_classes(source: Source, batch: int, rows: int) -> Tensor:
    """Numbers of classes, mostly few, at most 40 and a tenth of the rows; (B,)."""
    most = max(3, min(CLASSES, rows // 10))
    spread = 2 + (source.uniform(batch) ** 2.2 * (most - 1)).long()
    few = torch.where(source.chance(0.04, batch), 2, source.integers(3, min(14, most), batch))
    return torch.where(source.chance(0.65, batch), few, spread.clamp(min=3)).clamp(max=most)


def class_weights(source: Source, count: Tensor) -> Tensor:
    """Shares of classes: even, uneven, or falling to a hundredth; (B,) to (B, 40), 0 beyond the count."""
    batch = len(count)
    uneven = source.gamma(source.uniform(batch, 1, low=0.7, high=4.0).expand(batch, CLASSES)) + 0.03
    falling = 10 ** (-2 * source.uniform(batch, 1) * source.uniform(batch, CLASSES))
    even = 1 + 0.05 * source.normal(batch, CLASSES).clamp(-3, 3)
    kind = source.uniform(batch, 1)
    weights = torch.where(kind < 0.4, even, torch.where(kind < 0.8, uneven, falling))
    weights = weights * below(count, CLASSES)
    return weights / weights.sum(1, keepdim=True)


def draw_codes(source: Source, weights: Tensor, rows: int) -> Tensor:
    """Draw entries of each of B distributions (B, K) for N rows; (B, N) codes."""
    edges = weights.cumsum(1)
    edges = edges / edges[:, -1:]
    drawn = torch.searchsorted(edges.contiguous(), source.uniform(len(weights), rows))
    return drawn.clamp(max=weights.shape[1] - 1)


def slices(source: Source, score: Tensor, count: Tensor, uneven: float = 0.5) -> Tensor:
    """Cut scores (B, N) into ``count`` (B,) intervals of random, or even, shares; (B, N) codes."""
    batch = len(count)
    steps = torch.arange(1, CLASSES + 1, device=score.device)
    even = steps / count[:, None]
    cuts = torch.where(source.chance(uneven, batch, 1), source.uniform(batch, CLASSES), even)
    cuts = cuts.masked_fill(~below(count - 1, CLASSES), 2.0).sort(1).values
    return torch.searchsorted(cuts.contiguous(), ranks(score))


_ACTIVATIONS: tuple[Callable[[Tensor], Tensor], ...] = (
    torch.tanh,
    functional.relu,
    lambda x: x,
    torch.sin,
    torch.abs,
    lambda x: torch.exp(-x * x),
    lambda x: x.clamp(-2, 2).square(),
    lambda x: torch.sign(x) * x.abs().sqrt(),
    torch.round,
    lambda x: (x > 0).float(),
)


def activate(source: Source, x: Tensor) -> Tensor:
    """Bend units (B, N, H), each table with a function of its own or each unit with one."""
    batch, _, hidden = x.shape
    kinds = source.host.sample(range(len(_ACTIVATIONS)), 4)
    pick = source.integers(0, 3, batch, 1, hidden)
    pick = torch.where(source.chance(0.5, batch, 1, 1), pick[:, :, :1], pick)
    out = torch.zeros_like(x)
    for place, kind in enumerate(kinds):
        out = torch.where(pick == place, _ACTIVATIONS[kind](x), out)
    return out


def mix(source: Source, x: Tensor, outputs: int, density: float | Tensor) -> Tensor:
    """Sparse random linear functions of (B, N, q), at least one input each; (B, N, outputs)."""
    batch, _, inputs = x.shape
    keep = source.chance(density, batch, inputs, outputs)
    keep = keep | (torch.arange(inputs, device=x.device)[:, None] == source.integers(0, inputs - 1, batch, 1, outputs))
    weights = source.normal(batch, inputs, outputs) * keep
    return x @ (weights / keep.sum(1, keepdim=True).sqrt())


def groups(source: Source, batch: int, rows: int, width: int, separation: Tensor) -> Tensor:
    """Rows in random groups that are no classes; (B, N, width)."""
    count = source.host.randint(2, 7)
    centres = source.normal(batch, count, width) * separation
    return take(centres, source.integers(0, count - 1, batch, rows)) + source.normal(batch, rows, width)


def spread_over_columns(source: Source, factors: Tensor, columns: int, direct: float = 0.4) -> Tensor:
    """Columns of a table: nodes of a random network of the factors, or (some tables) the factors themselves.

    Parameters
    ----------
    source : Source
    factors : Tensor of shape (B, N, q)
    columns : int
    direct : float
        Share of tables whose columns are factors, as far as there are enough.

    Returns
    -------
    Tensor of shape (B, N, columns), standardised
    """
    batch, _, width = factors.shape
    hidden = max(24, (columns * 3) // 4)
    nodes, layer = [factors], factors
    for _ in range(source.host.randint(1, 3)):
        layer = mix(source, layer, hidden, 0.03 + 0.5 * source.host.random())
        layer = standardise(activate(source, layer + 0.5 * source.normal(batch, 1, hidden)))
        layer = layer + 0.05 * source.normal(*layer.shape)
        nodes.append(layer)
    if sum(node.shape[2] for node in nodes) < columns:
        nodes.append(mix(source, factors, columns, 0.3))
    everything = torch.cat(nodes, 2)
    first = torch.arange(everything.shape[2], device=factors.device) < width
    weights = torch.where(source.chance(direct, batch, 1), first + 1e-3, torch.ones_like(first, dtype=torch.float))
    chosen = source.pick(weights, columns)
    table = everything.gather(2, chosen[:, None].expand(-1, factors.shape[1], -1))
    noise = source.log_normal(batch, 1, 1, median=0.12, spread=0.9)
    return standardise(table + noise * source.normal(*table.shape))
