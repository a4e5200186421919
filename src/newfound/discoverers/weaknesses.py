"""Why the result of a fit should be doubted: what can be said of every discoverer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from newfound.counting import counted, share_text
from newfound.discoverers.fitted import Codes, Discovery, Floats
from newfound.discoverers.preparation import Preparation
from newfound.selection.n_classes import NClassesEstimate

LOW_STABILITY = 0.6  # overlap of a class with that of the members, or of other samples, below which they disagree
_FEW_ROWS = 10  # unlabelled rows for each novel class
_WIDE = 1.0  # width of the interval for the number of classes, as a share of the number, from which on it is doubtful
_MANY = 0.05  # share of the unlabelled rows that look like known classes from which on a reader should know
_MOST_ROWS = 2_000  # unlabelled rows of which it is asked whether they look like known classes


def weaknesses_of(prepared: Preparation, discovery: Discovery) -> list[str]:
    """Say why the novel classes of a fit should be doubted.

    Parameters
    ----------
    prepared : Preparation
        What the discoverer learned from.
    discovery : Discovery
        What it found; its fact ``weaknesses_``, where it has one, is what this kind of discoverer says itself.

    Returns
    -------
    list of str
        Reasons; empty where nothing speaks against the result, and where there was nothing to find.
    """
    task = prepared.task
    if not task.n_novel:
        return []
    return [
        *doubts_of_the_numbers(len(discovery.found), task.n_novel, prepared.estimate),
        *discovery.facts.get("weaknesses_", ()),
        *_doubts_of_the_members(discovery, task.n_novel),
        *_doubts_of_the_labelling(prepared),
        # Where the router said which rows are of known classes, nobody asks the discoverer.
        *(_doubts_of_the_rows(prepared, discovery) if prepared.routed is None else ()),
    ]


def member_agreement(found: Codes, member_found: Codes, n_novel: int) -> Floats:
    """Return how far the members find each novel class themselves: the mean overlap of rows.

    Parameters
    ----------
    found : ndarray of shape (n,), int64
        Novel class of each unlabelled row.
    member_found : ndarray of shape (n_members, n), int64
        The same according to each member alone.
    n_novel : int

    Returns
    -------
    ndarray of shape (n_novel,)
        From 0 to 1; 1 for a class that nobody finds.
    """
    ours = found == np.arange(n_novel)[:, None]
    theirs = member_found[:, None, :] == np.arange(n_novel)[None, :, None]
    either = (ours | theirs).sum(axis=2)
    both = (ours & theirs).sum(axis=2)
    overlap: Floats = np.where(either > 0, both / np.maximum(1, either), 1.0).mean(axis=0)
    return overlap


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
        rows, classes = counted(n_rows, "unlabelled row"), counted(n_novel, "novel class", "novel classes")
        yield f"there {'is' if n_rows == 1 else 'are'} only {rows} for {classes}"
    if estimate is not None:
        yield from estimate.doubts
        low, high = estimate.interval
        if high - low > _WIDE * n_novel and n_novel > 1:  # its own doubts say so of one class
            yield f"the number of novel classes is uncertain: from {low} to {high} are plausible"


def _doubts_of_the_members(discovery: Discovery, n_novel: int) -> Iterator[str]:
    members = discovery.member_found
    if members is None or len(members) < 2:
        return
    n_low = int((member_agreement(discovery.found, members, n_novel) < LOW_STABILITY).sum())
    if n_low:
        which = "the novel class" if n_novel == 1 else f"{n_low} of the {n_novel} novel classes"
        yield f"the members disagree about {which}"


def _doubts_of_the_labelling(prepared: Preparation) -> Iterator[str]:
    if prepared.separating is not None:
        yield (
            f"column {prepared.separating!r} alone tells labelled from unlabelled rows: if it says when, where or how "
            "rows were collected, the novel classes may show no more than that; leave it out and compare"
        )


def _doubts_of_the_rows(prepared: Preparation, discovery: Discovery) -> Iterator[str]:
    rows, n_known = prepared.task.unlabelled_rows, prepared.task.n_known
    if not n_known:
        return
    some = rows[:: -(-len(rows) // _MOST_ROWS)]
    share = float((discovery.state.proba(some).argmax(axis=1) < n_known).mean())
    if share > _MANY:
        cure = (
            "; if some may be of these, have known and novel rows told apart (unlabelled='auto')"
            if prepared.routing is None
            else ""
        )
        yield f"{share_text(share)} of the unlabelled rows look like known classes{cure}"
