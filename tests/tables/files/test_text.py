from __future__ import annotations

import codecs
import contextlib
import encodings
import pkgutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.errors import InputError
from newfound.tables.files.text import decode
from tests.tables.files.texts import budget

LETTERS = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=["Cc", "Cs"]), min_size=1)


@given(LETTERS, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_unicode_is_found(text: str, encoding: str) -> None:
    decoded = decode(text.encode(encoding), None, budget())
    assert decoded.text == text.removeprefix("\ufeff")
    assert decoded.note == ""


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark(encoding: str) -> None:
    text = "größe,farbe\n1,rot\n2,blau\n"
    assert decode(text.encode(encoding), None, budget()).text == text


def test_what_is_not_unicode_is_read_as_windows_would() -> None:
    decoded = decode("a\ngröße – 1\n".encode("cp1252"), None, budget())
    assert decoded.text == "a\ngröße – 1\n"
    assert decoded.encoding == "cp1252"
    assert decoded.note.startswith("table.csv is not UTF-8 (line 2), so it was read as cp1252")
    assert decode(b"a\n\x81\xe9\n", None, budget()).encoding == "latin-1"


@pytest.mark.parametrize("given", ["utf-8", "UTF8", "utf_8"])
def test_a_mark_is_no_part_of_the_first_name(given: str) -> None:
    assert decode(codecs.BOM_UTF8 + b"a,b", given, budget()).text == "a,b"


@pytest.mark.parametrize(
    ("content", "encoding", "complaint"),
    [
        (b"a", "utf-99", "there is no such encoding"),
        (b"a", "base64", "there is no such encoding"),
        (b"a", "undefined", "there is no such encoding"),
        (b"a", "Unicode_Escape", "there is no such encoding"),
        (b"a", "", "there is no such encoding"),
        (b"a,b\n1,2\n", "utf-16", "cannot be read as utf-16: it has no zero byte"),
        (b"a\xff", "utf-8", "byte 1 of 2 makes no sense in it"),
        (b"a,b-1!2", "punycode", "there is no such encoding"),
        (codecs.BOM_UTF16_LE + b"a\0b", None, "cannot be read as utf-16"),
        (b"\x00\x01\x02\x03" * 100, None, "is a binary file"),
        (b"\x01\x02\x03\x04" * 100, None, "is a binary file"),
        (b"\x01\x02\x03\x04" * 100, "latin-1", "is a binary file"),
    ],
)
def test_refusals(content: bytes, encoding: str | None, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        decode(content, encoding, budget())


@pytest.mark.parametrize("n", range(60, 68))
def test_characters_where_parts_meet(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    monkeypatch.setattr("newfound.tables.files.text._PART", 64)
    text = "x" * n + "é€😀" * 40
    assert decode(text.encode(), None, budget()).encoding == "utf-8"
    cut = decode(text.encode() + b"\n\xe9\n", None, budget())
    assert (cut.encoding, "line 2" in cut.note) == ("cp1252", True)
    assert decode(text.encode()[:-1], None, budget()).encoding != "utf-8"


def test_the_beginning_of_a_text() -> None:
    text = "é€😀x" * 100
    decoded = decode(text.encode(), None, budget())
    head = decoded.head(50)
    assert text.startswith(head)
    assert 50 < len(head) < len(text)
    assert decoded.head(1000) == text


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"\x80-\xff=\n", b"--\x9bz9,=ACE-\n", b"xn--a\\N{x},\n"])
def test_whatever_the_encoding_text_is_read_or_refused(content: bytes) -> None:
    for module in pkgutil.iter_modules(encodings.__path__):
        with contextlib.suppress(InputError):
            decode(content, module.name, budget())
    codecs.register(_broken_codec)
    with pytest.raises(InputError, match="cannot be read as broken"):
        decode(content, "broken", budget())
    codecs.unregister(_broken_codec)


def _broken_codec(name: str) -> codecs.CodecInfo | None:
    def fail(text: bytes, errors: str = "strict") -> tuple[str, int]:
        return ("", 0) if not text else ("", 1 // 0)

    return codecs.CodecInfo(codecs.utf_8_encode, fail, name="broken") if name == "broken" else None
