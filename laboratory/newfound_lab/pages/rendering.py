"""A table as data, and its three forms: markdown, LaTeX and HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from newfound.markup import Html, document, join, scrolling, tag


@dataclass(frozen=True)
class Cell:
    """One cell: its text, whether it stands out, and a mark that a note below the table explains."""

    text: str
    bold: bool = False
    flag: str = ""


@dataclass(frozen=True)
class ResultTable:
    """A table that can be rendered.

    Attributes
    ----------
    name : str
        Of its files, and of its label in LaTeX.
    title, caption : str
        What it shows, in a few words, and how to read it.
    columns : tuple of str
        Headings; no two are equal.
    rows : tuple of tuple of Cell
        Each as long as ``columns``.
    n_headers : int
        How many columns, from the left, say what a row is about; all others hold figures.
    notes : tuple of str
        Lines below the table, such as what a mark means.
    """

    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    n_headers: int = 1
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert len(set(self.columns)) == len(self.columns), self.columns
        assert all(len(row) == len(self.columns) for row in self.rows), self.name


def markdown(table: ResultTable) -> str:
    """Render as GitHub's markdown, without any HTML; ends with a newline."""
    lines = [f"**{escape_markdown(table.title)}.** {escape_markdown(table.caption)}", ""]
    lines.append("| " + " | ".join(escape_markdown(column) for column in table.columns) + " |")
    lines.append("|" + "|".join([":--"] * table.n_headers + ["--:"] * (len(table.columns) - table.n_headers)) + "|")
    for row in table.rows:
        lines.append("| " + " | ".join(_markdown_cell(cell) for cell in row) + " |")
    for note in table.notes:
        lines += ["", escape_markdown(note)]
    return "\n".join(lines) + "\n"


def latex(table: ResultTable) -> str:
    """Render as a LaTeX table that needs the package booktabs; ends with a newline."""
    alignment = "l" * table.n_headers + "r" * (len(table.columns) - table.n_headers)
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering\\footnotesize\\setlength{\\tabcolsep}{3pt}",
        f"\\caption{{\\textbf{{{_tex(table.title)}.}} {_tex(table.caption)}}}",
        f"\\label{{tab:{table.name}}}",
        f"\\begin{{tabular}}{{{alignment}}}",
        "\\toprule",
        " & ".join(_tex(column) for column in table.columns) + " \\\\",
        "\\midrule",
    ]
    above = table.rows[0][0] if table.rows else None
    for row in table.rows:
        if table.n_headers > 1 and row[0] != above:  # a new group of rows
            lines.append("\\addlinespace")
        above = row[0]
        lines.append(" & ".join(_tex_cell(cell) for cell in row) + " \\\\")
    lines += ["\\bottomrule", "\\end{tabular}"]
    lines += [f"\\par\\smallskip {_tex(note)}" for note in table.notes]
    return "\n".join([*lines, "\\end{table}"]) + "\n"


def html(table: ResultTable) -> Html:
    """Render as a fragment of HTML with a caption and headings of columns and rows; ends with a newline."""
    drawn = tag(
        "table",
        tag("caption", tag("strong", f"{table.title}."), " ", table.caption),
        tag("thead", tag("tr", *(tag("th", column, scope="col") for column in table.columns))),
        tag("tbody", *(join("\n", _html_row(row, table.n_headers)) for row in table.rows)),
    )
    notes = (tag("p", note) for note in table.notes)
    return join(tag("section", scrolling(drawn, table.title), *notes, id=table.name), "\n")


def html_page(title: str, fragments: Iterable[Html]) -> str:
    """Put fragments of HTML into a page that needs no other file."""
    return document(title, tag("main", tag("h1", title), *fragments), head=tag("style", _STYLE))


_STYLE = Html("""\
:root { color-scheme: light dark; }
body { font: 1rem/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
section { margin: 2.5rem 0; }
[role=region] { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .5rem; }
th, td { padding: .25rem .6rem; white-space: nowrap; }
thead th { border-bottom: 2px solid; vertical-align: bottom; white-space: normal; text-align: left; }
tbody tr { border-bottom: 1px solid #8886; }
tbody th { text-align: left; font-weight: normal; }
td { text-align: right; }
p { margin: .4rem 0; font-size: .9rem; }
""")


def escape_markdown(text: str) -> str:
    """Escape what markdown would take for its own; an underscore within a word means nothing to it."""
    return re.sub(r"[\\`*\[\]<|~]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", text)


def _markdown_cell(cell: Cell) -> str:
    text = f"**{escape_markdown(cell.text)}**" if cell.bold and cell.text else escape_markdown(cell.text)
    return f"{text} {cell.flag}" if cell.flag else text


_TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        **{sign: f"\\{sign}" for sign in "&%$#_"},
        "±": r"$\pm$",
        "−": "$-$",
        "—": "---",
        "†": r"\dag{}",
        "‡": r"\ddag{}",
        "§": r"\S{}",
        "¶": r"\P{}",
        "°": r"$^\circ$",
    }
)


def _tex(text: str) -> str:
    return text.translate(_TEX)


def _tex_cell(cell: Cell) -> str:
    text = f"\\textbf{{{_tex(cell.text)}}}" if cell.bold and cell.text else _tex(cell.text)
    return f"{text}\\,{_tex(cell.flag)}" if cell.flag else text


def _html_row(row: tuple[Cell, ...], n_headers: int) -> Html:
    cells = []
    for at, cell in enumerate(row):
        text = join(
            tag("strong", cell.text) if cell.bold and cell.text else cell.text, f" {cell.flag}" if cell.flag else None
        )
        cells.append(tag("th", text, scope="row") if at < n_headers else tag("td", text))
    return tag("tr", *cells)
