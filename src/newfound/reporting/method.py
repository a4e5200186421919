"""The last sections of a report: how the novel classes were found, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from newfound.explanation.wording import class_name, number_text, shortened
from newfound.markup import Html, join, scrolling, tag
from newfound.reporting.figures import draw_bars, draw_curve
from newfound.reporting.wording import breaking, count, listed, percent

Facts = Mapping[str, Any]

_CANDIDATES_SHOWN = 10
_CANDIDATE_COLUMNS = {
    "representation": "how distances between rows are measured",
    "method": "how rows are then parted into classes",
    "score": "what candidates are ordered by, where graphs of neighbours had a say; only the order counts",
    "information": "how far neighbours tell the class of a row; more is better",
    "within": "share of the nearest neighbours that are of the same class; 1 is best",
    "agreement": "how alike it is to the chosen one (adjusted Rand index); 1 is the same",
}
"""What the columns of `leaderboard_` mean."""
_DIGITS = 3  # after the point, of what candidates are compared by
_BATCHES_SHOWN = 8
_MODEL = "model.newfound"
_FORMAT = ("delimiter", "encoding", "decimal", "sheet", "max_memory")  # options of every command that reads a table
_ABOUT_BARS = (
    "probability of each number of novel classes; the coloured number is the median of these probabilities, which need "
    "not be the highest bar"
)


def n_classes(facts: Facts) -> Html | None:
    """How many novel classes there may be, where that was estimated."""
    estimate = facts["n_classes"]
    if estimate is None:
        return None
    low, high = estimate["interval"]
    likely = f", likely {low} to {high}" if low < high else ""
    bars = [
        (
            str(point["k"]),
            point["probability"],
            "c0" if point["k"] == estimate["n_classes"] else "known" if low <= point["k"] <= high else "track",
        )
        for point in estimate["curve"]
    ]
    said = f"Estimated from the table: {count(estimate['n_classes'], 'novel class', 'novel classes')}{likely}."
    criteria = tag(
        "details",
        tag("summary", "What each criterion says"),
        scrolling(records(estimate["criteria"]), "Criteria"),
    )
    return tag(
        "section",
        tag("h2", "How many classes"),
        tag("p", said),
        tag(
            "figure",
            draw_bars(bars, f"Probability of each number of classes. {said}"),
            tag("figcaption", _ABOUT_BARS, class_="muted"),
            class_="narrow",
        ),
        criteria,
        id="count",
    )


def candidates(facts: Facts) -> Html | None:
    """Show the candidates among which the model chose, and how far they agree."""
    chosen = facts["candidates"]
    if not chosen or not chosen["leaderboard"]:
        return None
    n_candidates, sure = count(len(chosen["leaderboard"]), "candidate"), chosen["confidence"]
    said = f"{n_candidates} {'was' if len(chosen['leaderboard']) == 1 else 'were'} compared; the first was chosen."
    if sure is not None:
        said += f" The chance that more than four in five unlabelled rows are in the right class is {percent(sure)}."
    shown = [
        {name: round(value, _DIGITS) if isinstance(value, float) else value for name, value in record.items()}
        for record in chosen["leaderboard"][:_CANDIDATES_SHOWN]
    ]
    meanings = {
        name.replace("_", " "): meaning
        for name, meaning in _CANDIDATE_COLUMNS.items()
        if any(name in record for record in shown)
    }
    return tag(
        "section",
        tag("h2", "Candidates"),
        tag("p", said),
        scrolling(records(shown), "Candidates"),
        tag("details", tag("summary", "What the columns mean"), _pairs(meanings)) if meanings else None,
        id="candidates",
    )


def training(facts: Facts) -> Html | None:
    """Losses of the training."""
    curves = [drawn for drawn in map(draw_curve, facts["history"]) if drawn is not None]
    if not curves:
        return None
    about = "Losses over the epochs of each stage, from the first value to the last; each has a scale of its own."
    return tag(
        "section", tag("h2", "Training"), tag("p", about), tag("div", *curves, class_="small-charts"), id="training"
    )


def batches(facts: Facts) -> Html | None:
    """Show how the classes fared over the batches of updates."""
    history = facts["batches"]
    if not history:
        return None
    shown = sorted({record["batch"] for record in history})[-_BATCHES_SHOWN:]
    cells = {(record["class"], record["batch"]): record for record in history}
    rows = []
    for name in dict.fromkeys(record["class"] for record in history):
        row: dict[str, Any] = {"class": "no class" if name is None else name}
        for batch in shown:
            cell = cells.get((name, batch))
            row["fit" if batch == 0 else f"batch {batch}"] = None if cell is None else percent(cell["share"])
        last = cells.get((name, shown[-1]))
        row["moved"] = None if last is None else last["distance"]
        rows.append(row)
    about = (
        "Share of the rows of each class in the table of the fit and in the batches since. Moved: how far its rows in "
        "the last batch lie from the earlier ones, in standard deviations of the class, where that is most."
    )
    return tag("section", tag("h2", "Batches"), tag("p", about), scrolling(records(rows), "Batches"), id="batches")


def making(facts: Facts) -> Html:
    """How it was made: model, settings, columns, versions; and what to do next."""
    model, table = facts["model"], facts["table"]
    lines = {
        "Made": facts["made_at"],
        "Model": model["name"],
        "Networks": None if model["n_members"] is None else number_text(model["n_members"]),
        "Temperature": None if model["temperature"] is None else _temperature(model["temperature"]),
        "Seed of the model": model["parameters"].get("random_state"),
        "Seed of this report": model["report_random_state"],
        "Versions": ", ".join(f"{name} {version}" for name, version in model["versions"].items()),
        "Columns": listed([f"{n} {kind}" for kind, n in table["kinds"].items()], limit=9),
        "Row numbers": "count from 0, in the order of the table",
    }
    settings = {name: value for name, value in model["parameters"].items() if name != "random_state"}
    return tag(
        "section",
        tag("h2", "How it was made"),
        _pairs(lines),
        tag("details", tag("summary", "Settings"), _pairs(settings)) if settings else None,
        _ignored(table),
        _next(facts),
        id="making",
    )


def _temperature(temperature: float) -> str:
    return f"{number_text(temperature)}, by which probabilities were made to fit held-out rows of known classes"


def _ignored(table: Facts) -> Html | None:
    if not table["ignored"]:
        return None
    n_more = table["kinds"]["ignored"] - len(table["ignored"])
    more = tag("p", f"and {n_more} more") if n_more else None
    return tag(
        "details", tag("summary", f"Ignored columns ({table['kinds']['ignored']})"), _pairs(table["ignored"]), more
    )


def _next(facts: Facts) -> Html | None:
    """Show what can be done with the model, in code that runs from top to bottom."""
    names = [explained["name"] for explained in facts["explanation"]["classes"]]
    if not names:
        return None
    about = "Read the cards, name the classes, merge what belongs together, split what does not, then label new rows."
    source = facts.get("source")
    files = (
        "With the names of your own files and classes, and of your column of labels, in Python:"
        if source is None
        else "With better names of classes than these, in Python:"
    )
    labelled = facts["table"]["n_labelled"] is not None
    return tag(
        "div",
        tag("h3", "What to do next"),
        tag("p", f"{about} {files}"),
        tag("pre", tag("code", "\n".join(next_python(names, labelled=labelled, source=source))), tabindex="0"),
        tag("p", "On the command line:"),
        tag("pre", tag("code", "\n".join(next_commands(names, source=source))), tabindex="0"),
    )


def _new_name(names: Sequence[Any]) -> Any:
    return "better-name" if isinstance(names[0], str) else 1000


def next_python(names: Sequence[Any], *, labelled: bool, source: Facts | None = None) -> list[str]:
    """Lines of Python that name, merge and split novel classes; with the labels of a table where it has some."""
    new = _new_name(names)
    return [
        *_reading(labelled, source),
        f"model = nf.load({_MODEL if source is None else source['model']!r})",
        f"model.rename({{{names[0]!r}: {new!r}}})",
        *([f"model.merge([{new!r}, {names[1]!r}])"] if len(names) > 1 else []),
        f"model.split({new!r}, 2, X{', training=True' if source is not None and source['is_training'] else ''})",
        'nf.save(model, "named.newfound")',
        f"y_next = model.to_labels({'X, y' if labelled else 'X'})",
    ]


def _reading(labelled: bool, source: Facts | None) -> list[str]:
    """Lines of Python that read the table: by `nf.read_table` where it is known how it was read."""
    if source is not None:
        given = {**({"target": source["target"]} if labelled else {}), **source["options"]}
        arguments = ", ".join([repr(source["path"]), *(f"{name}={value!r}" for name, value in given.items())])
        return ["import newfound as nf", "", f"{'X, y' if labelled else 'X'} = nf.read_table({arguments})"]
    table = ['X = pd.read_csv("table.csv")']
    if labelled:
        table = ['table = pd.read_csv("table.csv")', 'X, y = table.drop(columns="label"), table["label"]']
    return ["import newfound as nf", "import pandas as pd", "", *table]


def next_commands(names: Sequence[Any], *, source: Facts | None = None) -> list[str]:
    """Return the same for the command line, and how to label other rows."""
    where = source or {"path": "table.csv", "target": None, "model": _MODEL, "options": {}, "is_training": False}
    new, table = class_name(_new_name(names)), shlex.quote(where["path"])
    form = [f"--{name.replace('_', '-')}={value}" for name, value in where["options"].items() if name in _FORMAT]
    read = "".join(f" {shlex.quote(option)}" for option in form)
    renamed = shlex.quote(f"{class_name(names[0])}={new}")
    commands = [f"newfound rename {shlex.quote(where['model'])} {renamed} --out named.newfound"]
    if len(names) > 1:
        commands.append(f"newfound merge named.newfound {new} {shlex.quote(class_name(names[1]))} --force")
    commands.append(
        f"newfound split named.newfound {table} {new}{read}{' --training' if where['is_training'] else ''} --force"
    )
    if where["target"] is not None:
        unlabelled = "".join(f" --unlabelled={shlex.quote(text)}" for text in where["options"].get("unlabelled", []))
        target = f"--target={where['target']}"
        commands.append(f"newfound to-labels named.newfound {table} {shlex.quote(target)}{unlabelled}{read}")
    return [*commands, f"newfound predict named.newfound new_rows.csv{read}"]


def _pairs(pairs: Mapping[str, str | None]) -> Html:
    items = [join(tag("dt", name), tag("dd", value)) for name, value in pairs.items() if value is not None]
    return tag("dl", *items, class_="pairs")


def records(rows: Sequence[Facts]) -> Html:
    """Draw dicts with the same keys as a table."""
    columns = list(dict.fromkeys(name for row in rows for name in row))

    def shown(value: Any) -> str:
        if value is None:
            return "–"
        return (
            number_text(value)
            if isinstance(value, int | float) and not isinstance(value, bool)
            else shortened(str(value))
        )

    texts = [[shown(row.get(name)) for name in columns] for row in rows]
    lines = [tag("tr", *(tag("td", text, class_=breaking(text)) for text in row)) for row in texts]
    return tag(
        "table",
        tag("thead", tag("tr", *(tag("th", name.replace("_", " "), scope="col") for name in columns))),
        tag("tbody", *lines),
    )
