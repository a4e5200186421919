"""`newfound demo`: hide half of the digits, find them again, and show how well that went."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.errors import InputError, TrainingInterrupted, WeakEvidence
from newfound.extras import is_installed, missing_extra

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from newfound.datasets import Dataset

PICTURE = "latent-space.png"

_SCORES = ("bacc", "acc", "nmi", "ari")
_MEMBERS = 10


@dataclass(frozen=True)
class Result:
    """What one discoverer reached.

    Attributes
    ----------
    name : str
    model : discoverer
        Fitted.
    found : ndarray of shape (n_test,)
        Its novel class for each test row, also for rows of known classes, where it means nothing.
    scores : dict of str to float
        On the test rows of hidden digits.
    seconds : float
        Time of ``fit``.
    """

    name: str
    model: Any
    found: NDArray[Any]
    scores: dict[str, float]
    seconds: float


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture; made if it is not there.")] = Path("newfound-demo"),
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of every random choice.")] = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="Train for a moment only: shows that all works, but scores say little.")
    ] = False,
) -> None:
    """Hide half of the digits, and find them again.

    Uses scikit-learn's digits; prints scores, and draws the latent space before and after training.
    """
    from rich.console import Console

    from newfound.learning.machine import one_thread

    console = Console(highlight=False)
    with_picture = is_installed("matplotlib")
    if with_picture:
        _make_folder(out)
    with console.status("Loading the digits") as status, one_thread():
        import newfound as nf

        digits = nf.datasets.load("digits")
        console.print(_introduction(digits), soft_wrap=True)
        _warm_up()
        results = []
        for name, model in _discoverers(digits, seed, quick=quick):
            status.update(f"{name} is learning")
            results.append(_result(name, model, digits))
        console.print(_table(results))
        console.print(_conclusion(results[-1], digits), soft_wrap=True)
        if with_picture:
            status.update("Drawing the latent space")
            _draw(out / PICTURE, results, digits, seed)
    if with_picture:
        console.print(f"The latent space before and after training: {out / PICTURE}", markup=False, soft_wrap=True)
    else:
        console.print(missing_extra("matplotlib", "The picture"), markup=False, soft_wrap=True)


def _make_folder(out: Path) -> None:
    """Make the folder before the work, so that a mistake in its name costs no time."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"Got --out {out}, which cannot be made: {error.strerror}. Choose another folder.") from None


def _warm_up() -> None:
    """Train something tiny, so that no discoverer's time includes what torch loads for its first step."""
    import newfound as nf

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakEvidence)
        nf.ClassifierProjection(1, epochs=1, random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, -1, -1])


def _discoverers(digits: Dataset, seed: int, *, quick: bool) -> Iterator[tuple[str, Any]]:
    import newfound as nf

    common: dict[str, Any] = {
        "n_novel_classes": len(digits.novel_classes),
        "encoder": digits.encoder(),
        "random_state": seed,
    }
    shorter: dict[str, Any] = {"epochs": 2, "pretrain_epochs": 1} if quick else {}
    yield "k-means", nf.KMeansDiscoverer(**common)
    yield "baseline (ClassifierProjection)", nf.ClassifierProjection(**common, epochs=2 if quick else 50)
    yield "TabularNCD", nf.TabularNCD(**common, **shorter)
    yield f"TabularNCD, {_MEMBERS} members", nf.TabularNCD(**common, **shorter, n_members=_MEMBERS)


def _result(name: str, model: Any, digits: Dataset) -> Result:
    from newfound.metrics import novel_scores

    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingInterrupted)  # Ctrl-C should end the demo, not spoil its table
        warnings.simplefilter("ignore", WeakEvidence)  # the table of scores says more
        model.fit(digits.X_train, _with_text_labels(digits))
    seconds = time.perf_counter() - start
    found = model.predict_novel(digits.X_test)
    hidden = digits.test_novel
    return Result(name, model, found, novel_scores(digits.y_test[hidden], found[hidden]), seconds)


def _with_text_labels(digits: Dataset) -> NDArray[Any]:
    """Training labels as text, so that novel classes are called novel_0, ... and not like a digit."""
    labels = digits.y_train.astype(str).astype(object)
    labels[digits.train_novel] = None
    return labels


# ---- what is printed


