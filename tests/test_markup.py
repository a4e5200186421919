from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from newfound.markup import Html, document, join, scrolling, tag

# What a parser of HTML hands back unchanged: no line ends, which it may join, and nothing it has to replace.
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")))


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.values: list[dict[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.values.append(dict(attrs))

    def handle_data(self, data: str) -> None:
        self.text += data


@given(TEXTS, TEXTS)
def test_any_text_stays_text(inside: str, value: str) -> None:
    reader = Reader()
    reader.feed(tag("p", inside, title=value))
    reader.close()
    assert (reader.names, reader.text, reader.values[0]["title"]) == (["p"], inside, value)


def test_attributes_are_spelled_as_in_html() -> None:
    made = tag("button", "x", class_="a b", aria_label='say "hi"', hidden=True, disabled=False, title=None, tabindex=0)
    assert made == '<button class="a b" aria-label="say &quot;hi&quot;" hidden tabindex="0">x</button>'


def test_markup_is_not_escaped_twice_and_none_is_left_out() -> None:
    assert tag("p", tag("b", "<"), None, 3, Html("<br>")) == "<p><b>&lt;</b>3<br></p>"
    assert join("&", None, tag("i")) == "&amp;<i></i>"


def test_void_elements_have_no_end() -> None:
    assert tag("meta", charset="utf-8", name="x") == '<meta charset="utf-8" name="x">'


def test_a_document_is_whole() -> None:
    made = document("a < b", tag("p", "x"), "&", head=tag("style", Html("p{}")))
    assert made == (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>a &lt; b</title>'
        "<style>p{}</style></head><body><p>x</p>&amp;</body></html>\n"
    )


def test_a_wide_table_can_be_reached_by_the_keyboard() -> None:
    assert 'tabindex="0" role="region" aria-label="Rows"' in scrolling(tag("table"), "Rows")
