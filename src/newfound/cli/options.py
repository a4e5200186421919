"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from newfound.errors import InputError
from newfound.plain import EXACT, SAFE

TableArgument = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE", help="The table: CSV, JSON lines, Parquet, Feather or Excel (.xlsx), also with .gz."
    ),
]
StreamOption = Annotated[
    bool,
    typer.Option(
        "--stream",
        help="Read a Parquet file piece by piece, since it is larger than memory. Folders and patterns always are.",
    ),
]
ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that `newfound discover` wrote.")]

TargetOption = Annotated[
    str,
    typer.Option("--target", "-t", metavar="COLUMN", help="Column of the classes; empty where a row is unlabelled."),
]
NovelClassesOption = Annotated[
    str, typer.Option("--novel-classes", "-k", metavar="K|auto", help="How many; auto has the number estimated.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of every random choice.")]
UnlabelledOption = Annotated[
    list[str] | None,
    typer.Option(
        "--unlabelled",
        metavar="TEXT",
        help="Text that marks an unlabelled row in the target, instead of NA, NaN, None, null, and -1 among numbers.",
    ),
]
IgnoreOption = Annotated[
    list[str] | None, typer.Option("--ignore", metavar="COLUMN", help="Leave this column out; may be repeated.")
]
KindOption = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="COLUMN=KIND",
        help="Read a column as numeric, categorical, boolean, date or time (of the day), where the guess was wrong.",
    ),
]
DeviceOption = Annotated[str, typer.Option("--device", help="Where networks are trained: auto, cpu or cuda.")]

DelimiterOption = Annotated[
    str | None, typer.Option("--delimiter", metavar="CHAR", help="Between the cells of CSV; detected by default.")
]
EncodingOption = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="Of text, such as utf-8 or cp1252; detected by default."),
]
DecimalOption = Annotated[
    str | None, typer.Option("--decimal", metavar="CHAR", help="Decimal mark, '.' or ','; detected by default.")
]
SheetOption = Annotated[
    str | None, typer.Option("--sheet", metavar="NAME", help="Sheet of an Excel file; by default the first.")
]
MaxMemoryOption = Annotated[
    str | None,
    typer.Option(
        "--max-memory",
        metavar="SIZE",
        help="Most memory that reading may take, such as 4GB; by default what suits the machine and the file.",
    ),
]


def _checked_names(given: str | None) -> str | None:
    if given is not None and given not in (SAFE, EXACT):
        raise InputError(f"Got --names {given}, but expected {SAFE} or {EXACT}.")
    return given


NamesOption = Annotated[
    str | None,
    typer.Option(
        "--names",
        metavar=f"{SAFE}|{EXACT}",
        callback=_checked_names,
        help="How class names are written: so that no spreadsheet runs them as a formula, or exactly as they are. By "
        "default safe for names that come from a model, exact for those of your own table.",
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that are there already.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]
