"""Pictures that newfound draws, in the gallery.

newfound makes figures without pyplot, so that no state of the user's is touched, and the gallery's own collector of
pictures sees only those of pyplot.
"""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper


def collect(block: Any, variables: dict[str, Any], settings: dict[str, Any], **options: Any) -> str:
    """Save the figures of a block: those of pyplot, and what the example calls `figure`."""
    found: str = matplotlib_scraper(block, variables, settings, **options)
    figure = variables["example_globals"].pop("figure", None)
    if isinstance(figure, Figure):
        path = next(variables["image_path_iterator"])
        figure.savefig(path, dpi=100)
        found += figure_rst([path], settings["src_dir"])
    return found
