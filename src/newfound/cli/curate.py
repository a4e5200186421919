"""`newfound rename`, `merge` and `split`: name what was found, join what is one class, divide what is not."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.cli.options import (
    DecimalOption,
    DelimiterOption,
    EncodingOption,
    ForceOption,
    JsonOption,
    MaxMemoryOption,
    ModelArgument,
    SheetOption,
    TableArgument,
)
from newfound.cli.output import Output
from newfound.cli.reading import Format, load_model, read_columns, read_table_file
from newfound.cli.writing import check_new, new_file, new_files, writing_to
from newfound.errors import InputError
from newfound.runs.names import class_named, class_names, typed_name

if TYPE_CHECKING:
    from newfound.discoverers.base import BaseDiscoverer

OutOption = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the model here, and leave MODEL as it is.")
]


def rename(
    model: ModelArgument,
    names: Annotated[list[str], typer.Argument(metavar="OLD=NEW...", help="Names now and then, such as novel_0=worm.")],
    out: OutOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Give novel classes names that mean something.

    Changes MODEL itself with --force, or writes another with --out:

        newfound rename newfound-attacks/model.newfound novel_0=worm novel_1=scan --force
    """
    output = Output(as_json)
    with _changing(model, out, force, output) as found:
        found.rename(_pairs(names, found))


def merge(
    model: ModelArgument,
    classes: Annotated[list[str], typer.Argument(metavar="CLASS...", help="Two or more classes that are one.")],
    into: Annotated[
        str | None, typer.Option("--into", metavar="NAME", help="Name of the whole; by default that of the first.")
    ] = None,
    out: OutOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make one class of several.

    One of them may be a known class, which then keeps its name. Changes MODEL itself with --force, or writes another:

        newfound merge newfound-attacks/model.newfound novel_1 novel_3 --into scan --force
    """
    output = Output(as_json)
    if len({name.strip() for name in classes}) < 2:
        raise InputError(f"Got {', '.join(classes)} alone, but two or more different classes can be merged.")
    with _changing(model, out, force, output) as found:
        whole = None if into is None else typed_name(into, found)
        found.merge([class_named(name, found) for name in classes], into=whole)


def split(
    model: ModelArgument,
    table: TableArgument,
    name: Annotated[str, typer.Argument(metavar="CLASS", help="A novel class that is several.")],
    parts: Annotated[int, typer.Option("--parts", "-n", metavar="N", help="Number of parts, at least 2.")] = 2,
    training: Annotated[
        bool, typer.Option("--training", help="TABLE is the one in which the class was found, with the same rows.")
    ] = False,
    out: OutOption = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    decimal: DecimalOption = None,
    sheet: SheetOption = None,
    max_memory: MaxMemoryOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make several classes of one.

    The rows of TABLE that are of the class say where it is divided. With --training these are the rows that were found
    to be of it, otherwise those that are predicted to be. Changes MODEL itself with --force, or writes another:

        newfound split newfound-attacks/model.newfound attacks.csv novel_0 --parts 3 --training --force
    """
    output = Output(as_json)
    if parts < 2:
        raise InputError(f"Got --parts {parts}, but a class is split into 2 or more.")
    form = Format(delimiter, encoding, decimal, sheet, max_memory)
    with _changing(model, out, force, output) as found:
        class_ = class_named(name, found)
        columns = read_columns(read_table_file(table, form, output), output)
        with output.busy("Splitting"), output.speaking_of(table, n="--parts"):
            found.split(class_, parts, columns, training=training)


def place_of(model: Path, out: Path | None, force: bool) -> Path:
    """Where the changed model goes; asked last, so that --force is never the cure for a mistake in the names."""
    if out is not None:
        check_new(out, force=force)
        return out
    if not force:
        raise InputError(f"This changes {model}; add --force to change it, or write another model with --out FILE.")
    return model


@contextlib.contextmanager
def _changing(model: Path, out: Path | None, force: bool, output: Output) -> Iterator[BaseDiscoverer]:
    """Give the model to change, and write what has become of it.

    Where MODEL itself is changed, it is held from before it is read until it is written: of two commands that change
    it at once, one is refused, and none is lost.
    """
    import newfound

    with contextlib.ExitStack() as held:
        fresh = None
        if out is None and force and model.is_file():
            (fresh,) = held.enter_context(new_files({"--out": model}, force=True))
        found = load_model(model, output)
        yield found
        path = place_of(model, out, force)
        if fresh is None:
            fresh = held.enter_context(new_file(path, force=force))
        with writing_to(path):
            newfound.save(found, fresh)
    _tell(found, path, output)


def _tell(found: BaseDiscoverer, path: Path, output: Output) -> None:
    names, n_known = class_names(found), len(found.known_classes_)
    known, novel = names[:n_known], names[n_known:]
    output.say(f"Novel classes now: {', '.join(novel) or 'none'}.")
    output.say(f"Written to {path}")
    output.finish({"model": str(path), "novel_classes": novel, "known_classes": known})


def _pairs(texts: list[str], model: BaseDiscoverer) -> dict[Any, Any]:
    """Read OLD=NEW, where both may hold an equals sign: what stands before it must be a class."""
    names = class_names(model)
    pairs: dict[Any, Any] = {}
    for text in texts:
        places = [place for place, character in enumerate(text) if character == "="]
        if not places:
            raise InputError(f"Got {text}, but expected OLD=NEW, such as novel_0=worm.")
        place = next((place for place in places if text[:place] in names), places[0])
        old, new = class_named(text[:place], model), text[place + 1 :].strip()
        if not new:
            raise InputError(f"Got {text}, which has no name after the equals sign; expected OLD=NEW.")
        if old in pairs:
            raise InputError(f"Got two new names for {text[:place]}; give one.")
        pairs[old] = typed_name(new, model)
    return pairs
