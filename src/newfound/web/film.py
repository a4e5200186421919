"""The map while networks learn: where rows would lie after some of the epochs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from newfound.progress import Step
from newfound.reporting.layout import Places, place_among

if TYPE_CHECKING:
    from newfound.web.opened import Opened

_MOST_FRAMES = 12
_MOST_WEIGHTS = 4_000_000  # of networks of which copies are kept
_LANDMARKS = 3_000
_WIDTH = 10_000


class Film:
    """Copies of networks after some epochs, about as far apart, however many there will be.

    Attributes
    ----------
    frames : list of (int, FittedNetworks)
        Number of epochs so far, and the networks after them.
    """

    def __init__(self) -> None:
        self.frames: list[tuple[int, Any]] = []
        self._n_epochs, self._every = 0, 1

    def watch(self, step: Step) -> None:
        """Take a frame after an epoch, if it is time for one."""
        if step.record is None or step.networks is None:
            return
        self._n_epochs += 1
        if self._n_epochs % self._every:
            return
        networks = step.networks()
        if sum(weights.numel() for weights in networks.network.parameters()) > _MOST_WEIGHTS:
            return
        self.frames.append((self._n_epochs, networks))
        if len(self.frames) > _MOST_FRAMES:
            self.frames, self._every = self.frames[1::2], 2 * self._every

    def developed(self, opened: Opened, places: Places, rng: np.random.RandomState) -> list[dict[str, Any]]:
        """Return each frame as the map draws it: a row lies where the trained networks have rows that look like it.

        Parameters
        ----------
        opened : Opened
            The run when it has ended.
        places : Places
            Where its rows lie on the map.
        """
        rows = opened.reading.rows
        last = opened.model.transform(opened.reading)
        some = np.sort(rng.permutation(len(rows))[:_LANDMARKS])
        frames = []
        for epoch, networks in self.frames:
            latent = networks.latent(rows)
            if latent.shape == last.shape:
                points = (place_among(last[some], places.points[some], latent, rng) * _WIDTH).round().astype(int)
                frames.append({"epoch": epoch, "x": points[:, 0].tolist(), "y": points[:, 1].tolist()})
        return frames
