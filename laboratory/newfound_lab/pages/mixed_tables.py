"""Lines of the suite "mixed" -> its tables: routers, shares of known rows, small labelled sets, numbers of classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from newfound_lab.pages.captions import Lines, names_of
from newfound_lab.pages.cells import Row, new_table
from newfound_lab.pages.mixed import (
    HALF,
    KNOWN,
    METHOD_TITLES,
    PURE,
    MixedResults,
    show_lead,
    show_value,
)
from newfound_lab.pages.rendering import Cell, ResultTable
from newfound_lab.pages.summary import show_seconds
from newfound_lab.suites.mixed import (
    ALL_NOVEL,
    AUTO,
    AUTO_ORACLE,
    KNOWN_SHARES,
    LABELLED,
    ORACLE,
    OURS,
    OURS_COUNTED,
    ROUTERS,
)

SHARE_SETTINGS = {0.0: PURE, **{share: f"share={share:g}" for share in KNOWN_SHARES}, 1.0: KNOWN}
"""Settings that differ in the share of known rows alone, by it."""

_SIZE_SETTINGS = {
    f"{f'{n} a class' if n else 'all'}{', shift' if shift else ''}": ",".join(
        [f"labelled={n}"] * bool(n) + ["shift"] * shift
    )
    or HALF
    for shift in (False, True)
    for n in (*LABELLED, None)
}
_SETTINGS = {
    "half of the known rows unlabelled": HALF,
    "nothing known unlabelled (pure)": PURE,
    **{f"{100 * share:.0f} % known": f"share={share:g}" for share in KNOWN_SHARES},
    "nothing novel": KNOWN,
    **{f"half, labelled rows: {name}": setting for name, setting in _SIZE_SETTINGS.items() if setting != HALF},
}
_RIGHT = (
    "a known row is right where it gets the name of its class, a novel row where it gets the novel class that is "
    "matched to its own"
)


def _main(lines: Lines) -> ResultTable:
    results = MixedResults(lines)
    metrics = ("all_acc", "all_bacc", "known_acc", "novel_acc")
    rows: list[Row] = []
    for method in results.methods(HALF, (*ROUTERS, OURS_COUNTED)):
        row: Row = [Cell(METHOD_TITLES[method], bold=method == OURS)]
        row += [show_value(results.mean(HALF, method, metric)) for metric in metrics]
        row.append("" if method == ORACLE else show_lead(results.lead(HALF, method, ORACLE, "all_acc")))
        row += [show_value(results.mean(HALF, method, metric)) for metric in ("auroc", "test_all_acc", "test_auroc")]
        row += [show_value(results.mean(HALF, method, "share_error"))]
        rows.append([*row, show_seconds(results.mean(HALF, method, "seconds"))])
    return new_table(
        "mixed",
        "Half of the known rows unlabelled",
        f"In percent, mean over {results.n_tables(HALF)} tables, each by the mean over its class splits. All, known "
        f"and novel: ACC on the unlabelled training rows: {_RIGHT}; BACC: mean over the classes. Against the oracle: "
        "in points of ACC on all rows, with the 95 % interval over tables. AUROC: how well the score of novelty tells "
        "novel from known rows. Share error: distance of the estimated share of known rows among the unlabelled ones "
        "from the truth, in points; without an estimate, the share of rows that a router takes for known. Seconds: of "
        "fitting and predicting, mean, on a machine with other work.",
        [
            "Router",
            "All",
            "All, BACC",
            "Known",
            "Novel",
            "Against the oracle",
            "AUROC",
            "All, test rows",
            "AUROC, test rows",
            "Share error",
            "Seconds",
        ],
        rows,
        n_headers=1,
    )


def _accuracies(name: str, title: str, caption: str, settings: dict[str, str]) -> Callable[[Lines], ResultTable]:
    """Make a table of ACC on all unlabelled rows, a row for each router and a column for each setting."""

    def build(lines: Lines) -> ResultTable:
        results = MixedResults(lines).with_all(settings.values())
        there = {column: setting for column, setting in settings.items() if results.methods(setting)}
        means = {
            (setting, method): results.mean(setting, method, "all_acc")
            for setting in there.values()
            for method in results.methods(setting, ROUTERS)
        }
        rows: list[Row] = []
        for method in ROUTERS:
            found = [means.get((setting, method)) for setting in there.values()]
            if any(value is not None for value in found):
                rows.append([Cell(METHOD_TITLES[method], bold=method == OURS), *map(show_value, found)])
        n_tables = len({line["dataset"] for line in results.lines})
        return new_table(name, title, caption.format(n=n_tables), ["Router", *there], rows, n_headers=1)

    return build


def _estimates(lines: Lines) -> ResultTable:
    results = MixedResults(lines)
    rows: list[Row] = []
    for title, setting in _SETTINGS.items():
        if not results.methods(setting, [OURS]):
            continue
        metrics = ("share", "known_share", "share_error", "share_bias", "share_holds", "says_mixed", "auroc")
        shown = [show_value(results.mean(setting, OURS, metric)) for metric in metrics]
        rows.append([title, str(results.n_tables(setting)), *shown])
    return new_table(
        "mixed_estimates",
        "What the router says of the whole table",
        'Of newfound with unlabelled="auto", in percent, means over tables. Share: of known rows among the unlabelled '
        "ones. Holds: how often the interval, made to hold the truth nine times in ten, does so. Says mixed: how often "
        '"auto" decides that known rows are among the unlabelled ones. AUROC: of novelty_score among these.',
        ["Setting", "Tables", "Share", "Estimate", "Error", "Bias", "Holds", "Says mixed", "AUROC"],
        rows,
        n_headers=1,
    )


def _counting(lines: Lines) -> ResultTable:
    results = MixedResults(lines)
    settings = {title: setting for title, setting in _SETTINGS.items() if setting in (HALF, PURE, KNOWN)}
    rows: list[Row] = []
    for title, setting in settings.items():
        for method in results.methods(setting, [OURS, OURS_COUNTED]):
            metrics = ("all_acc", "test_all_acc", "found_none", "k_exact", "k_within_1")
            shown = [show_value(results.mean(setting, method, metric)) for metric in metrics]
            if method == OURS and setting != KNOWN:
                shown[2:] = ["—", "—", "—"]
            error = results.mean(setting, method, "k_error") if method == OURS_COUNTED else None
            rows.append([title, "estimated" if method == OURS_COUNTED else "given", *shown, show_value(error, 2)])
    return new_table(
        "mixed_counting",
        "The number of novel classes",
        'Of newfound with unlabelled="auto", in percent, means over tables. None: no novel class was found. Exact, '
        "within 1: how often the estimate is, and is nearly, the true number. Error: mean distance in classes. Where "
        "nothing is novel, one novel class is what newfound is told to look for if the number is given.",
        ["Setting", "k", "All", "All, test rows", "None", "Exact", "Within 1", "Error"],
        rows,
        n_headers=2,
    )


def _pure(lines: Lines) -> ResultTable:
    results = MixedResults(lines)
    rows: list[Row] = []
    for method in results.methods(PURE, ROUTERS):
        shown = [show_value(results.mean(PURE, method, metric)) for metric in ("all_acc", "all_bacc")]
        found = "" if method == ALL_NOVEL else show_lead(results.lead(PURE, method, ALL_NOVEL, "all_acc"))
        test = [show_value(results.mean(PURE, method, metric)) for metric in ("test_all_acc", "test_auroc")]
        told = results.mean(PURE, method, "says_novel")
        rows.append([Cell(METHOD_TITLES[method], bold=method == OURS), *shown, found, *test, show_value(told)])
    return new_table(
        "mixed_pure",
        "All unlabelled rows are novel",
        f"In percent, mean over {results.n_tables(PURE)} tables. ACC and BACC on the unlabelled rows. Against taking "
        "all as novel, which is right here: in points of ACC, with the 95 % interval over tables. Says novel: how "
        'often "auto" decides that all unlabelled rows are novel.',
        ["Router", "ACC", "BACC", "Against all as novel", "All, test rows", "AUROC, test rows", "Says novel"],
        rows,
        n_headers=1,
    )


def _auto(lines: Lines) -> ResultTable:
    results = MixedResults([line for line in lines if line["experiment"] == "mixed_auto"])
    methods = results.methods(HALF, (AUTO, AUTO_ORACLE))
    both = [set(results.by_table(HALF, method, "all_acc")) for method in methods]
    shared = set.intersection(*both) if both else set()
    results = MixedResults([line for line in results.lines if line["dataset"] in shared])
    rows: list[Row] = []
    for method in results.methods(HALF, (AUTO, AUTO_ORACLE)):
        metrics = ("all_acc", "all_bacc", "known_acc", "novel_acc", "auroc", "test_all_acc", "test_auroc")
        row: Row = [METHOD_TITLES[method], *(show_value(results.mean(HALF, method, metric)) for metric in metrics)]
        leads = [results.lead(HALF, method, AUTO_ORACLE, metric) for metric in ("all_acc", "test_all_acc")]
        row += ["", ""] if method == AUTO_ORACLE else [show_lead(found) for found in leads]
        rows.append([*row, show_seconds(results.mean(HALF, method, "seconds"))])
    return new_table(
        "mixed_auto",
        "AutoDiscoverer, half of the known rows unlabelled",
        f"In percent, mean over {len(shared)} tables, one class split each, the number of novel classes given. Columns "
        "as for the routers; behind: how far it is above (+) or below (−) the one behind the oracle router, in points, "
        "with the 95 % interval over tables.",
        [
            "Method",
            "All",
            "All, BACC",
            "Known",
            "Novel",
            "AUROC",
            "All, test rows",
            "AUROC, test rows",
            "Against the oracle",
            "Against the oracle, test rows",
            "Seconds",
        ],
        rows,
        n_headers=1,
    )


def _by_table(lines: Lines) -> ResultTable:
    results = MixedResults(lines)
    names = names_of(results.lines)
    compared = (OURS, ALL_NOVEL, ORACLE)
    accs = {method: results.by_table(HALF, method, "all_acc") for method in compared}
    others = {metric: results.by_table(HALF, OURS, metric) for metric in ("share", "known_share", "auroc")}
    best = results.by_table(HALF, "supervised", "auroc")
    first = {line["dataset"]: line for line in reversed(results.runs(HALF, OURS))}
    rows: list[Row] = []
    for table in sorted(first, key=lambda table: others["auroc"].get(table, 0.0)):
        sizes = [str(first[table][name]) for name in ("n_labelled", "n_unlabelled", "n_known", "n_novel")]
        shown = [show_value(accs[method].get(table)) for method in compared]
        aurocs = [show_value(values.get(table)) for values in (others["auroc"], best)]
        shares = [show_value(others[metric].get(table)) for metric in ("share", "known_share")]
        rows.append([names[table], *sizes, *shown, *aurocs, *shares])
    return new_table(
        "mixed_by_table",
        "Table by table",
        "Half of the known rows unlabelled; in percent, means over the class splits; rows and classes are of the "
        "first. ACC on all unlabelled rows for newfound (auto), all taken as novel, and the oracle router; AUROC of "
        "newfound and of the supervised router; share of known rows, true and estimated. By AUROC.",
        [
            "Table",
            "Labelled rows",
            "Unlabelled rows",
            "Known classes",
            "Novel classes",
            "newfound",
            "All as novel",
            "Oracle",
            "AUROC",
            "AUROC, supervised",
            "Share",
            "Share, estimate",
        ],
        rows,
        n_headers=1,
    )


def _named(shares: Sequence[float]) -> dict[str, str]:
    ends = {0.0: "0 (pure)", 1.0: "100 (nothing novel)"}
    return {ends.get(share, f"{100 * share:.0f}"): SHARE_SETTINGS[share] for share in shares}


MIXED_TABLES: dict[str, Callable[[Lines], ResultTable]] = {
    "mixed": _main,
    "mixed_shares": _accuracies(
        "mixed_shares",
        "ACC by the share of known rows",
        "ACC on all unlabelled rows, mean over {n} tables, by the share of known rows among them; both in percent.",
        _named(tuple(SHARE_SETTINGS)),
    ),
    "mixed_labelled": _accuracies(
        "mixed_labelled",
        "ACC by the number of labelled rows",
        "ACC on all unlabelled rows, in percent, mean over {n} tables: at most so many labelled rows of a known class.",
        {name: setting for name, setting in _SIZE_SETTINGS.items() if "shift" not in setting},
    ),
    "mixed_shift": _accuracies(
        "mixed_shift",
        "ACC with a shift",
        "ACC on all unlabelled rows, in percent, mean over {n} tables: at most so many labelled rows of each known "
        "class; shift: they are mostly those with low values in one column.",
        _SIZE_SETTINGS,
    ),
    "mixed_pure": _pure,
    "mixed_estimates": _estimates,
    "mixed_counting": _counting,
    "mixed_auto": _auto,
    "mixed_by_table": _by_table,
}
"""Builders of the tables, by name."""
