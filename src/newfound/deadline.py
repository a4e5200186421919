"""When work has to end: one clock that every phase of a fit or a command looks at."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Self

_ENOUGH = 0.05  # seconds of work from which on its speed says something
_SLOWEST = 16.0  # times; beyond that a pause is more likely than a busy machine


@dataclass(frozen=True)
class Deadline:
    """A moment at which work has to end, or none.

    Work that can stop anywhere asks `passed`. Work that cannot is made as large as `room` allows. Whatever the
    deadline, each phase makes the smallest result that the next one needs.

    Attributes
    ----------
    end : float
        Time of `time.monotonic`; infinite without a limit.
    started, worked : float
        When the clock was started: the time of `time.monotonic`, and the processor time of the thread.
    """

    end: float = math.inf
    started: float = -math.inf
    worked: float = 0.0

    @classmethod
    def after(cls, seconds: float | None) -> Self:
        """Start the clock now; None for no limit."""
        started = time.monotonic()
        return cls(math.inf if seconds is None else started + seconds, started, time.thread_time())

    @property
    def is_set(self) -> bool:
        """Whether there is a limit at all."""
        return self.end < math.inf

    @property
    def passed(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self.end

    @property
    def left(self) -> float:
        """Seconds that are left; 0 where the time is over, infinite without a limit."""
        return max(0.0, self.end - time.monotonic())

    @property
    def slowness(self) -> float:
        """How many times longer work takes than on an idle machine: time that passed for each second of work."""
        worked = time.thread_time() - self.worked
        if not self.is_set or worked < _ENOUGH:
            return 1.0
        return min(_SLOWEST, max(1.0, (time.monotonic() - self.started) / worked))

    @property
    def room(self) -> float:
        """Seconds of work, as on an idle machine, that fit into the time that is left."""
        return self.left / self.slowness

    def part(self, share: float) -> Self:
        """Return the deadline at which a share of the time that is left now is over."""
        return replace(self, end=time.monotonic() + share * self.left) if self.is_set else self

    def before(self, work: float) -> Self:
        """Return the deadline that leaves time for so many seconds of work, as on an idle machine."""
        return replace(self, end=self.end - work * self.slowness) if self.is_set else self


NEVER = Deadline()
"""No limit."""
