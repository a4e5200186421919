"""A benchmark, loaded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from newfound.datasets import Dataset
from newfound_lab.datasets.registry import Benchmark

__all__ = ["BenchmarkDataset"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BenchmarkDataset(Dataset):
    """A dataset that knows which benchmark it is.

    Attributes
    ----------
    benchmark : Benchmark
        Where the rows come from: file, classes, split, regime, whether scores may be reported. It says what was
        loaded, which can differ from the registry: "paper, other rows", for one, where the paper's rows are not known.
    """

    benchmark: Benchmark

    @property
    def scoreable(self) -> bool:
        """Whether scores on these rows mean anything; False for a sample that only exercises the loader."""
        return self.benchmark.scoreable

    @property
    def reduced(self) -> bool:
        """Whether columns of the paper's table are missing here, so that scores do not compare with the paper's."""
        paper = self.benchmark.paper
        return paper is not None and len(self.kinds) < paper.attributes

    def resplit(self, number: int) -> Self:
        """Return the same rows with other known and novel classes; see :meth:`newfound.datasets.Dataset.resplit`.

        A benchmark whose rule for rows looks at the classes (census) keeps the rows of its own split too.
        """
        other = super().resplit(number)
        if other is self:
            return self
        known, novel = tuple(other.known_classes.tolist()), tuple(other.novel_classes.tolist())
        return replace(other, benchmark=replace(self.benchmark, known=known, novel=novel, regime=other.regime))

    def __repr__(self) -> str:
        note = "" if self.scoreable else "\n  a sample: no score may be reported on these rows"
        return super().__repr__() + note
