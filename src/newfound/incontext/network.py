"""The network: cells, then rows, then four answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from newfound.incontext.context import GEOMETRY_WIDTH, LABEL_WIDTH, TAG_WIDTH
from newfound.incontext.features import CELL_WIDTH, Prepared, class_members
from newfound.incontext.layers import CellBlock, Norm, RowBlock

MAX_NOVEL = 40  # the head for their number tells 0..40 apart


@dataclass(frozen=True)
class NetworkShape:
    """Sizes of an `InContextNetwork`.

    Parameters
    ----------
    cell_width, cell_heads : int
        Width of the tokens of cells, and heads of their attention.
    inducing : int
        Inducing points of a column.
    summary : int
        Tokens a row is summarised in; rows are ``summary * cell_width`` wide.
    row_heads : int
    plan : str
        Blocks in order: "c" over cells, "r" over rows. The last "c" updates the rows' summaries alone.
    embedding : int
        Length of the vectors that the network adds to a row's places in the geometry.
    """

    cell_width: int = 128
    cell_heads: int = 4
    inducing: int = 32
    summary: int = 2
    row_heads: int = 8
    plan: str = "ccrrcrrrrrr"
    embedding: int = 64


class NetworkOutput(NamedTuple):
    """The network's answers.

    Attributes
    ----------
    embedding : Tensor of shape (B, N, E + 512)
        Vectors of length 1; two rows are of one class with probability ``sigmoid(scale * cosine + bias)``. The last 512
        entries are the row's places in the geometry, whitened and plain, with as much weight as the network gives them.
    scale, bias : Tensor of shape ()
    known : Tensor of shape (B, N, 64)
        Logits of the known classes, -inf for classes without labelled rows.
    novelty : Tensor of shape (B, N)
        Logit of being of a novel class.
    n_novel : Tensor of shape (B, 41)
        Logits of 0..40 novel classes among the unlabelled rows.
    """

    embedding: Tensor
    scale: Tensor
    bias: Tensor
    known: Tensor
    novelty: Tensor
    n_novel: Tensor


class InContextNetwork(nn.Module):
    """A network that reads a table with labelled and unlabelled rows and says which rows belong together.

    Nothing is trained on the table. Each row is summarised in few tokens beside those of its cells; cells learn from
    their columns through inducing points and from their rows; rows learn from all rows. The output moves along when
    rows, columns, levels or classes (with their random vectors) change places.

    Parameters
    ----------
    shape : NetworkShape, optional

    Examples
    --------
    >>> import torch
    >>> from newfound.incontext import Context, Draws, InContextNetwork, NetworkShape, prepare
    >>> generator = torch.Generator().manual_seed(0)
    >>> values, labels = torch.randn(1, 9, 3, generator=generator), torch.tensor([[0, 0, 0, 1, 1, 1, -1, -1, -1]])
    >>> none = torch.zeros_like(values, dtype=torch.bool)
    >>> context = Context(values, none[:, 0], none, labels, torch.zeros(1, dtype=torch.int64))
    >>> network = InContextNetwork(NetworkShape(cell_width=32, plan="cr"))
    >>> network(prepare(context, Draws.draw(1, 3, generator))).embedding.shape
    torch.Size([1, 9, 576])
    """

    def __init__(self, shape: NetworkShape | None = None) -> None:
        super().__init__()
        self.shape = shape = shape or NetworkShape()
        d, width = shape.cell_width, shape.cell_width * shape.summary
        self.cell = nn.Linear(CELL_WIDTH, d)
        self.tag = nn.Linear(TAG_WIDTH, d, bias=False)
        self.cell_class = nn.Linear(LABEL_WIDTH, d, bias=False)
        self.row_class = nn.Linear(LABEL_WIDTH, width, bias=False)
        self.cell_mode = nn.Parameter(torch.randn(4, d) * 0.3)  # three kinds of unlabelled rows, and labelled ones
        self.row_mode = nn.Parameter(torch.randn(4, width) * 0.3)
        self.point = nn.Linear(2 * GEOMETRY_WIDTH + 2, width, bias=False)
        self.blocks = nn.ModuleList(
            CellBlock(d, shape.cell_heads, shape.inducing) if kind == "c" else RowBlock(width, shape.row_heads)
            for kind in shape.plan
        )
        self.norm = Norm(width)
        self.embed = nn.Linear(width, shape.embedding, bias=False)
        self.shares = nn.Linear(width, 3)  # of learned vectors, whitened and plain places in the embedding
        nn.init.zeros_(self.shares.weight)
        self.shares.bias = nn.Parameter(torch.tensor([0.0, -1.0, -2.5]))
        self.scale, self.bias = nn.Parameter(torch.tensor(2.3)), nn.Parameter(torch.tensor(-3.0))
        self.classify = nn.Linear(width, shape.embedding, bias=False)
        self.class_scale = nn.Parameter(torch.tensor(2.0))
        self.novel = _Head(width + 2, 1)
        self.seek = nn.Linear(width, 4)
        self.count = _Head(4 * 64 + 16, MAX_NOVEL + 1)
        self.pool = nn.Linear(width, 64, bias=False)

    def forward(self, prepared: Prepared) -> NetworkOutput:
        """Answer for tables of one size; see `prepare`."""
        rows = self.norm(self._rows(prepared))
        with torch.autocast(rows.device.type, enabled=False):
            return self._answer(rows.float(), prepared.points.float(), prepared.labels)

    def _rows(self, prepared: Prepared) -> Tensor:
        """Summarise rows; (B, N, width)."""
        cells, tags, points, names, labels, unlabelled = prepared
        batch, n = labels.shape
        mode = functional.one_hot(torch.where(labels >= 0, 3, unlabelled[:, None]), 4).float()
        rows = self.point(points * 16**0.5) + self.row_class(names) + mode @ self.row_mode
        about = (self.cell_class(names) + mode @ self.cell_mode)[:, :, None]
        summary, last = self.shape.summary, self.shape.plan.rfind("c")
        seen = self.cell(cells)
        tokens = seen + (self.tag(tags)[:, None] + about).to(seen.dtype)
        x = torch.cat([rows.view(batch, n, summary, -1).to(seen.dtype), tokens], 2)
        logs = [math.log(size) for size in (n, x.shape[2], self.shape.inducing)]
        lengths = torch.stack([torch.full((), log, device=x.device) for log in logs])
        for place, (kind, block) in enumerate(zip(self.shape.plan, self.blocks, strict=True)):
            if kind == "c":
                x = block(x, lengths, summary if place == last else 0)
            elif place < last:  # half precision is enough for cells; rows are added to for longer
                changed = block(x[:, :, :summary].flatten(2).float(), lengths).view(batch, n, summary, -1)
                x = torch.cat([changed.to(x.dtype), x[:, :, summary:]], 2)
            else:
                x = block(x, lengths)
            x = x.flatten(2).float() if place == last else x
        return x

    def _embedding(self, rows: Tensor, points: Tensor, labels: Tensor) -> Tensor:
        """Join learned vectors and places in the geometry (B, N, 514), weighed for each table; (B, N, E + 512).

        Classical methods go by the places alone. The network decides how far to trust them and learns what they lack.
        """
        free = (labels < 0).float()[..., None]
        pooled = (rows * free).sum(1) / free.sum(1).clamp(min=1)
        shares = self.shares(pooled).softmax(1).sqrt()[:, None]
        plain, whitened = points[..., :GEOMETRY_WIDTH], points[..., GEOMETRY_WIDTH : 2 * GEOMETRY_WIDTH]
        learned = functional.normalize(self.embed(rows), dim=2)
        parts = [part * shares[..., i : i + 1] for i, part in enumerate((learned, whitened, plain))]
        return functional.normalize(torch.cat(parts, 2), dim=2)

    def _answer(self, rows: Tensor, points: Tensor, labels: Tensor) -> NetworkOutput:
        """Answer from the rows (B, N, width) and their places."""
        embedding = self._embedding(rows, points, labels)
        scale, bias = self.scale.exp(), self.bias
        member = class_members(labels)
        likeness = functional.normalize(self.classify(rows), dim=2)
        centres = functional.normalize(member.transpose(1, 2) @ likeness, dim=2)
        known = likeness @ centres.transpose(1, 2) * self.class_scale.exp()
        known = known.masked_fill(member.sum(1)[:, None] == 0, -torch.inf)
        best = known.amax(2, keepdim=True)
        best = torch.cat([best, known.logsumexp(2, keepdim=True)], 2).clamp(min=-50) / 8
        novelty = self.novel(torch.cat([rows, best], 2))[..., 0]
        return NetworkOutput(embedding, scale, bias, known, novelty, self._count(rows, embedding, novelty, labels))

    def _count(self, rows: Tensor, embedding: Tensor, novelty: Tensor, labels: Tensor) -> Tensor:
        """Logits of the number of novel classes, (B, 41).

        Beside what is pooled from the rows the head is shown how many groups the embedding holds. What it learns does
        not change embedding and novelty.
        """
        free = (labels < 0).float()
        weight = self.seek(rows).masked_fill(labels[..., None] >= 0, -1e4).softmax(1)
        pooled = (weight.transpose(1, 2) @ self.pool(rows)).flatten(1)
        present = (class_members(labels).sum(1) > 0).float().sum(1)
        with torch.no_grad():
            chance = novelty.sigmoid() * free
            if len(labels) == 1:  # labelled rows would only take time
                seen = labels[0] < 0
                embedding, chance, free = embedding[:, seen], chance[:, seen], free[:, seen]
            groups = _numbers_of_groups(embedding, self.scale.exp(), self.bias, chance, free)
        facts = torch.stack([*groups[:4], present, free.sum(1) / 16, *groups[4:]], 1).log1p()
        logits: Tensor = self.count(torch.cat([pooled, facts], 1))
        return logits


def _numbers_of_groups(embedding: Tensor, scale: Tensor, bias: Tensor, chance: Tensor, free: Tensor) -> list[Tensor]:
    """Say in several ways how many groups an embedding holds; 14 tensors of shape (B,).

    - A row among m rows of its class counts as 1 / m of a class.
    - The pair probabilities of rows that are likely to be novel, normalised, have an eigenvalue near 1 for each group:
      sums of powers of the eigenvalues, by squaring the matrix.
    - k groups span k directions: the number of equal variances with the same sum of squares, and of fourth powers.

    Parameters
    ----------
    embedding : Tensor of shape (B, N, E)
    scale, bias : Tensor of shape ()
    chance : Tensor of shape (B, N)
        Of being unlabelled and of a novel class.
    free : Tensor of shape (B, N)
        1 where unlabelled, 0 elsewhere.
    """
    cosine = embedding @ embedding.transpose(1, 2)
    counted, powers = [], []
    for sharp in (1.0, 2.0, 4.0):
        together = torch.sigmoid(sharp * (cosine * scale + bias))
        for part in (chance, free):
            size = (together @ part[..., None])[..., 0].clamp(min=0.5)
            counted.append((part / size).sum(1).clamp(max=80.0))
        if sharp < 4:
            square = together * (chance[:, None] * chance[..., None]).sqrt()
            even = square.sum(2).clamp(min=1e-3).rsqrt()
            square = square * even[:, None] * even[..., None]
            powers.append(square.square().sum((1, 2)))
            for _ in range(2):
                square = square @ square
                powers.append(square.square().sum((1, 2)))
    spread = embedding * chance[..., None].sqrt()
    variance = spread.transpose(1, 2) @ spread
    variance = variance / variance.diagonal(dim1=1, dim2=2).sum(1).clamp(min=1e-6)[:, None, None]
    directions = 1 / variance.square().sum((1, 2)).clamp(min=1e-6)
    fewer = 1 / (variance @ variance).square().sum((1, 2)).clamp(min=1e-9) ** (1 / 3)
    return [*counted, *powers, directions, fewer]


class _Head(nn.Module):
    """One hidden layer."""

    def __init__(self, width: int, out: int, hidden: int = 128) -> None:
        super().__init__()
        self.hidden, self.out = nn.Linear(width, hidden), nn.Linear(hidden, out)
        nn.init.zeros_(self.out.weight)

    def forward(self, x: Tensor) -> Tensor:
        """(..., width) to (..., out)."""
        answer: Tensor = self.out(functional.gelu(self.hidden(x), approximate="tanh"))
        return answer
