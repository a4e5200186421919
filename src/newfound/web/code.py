"""Python code that does what a run did: reading, fitting, what people made of the classes, and saving."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from newfound.registry import registered
from newfound.web.curating import Curated
from newfound.web.records import read_json, write_json

if TYPE_CHECKING:
    from newfound.web.opened import Opened

Lines = list[str]

_STORY = "story.json"


def code_of(opened: Opened) -> str:
    """Return a program that reproduces a run as it is now."""
    options = opened.options
    title = _quoted(f"Novel classes in {options['table_name']}")
    lines = [
        '"""Reproduces a run of newfound\'s workbench; the table must lie beside this file."""',
        "",
        "import newfound as nf",
        "",
        *_model_lines(opened),
        "",
        'nf.save(model, "model.newfound")',
    ]
    if options["kind"] == "update":
        lines += ["", "labels = told.labels  # the class of each row of the batch"]
    else:
        lines += [
            "",
            "# A row keeps its label; where it has none, it gets the class that the model predicts.",
            "labels = [label if label is not None else found for label, found in zip(y, model.predict(X).tolist())]",
            f'nf.write_report(model, X, y, "report.html", title={title})',
        ]
    return "\n".join(lines) + "\n"


def write_code(fresh: Path, opened: Opened, how: str) -> None:
    """Write the first lines of a run that follows on another one: the next round, or an update."""
    lines = _model_lines(opened)
    if how == "next":
        for row, label in sorted(opened.answers.items()):
            lines.append(f"y[{row}] = {_quoted(label)}")
        accepted = ", ".join(_quoted(name) for name in sorted(opened.accepted))
        lines += [f"y = model.to_labels(X, y, accept=[{accepted}])  # for the next round", ""]
    write_json(fresh / _STORY, lines)


def _model_lines(opened: Opened) -> Lines:
    """Lines that make the table X, the labels y and the model."""
    options, story = opened.options, read_json(opened.folder / _STORY)
    if options["kind"] == "update":
        return [*(story or []), *_update_lines(options), *_step_lines(opened, training=False)]
    lines: Lines = list(story) if story else _reading_lines(options)
    if options["hide"]:
        hidden = ", ".join(_quoted(name) for name in options["hide"])
        lines.append(f"y[[label in ({hidden},) for label in y]] = None  # hidden, to rehearse")
    lines += [*_fit_lines(opened), *_step_lines(opened, training=True)]
    return lines


def _reading_lines(options: dict[str, Any]) -> Lines:
    arguments = [_quoted(options["table_name"]), f"target={_quoted(options['target'])}"]
    if options["ignore"]:
        arguments.append(f"ignore=[{', '.join(map(_quoted, options['ignore']))}]")
    if options.get("marks") is not None:
        arguments.append(f"unlabelled=[{', '.join(map(_quoted, options['marks']))}]")
    return [f"X, y = nf.read_table({', '.join(arguments)})"]


def _fit_lines(opened: Opened) -> Lines:
    options = opened.options
    settings: dict[str, Any] = {
        "n_novel_classes": options["n_novel_classes"],
        "unlabelled": options["unlabelled"],
        "time_limit": options["time_limit"],
        **options["settings"],
    }
    arguments = [f"{name}={value!r}" for name, value in settings.items() if value is not None]
    if opened.source.kinds:
        arguments.append(f"encoder=nf.TableEncoder(kinds={opened.source.kinds!r})")
    arguments.append(f"random_state={options['seed']}")
    kind = registered()[options["method"]]
    return [f"model = nf.{kind.class_name}({', '.join(arguments)}).fit(X, y)"]


def _update_lines(options: dict[str, Any]) -> Lines:
    name = _quoted(options["table_name"])
    if options["target"] is None:
        return [f"batch = nf.read_table({name})", "told = model.update(batch)"]
    target = _quoted(options["target"])
    return [f"batch, y_batch = nf.read_table({name}, target={target})", "told = model.update(batch, y_batch)"]


def _step_lines(opened: Opened, *, training: bool) -> Lines:
    lines: Lines = []
    for step in Curated(opened.folder).steps:
        if step["action"] == "rename":
            names = {old.strip(): new.strip() for old, new in step["names"].items()}
            lines.append(f"model.rename({names!r})")
        elif step["action"] == "merge":
            into = "" if step["into"] is None else f", into={_quoted(step['into'].strip())}"
            lines.append(f"model.merge([{', '.join(_quoted(name.strip()) for name in step['classes'])}]{into})")
        elif step["action"] == "split":
            rows = "X, training=True" if training else "batch"
            lines.append(f"model.split({_quoted(step['name'].strip())}, {step['parts']}, {rows})")
    return lines


def _quoted(text: str) -> str:
    """Spell a text as Python code, whatever is in it."""
    return ascii(text)
