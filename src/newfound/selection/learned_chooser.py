"""The chooser for tables that the in-context network can look at: a selector learned on synthetic tasks decides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from newfound.deadline import Deadline
from newfound.incontext.look import context_rows, seconds_for
from newfound.learning.machine import one_thread
from newfound.learning.progress import Progress
from newfound.selection.candidates import Scene, make_candidates
from newfound.selection.jury import Jury
from newfound.selection.looking import can_look, look_at, spread
from newfound.selection.selector import load_selector
from newfound.tables.task import DiscoveryTask

Codes = NDArray[np.int64]

# Of larger tables the network sees too little: on MNIST it chose by 450 of 30,000 rows, and was 30 points worse than
# what graphs of many rows find.
_LEAST_SEEN = 0.5  # share of the unlabelled rows
_N_VIEWS = 2  # as many as InContextDiscoverer has
_TIME_FOR_LOOK, _TIME_FOR_CANDIDATES = 0.3, 0.6  # shares of the time that is left


@dataclass(frozen=True, eq=False)
class LearnedChoice:
    """A partition of the unlabelled rows, and who can judge it.

    Attributes
    ----------
    partition : ndarray of shape (n_unlabelled,), int64
        Novel class of each unlabelled row.
    jury : Jury
        Judges partitions of the rows `compared`.
    compared : ndarray of int
        Numbers of the rows, unlabelled all of them, on which candidates were compared.
    """

    partition: Codes
    jury: Jury
    compared: NDArray[np.intp]


@dataclass(frozen=True)
class LearnedChooser:
    """Makes few candidates, with the network and without, and has the selector choose among them.

    Attributes
    ----------
    device : torch.device
    verbose : int
        1 shows a progress bar.
    deadline : Deadline
        At which the whole fit has to end.
    """

    device: torch.device
    verbose: int
    deadline: Deadline

    def choose(self, task: DiscoveryTask, rng: np.random.RandomState) -> LearnedChoice | None:
        """Choose a partition of the unlabelled rows of a task; None where the network cannot see enough in time.

        Nothing is drawn from the generator then.
        """
        free = np.flatnonzero(task.codes < 0)
        if task.n_novel < 2 or not can_look(task):
            return None
        state = rng.get_state()
        seen = context_rows(task, rng, seconds=_TIME_FOR_LOOK * self.deadline.room)
        shown = seen[task.codes[seen] < 0]
        too_few = len(shown) < max(task.n_novel + 2, _LEAST_SEEN * len(free))
        if too_few or seconds_for(len(seen), task.layout) > self.deadline.room:
            rng.set_state(state)
            return None
        with Progress(3, self.verbose) as progress:
            progress.announce("looking at the table")
            found = look_at(task, seen, rng, n_views=_N_VIEWS, device=self.device)
            scene = Scene(task.rows[seen], task.codes[seen], task.layout, task.n_novel, found)
            progress.advance()
            progress.announce("making candidates")
            with one_thread():  # of samples so small, threads that wait for each other take twice the time
                candidates = make_candidates(scene, rng, load_selector().plan, self.deadline.part(_TIME_FOR_CANDIDATES))
                progress.advance()
                progress.announce("choosing")
                jury = Jury.of(scene, candidates)
            seed = int(rng.randint(2**31 - 1))
            partition = spread(task, shown, np.eye(task.n_novel)[jury.partitions[0]], seed).argmax(axis=1)
            progress.advance()
        return LearnedChoice(partition, jury, shown)
