"""What all pictures share: colours, marks, an empty sheet, and files that appear as a whole or not at all."""

from __future__ import annotations

import base64
import contextlib
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from newfound.errors import InputError
from newfound.extras import load_extra
from newfound.writing import replacing

INK = "#22303c"
MUTED_INK = "#5d6d7c"
PANEL = "#f7f9fb"
FRAME = "#d5dde4"
KNOWN_COLOUR = "#8d9dad"
KNOWN_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
# Okabe and Ito's colours, which people with any colour vision can tell apart; neighbours in this order differ most.
NOVEL_COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
NOVEL_MARKERS = ("o", "s", "^", "D")
# Without colour, marks and strokes must do.
SERIES_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SERIES_STROKES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (6, 1.5, 1.5, 1.5)))

WIDTH = 8.0  # inches: letters of 8 points stay readable where a page shows the picture 700 pixels wide
DPI = 200
SVG_DPI = 110  # of clouds of points, the only part of an SVG file that is drawn as pixels
# Without a date and a program, the same picture has the same bytes every time; the keys are the kinds of files.
_BARE: dict[str, dict[str, None]] = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
_LEGEND_MARK, _LEGEND_LETTER = 0.65, 0.075  # inches: a mark with the gaps around it, a letter of a name
_RC = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "svg.fonttype": "path",  # letters as shapes: the same everywhere
    "svg.hashsalt": "newfound",  # the same names of parts, hence the same bytes, every time
}


@contextlib.contextmanager
def sheet(paths: Sequence[Path], height: float, *, constrained: bool = True) -> Iterator[Any]:
    """Lend an empty figure, and write it to every path once the block has ended well.

    Parameters
    ----------
    paths : sequence of Path
        Files to write; the suffix (.png, .svg) says how. Their folders must exist.
    height : float
        In inches; the width is always ``WIDTH``.
    constrained : bool, default=True
        Whether matplotlib finds room for titles, labels and legends itself.

    Yields
    ------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    InputError
        If a file is neither .png nor .svg, or cannot be written.
    """
    for path in paths:
        if _kind(path) not in _BARE:
            expected = "a name that ends in .png or .svg"
            raise InputError(
                f"Got a picture named {str(path)!r}, but expected {expected}.",
                parameter="path",
                value=path,
                expected=expected,
            )
    load_extra("matplotlib", "A picture")
    from matplotlib import rc_context, style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    # A user's own matplotlibrc must not change our pictures, nor we his: both end with the block.
    with style.context("default"), rc_context(_RC):
        # Figure itself rather than pyplot: no window system, and no global state of the user's is touched.
        layout = ConstrainedLayoutEngine(w_pad=0.07, h_pad=0.07) if constrained else None
        figure = Figure(figsize=(WIDTH, height), dpi=DPI, facecolor="white", layout=layout)
        FigureCanvasAgg(figure)
        yield figure
        for path in paths:
            _write(figure, path)


def _kind(path: Path) -> str:
    return path.suffix[1:].lower()


def _write(figure: Any, path: Path) -> None:
    """Write a picture, as a whole or not at all."""
    kind = _kind(path)
    data = io.BytesIO()
    figure.savefig(data, format=kind, dpi=SVG_DPI if kind == "svg" else DPI, metadata=_BARE[kind])
    content = _lean(data.getvalue()) if kind == "svg" else data.getvalue()
    try:
        with replacing(path) as fresh:
            fresh.write_bytes(content)
    except OSError as error:
        raise InputError(
            f"The picture cannot be written to {path}: {error.strerror}. Choose another folder.",
            parameter="path",
            value=path,
            cure="Choose another folder.",
        ) from None


