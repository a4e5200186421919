"""How sure a choice is, and why it should be doubted, in numbers and in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newfound.counting import share_text
from newfound.selection.chooser import N_BEST
from newfound.selection.hidden_classes import FEWEST_KNOWN
from newfound.selection.learned_chooser import LearnedChoice
from newfound.selection.n_classes import NClassesEstimate
from newfound.selection.portfolio import holds_holes
from newfound.selection.ranking import Ranking
from newfound.tables.task import DiscoveryTask

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

_FEW_ROWS = 10  # unlabelled rows for each novel class
_UNSURE = 0.5
_LITTLE_TRUST = 0.2
_WIDE = 1.0  # width of the interval for the number of classes, as a share of the number, from which on it is doubtful
_LESS_APART = 0.1  # share of edges within classes by which the novel ones may stay behind the hidden ones
_ENOUGH_TRAINING = 0.5  # share of the epochs
_ENDED_EARLY = "the training of the networks ended early; allow more time"
_FOUND_BY_ALL = 0.9  # mean hidden accuracy from which on it matters little which candidate is chosen


@dataclass(frozen=True, eq=False)
class Judgement:
    """How far to trust novel classes.

    Attributes
    ----------
    confidence : float
        From 0 to 1: how far the best candidates agree with the classes that were found.
    class_confidence : ndarray of shape (n_novel,)
        The same for each class.
    weaknesses : list of str
        Why the result should be doubted; empty where nothing speaks against it.
    """

    confidence: float
    class_confidence: Floats
    weaknesses: list[str]


def judge(
    ranking: Ranking,
    found: Codes,
    n_novel: int,
    *,
    n_known: int,
    estimate: NClassesEstimate | None,
    trained: float,
) -> Judgement:
    """Judge the choice of the novel classes that were found.

    Parameters
    ----------
    ranking : Ranking
    found : ndarray of shape (n,), int64
        Novel class of each unlabelled row that took part in the choice.
    n_novel, n_known : int
    estimate : NClassesEstimate or None
        Where the number of novel classes was estimated. Candidates cannot disagree about one class, so the confidence
        in it is the probability that it is one.
    trained : float
        Share of the planned training that took place.
    """
    judges = ranking.partitions[:N_BEST]
    class_confidence = np.array([_overlap(found == j, judges) for j in range(n_novel)])
    shares = np.bincount(found, minlength=n_novel) / max(1, len(found))
    if n_novel == 1 and estimate is not None:
        class_confidence = np.array([estimate.curve[0]["combined"]])
    confidence = min(1.0, float(shares @ class_confidence)) if n_novel else 1.0  # shares are rounded
    weaknesses: list[str] = []
    if n_novel:
        if n_novel > 1:
            weaknesses += _doubts_of_the_choice(ranking, n_known, confidence)
        if trained < _ENOUGH_TRAINING:
            weaknesses.append(_ENDED_EARLY)
    return Judgement(confidence, class_confidence, weaknesses)


def judge_learned(choice: LearnedChoice, found: Codes, compared: DiscoveryTask, *, trained: float) -> Judgement:
    """Judge novel classes where the learned selector chose.

    Parameters
    ----------
    choice : LearnedChoice
    found : ndarray of shape (n,), int64
        Novel class of each row on which candidates were compared.
    compared : DiscoveryTask
        These rows.
    trained : float
        Share of the planned training that took place.

    Returns
    -------
    Judgement
        Its confidence is the chance that more than four in five rows are in the right class.
    """
    confidence = choice.jury.confidence(found)
    weaknesses = []
    if holds_holes(found[None], compared.rows, compared.layout, compared.n_novel)[0]:
        weaknesses.append("a novel class consists almost only of rows in which one column is empty")
    if confidence < _UNSURE:
        told = "the chance that more than four in five rows are right is"
        weaknesses.append(f"{told} {share_text(confidence)}, judged by synthetic tables")
    if trained < _ENOUGH_TRAINING:
        weaknesses.append(_ENDED_EARLY)
    return Judgement(confidence, choice.jury.class_confidence(found), weaknesses)


def doubts_of_the_numbers(n_rows: int, n_novel: int, estimate: NClassesEstimate | None) -> Iterator[str]:
    """Say what speaks against so many novel classes among so many unlabelled rows.

    Parameters
    ----------
    n_rows, n_novel : int
        Unlabelled rows, and novel classes among them.
    estimate : NClassesEstimate or None
        Where the number of novel classes was estimated.
    """
    if n_rows < _FEW_ROWS * n_novel:
        rows, classes = (
            f"{n_rows} unlabelled row{'s' * (n_rows != 1)}",
            f"{n_novel} novel class{'es' * (n_novel != 1)}",
        )
        yield f"there {'is' if n_rows == 1 else 'are'} only {rows} for {classes}"
    if estimate is not None:
        yield from estimate.doubts
        low, high = estimate.interval
        if high - low > _WIDE * n_novel and n_novel > 1:  # its own doubts say so of one class
            yield f"the number of novel classes is uncertain: from {low} to {high} are plausible"


def _doubts_of_the_choice(ranking: Ranking, n_known: int, confidence: float) -> Iterator[str]:
    evidence = ranking.evidence
    if n_known <= FEWEST_KNOWN:
        yield (
            f"there {'is' if n_known == 1 else 'are'} only {n_known} known class{'es' * (n_known != 1)}, too few "
            "to test the candidates on hidden classes"
        )
    elif not evidence.n_folds:
        yield "there were too few rows, or too little time, to test the candidates on hidden classes"
    elif (
        evidence.trust_in_information + evidence.trust_in_accuracy < _LITTLE_TRUST
        and np.mean(list(evidence.accuracy.values())) < _FOUND_BY_ALL
    ):
        yield "the known classes say little about how the novel ones differ"
    if evidence.n_folds and ranking.within < evidence.within - _LESS_APART:
        here, there = share_text(ranking.within), share_text(evidence.within)
        yield (
            f"the novel classes are less apart than the known ones ({here} of the nearest rows are of the same class, "
            f"{there} for known classes), and may cut through larger ones"
        )
    if ranking.is_holes:
        yield "a novel class consists almost only of rows in which one column is empty"
    if confidence < _UNSURE:
        yield f"the best candidates disagree (confidence {confidence:.2f})"


def _overlap(inside: NDArray[np.bool_], judges: Codes) -> float:
    """Mean over partitions of the overlap of a class, given by its rows, with the most similar class there."""
    overlaps = []
    for partition in judges:
        shared = np.bincount(partition[inside], minlength=partition.max(initial=0) + 1)
        joint = np.bincount(partition, minlength=len(shared)) + inside.sum() - shared
        overlaps.append(float((shared / np.maximum(1, joint)).max()))
    return float(np.mean(overlaps))
