"""An animation of a discovery: rows on a map move to where a model puts them, and grey rows become novel classes.

``python -m newfound_lab.pictures.discovery docs/images/discovery.gif`` draws the one of the README: half of
scikit-learn's digits have no label, and AutoDiscoverer finds them. It takes about a minute.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.pictures.style import INK, MUTED_INK, NOVEL_COLOURS
from newfound.writing import replacing

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_SIZE = (7.2, 3.8)  # inches
_DPI = 100
_N_COLOURS = 48
_UNLABELLED, _KNOWN = "#9aa5af", "#dfe6ec"
_STEPS = 9  # between the first and the last picture
_FIRST, _STEP, _LAST = 2_600, 90, 5_200  # milliseconds


@dataclass(frozen=True)
class Discovery:
    """What an animation shows.

    Attributes
    ----------
    before, after : ndarray of shape (n, 2)
        Places of the rows, on a map of the table and on one of the model's representation.
    codes : ndarray of shape (n,), int64
        Classes: known ones from 0 on, then the novel ones.
    n_known : int
    names : sequence of str
        A name for each class.
    images : ndarray of shape (n_novel, height, width), optional
        A picture of each novel class, drawn beside it.
    """

    before: Floats
    after: Floats
    codes: Codes
    n_known: int
    names: Sequence[str]
    images: Floats | None = None


def draw_discovery(path: Path, found: Discovery, captions: tuple[str, str]) -> None:
    """Write an animation as a GIF file.

    Parameters
    ----------
    path : Path
    found : Discovery
    captions : tuple of two str
        What is written above the first and the last picture.
    """
    from PIL import Image

    shares = [0.0, *(np.linspace(0, 1, _STEPS + 2)[1:-1] ** 2 * (3 - 2 * np.linspace(0, 1, _STEPS + 2)[1:-1])), 1.0]
    pictures = [Image.open(io.BytesIO(_frame(found, float(share), captions))).convert("RGB") for share in shares]
    # One palette for all of them, from the two that have every colour between them.
    both = Image.new("RGB", (pictures[0].width, 2 * pictures[0].height))
    both.paste(pictures[0], (0, 0))
    both.paste(pictures[-1], (0, pictures[0].height))
    palette = both.quantize(_N_COLOURS, method=Image.Quantize.MEDIANCUT)
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    seconds = [_FIRST, *[_STEP] * _STEPS, _LAST]
    data = io.BytesIO()
    frames[0].save(data, "GIF", save_all=True, append_images=frames[1:], duration=seconds, loop=0, optimize=True)
    with replacing(path) as fresh:
        fresh.write_bytes(data.getvalue())


def _frame(found: Discovery, share: float, captions: tuple[str, str]) -> bytes:
    """Draw the picture at a share of the way; returns a PNG file."""
    from matplotlib import rc_context, style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with style.context("default"), rc_context({"font.family": "DejaVu Sans"}):
        figure = Figure(figsize=_SIZE, dpi=_DPI, facecolor="white")
        FigureCanvasAgg(figure)
        place = figure.add_axes((0.0, 0.0, 1.0, 0.86))
        place.set_axis_off()
        places = (1 - share) * _scaled(found.before) + share * _scaled(found.after)
        is_known = found.codes < found.n_known
        place.scatter(places[is_known, 0], places[is_known, 1], s=9, c=_KNOWN, linewidths=0)
        colours = _colours(found, share)[~is_known]
        place.scatter(places[~is_known, 0], places[~is_known, 1], s=9, c=colours, linewidths=0)
        place.set(xlim=(-0.04, 1.1), ylim=(-0.06, 1.22))
        _write_names(place, found, places, share)
        figure.text(0.02, 0.93, captions[share > 0], size=11.5, weight="bold", color=INK, va="center")
        data = io.BytesIO()
        figure.savefig(data, format="png")
    return data.getvalue()


def _write_names(place: Any, found: Discovery, places: Floats, share: float) -> None:
    """Name the known classes in every picture, and the novel ones, with their images, in the last."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    for code, name in enumerate(found.names):
        middle = np.median(places[found.codes == code], axis=0)
        if code < found.n_known:
            place.text(*middle, name, size=13, weight="bold", color=MUTED_INK, ha="center", va="center")
        elif share == 1:
            side = _freer_side(middle, places)
            if found.images is not None:
                image = OffsetImage(found.images[code - found.n_known], zoom=3.0, cmap="Greys")
                look = {"boxstyle": "square,pad=0.15", "edgecolor": _colour(code - found.n_known), "linewidth": 2}
                box = AnnotationBbox(image, tuple(middle), (0, 31 * side), boxcoords="offset points", bboxprops=look)
                place.add_artist(box)
            look = {"size": 9, "color": INK, "ha": "center", "va": "center"}
            place.annotate(name, tuple(middle), (0, 52 * side), textcoords="offset points", **look)


def _freer_side(middle: Floats, places: Floats) -> int:
    """Say where an image beside the middle of a class hides fewer rows: above it (1, also if equal) or below (-1)."""
    across, along = np.abs(places - middle)[:, 0] < 0.04, places[:, 1] - middle[1]
    above, below = (int((across & (side * along > 0.06) & (side * along < 0.25)).sum()) for side in (1, -1))
    fits_below = middle[1] > 0.25
    return -1 if below < above and fits_below else 1


def _scaled(places: Floats) -> Floats:
    low, high = places.min(axis=0), places.max(axis=0)
    scaled: Floats = (places - low) / (high - low)
    return scaled


def _colour(novel: int) -> str:
    return NOVEL_COLOURS[novel % len(NOVEL_COLOURS)]


def _colours(found: Discovery, share: float) -> Floats:
    """Colours between grey and that of the novel class; shape (n, 3)."""
    from matplotlib.colors import to_rgb

    n_novel = len(found.names) - found.n_known
    novel = np.array([to_rgb(_colour(i)) for i in range(n_novel)])
    ends = novel[np.maximum(found.codes - found.n_known, 0)]
    mixed: Floats = (1 - share) * np.array(to_rgb(_UNLABELLED)) + share * ends
    return mixed


def digits() -> Discovery:
    """Find the digits without a label, and lay the rows out on two maps."""
    from scipy.spatial import procrustes
    from sklearn.manifold import TSNE

    import newfound as nf

    data = nf.datasets.load("digits")
    pixels = np.asarray(data.X_train, dtype=np.float64)
    model = nf.AutoDiscoverer(random_state=0).fit(data.X_train, data.y_train)
    before, after = (
        TSNE(random_state=0, init="pca").fit_transform(rows).astype(np.float64)
        for rows in (pixels, model.transform(data.X_train))
    )
    before, after, _ = procrustes(before, after)  # turned and mirrored so that rows move as little as possible
    codes = np.searchsorted(model.classes_, model.labels_)
    n_known = len(model.known_classes_)
    images = np.stack([pixels[codes == n_known + i].mean(axis=0).reshape(8, 8) for i in range(model.n_novel_classes_)])
    sizes = np.bincount(codes, minlength=len(model.classes_))
    names = [str(name) for name in model.known_classes_]
    names += [f"{sizes[n_known + i]} rows" for i in range(model.n_novel_classes_)]
    return Discovery(before, after, codes, n_known, names, images)


if __name__ == "__main__":
    found = digits()
    n_novel = len(found.names) - found.n_known
    draw_discovery(
        Path(sys.argv[1]),
        found,
        (
            f"{len(found.codes):,} handwritten digits. Only 0 to 4 have labels; grey rows have none.",
            f"newfound finds {n_novel} novel classes. Nobody told it how many, or what they are.",
        ),
    )
