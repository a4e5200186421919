from __future__ import annotations

import csv
import io
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.markup import tag
from newfound.plain import printable, printable_json, safe_names, spreadsheet_safe

HOSTILE = st.text(st.sampled_from("=+-@\t\r\n\x1b\x9b\x7f\u202e\u2028;,|\"' a1＝"), max_size=12)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("@SUM(1+1)", "'@SUM(1+1)"),
        ("+1+cmd", "'+1+cmd"),
        ("-2+3", "'-2+3"),
        ("\t=1", "' =1"),
        ("\r=1", "' =1"),
        ("  =1", "'  =1"),
        ('"=1', "'\"=1"),
        ("a;=1", "a;'=1"),
        ("＝1", "'＝1"),
        ("-1", "-1"),
        ("+1.5e-3", "+1.5e-3"),
        ("a=b", "a=b"),
        ("b-1", "b-1"),
        ("größe", "größe"),
    ],
)
def test_no_spreadsheet_runs_a_name(name: str, written: str) -> None:
    assert spreadsheet_safe(name) == written


@given(HOSTILE, st.sampled_from(",;|\t"), st.sampled_from(",;|\t"))
def test_whatever_delimiter_a_spreadsheet_takes_no_cell_is_a_formula(name: str, ours: str, theirs: str) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=ours).writerow([spreadsheet_safe(name), "0.5"])
    for line in csv.reader(io.StringIO(stream.getvalue(), newline=""), delimiter=theirs):
        for cell in line:
            harmless = cell.replace(",", ".").replace(";", ".").strip()
            number = harmless.lstrip("+-").replace(".", "").isdigit()
            assert number or not cell.lstrip(' "').startswith(("=", "+", "-", "@", "＝")), (name, cell)


@given(st.lists(HOSTILE, unique=True, max_size=6), st.sets(st.integers(0, 5)))
def test_names_stay_different_and_own_names_as_they_are(names: list[str], places: set[int]) -> None:
    own = {names[place] for place in places if place < len(names)}
    safe = safe_names(names, own)
    assert len(set(safe)) == len(names)
    for name, shown in zip(names, safe, strict=True):
        assert shown == name if name in own else shown.isprintable()


def test_long_names_take_no_time() -> None:
    start = time.process_time()
    for worst in (" " * 200_000, "; " * 100_000, "1" * 200_000 + "x", "'" * 200_000, ";=" * 100_000):
        spreadsheet_safe(worst)
    assert time.process_time() - start < 3


@given(st.text())
def test_json_says_the_same_without_steering_a_terminal(text: str) -> None:
    spelled = printable_json(json.dumps({"name": text}, ensure_ascii=False, indent=2))
    assert all(character.isprintable() or character == "\n" for character in spelled)
    assert json.loads(spelled) == {"name": text}


@given(st.text())
def test_printed_text_is_one_line(text: str) -> None:
    assert printable(text).isprintable()
    assert len(printable(text)) == len(text)


def test_a_page_shows_names_and_obeys_none() -> None:
    assert tag("p", "a\u202eb\x1b[31m\x9b\x00<", title="\u2066x") == '<p title=" x">a b [31m  &lt;</p>'
    assert tag("p", "نی\u200cم\xa0%") == "<p>نی\u200cم\xa0%</p>"
