from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.errors import InputError
from newfound.tables.files.delimited import check_delimiter, read_delimited
from tests.tables.files.texts import as_decoded, budget

CELL = st.text(st.sampled_from(list("ab1,;|\t\"'\n é")), max_size=6)


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    width = draw(st.integers(2, 4))
    return draw(st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=6))


@given(tables(), st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n"]))
def test_what_was_written_is_read(body: list[list[str]], delimiter: str, end: str) -> None:
    heading = [f"c{j}" for j in range(len(body[0]))]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows([heading, *body])
    read = read_delimited(as_decoded(text.getvalue()), delimiter, budget())
    assert read.names == heading
    assert [list(row) for row in zip(*read.columns, strict=True)] == body


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    "lines",
    [
        ["a{0}b", "1{0}2", "3{0}4"],
        ["a{0}b{0}c", '"1,5"{0}"x;y"{0}"p|q"', '"2,5"{0}"z;w"{0}"r\ts"'],
        ["name{0}text", '1{0}"one, two; three"', '2{0}"four\nfive, six"'],
        ["when{0}n", "2024-01-01 10:00{0}1", "2024-01-02 11:00{0}2"],
    ],
)
def test_the_delimiter_is_found(delimiter: str, lines: list[str]) -> None:
    text = "\n".join(line.format(delimiter) for line in lines)
    assert read_delimited(as_decoded(text), None, budget()).delimiter == delimiter


def test_decimal_commas_are_no_delimiters() -> None:
    text = "a;b\n" + "\n".join(f"{i},5;{i},25" for i in range(20))
    assert read_delimited(as_decoded(text), None, budget()).delimiter == ";"


def test_excel_may_say_what_the_delimiter_is() -> None:
    read = read_delimited(as_decoded("sep=#\r\na#b,c\r\n1#2\r\n"), None, budget())
    assert (read.names, read.columns, read.delimiter) == (["a", "b,c"], [["1"], ["2"]], "#")


def test_names_that_are_missing_and_delimiters_at_the_end() -> None:
    read = read_delimited(as_decoded(",a,\n0,1,\n1,2,\n"), None, budget())
    assert read.names == ["", "a"]
    assert read.columns == [["0", "1"], ["1", "2"]]


def test_a_long_table_is_cut_for_finding_the_delimiter_alone() -> None:
    text = "a;b\n" + '"x,y";2\n' * 30_000
    read = read_delimited(as_decoded(text), None, budget())
    assert read.delimiter == ";"
    assert len(read.columns[0]) == 30_000


@pytest.mark.parametrize("given", ["", "ab", '"', "\n"])
def test_what_is_no_delimiter(given: str) -> None:
    with pytest.raises(InputError, match="Got delimiter "):
        check_delimiter(given)


def test_delimiters_have_names() -> None:
    assert [check_delimiter(name) for name in ("tab", "\\t", "comma", "pipe", "#")] == ["\t", "\t", ",", "|", "#"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a,b\n1,2\n1,2,3\n", "line 3 has 3 cells, but the first line has 2"),
        ('a,b\n1,"x\ny"\n1\n', "line 4 has 1 cell, but"),
        ('a,b\n1,"x\n3,4\n', 'line 2: the row that begins here has a quote (") that is never closed'),
        ('a,b\n1,"x"y\n', "text between a closing quote"),
        (f'a,b\n1,"{"x" * 200_000}"\n', "a cell of more than 131,072 characters"),
        ("a,b\n", "names of columns but no rows"),
    ],
)
def test_refusals(text: str, complaint: str) -> None:
    with pytest.raises(InputError) as refused:
        read_delimited(as_decoded(text), ",", budget())
    assert complaint in str(refused.value)
