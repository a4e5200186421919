"""Attention whose cost grows with the rows of a column through few inducing points, and the blocks made of it."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Norm(nn.Module):
    """Scale vectors to a root mean square of 1, then by learned weights; (..., width) to the same.

    Written out, since the library's kernel is slow for the short vectors of heads, in which most of the time went.

    Parameters
    ----------
    width : int
    learned : bool, default=True
        Whether there are weights.
    """

    def __init__(self, width: int, *, learned: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width)) if learned else None

    def forward(self, x: Tensor) -> Tensor:
        """Norm the last dimension, in the precision of x."""
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=torch.float32)
        scaled = x * (x.shape[-1] ** 0.5 / (length + 1e-6))
        normed: Tensor = (scaled if self.weight is None else scaled * self.weight).to(x.dtype)
        return normed


class Attention(nn.Module):
    """Multi-head attention with normalised queries and keys and a temperature that grows with the number of keys.

    With more keys a softmax spreads thinner; each head learns how much sharper it has to become, so that a network
    trained on hundreds of rows still works on thousands.

    Parameters
    ----------
    width, heads : int
        ``width`` is a multiple of ``heads``.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Parameter(torch.randn(3, width, width) / width**0.5)
        self.out = nn.Parameter(torch.zeros(width, width))
        self.even = Norm(width // heads, learned=False)
        self.temperature = nn.Parameter(torch.tensor([[1.0], [0.0]]).expand(2, heads).clone())

    def forward(self, queries: Tensor, keys: Tensor, log_keys: Tensor) -> Tensor:
        """Attend from (R, S, width) to (R, T, width); R of the queries may be 1. Returns (R, S, width).

        ``log_keys`` is log T. It is a tensor, since a number would have the block compiled anew for every T.
        """
        width = queries.shape[-1]
        split = (*keys.shape[:2], 2, self.heads, width // self.heads)
        k, v = functional.linear(keys, self.qkv[1:].flatten(0, 1)).view(split).permute(2, 0, 3, 1, 4)
        q = functional.linear(queries, self.qkv[0]).view(*queries.shape[:2], self.heads, -1).transpose(1, 2)
        sharper = self.temperature[0] + self.temperature[1] * (log_keys - 4.0)
        q = (self.even(q) * sharper[:, None, None]).to(v.dtype).expand(k.shape[0], -1, -1, -1)
        attended = functional.scaled_dot_product_attention(q, self.even(k), v)
        return functional.linear(attended.transpose(1, 2).flatten(2), self.out)


class MLP(nn.Module):
    """Two layers after a norm, to be added to what came in; (..., width) to (..., width)."""

    def __init__(self, width: int, factor: int = 2) -> None:
        super().__init__()
        self.norm = Norm(width)
        self.up = nn.Linear(width, factor * width, bias=False)
        self.down = nn.Linear(factor * width, width, bias=False)
        nn.init.zeros_(self.down.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Return the change of x."""
        changed: Tensor = self.down(functional.gelu(self.up(self.norm(x)), approximate="tanh"))
        return changed


class CellBlock(nn.Module):
    """Tokens of cells learn from their column, then from their row.

    Down a column, inducing points gather from all rows and every row reads from them: the cost grows with the rows, not
    with their square.

    Parameters
    ----------
    width, heads : int
    inducing : int
        Number of inducing points.
    """

    def __init__(self, width: int, heads: int, inducing: int) -> None:
        super().__init__()
        self.points = nn.Parameter(torch.randn(1, inducing, width))
        self.column_norm = Norm(width)
        self.point_norm = Norm(width)
        self.row_norm = Norm(width)
        self.gather = Attention(width, heads)
        self.spread = Attention(width, heads)
        self.across = Attention(width, heads)
        self.mlp = MLP(width)
        nn.init.normal_(self.gather.out, std=width**-0.5)  # the points have no residual worth keeping

    def forward(self, x: Tensor, logs: Tensor, summary: int = 0) -> Tensor:
        """Update tokens (B, N, T, width); ``logs`` holds the logarithms of N, T and the number of inducing points.

        With ``summary`` above 0 only the first ``summary`` tokens of each row are updated in the second half and
        returned: the last block, after which nobody reads the cells.
        """
        batch, rows, tokens, width = x.shape
        columns = self.column_norm(x).transpose(1, 2).reshape(batch * tokens, rows, width)
        points = self.point_norm(self.points + self.gather(self.points, columns, logs[0]))
        read = self.spread(columns, points, logs[2]).view(batch, tokens, rows, width).transpose(1, 2)
        x = x + read
        flat = self.row_norm(x).reshape(batch * rows, tokens, width)
        if summary:
            x = x[:, :, :summary]
            flat_queries = flat[:, :summary]
        else:
            flat_queries = flat
        x = x + self.across(flat_queries, flat, logs[1]).view(batch, rows, -1, width)
        return x + self.mlp(x)  # type: ignore[no-any-return]


class RowBlock(nn.Module):
    """Rows learn from all rows; (B, N, width) to the same.

    Parameters
    ----------
    width, heads : int
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm = Norm(width)
        self.attention = Attention(width, heads)
        self.mlp = MLP(width)

    def forward(self, x: Tensor, logs: Tensor) -> Tensor:
        """Update rows; ``logs`` as in `CellBlock`."""
        seen = self.norm(x)
        x = x + self.attention(seen, seen, logs[0])
        return x + self.mlp(x)  # type: ignore[no-any-return]
