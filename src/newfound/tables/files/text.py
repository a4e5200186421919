"""From the bytes of a file to text: which encoding they are in, and whether they are text at all."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from newfound.errors import InputError, Message, Parameter
from newfound.tables.files.budget import Budget

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
_TWO_BYTES, _FOUR_BYTES = 0xC4, 0xF0  # of UTF-8, from which on Python keeps a text with so many bytes a character
_LINE_COST = 64  # bytes that a character may take while its line is read and cut into cells
_MANY_ZEROS = 0.3  # share of every second byte, where UTF-16 has its mostly Latin letters
_FEW_ZEROS = 0.05
_CONTROL = {chr(code) for code in range(32)} - set("\t\n\r\f\x1a\x1b")
_UNUSED_IN_CP1252 = (b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d")
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

    def text_size(self) -> int:
        """Return how many bytes the whole text takes at most; one rare character makes all of them wide."""
        widest = int(np.frombuffer(self.utf8, dtype=np.uint8).max(initial=0))
        return len(self.utf8) * (1 if widest < _TWO_BYTES else 2 if widest < _FOUR_BYTES else 4)

    def lines(self, skipped: int = 0, *, budget: Budget, newline: str = "") -> Iterator[str]:
        """Go through the lines, with their ends, without having the whole text in memory.

        Parameters
        ----------
        skipped : int, default=0
            Bytes of the text to leave out at its beginning.
        budget : Budget
            No line is longer than it allows.
        newline : str, default=""
            "" where a carriage return ends a line too, and a line feed where it does not.
        """
        raw = io.BytesIO(self.utf8)
        raw.seek(skipped)
        stream = io.TextIOWrapper(raw, "utf-8", _LONE_SURROGATES, newline)
        most = max(1, budget.left // _LINE_COST)
        return stream if len(self.utf8) < most else _short_lines(stream, most, budget)

    def head(self, n_characters: int) -> str:
        """Return the beginning of the text: more than `n_characters`, or all there is."""
        some = self.utf8[: 4 * (n_characters + 2)]  # no character takes more than four bytes
        return some.decode("utf-8", _LONE_SURROGATES if len(some) == len(self.utf8) else "ignore")


def _short_lines(stream: io.TextIOWrapper, most: int, budget: Budget) -> Iterator[str]:
    while line := stream.readline(most):
        if len(line) == most:
            raise budget.exceeded(f"a line has more than {most:,} characters", 2 * _LINE_COST * most)
        yield line


def decode(content: bytes, encoding: str | None, budget: Budget) -> Decoded:
    """Turn bytes into text.

    Parameters
    ----------
    content : bytes
    encoding : str or None
        None finds out: a byte order mark, UTF-16 without one, UTF-8, and else Windows-1252 with a note.
    budget : Budget
        The text is taken from it where it is another one than the content. It knows the name of the file.

    Raises
    ------
    InputError
        If there is no such encoding, the bytes are not in it, or they are no text at all.
    """
    source = budget.source
    if encoding is not None:
        name = _checked(encoding)
        # a line end or a delimiter has a zero byte there, and almost any bytes spell some letters
        if name.startswith(("utf-16", "utf-32")) and content and b"\0" not in content:
            problem = f"{source} cannot be read as {encoding}: it has no zero byte. Leave out "
            raise InputError(Message(problem, Parameter("encoding"), " to have it found."))
        return Decoded(_utf8_of(content, name, budget), encoding, "")
    for mark, name in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return Decoded(_utf8_of(content, name, budget), name, "")
    if b"\0" in content[:_LOOKED_AT]:
        return Decoded(_utf8_of(content, _utf_16_or_refuse(content, source), budget), "utf-16", "")
    place = _check_utf8(content)
    if place is None:
        _refuse_binary(content[: 4 * _LOOKED_AT].decode("utf-8", "ignore"), source)
        return Decoded(content, "utf-8", "")
    # Latin-1 has a character for every byte
    name = "latin-1" if any(byte in content for byte in _UNUSED_IN_CP1252) else "cp1252"
    line = content.count(b"\n", 0, place) + 1
    note = f"{source} is not UTF-8 (line {line}), so it was read as {name}; if letters look wrong, give "
    return Decoded(_utf8_of(content, name, budget), name, Message(note, Parameter("encoding"), "."))


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


def _utf8_of(content: bytes, encoding: str, budget: Budget) -> bytes:
    """Turn bytes into UTF-8, a part at a time, since the text itself is not needed."""
    kept = io.BytesIO()
    end = 0
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
        step = _PART
    except LookupError:  # there is none, or an encoding can only be read as a whole
        decoder, step = None, len(content) + 1
    for start in range(0, max(1, len(content)), step):
        end = min(start + step, len(content))
        part = content[start:end]
        try:
            text = part.decode(encoding) if decoder is None else decoder.decode(part, final=end == len(content))
        except Exception as error:  # a codec is the code of others, and some do not say where it is
            place = max(0, end - len(getattr(error, "object", part)) + getattr(error, "start", 0))
            problem = f"{budget.source} cannot be read as {encoding}: byte {place:,} of {len(content):,} makes no sense"
            cure = " in it. The file may be cut short; if it is in another encoding, name it with "
            raise InputError(Message(problem, cure, Parameter("encoding"), ".")) from None
        if not start:
            _refuse_binary(text, budget.source)
        if encoding != "utf-8-sig":  # whose bytes are there already
            utf8 = text.encode("utf-8", _LONE_SURROGATES)
            budget.take(len(utf8), "as text it has more than {:,} bytes", kept.tell())
            kept.write(utf8)
    return content.removeprefix(codecs.BOM_UTF8) if encoding == "utf-8-sig" else kept.getvalue()


def _check_utf8(content: bytes) -> int | None:
    """Return the place of the first byte that is not UTF-8; a part at a time, since the text itself is not needed."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, max(1, len(content)), _PART):
            end = min(start + _PART, len(content))
            decoder.decode(content[start:end], final=end == len(content))
    except UnicodeDecodeError as error:
        return end - len(error.object) + error.start
    return None


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
