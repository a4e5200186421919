from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from newfound_lab.pages.rendering import Cell, ResultTable, html, html_page, latex, markdown

TABLE = ResultTable(
    "small",
    "A title",
    "How to read_it & more",
    ("Dataset", "top_k < 5", "ACC, %"),
    (
        (Cell("adult_education"), Cell("a|b"), Cell("84.7 ± 1.0", bold=True)),
        (Cell("human", flag="‡"), Cell("_x* [y]"), Cell("−0.9", flag="†")),
    ),
    n_headers=1,
    notes=("† far away", "‡ 66 of 561 features"),
)


class Outline(HTMLParser):
    """Tags that are open and close again, and the text of cells."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[tuple[str, str | None, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "meta":
            self.open.append(tag)
        if tag in ("th", "td"):
            self.cells.append((tag, dict(attrs).get("scope"), ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"th", "td"} & set(self.open):
            tag, scope, text = self.cells[-1]
            self.cells[-1] = tag, scope, text + data


def test_markdown_escapes_what_is_its_own_and_has_no_html() -> None:
    lines = markdown(TABLE).splitlines()
    assert lines[0] == "**A title.** How to read_it & more"
    assert lines[2] == r"| Dataset | top_k \< 5 | ACC, % |"
    assert lines[3] == "|:--|--:|--:|"
    assert lines[4] == r"| adult_education | a\|b | **84.7 ± 1.0** |"
    assert lines[5] == r"| human ‡ | \_x\* \[y\] | −0.9 † |"
    assert lines[-1] == "‡ 66 of 561 features"
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in lines[2:6])


def test_latex_is_booktabs_and_escaped() -> None:
    text = latex(TABLE)
    assert r"\begin{tabular}{lrr}" in text
    assert text.index(r"\toprule") < text.index(r"\midrule") < text.index(r"\bottomrule")
    assert r"\addlinespace" not in text
    assert r"\addlinespace" in latex(replace(TABLE, n_headers=2))  # between groups of rows
    assert r"adult\_education & a\textbar{}b & \textbf{84.7 $\pm$ 1.0} \\" in text
    assert r"human\,\ddag{} & \_x* [y] & $-$0.9\,\dag{} \\" in text
    assert r"How to read\_it \& more" in text
    assert text.isascii()
    assert text.count("{") == text.count("}")
    for name in ("table", "tabular"):
        assert text.count(f"\\begin{{{name}}}") == text.count(f"\\end{{{name}}}") == 1


def test_html_is_whole_and_accessible() -> None:
    outline = Outline()
    page = html_page("All <results>", [html(TABLE)])
    outline.feed(page)
    assert outline.open == []
    assert outline.cells[:3] == [("th", "col", "Dataset"), ("th", "col", "top_k < 5"), ("th", "col", "ACC, %")]
    assert outline.cells[3:6] == [("th", "row", "adult_education"), ("td", None, "a|b"), ("td", None, "84.7 ± 1.0")]
    assert "<strong>84.7 ± 1.0</strong>" in page
    assert "<caption><strong>A title.</strong> How to read_it &amp; more</caption>" in page
    assert '<html lang="en">' in page
    assert "<title>All &lt;results&gt;</title>" in page
    assert "http" not in page  # needs no other file


def test_rows_must_fit_the_columns() -> None:
    with pytest.raises(AssertionError):
        ResultTable("broken", "t", "c", ("a", "b"), ((Cell("1"),),))
