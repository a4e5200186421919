"""A page of prose with tables, figures and single values filled in from the lines of the results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from newfound.errors import InputError
from newfound_lab.datasets import names
from newfound_lab.pages.captions import device_of
from newfound_lab.pages.cells import ABSENT
from newfound_lab.pages.comparison import Comparison, Estimates
from newfound_lab.pages.figures import OF_A_DATASET, OVERALL, Figure
from newfound_lab.pages.leads import SHOWN
from newfound_lab.pages.mixed import (
    MIXED_METRICS,
    MixedResults,
    setting_of,
    show_interval,
    show_lead,
    show_value,
)
from newfound_lab.pages.open_world_tables import open_world
from newfound_lab.pages.rendering import escape_markdown, markdown
from newfound_lab.pages.summary import (
    METRICS,
    OPEN_WORLD_METRICS,
    RULES_METRICS,
    ScoreSummary,
    show,
    show_difference,
    summarise,
)
from newfound_lab.pages.tables import TABLES, build_tables
from newfound_lab.paper import published
from newfound_lab.paper.published import Score
from newfound_lab.suites.experiments import (
    LABEL_FREE_METHODS,
    METHOD_NAMES,
    N_CLASS_SPLITS,
    OPEN_WORLD_METHODS,
    experiments_of,
)
from newfound_lab.suites.mixed import MIXED_METHODS

_PATH = "EXPERIMENT/DATASET/METHOD/VARIANT/PROTOCOL/METRIC"
_LABEL_FREE_PATH = "DATASET/METHOD/K/CLASS_SPLIT/METRIC"
_ALL = "all"
_OF_THE_PAPER = (*experiments_of("paper"), "searched")
_PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


def fill(
    template: str, lines: Sequence[Mapping[str, Any]], figures: Mapping[str, Figure], image_folder: str
) -> tuple[str, list[str]]:
    """Fill the placeholders of a page, so that its prose and its tables cannot disagree.

    Parameters
    ----------
    template : str
        Markdown with any of these placeholders in it:

        - ``{{table:NAME}}``: a table of :data:`newfound_lab.pages.tables.TABLES`.
        - ``{{figure:NAME}}``: a figure with its caption.
        - ``{{value:EXPERIMENT/DATASET/METHOD/VARIANT/PROTOCOL/METRIC}}``: a mean over seeds; ``{{value±:...}}``: with
          its standard deviation. METRIC is bacc, acc, nmi, ari, known_acc, n_seeds, fit_seconds, peak_memory_mib or
          devices. Where VARIANT is a hyper-parameter that varies, it needs a value: ``top_k=10``.
        - ``{{paper:...}}`` and ``{{paper±:...}}``: the paper's figure for the same path. The experiments "cd_knet" and
          "follow_up" have figures too.
        - ``{{label_free:DATASET/METHOD/K/CLASS_SPLIT/METRIC}}``, ``{{label_free±:...}}``: a figure of the label-free
          comparison. DATASET is a name or "all"; K is "given" or "estimated"; CLASS_SPLIT is a number, 0 for the
          benchmark's own classes, or "all"; METRIC is bacc, acc, nmi, ari, worst (lowest ACC of a run), gain (ACC
          against k-means), seconds and, for all datasets, rank, pairs (over which ranks are taken) and lowest_gain (of
          any dataset).
        - ``{{lead:METHOD/OTHER/K/METRIC/WHAT}}``: how far a method is ahead of another in the label-free comparison,
          over the datasets on which all were measured. METRIC is acc or bacc; WHAT is lead, interval, p or better on.
        - ``{{n_classes:DATASET/CRITERION/METRIC}}``: how good estimates of the number of novel classes are. DATASET is
          a name or "all", CRITERION a criterion or "combined", METRIC exact or within_1 (share of the pairs of dataset
          and class split) or pairs.
        - ``{{open_world:DATASET/METHOD/METRIC}}``, ``{{open_world±:...}}``: a figure of the open world. DATASET is a
          name or "all"; METRIC is one of ``OPEN_WORLD_METRICS`` and ``RULES_METRICS`` of
          :mod:`newfound_lab.pages.summary`, or temperature.
        - ``{{mixed:SETTING/METHOD/METRIC}}``: a mean over tables of the suite "mixed". SETTING is one of those that
          :func:`newfound_lab.pages.mixed.setting_of` names, METRIC one of ``MIXED_METRICS`` there;
          ``METRIC interval`` gives its interval over tables, ``METRIC against OTHER`` the lead over another method.
        - ``{{facts:versions}}`` and ``{{facts:devices}}``: what the lines of the paper's experiments were measured
          with; ``{{facts:versions/label-free}}``, ``{{facts:devices/open-world}}`` and so on: those of that suite.
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


