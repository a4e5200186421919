"""Random draws for packed networks: one stream a member, so that members never share luck."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

# Draws made at a time for each member, so that many small requests cost one call of the generator. A GPU has room for
# more, and a call costs more there.
_POOL = {"cpu": 1 << 16, "cuda": 1 << 22}


class MemberStreams:
    """Independent random streams, one for each member.

    What member ``m`` draws depends on ``seeds[m]`` alone and on the sizes requested so far, not on how many other
    members there are. A member trained in a pack therefore sees the same draws as the same member trained alone.

    Parameters
    ----------
    seeds : sequence of int
        One seed for each member.
    device, dtype
        Where the draws live, and their floating point type.

    Examples
    --------
    >>> pack, alone = MemberStreams([3, 7]), MemberStreams([7])
    >>> bool((pack.uniform(4)[1] == alone.uniform(4)[0]).all())
    True
    """

    def __init__(
        self, seeds: Sequence[int], *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
    ) -> None:
        self.device = torch.device(device)
        kind = _CpuStream if self.device.type == "cpu" else _DeviceStream
        self._streams = streams = [kind(int(seed), self.device, dtype) for seed in seeds]
        width = _POOL.get(self.device.type, _POOL["cpu"])
        # By the streams and not by self, which would be a cycle: large pools would then wait to be collected.
        self._uniform = _Pool(lambda size: torch.stack([s.uniform(size) for s in streams]), width)
        self._coins = _Pool(lambda size: torch.stack([s.coins(size) for s in streams]), width)
        self._constants: dict[tuple[float, ...], Tensor] = {}

    @property
    def n_members(self) -> int:
        """Number of streams."""
        return len(self._streams)

    def uniform(self, *shape: int) -> Tensor:
        """Draw from [0, 1).

        Returns
        -------
        Tensor of shape (n_members, *shape)
            A view into a shared pool: read it, do not write into it.
        """
        return self._uniform.take(math.prod(shape)).view(self.n_members, *shape)

    def coins(self, probability: float | Sequence[float], *shape: int) -> Tensor:
        """Throw coins that show True with the given probability, to 1/65,536; shape (n_members, *shape), bool.

        One probability for all members, or one each.
        """
        draws = self._coins.take(math.prod(shape))
        threshold: Any
        if isinstance(probability, Sequence):
            threshold = self.constants([_place(share) for share in probability])
        else:
            threshold = _place(probability)
        if draws.device.type == "cpu":
            # NumPy compares these small integers several times as fast as torch does.
            threshold = threshold if isinstance(threshold, int) else threshold.numpy()
            return torch.from_numpy(draws.numpy() < threshold).view(self.n_members, *shape)
        if not isinstance(threshold, int) or threshold == 32768:  # which 16 bits cannot hold
            draws = draws.int()
        shown: Tensor = draws < threshold
        return shown.view(self.n_members, *shape)

    def constants(self, numbers: Sequence[float]) -> Tensor:
        """Return a number for each member on the device, (n_members, 1); copied there only once."""
        key = tuple(numbers)
        if key not in self._constants:
            self._constants[key] = torch.tensor(key, device=self.device)[:, None]
        return self._constants[key]

    def integers(self, high: int | Tensor, *shape: int) -> Tensor:
        """Draw whole numbers from 0 to ``high - 1``; shape (n_members, *shape), to which ``high`` is broadcast."""
        return (self.uniform(*shape) * high).long().clamp_(max=high - 1)

    def permutation(self, n: int) -> Tensor:
        """Shuffle 0..n-1 for each member; shape (n_members, n)."""
        return torch.stack([stream.permutation(n) for stream in self._streams])

    # ---- steps that are replayed

    @property
    def n_drawn(self) -> tuple[int, int]:
        """Uniform draws and coins of a member that were handed out so far."""
        return self._uniform.n_taken, self._coins.n_taken

    def fixed(self, n_uniform: int, n_coins: int) -> FixedDraws:
        """Make a place for the draws of a step that is replayed."""
        return FixedDraws([(self._uniform, n_uniform), (self._coins, n_coins)])

    # ---- checkpoints

    def generators(self) -> list[Any]:
        """State of each member's generator, JSON-able. Shuffles follow from it alone, other draws from `state`."""
        return [stream.state() for stream in self._streams]

    def set_generators(self, states: Sequence[Any]) -> None:
        """Go back to what `generators` returned."""
        for stream, state in zip(self._streams, states, strict=True):
            stream.restore(state)

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """All that later draws follow from: tensors, and facts that are JSON-able."""
        pools = {"uniform": self._uniform, "coins": self._coins}
        tensors = {name: pool.left for name, pool in pools.items() if pool.left is not None}
        return tensors, {
            "generators": self.generators(),
            "widths": {name: pool.width for name, pool in pools.items()},
        }

    def restore(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Go back to what `state` returned."""
        self.set_generators(facts["generators"])
        for name, pool in (("uniform", self._uniform), ("coins", self._coins)):
            left = tensors.get(name)
            pool.refill(None if left is None else left.to(self.device), facts["widths"][name])


def _place(probability: float) -> int:
    """Place among the 16-bit integers below which the given share of them lies."""
    return round(probability * 65536) - 32768


class _Pool:
    """Draws made in advance for all members, and handed out in order."""

    def __init__(self, draw: Callable[[int], Tensor], width: int) -> None:
        self._draw = draw
        self._width = width
        self._drawn: Tensor | None = None
        self._used = 0
        self._fixed: Tensor | None = None
        self.n_taken = 0

    def take(self, size: int) -> Tensor:
        """Hand out the next draws, of shape (n_members, size)."""
        self.n_taken += size
        if self._fixed is not None:
            taken, self._fixed = self._fixed[:, :size], self._fixed[:, size:]
            return taken
        if self._drawn is None or self._used + size > self._drawn.shape[1]:
            self._drawn = self._draw(max(self._width, size))
            self._used = 0
        self._used += size
        return self._drawn[:, self._used - size : self._used]

    def place(self, size: int) -> Tensor:
        """Make an empty place for so many draws of each member, (n_members, size)."""
        assert self._drawn is not None, "a step was taken before"
        return torch.empty_like(self._drawn[:, :1]).expand(-1, size).contiguous()

    def fix(self, draws: Tensor | None) -> None:
        """Hand out these draws (n_members, n) from now on; None for new ones."""
        self._fixed = draws

    @property
    def width(self) -> int:
        """Draws of a member that the pool held when it was filled last; 0 before that."""
        return 0 if self._drawn is None else self._drawn.shape[1]

    @property
    def left(self) -> Tensor | None:
        """Draws that are yet to be handed out, (n_members, n_left); None before the first."""
        return None if self._drawn is None else self._drawn[:, self._used :]

    def refill(self, left: Tensor | None, width: int) -> None:
        """Go back to where the pool of a given width had these draws left."""
        self._drawn, self._used = None, 0
        if left is not None:
            # In its old place: how numbers lie in memory decides how some operations round.
            self._drawn = left.new_zeros(left.shape[0], width)
            self._used = width - left.shape[1]
            self._drawn[:, self._used :] = left


class FixedDraws:
    """Draws of a step that is recorded once and replayed: they stay in one place, where new ones replace them.

    Within its context the streams hand out this place, part by part. It holds nothing before `renew` is called.

    Parameters
    ----------
    pools : list of (_Pool, int)
        Each with the number of draws that the step takes of it.
    """

    def __init__(self, pools: list[tuple[_Pool, int]]) -> None:
        self._places = [(pool, pool.place(size)) for pool, size in pools if size]

    def renew(self) -> None:
        """Draw for the next step."""
        for pool, place in self._places:
            place.copy_(pool.take(place.shape[1]))

    def __enter__(self) -> Self:
        for pool, place in self._places:
            pool.fix(place)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pool, _ in self._places:
            pool.fix(None)


class _CpuStream:
    """One member's draws on a CPU, where NumPy's generators are twice as fast as torch's."""

    def __init__(self, seed: int, device: torch.device, dtype: torch.dtype) -> None:
        self._generator = np.random.default_rng(seed)
        self._dtype: Any = np.float64 if dtype == torch.float64 else np.float32

    def uniform(self, size: int) -> Tensor:
        return torch.from_numpy(self._generator.random(size, dtype=self._dtype))

    def coins(self, size: int) -> Tensor:
        # Sixteen bits a coin straight from the generator: nine times as fast as floating point draws.
        return torch.from_numpy(self._generator.bit_generator.random_raw(-(-size // 4)).view(np.int16)[:size])

    def permutation(self, n: int) -> Tensor:
        return torch.from_numpy(self._generator.permutation(n))

    def state(self) -> Any:
        return self._generator.bit_generator.state

    def restore(self, state: Any) -> None:
        self._generator.bit_generator.state = state


class _DeviceStream:
    """One member's draws on an accelerator."""

    def __init__(self, seed: int, device: torch.device, dtype: torch.dtype) -> None:
        self._generator = torch.Generator(device=device).manual_seed(seed)
        self._dtype = dtype

    def uniform(self, size: int) -> Tensor:
        return torch.rand(size, generator=self._generator, device=self._generator.device, dtype=self._dtype)

    def coins(self, size: int) -> Tensor:
        return torch.randint(
            -32768, 32768, (size,), generator=self._generator, device=self._generator.device, dtype=torch.int16
        )

    def permutation(self, n: int) -> Tensor:
        return torch.randperm(n, generator=self._generator, device=self._generator.device)

    def state(self) -> Any:
        return self._generator.get_state().tolist()

    def restore(self, state: Any) -> None:
        self._generator.set_state(torch.tensor(state, dtype=torch.uint8))
