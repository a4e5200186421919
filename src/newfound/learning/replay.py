"""Training steps that a GPU replays: what a step launches is recorded once, and then started as a whole.

A step of small networks is hundreds of short kernels, and launching them takes longer than running them. A CUDA graph
holds all of them. It reads its inputs and random draws from fixed places, which are filled before every replay.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from newfound.nn import FixedDraws, MemberStreams

Update = Callable[..., dict[str, Tensor]]
"""Takes the tensors of a batch, changes weights, returns losses of shape (n_members,) each."""

_FIRST_STEPS = 3  # are taken one kernel at a time, so that optimisers and libraries have what they need
_MOST_SHAPES = 8  # of batches that are recorded; the last shard of a table may have batches of its own
_HERE = threading.local()  # streams of this thread, by device
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True, eq=False)
class _Recording:
    """A recorded step.

    Attributes
    ----------
    graph : torch.cuda.CUDAGraph
    inputs : tuple of Tensor
        Where the graph reads the batch.
    draws : FixedDraws
        Where the graph reads random draws.
    losses : dict of str to Tensor
        Where the graph writes the losses.
    """

    graph: torch.cuda.CUDAGraph
    inputs: tuple[Tensor, ...]
    draws: FixedDraws
    losses: dict[str, Tensor]

    def replay(self, inputs: tuple[Tensor, ...]) -> dict[str, Tensor]:
        for place, given in zip(self.inputs, inputs, strict=True):
            place.copy_(given)
        self.draws.renew()
        self.graph.replay()
        # Copies, since the next replay writes to the same places.
        return {name: loss.clone() for name, loss in self.losses.items()}


class Replayed:
    """An update that is recorded and replayed on a GPU; elsewhere it is called as it is.

    Parameters
    ----------
    update : callable
        Its effect depends on the tensors it is given, on weights, and on draws from the streams. It must not ask the
        device for a number, and not read numbers of the host that change.
    streams : MemberStreams
        Where the update draws from.
    enabled : bool
        False where something in the update cannot be recorded, as the exchange of gradients with other processes.
    """

    def __init__(self, update: Update, streams: MemberStreams, *, enabled: bool = True) -> None:
        self._update, self._streams = update, streams
        self._enabled = enabled and streams.device.type == "cuda"
        self._n_taken: dict[tuple[torch.Size, ...], int] = {}
        self._n_draws: dict[tuple[torch.Size, ...], tuple[int, int]] = {}  # uniform ones and coins of a step
        self._recordings: dict[tuple[torch.Size, ...], _Recording] = {}

    def __call__(self, *inputs: Tensor) -> dict[str, Tensor]:
        """Take a step; returns its losses."""
        if not self._enabled:
            return self._update(*inputs)
        shapes = tuple(tensor.shape for tensor in inputs)
        if shapes in self._recordings:
            return self._recordings[shapes].replay(inputs)
        taken = self._n_taken.get(shapes, 0)
        if taken < _FIRST_STEPS or len(self._recordings) == _MOST_SHAPES:
            self._n_taken[shapes] = taken + 1
            return self._take_aside(inputs, shapes)
        recording = self._recordings[shapes] = self._record(inputs, self._n_draws[shapes])
        return recording.replay(inputs)

    def _take_aside(self, inputs: tuple[Tensor, ...], shapes: tuple[torch.Size, ...]) -> dict[str, Tensor]:
        """Take a step in a stream of its own, as CUDA wants it before a recording."""
        aside = _aside(self._streams.device)
        aside.wait_stream(torch.cuda.current_stream(self._streams.device))
        with torch.cuda.stream(aside):
            uniform, coins = self._streams.n_drawn
            losses = self._update(*inputs)
            self._n_draws[shapes] = self._streams.n_drawn[0] - uniform, self._streams.n_drawn[1] - coins
        torch.cuda.current_stream(self._streams.device).wait_stream(aside)
        # Without what led to them: it would keep nodes alive that belong to the stream of this step.
        return {name: loss.detach() for name, loss in losses.items()}

    def _record(self, inputs: tuple[Tensor, ...], n_draws: tuple[int, int]) -> _Recording:
        """Record a step, which changes nothing yet."""
        places = tuple(tensor.clone() for tensor in inputs)
        draws = self._streams.fixed(*n_draws)
        graph, device = torch.cuda.CUDAGraph(), self._streams.device
        # Other threads may do what cannot be recorded, but for the waiting for the GPU that a recording begins with.
        recording = torch.cuda.graph(graph, stream=_aside(device), capture_error_mode="thread_local")
        with _ONE_AT_A_TIME, torch.cuda.device(device), draws, recording:
            losses = self._update(*places)
        return _Recording(graph, places, draws, {name: loss.detach() for name, loss in losses.items()})


def _aside(device: torch.device) -> torch.cuda.Stream:
    """Return this thread's stream for first steps and recordings: libraries keep memory for each they have seen."""
    streams: dict[torch.device, torch.cuda.Stream] = _HERE.__dict__.setdefault("streams", {})
    if device not in streams:
        streams[device] = torch.cuda.Stream(device)
    return streams[device]