def _lean(svg: bytes) -> bytes:
    """Make an SVG file less than half as large, with no difference to the eye.

    Images get 256 colours each, and points of paths two decimals.
    """
    from PIL import Image  # matplotlib cannot do without it

    def reduced(found: re.Match[bytes]) -> bytes:
        data = io.BytesIO()
        with Image.open(io.BytesIO(base64.b64decode(found[2]))) as image:
            image.convert("RGBA").quantize(256, method=Image.Quantize.FASTOCTREE).save(data, "PNG", optimize=True)
        return found[1] + base64.b64encode(data.getvalue())

    def rounded(found: re.Match[bytes]) -> bytes:
        return re.sub(rb"(\.\d\d)\d+", rb"\1", found[0])

    svg = re.sub(rb"(data:image/png;base64,)([^\"]+)", reduced, svg)
    return re.sub(rb" d=\"[^\"]+\"", rounded, svg)


def panel_places(figure: Any, n: int, columns: int, **shared: bool) -> list[Any]:
    """Make axes for n panels in reading order, so many side by side; what is left of the last line stays empty."""
    places = figure.subplots(-(-n // columns), columns, squeeze=False, **shared).ravel()
    for place in places[n:]:
        place.set_axis_off()
    return list(places[:n])


def write_title(figure: Any, title: str) -> None:
    """Write the headline of a constrained sheet, at the left."""
    figure.suptitle(title, x=0.012, ha="left", size=12, weight="bold", color=INK)


def tidy(place: Any, title: str = "", *, grid: str | None = None) -> None:
    """Give axes the colours of all pictures, a title at the left, and a grid along "x", "y" or "both"."""
    place.set_facecolor(PANEL)
    for spine in place.spines.values():
        spine.set_color(FRAME)
    place.tick_params(colors=INK, labelsize=8, length=2.5, color=MUTED_INK, which="both")
    place.xaxis.label.set(size=8.5, color=INK)
    place.yaxis.label.set(size=8.5, color=INK)
    if title:
        place.set_title(title, loc="left", size=9.5, weight="bold", color=INK)
    if grid:
        place.grid(axis=grid, color=FRAME, linewidth=0.6)
        place.set_axisbelow(True)


def series_styles(n: int) -> list[dict[str, Any]]:
    """Colour, mark and stroke of each of n lines; every one differs from the others in all three as far as it goes."""
    looks = zip(
        itertools.cycle(NOVEL_COLOURS), itertools.cycle(SERIES_MARKERS), itertools.cycle(SERIES_STROKES), strict=False
    )
    return [
        {"color": colour, "marker": marker, "linestyle": stroke}
        for colour, marker, stroke in itertools.islice(looks, n)
    ]


def novel_styles() -> Iterator[dict[str, Any]]:
    """Marker and colour of novel classes, one after the other, without end."""
    for marker, colour in itertools.cycle(itertools.product(NOVEL_MARKERS, NOVEL_COLOURS)):
        yield {"marker": marker, "color": colour}


def fitting_columns(names: Sequence[str], most: int) -> int:
    """How many columns of a legend fit side by side, at most ``most``; filled one after the other, as in matplotlib."""
    for columns in range(min(most, len(names)), 1, -1):
        lines, longer = divmod(len(names), columns)
        ends = list(itertools.accumulate(lines + (i < longer) for i in range(columns)))
        longest = [max(map(len, names[start:end])) for start, end in itertools.pairwise([0, *ends])]
        if sum(_LEGEND_MARK + _LEGEND_LETTER * n for n in longest) <= WIDTH:
            return columns
    return 1


def write_legend(figure: Any, handles: Sequence[Any], *, columns: int, title: str | None = None) -> None:
    """Explain marks below the axes of a constrained sheet, in so many columns or as many as fit.

    The title may be a label that all axes share.
    """
    legend = figure.legend(
        handles=list(handles),
        loc="outside lower center",
        ncols=fitting_columns([handle.get_label() for handle in handles], columns),
        title=title,
        title_fontproperties={"size": 8.5},
        frameon=False,
        fontsize=8.5,
        labelcolor=INK,
        handletextpad=0.6,
        columnspacing=1.6,
    )
    legend.get_title().set_color(INK)
