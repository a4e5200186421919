"""The chooser: a partition of the unlabelled rows, chosen without any novel label."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from newfound.deadline import Deadline
from newfound.learning.machine import one_thread
from newfound.learning.progress import Progress
from newfound.records import Records
from newfound.selection.evidence import Evidence, gather_evidence
from newfound.selection.portfolio import build_portfolio
from newfound.selection.ranking import Ranking, rank, remake
from newfound.tables.sampling import sample_of_each
from newfound.tables.task import DiscoveryTask

Codes = NDArray[np.int64]

N_TASKS = 6
"""Times that known classes are hidden."""
N_BEST = 4
"""Candidates that are made anew with more rows, and whose agreement is the confidence."""

_PORTFOLIO_ROWS = 3_000
_FEWEST_ROWS = 300
# Shares of the time that is left; what follows the choice gets the rest.
_TIME_FOR_PORTFOLIO, _TIME_FOR_EVIDENCE = 0.2, 0.3
_PORTFOLIO_SECONDS = 6.0  # of one slow core, for so many rows


@dataclass(frozen=True, eq=False)
class Choice:
    """A partition of the unlabelled rows, and why it was chosen.

    Attributes
    ----------
    partition : ndarray of shape (n_unlabelled,), int64
        Novel class of each unlabelled row.
    by_network : bool
        Whether it is as the in-context network made it.
    ranking : Ranking
        The candidates.
    compared : ndarray of int
        Numbers of the rows, labelled or not, with which the candidates were made.
    """

    partition: Codes
    by_network: bool
    ranking: Ranking
    compared: NDArray[np.intp]

    @property
    def gains_by_sharpening(self) -> bool:
        """Whether mutual information may sharpen the partition.

        It evens out the sizes of classes, which spoils clean ones of very different sizes; and a partition that the
        network made against the information of the graphs would lose by it what it is better in.
        """
        against_information = self.by_network and self.ranking.tells_less_than_second
        return not self.ranking.is_lopsided and not against_information


@dataclass(frozen=True)
class Chooser:
    """Makes a portfolio of partitions, hides known classes to see which candidates find them, and chooses.

    Attributes
    ----------
    device : torch.device
    verbose : int
        1 shows a progress bar.
    deadline : Deadline
        At which the whole fit has to end; the choice takes about half of what is left.
    """

    device: torch.device
    verbose: int
    deadline: Deadline

    def choose(self, task: DiscoveryTask, rng: np.random.RandomState) -> Choice:
        """Choose a partition of the unlabelled rows of a task."""
        n_unlabelled = int((task.codes < 0).sum())
        if task.n_novel < 2 or min(n_unlabelled, _PORTFOLIO_ROWS) < task.n_novel + 2:
            return _nothing_to_choose(task, n_unlabelled)
        seconds = _TIME_FOR_PORTFOLIO * self.deadline.room
        fewest = max(_FEWEST_ROWS, 2 * (task.n_novel + 2))
        some = sample_of_each(task.codes, rows_for(seconds, _PORTFOLIO_SECONDS, _PORTFOLIO_ROWS, fewest), rng)
        with Progress(N_TASKS + 2, self.verbose) as progress:
            ranking = self._rank(task, some, rng, progress)
            progress.announce("making the best anew")
            partition, by_network = self._remake(task, some, ranking, rng)
            progress.advance()
        return Choice(partition, by_network, ranking, some)

    def _rank(
        self, task: DiscoveryTask, some: NDArray[np.intp], rng: np.random.RandomState, progress: Progress
    ) -> Ranking:
        """Rank the candidates that a sample of the rows gives."""
        begin = time.monotonic()
        sampled: dict[str, Any] = {"rows": task.rows[some], "codes": task.codes[some]}
        with one_thread():  # of samples so small, threads that wait for each other take twice the time
            progress.announce("making candidates")
            until = self.deadline.part(_TIME_FOR_PORTFOLIO)
            portfolio = build_portfolio(**sampled, layout=task.layout, n_classes=task.n_novel, rng=rng, deadline=until)
            progress.advance()
        progress.announce("hiding known classes")
        evidence = gather_evidence(
            task.rows,
            task.codes,
            task.layout,
            task.n_novel,
            rng,
            n_tasks=N_TASKS,
            names=portfolio.names if until.passed else None,
            deadline=self.deadline.part(_TIME_FOR_EVIDENCE),
            seconds_each=time.monotonic() - begin,
            on_task=progress.advance,
        )
        return rank(portfolio, evidence, rng)

    def _remake(
        self, task: DiscoveryTask, some: NDArray[np.intp], ranking: Ranking, rng: np.random.RandomState
    ) -> tuple[Codes, bool]:
        """Make the best candidates anew with all unlabelled rows; as `remake`."""
        many = (task.codes < 0) | np.isin(np.arange(len(task.codes)), some)
        return remake(
            ranking,
            task.rows[many],
            task.codes[many],
            task.layout,
            task.n_novel,
            rng,
            shared=np.searchsorted(np.flatnonzero(task.codes < 0), some[task.codes[some] < 0]),
            # With a time limit there is one graph of many rows, not one for each of several representations.
            n_best=1 if self.deadline.is_set else N_BEST,
            device=self.device,
        )


def rows_for(seconds: float, of_most: float, most: int, fewest: int) -> int:
    """Return how many rows work of so many seconds may have, if it takes ``of_most`` seconds for ``most`` rows."""
    return most if seconds >= of_most else max(min(fewest, most), int(most * seconds / of_most))


def _nothing_to_choose(task: DiscoveryTask, n_unlabelled: int) -> Choice:
    """One class, or a class for each row."""
    partition = np.arange(n_unlabelled) % max(1, task.n_novel)
    ranking = Ranking(partition[None], [], np.empty(0), 1.0, False, False, Evidence(), Records())
    return Choice(partition, False, ranking, np.arange(len(task.rows)))