def figures_in(template: str) -> set[str]:
    """Names of the figures that a page asks for."""
    placeholders = (match.strip().partition(":") for match in _PLACEHOLDER.findall(template))
    return {what for kind, _, what in placeholders if kind == "figure"}


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
            "label_free": lambda path: self._label_free(path, sd=False),
            "label_free±": lambda path: self._label_free(path, sd=True),
            "lead": self._lead,
            "n_classes": self._n_classes,
            "open_world": lambda path: self._open_world(path, sd=False),
            "open_world±": lambda path: self._open_world(path, sd=True),
            "mixed": self._mixed,
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
                _check("figure", name, (*OVERALL, *(f"{figure}_DATASET" for figure in OF_A_DATASET)))
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

    def _found(self, where: Sequence[str]) -> ScoreSummary | None:
        experiment, dataset, method, variant, protocol = where
        _check("experiment", experiment, _OF_THE_PAPER)  # others have placeholders of their own
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

    def _label_free(self, path: str, *, sd: bool) -> str | None:
        parts = path.split("/")
        if len(parts) != 5:
            raise InputError(f"expected {_LABEL_FREE_PATH} after the colon")
        dataset, method, k, class_split, metric = parts
        _check("dataset", dataset, (_ALL, *names()))
        _check("method", method, LABEL_FREE_METHODS)
        _check("k", k, ("given", "estimated"))
        _check("class split", class_split, (_ALL, *map(str, range(N_CLASS_SPLITS))))
        of_all = (*_OF_ALL_DATASETS, *METRICS)
        _check("metric", metric, of_all if dataset == _ALL else (*_OF_A_DATASET, *METRICS))
        comparison = Comparison(self.lines, k, None if class_split == _ALL else int(class_split))
        if dataset == _ALL:
            if metric in METRICS:
                return _shown(comparison.mean(method, metric), metric, sd=sd)
            return _OF_ALL_DATASETS[metric](comparison, method)
        if metric in METRICS:
            return _shown(comparison.score(dataset, method, metric), metric, sd=sd)
        return _OF_A_DATASET[metric](comparison, dataset, method)

    def _lead(self, path: str) -> str | None:
        parts = path.split("/")
        if len(parts) != 5:
            raise InputError("expected METHOD/OTHER/K/METRIC/WHAT after the colon")
        method, other, k, metric, what = parts
        _check("method", method, LABEL_FREE_METHODS)
        _check("method", other, LABEL_FREE_METHODS)
        _check("k", k, ("given", "estimated"))
        _check("metric", metric, ("acc", "bacc"))
        _check("fact", what, tuple(SHOWN))
        found = Comparison(self.lines, k).lead(method, other, metric)
        return None if found is None else SHOWN[what](found)

    def _n_classes(self, path: str) -> str | None:
        parts = path.split("/")
        if len(parts) != 3:
            raise InputError("expected DATASET/CRITERION/METRIC after the colon")
        dataset, criterion, metric = parts
        _check("dataset", dataset, (_ALL, *names()))
        _check("metric", metric, ("exact", "within_1", "pairs"))
        estimates = Estimates(self.lines)
        if not estimates.lines:
            return None
        _check("criterion", criterion, estimates.names)
        datasets = None if dataset == _ALL else [dataset]
        if metric == "pairs":
            return str(len(estimates.of(criterion, datasets)))
        share = estimates.share_of_pairs(criterion, 0 if metric == "exact" else 1, datasets)
        return None if share is None else f"{100.0 * share:.0f} %"

    def _open_world(self, path: str, *, sd: bool) -> str | None:
        parts = path.split("/")
        if len(parts) != 3:
            raise InputError("expected DATASET/METHOD/METRIC after the colon")
        dataset, method, metric = parts
        _check("dataset", dataset, (_ALL, *names()))
        _check("method", method, OPEN_WORLD_METHODS)
        _check("metric", metric, (*OPEN_WORLD_METRICS, *RULES_METRICS, "temperature"))
        comparison = open_world(self.lines)
        if dataset == _ALL:
            return _shown(comparison.mean(method, metric), metric, sd=sd)
        return _shown(comparison.score(dataset, method, metric), metric, sd=sd)

    def _mixed(self, path: str) -> str | None:
        parts = path.split("/")
        if len(parts) != 3:
            raise InputError("expected SETTING/METHOD/METRIC after the colon")
        setting, method, metric = parts
        metric, _, what = metric.partition(" ")
        _check("method", method, MIXED_METHODS)
        _check("metric", metric, tuple(MIXED_METRICS))
        results = MixedResults(self.lines)
        if results.lines:
            _check("setting", setting, list(dict.fromkeys(map(setting_of, results.lines))))
        if not what:
            value = results.mean(setting, method, metric)
            return None if value is None else show_value(value)
        if what == "interval":
            found = results.interval(setting, method, metric)
            return None if found is None else show_interval(found)
        against, _, other = what.partition(" ")
        _check("addition", against, ("interval", "against"))
        _check("method", other, MIXED_METHODS)
        ahead = results.lead(setting, method, other, metric)
        return None if ahead is None else show_lead(ahead)

    def _facts(self, what: str) -> str | None:
        name, _, suite = what.partition("/")
        _check("fact", name, ("versions", "devices"))
        _check("suite", suite, ("", "label-free", "open-world", "mixed"))
        wanted = experiments_of(suite) if suite else _OF_THE_PAPER
        lines = [line for line in self.lines if line["experiment"] in wanted]
        if not lines:
            return None
        if name == "devices":
            counts = Counter(device_of(line) for line in lines)
            return ", ".join(f"{count:,} line{'s' * (count > 1)} on {device}" for device, count in counts.most_common())
        versions: dict[str, dict[str, None]] = {}
        for line in lines:
            for package, version in line["versions"].items():
                versions.setdefault(package, {})[version] = None
        return ", ".join(f"{package} {' and '.join(sorted(found))}" for package, found in versions.items())