def _introduction(digits: Dataset) -> str:
    n_hidden, n_scored = int(digits.train_novel.sum()), int(digits.test_novel.sum())
    return (
        f"\nHandwritten digits from scikit-learn: {len(digits.y_train) + len(digits.y_test):,} images, as a table of "
        f"{len(digits.kinds)} columns.\n"
        f"The labels of {_listed(digits.novel_classes)} are hidden. Discoverers learn from {len(digits.y_train):,} "
        f"training rows, {n_hidden} of them unlabelled,\nand must find {len(digits.novel_classes)} novel classes.\n"
        f"Scores: {n_scored} test rows of the hidden digits, which no discoverer has seen. Hidden labels serve the "
        "scores alone.\n"
    )


def _listed(classes: NDArray[Any]) -> str:
    *first, last = [str(label) for label in classes]
    return f"{', '.join(first)} and {last}"


def _table(results: list[Result]) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, caption="in percent, higher is better; best in bold", caption_justify="left")
    table.add_column("discoverer", no_wrap=True)
    for score in _SCORES:
        table.add_column(score.upper(), justify="right")
    table.add_column("seconds", justify="right")
    best = {score: max(f"{100 * result.scores[score]:5.1f}" for result in results) for score in _SCORES}
    for result in results:
        shown = {score: f"{100 * result.scores[score]:5.1f}" for score in _SCORES}
        cells = [f"[bold green]{text}[/]" if text == best[score] else text for score, text in shown.items()]
        table.add_row(result.name, *cells, f"{result.seconds:.1f}")
    return table


def _conclusion(result: Result, digits: Dataset) -> str:
    """Say in words what a discoverer found."""
    import numpy as np

    known = ~digits.test_novel
    recognised = np.mean(result.model.predict(digits.X_test)[known] == digits.y_test[known].astype(str))
    found = [
        f"  {name} is mostly {majority} ({n_majority} of {n} rows)"
        for name, majority, n_majority, n in _majorities(result, digits)
    ]
    return "\n".join(
        [
            f"What they are, according to {result.name}:",
            *found,
            f"Of the test rows of known digits, {100 * recognised:.1f} % are predicted as what they are.\n",
        ]
    )


def _majorities(result: Result, digits: Dataset) -> Iterator[tuple[str, str, int, int]]:
    """For each novel class: its name, its most frequent digit, how many rows are that digit, and all its rows."""
    import numpy as np

    hidden = digits.test_novel
    for name in result.model.novel_classes_:
        truth = digits.y_test[hidden & (result.found == name)]
        labels, counts = np.unique(truth, return_counts=True)
        if len(truth):
            yield str(name), str(labels[counts.argmax()]), int(counts.max()), len(truth)


# ---- what is drawn


def _draw(path: Path, results: list[Result], digits: Dataset, seed: int) -> None:
    from newfound.pictures.latent import DrawnClass, Panel, map_to_plane, write_latent_picture

    kmeans, result = results[0], results[-1]
    hidden, truth = digits.test_novel, digits.y_test.astype(str)
    classes = [
        DrawnClass(f"known: {label}", str(label), digits.y_test == label, novel=False) for label in digits.known_classes
    ]
    misplaced: NDArray[np.bool_] = hidden.copy()
    for name, majority, _, _ in _majorities(result, digits):
        rows = hidden & (result.found == name)
        classes.append(DrawnClass(f"{name} (mostly {majority})", name, rows, novel=True))
        misplaced &= ~(rows & (truth == majority))
    panels = [
        Panel(
            "Before training",
            f"the table itself; k-means gets {100 * kmeans.scores['acc']:.0f} % of the hidden digits right",
            map_to_plane(kmeans.model.transform(digits.X_test), random_state=seed),
        ),
        Panel(
            "After training",
            f"the latent space; TabularNCD gets {100 * result.scores['acc']:.0f} % right",
            map_to_plane(result.model.transform(digits.X_test), random_state=seed),
        ),
    ]
    write_latent_picture(
        path,
        panels,
        classes,
        title=f"Digits {_listed(digits.novel_classes)} had no labels; colours show what was found",
        footnote=f"test rows, laid out by t-SNE; novel classes by {result.name}",
        ringed=misplaced,
        ringed_name="in a novel class that is mostly another digit",
    )
