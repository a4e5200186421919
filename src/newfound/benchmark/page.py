"""A page of prose with tables, figures and single values filled in from the lines of the results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from newfound.benchmark import paper
from newfound.benchmark.captions import device_of
from newfound.benchmark.cells import ABSENT
from newfound.benchmark.experiments import EXPERIMENTS, METHOD_NAMES
from newfound.benchmark.figures import OF_A_DATASET, OVERALL, Figure
from newfound.benchmark.rendering import escape_markdown, markdown
from newfound.benchmark.summary import METRICS, Summary, show, summarise
from newfound.benchmark.tables import TABLES, build_tables
from newfound.datasets import names
from newfound.errors import InputError

_PATH = "EXPERIMENT/DATASET/METHOD/VARIANT/PROTOCOL/METRIC"
_PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


def fill(
    template: str, lines: Sequence[Mapping[str, Any]], figures: Mapping[str, Figure], image_folder: str
) -> tuple[str, list[str]]:
    """Fill the placeholders of a page, so that its prose and its tables cannot disagree.

    Parameters
    ----------
    template : str
        Markdown with any of these placeholders in it:

        - ``{{table:NAME}}``: a table of :data:`newfound.benchmark.tables.TABLES`.
        - ``{{figure:NAME}}``: a figure with its caption.
        - ``{{value:EXPERIMENT/DATASET/METHOD/VARIANT/PROTOCOL/METRIC}}``: a mean over seeds; ``{{value±:...}}``: with
          its standard deviation. METRIC is bacc, acc, nmi, ari, known_acc, n_seeds, fit_seconds, peak_memory_mib or
          devices. Where VARIANT is a hyper-parameter that varies, it needs a value: ``top_k=10``.
        - ``{{paper:...}}`` and ``{{paper±:...}}``: the paper's figure for the same path. The experiments "cd_knet" and
          "follow_up" have figures too.
        - ``{{facts:versions}}`` and ``{{facts:devices}}``: what the lines were measured with.
    lines : sequence of mapping
        Lines of the results, one for each trial.
    figures : mapping of str to Figure
        The figures that were drawn, by name.
    image_folder : str
        Where the page finds the files of the figures, relative to itself.

    Returns
    -------
    page : str
        Says "not measured" where lines are lacking.
    absent : list of str
        The placeholders for which it says so.

    Raises
    ------
    InputError
        If a placeholder is unknown, or matches several measurements.
    """
    filler = _Filler(lines, figures, image_folder)
    page = _PLACEHOLDER.sub(lambda match: filler.text_for(match[1].strip()), template)
    return page, list(dict.fromkeys(filler.absent))


class _Filler:
    def __init__(self, lines: Sequence[Mapping[str, Any]], figures: Mapping[str, Figure], image_folder: str) -> None:
        self.lines = lines
        self.figures = figures
        self.image_folder = image_folder
        self.summaries = summarise(lines)
        self.tables = build_tables(lines)
        self.absent: list[str] = []
        self.kinds: dict[str, Callable[[str], str | None]] = {
            "table": self._table,
            "figure": self._figure,
            "value": lambda path: self._value(path, sd=False),
            "value±": lambda path: self._value(path, sd=True),
            "paper": lambda path: _paper(path, sd=False),
            "paper±": lambda path: _paper(path, sd=True),
            "facts": self._facts,
        }

    def text_for(self, placeholder: str) -> str:
        """Return what stands in the place of a placeholder, given without its braces."""
        kind, _, what = placeholder.partition(":")
        try:
            if kind not in self.kinds:
                raise InputError(f"expected one of {', '.join(self.kinds)} before the colon")
            text = self.kinds[kind](what)
        except InputError as error:
            raise InputError(f"Got the placeholder {{{{{placeholder}}}}}, but {error}; correct the template.") from None
        if text is None:
            self.absent.append(placeholder)
            return ABSENT
        return text

    def _table(self, name: str) -> str | None:
        _check("table", name, TABLES)
        return markdown(self.tables[name]).rstrip() if name in self.tables else None

    def _figure(self, name: str) -> str | None:
        figure = self.figures.get(name)
        if figure is None:
            experiment, _, dataset = name.partition("_")
            if experiment in OF_A_DATASET:
                _check("dataset", dataset, names())
            else:
                _check("figure", name, (*OVERALL, *(f"{one}_DATASET" for one in OF_A_DATASET)))
            return None
        caption = escape_markdown(" ".join(figure.caption.split()))
        first, _, _ = caption.partition(". ")
        return f"![{first}]({self.image_folder}/{figure.png.name})\n\n*{caption}*"

    def _value(self, path: str, *, sd: bool) -> str | None:
        *where, metric = _parts(path)
        _check("metric", metric, (*METRICS, "known_acc", *_OTHER_VALUES))
        found = self._found(where)
        if found is None:
            return None
        if metric in _OTHER_VALUES:
            return _OTHER_VALUES[metric](found)
        return show(found.scores[metric], metric, sd=sd) if metric in found.scores else None

    def _found(self, where: Sequence[str]) -> Summary | None:
        experiment, dataset, method, variant, protocol = where
        _check("experiment", experiment, (*EXPERIMENTS, "searched"))
        _check("method", method, METHOD_NAMES)
        variant, _, value = variant.partition("=")
        names_of_it = (experiment, dataset, method, variant, protocol)
        found = [s for s in self.summaries if (s.experiment, s.dataset, s.method, s.variant, s.protocol) == names_of_it]
        if value:
            wanted = _number(value)
            found = [s for s in found if s.settings.get(variant) == wanted]
        if len(found) > 1:
            raise InputError(
                f"{len(found)} measurements match it, with different settings (name one value, as in top_k=10)"
            )
        return found[0] if found else None

    def _facts(self, name: str) -> str | None:
        _check("fact", name, ("versions", "devices"))
        if not self.lines:
            return None
        if name == "devices":
            counts = Counter(device_of(line) for line in self.lines)
            return ", ".join(f"{count:,} line{'s' * (count > 1)} on {device}" for device, count in counts.most_common())
        versions: dict[str, dict[str, None]] = {}
        for line in self.lines:
            for package, version in line["versions"].items():
                versions.setdefault(package, {})[version] = None
        return ", ".join(f"{package} {' and '.join(sorted(found))}" for package, found in versions.items())


_OTHER_VALUES: dict[str, Callable[[Summary], str]] = {
    "n_seeds": lambda s: str(s.n_seeds),
    "fit_seconds": lambda s: f"{s.fit_seconds:.2f}",
    "peak_memory_mib": lambda s: f"{s.peak_memory_mib:,.0f}",
    "devices": lambda s: ", ".join(s.devices),
}


def _paper(path: str, *, sd: bool) -> str:
    *where, metric = _parts(path)
    scores = paper.scores(*where)
    if scores is None or metric not in scores:
        raise InputError("the paper has no such figure")
    return show(scores[metric], metric, sd=sd)


def _parts(path: str) -> list[str]:
    parts = path.split("/")
    if len(parts) != 6:
        raise InputError(f"expected {_PATH} after the colon")
    _check("dataset", parts[1], names())
    _check("protocol", parts[4], ("inductive", "transductive"))
    return parts


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"expected a number in place of {text!r}") from None


def _check(what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise InputError(f"there is no {what} {name!r} among {', '.join(known)}")