def _shown(score: Score | None, metric: str, *, sd: bool) -> str | None:
    return None if score is None else show(score, metric, sd=sd)


def _points(values: Iterable[float | None], best: Callable[[Sequence[float]], float], *, signed: bool) -> str | None:
    """Write the best of values in percent, those that are not there left out; with a sign where it is a difference."""
    found = [value for value in values if value is not None]
    if not found:
        return None
    score = Score(best(found))
    return show_difference(score, Score(0.0), "acc") if signed else show(score, "acc")


def _seconds(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:.3g}"


_OF_A_DATASET: dict[str, Callable[[Comparison, str, str], str | None]] = {
    "worst": lambda c, dataset, method: _points([c.worst(dataset, method)], min, signed=False),
    "gain": lambda c, dataset, method: _points([c.gain(dataset, method)], min, signed=True),
    "seconds": lambda c, dataset, method: _seconds(c.seconds(method, dataset)),
}
_OF_ALL_DATASETS: dict[str, Callable[[Comparison, str], str | None]] = {
    "worst": lambda c, method: _points((c.worst(name, method) for name in c.datasets), min, signed=False),
    "gain": lambda c, method: _points((c.gain(name, method) for name in c.datasets), fmean, signed=True),
    "lowest_gain": lambda c, method: _points((c.gain(name, method) for name in c.datasets), min, signed=True),
    "seconds": lambda c, method: _seconds(c.seconds(method)),
    "rank": lambda c, method: None if (rank := c.rank(method)) is None else f"{rank.mean:.2f}",
    "pairs": lambda c, method: str(len(c.pairs)) if method in c.methods else None,
}


_OTHER_VALUES: dict[str, Callable[[ScoreSummary], str]] = {
    "n_seeds": lambda s: str(s.n_seeds),
    "fit_seconds": lambda s: f"{s.fit_seconds:.2f}",
    "peak_memory_mib": lambda s: f"{s.peak_memory_mib:,.0f}",
    "devices": lambda s: ", ".join(s.devices),
}


def _paper(path: str, *, sd: bool) -> str:
    *where, metric = _parts(path)
    scores = published.scores(*where)
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
