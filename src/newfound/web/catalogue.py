"""Discoverers, their few knobs and the examples, as the pages offer them.

Written down here rather than read from the classes, whose modules take seconds to import: the first page is there at
once. A test compares it with the classes.
"""

from __future__ import annotations

from newfound.registry import registered
from newfound.web.schemas import Discoverer, Example, Knob

_MEMBERS = "Networks that are trained at once and vote. More take longer, and show how far they agree."
_N_INIT = Knob(
    name="n_init", kind="whole", default=10, low=1, high=100, help="Times that k-means starts anew; the best counts."
)
_EPOCHS = "How often the training goes through all rows. More is slower, and not always better."
_SELF_TRAINING = Knob(
    name="self_training",
    kind="whole",
    default=0,
    low=0,
    high=20,
    help="Rounds in which the rows that it is surest of teach one classifier of all classes.",
)


def _neighbors(default: int) -> Knob:
    return Knob(
        name="n_neighbors",
        kind="whole",
        default=default,
        low=1,
        high=500,
        help="Similar rows to which each row is joined.",
    )


def _members(default: int) -> Knob:
    return Knob(name="n_members", kind="whole", default=default, low=1, high=50, help=_MEMBERS)


def _epochs(default: int) -> Knob:
    return Knob(name="epochs", kind="whole", default=default, low=1, high=1_000, help=_EPOCHS)


_SUMMARIES: dict[str, tuple[str, str, list[Knob]]] = {
    "auto": (
        "Auto",
        "A network that has seen many made-up tables looks at yours; similar rows have a say. It says how sure it is.",
        [],
    ),
    "in_context": (
        "At a look",
        "A network that has seen many made-up tables looks at yours once. Quick; nothing is trained.",
        [Knob(name="n_views", kind="whole", default=2, low=1, high=16, help="How often it looks, each time anew.")],
    ),
    "tabular_ncd": (
        "TabularNCD",
        "A network learns the known classes and groups of similar rows in turn (Troisemaine et al., 2022).",
        [
            _epochs(30),
            _members(1),
            Knob(
                name="w1",
                kind="real",
                default=0.8,
                low=0,
                high=1,
                help="Weight of the known classes against views of the same row, while it learns to classify.",
            ),
            Knob(
                name="k_neighbors",
                kind="whole",
                default=10,
                low=1,
                high=100,
                help="Similar rows of which each row has views made.",
            ),
            _SELF_TRAINING,
        ],
    ),
    "pbn": (
        "PBN",
        "A network learns known classes and to redraw rows; k-means groups what it sees (Troisemaine et al., 2024).",
        [_epochs(30), _members(1), _SELF_TRAINING],
    ),
    "ncd_kmeans": ("NCD k-means", "K-means that starts far from the known classes. Quick.", [_N_INIT]),
    "ncd_spectral": (
        "NCD spectral",
        "Follows chains of similar rows, and joins only rows that may share a class. For classes of any shape.",
        [_neighbors(30)],
    ),
    "whitened_kmeans": (
        "Whitened k-means",
        "K-means where distances are measured as the known classes suggest. Quick.",
        [
            Knob(
                name="ridge",
                kind="real",
                default=0.5,
                low=0,
                high=10,
                help="How little to trust the known classes on distances: 0 is fully.",
            ),
            _N_INIT,
        ],
    ),
    "classifier_projection": (
        "Classifier, then k-means",
        "A classifier of the known classes; k-means groups what its last layer sees. A simple baseline.",
        [_epochs(50), _members(1), _SELF_TRAINING],
    ),
    "kmeans": ("K-means", "Groups of rows around their means. Needs no known class. Quick.", [_N_INIT]),
    "spectral": (
        "Spectral",
        "Follows chains of similar rows. Needs no known class.",
        [_neighbors(10)],
    ),
}

EXAMPLES = (
    Example(
        name="orchard",
        title="Orchard: fruit that nobody has sorted yet",
        about="1,200 made-up pieces of fruit with numbers, colours and dates, some cells missing. Four kinds are "
        "labelled; three more are hidden among the unlabelled rows.",
        target="fruit",
    ),
    Example(
        name="digits",
        title="Handwritten digits",
        about="1,797 small images as 64 numbers each. The labels of 5 to 9 are left out.",
        target="digit",
    ),
)


def discoverers() -> list[Discoverer]:
    """Return all registered discoverers, those of others without knobs."""
    found = []
    for method, entry in registered().items():
        name, summary, knobs = _SUMMARIES.get(method, (entry.class_name, "A discoverer of your own.", []))
        found.append(
            Discoverer(method=method, name=name, summary=summary, needs_labels=entry.needs_labels, knobs=knobs)
        )
    return found
