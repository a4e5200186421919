"""From the bytes of a file to text: which encoding they are in, and whether they are text at all."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from newfound.errors import InputError, Message, Parameter

# The four bytes of UTF-32 begin with the two of UTF-16, so the order matters.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Python counts them among the encodings of text, but no file is in them: they are for host names and source code.
_NOT_OF_FILES = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape")
_LONE_SURROGATES = "surrogatepass"  # which UTF-7, for one, can spell
_LOOKED_AT = 1 << 16
_PART = 1 << 16  # bytes
_MANY_ZEROS = 0.3  # share of every second byte, where UTF-16 has its mostly Latin letters
_FEW_ZEROS = 0.05
_CONTROL = {chr(code) for code in range(32)} - set("\t\n\r\f\x1a\x1b")
_MOST_CONTROL = 0.005  # share of characters; text has next to none


class Decoded(NamedTuple):
    """Text as UTF-8 without a mark, the encoding it was in, and what the user should know of it ("" if nothing).

    Text is kept as bytes since that is what files mostly hold already, and what fast parsers read.
    """

    utf8: bytes
    encoding: str
    note: str

    @property
    def text(self) -> str:
        """The whole text."""
        return self.utf8.decode("utf-8", _LONE_SURROGATES)

    def head(self, n_characters: int) -> str:
        """Return the beginning of the text: more than `n_characters`, or all there is."""
        some = self.utf8[: 4 * (n_characters + 2)]  # no character takes more than four bytes
        return some.decode("utf-8", _LONE_SURROGATES if len(some) == len(self.utf8) else "ignore")


def decode(content: bytes, encoding: str | None, source: str) -> Decoded:
    """Turn bytes into text.

    Parameters
    ----------
    content : bytes
    encoding : str or None
        None finds out: a byte order mark, UTF-16 without one, UTF-8, and else Windows-1252 with a note.
    source : str
        Named in messages.

    Raises
    ------
    InputError
        If there is no such encoding, the bytes are not in it, or they are no text at all.
    """
    if encoding is not None:
        name = _checked(encoding)
        # a line end or a delimiter has a zero byte there, and almost any bytes spell some letters
        if name.startswith(("utf-16", "utf-32")) and content and b"\0" not in content:
            problem = f"{source} cannot be read as {encoding}: it has no zero byte. Leave out "
            raise InputError(Message(problem, Parameter("encoding"), " to have it found."))
        return Decoded(_utf8_of(content, name, source), encoding, "")
    for mark, name in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return Decoded(_utf8_of(content, name, source), name, "")
    if b"\0" in content[:_LOOKED_AT]:
        return Decoded(_utf8_of(content, _utf_16_or_refuse(content, source), source), "utf-16", "")
    try:
        _check_utf8(content)
        _refuse_binary(content[: 4 * _LOOKED_AT].decode("utf-8", "ignore"), source)
        return Decoded(content, "utf-8", "")
    except UnicodeDecodeError as error:
        place = error.start
    for name in ("cp1252", "latin-1"):  # the second has a character for every byte
        try:
            text = content.decode(name)
        except UnicodeDecodeError:
            continue
        _refuse_binary(text, source)
        line = content[:place].count(b"\n") + 1
        note = f"{source} is not UTF-8 (line {line}), so it was read as {name}; if letters look wrong, give "
        return Decoded(text.encode(), name, Message(note, Parameter("encoding"), "."))
    raise AssertionError


def _checked(encoding: str) -> str:
    try:
        info = codecs.lookup(encoding)
        b"".decode(encoding)
    except Exception:  # a codec is the code of others
        info = None
    if (
        info is None
        or not getattr(info, "_is_text_encoding", True)
        or info.name.lower().replace("_", "-") in _NOT_OF_FILES
    ):
        problem = ", but there is no such encoding; expected a name such as utf-8, utf-16, cp1252 or latin-1."
        cure = " Leave it out to have it found."
        raise InputError(Message("Got ", Parameter("encoding", encoding), problem, cure))
    # a byte order mark is no part of the first name
    return "utf-8-sig" if info.name == "utf-8" else info.name


def _utf8_of(content: bytes, encoding: str, source: str) -> bytes:
    try:
        text = content.decode(encoding)
    except Exception as error:  # a codec is the code of others, and some do not say where it is
        place = getattr(error, "start", 0)
        problem = f"{source} cannot be read as {encoding}: byte {place:,} of {len(content):,} makes no sense in it."
        cure = " The file may be cut short; if it is in another encoding, name it with "
        raise InputError(Message(problem, cure, Parameter("encoding"), ".")) from None
    _refuse_binary(text, source)
    if encoding == "utf-8-sig":
        return content.removeprefix(codecs.BOM_UTF8)
    return text.encode("utf-8", _LONE_SURROGATES)


def _check_utf8(content: bytes) -> None:
    """Raise UnicodeDecodeError where there is something else; a part at a time, since the text itself is not needed."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(content), _PART):
            decoder.decode(content[start : start + _PART])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        content.decode("utf-8")  # says where it is


def _utf_16_or_refuse(content: bytes, source: str) -> str:
    some = content[:_LOOKED_AT]
    even, odd = (half.count(0) / max(1, len(half)) for half in (some[::2], some[1::2]))
    if odd > _MANY_ZEROS and even < _FEW_ZEROS:
        return "utf-16-le"
    if even > _MANY_ZEROS and odd < _FEW_ZEROS:
        return "utf-16-be"
    raise _binary(source)


def _refuse_binary(text: str, source: str) -> None:
    some = text[:_LOOKED_AT]
    if sum(character in _CONTROL for character in some) > _MOST_CONTROL * len(some):
        raise _binary(source)


def _binary(source: str) -> InputError:
    return InputError(
        f"{source} is a binary file, not a table that can be read; expected CSV, JSON lines, Parquet, Feather or "
        "Excel (.xlsx). Save the table as CSV."
    )
