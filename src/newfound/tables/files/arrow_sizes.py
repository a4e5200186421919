"""How much memory a Parquet or Feather file asks for, as its own headers say, before any of it is unpacked.

Pages of Parquet and buffers of Feather are unpacked as a whole, to the size that their headers name: a file of 2 MB may
name gigabytes. pyarrow has no limit for that, so that the headers are read here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(13)
_DEEPEST = 8  # structures in each other, in a page header


class Page(NamedTuple):
    """A page of a column chunk: unpacked bytes, number of values, and whether it is a dictionary."""

    size: int
    n_values: int
    is_dictionary: bool


def pages_of(content: bytes, start: int, length: int) -> Iterator[Page]:
    """Go through the pages of a column chunk of Parquet; ValueError where the headers make no sense."""
    end = min(start + length, len(content))
    while 0 <= start < end:
        header = _Compact(content, start)
        fields = header.structure()
        size, packed = fields.get(2), fields.get(3)
        if not isinstance(size, int) or not isinstance(packed, int) or size < 0 or packed < 0:
            raise ValueError("a page header names no sizes")
        about: dict[int, Any] = next((fields[key] for key in (5, 7, 8) if isinstance(fields.get(key), dict)), {})
        n_values = about.get(1, 0)
        yield Page(size, n_values if isinstance(n_values, int) and n_values > 0 else 0, 7 in fields)
        start = header.place + packed


class _Compact:
    """Thrift's compact protocol, as far as page headers need it."""

    def __init__(self, content: bytes, place: int) -> None:
        self._content, self.place = content, place

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """Read a structure: whole numbers and structures by their field, other fields as None."""
        if depth > _DEEPEST:
            raise ValueError("a page header is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while True:
            mark = self._byte()
            kind = mark & 15
            if kind == _STOP:
                return fields
            number = number + (mark >> 4) if mark >> 4 else self._integer()
            fields[number] = self._value(kind, depth)

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return None
        if kind in (_I16, _I32, _I64):
            return self._integer()
        if kind == _STRUCT:
            return self.structure(depth + 1)
        if kind in (_BYTE, _DOUBLE, _BINARY):
            length = {_BYTE: 1, _DOUBLE: 8}.get(kind) or self._varint()  # which moves the place
            self.place += length
            return None
        raise ValueError("a page header holds what does not belong there")

    def _byte(self) -> int:
        if not 0 <= self.place < len(self._content):
            raise ValueError("a page header is cut short")
        self.place += 1
        return self._content[self.place - 1]

    def _varint(self) -> int:
        value = shift = 0
        while shift < 70:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise ValueError("a page header holds a number without end")

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)


class FeatherSize(NamedTuple):
    """Bytes that the buffers of a Feather file have when they are unpacked, and its rows."""

    n_bytes: int
    n_rows: int


def feather_size(content: bytes) -> FeatherSize:
    """Add up the buffers of an Arrow file (version 2 of Feather); ValueError where its headers make no sense."""
    try:
        (length,) = struct.unpack_from("<i", content, len(content) - 10)
        footer = _Flat(content, len(content) - 10 - length).table()
        n_bytes = n_rows = 0
        for field, is_dictionary in ((2, True), (3, False)):
            for place in footer.vector(field, 24):
                found = _batch_size(content, place, is_dictionary)
                n_bytes += found.n_bytes
                n_rows += 0 if is_dictionary else found.n_rows
    except (struct.error, IndexError, OverflowError) as error:
        raise ValueError("its headers make no sense") from error
    return FeatherSize(n_bytes, n_rows)


def _batch_size(content: bytes, place: int, is_dictionary: bool) -> FeatherSize:
    offset, length = struct.unpack_from("<qi", content, place)
    (mark,) = struct.unpack_from("<I", content, offset)
    message = _Flat(content, offset + (8 if mark == 0xFFFFFFFF else 4)).table()
    batch = message.table(2)
    if is_dictionary:
        batch = batch.table(1)
    packed, body = batch.has(3), offset + length
    n_bytes = 0
    for buffer in batch.vector(2, 16):
        begin, size = struct.unpack_from("<qq", content, buffer)
        if size < 0 or begin < 0:
            raise IndexError
        if packed and size >= 8:
            (unpacked,) = struct.unpack_from("<q", content, body + begin)
            size = unpacked if unpacked >= 0 else size
        n_bytes += size
    return FeatherSize(n_bytes, batch.long(0))


class _Flat:
    """A place among flatbuffers, and the table that begins there."""

    def __init__(self, content: bytes, place: int) -> None:
        if not 0 <= place < len(content):
            raise IndexError
        self._content, self._place = content, place

    def table(self, field: int | None = None) -> _Flat:
        """Return the table that a field, or the place itself, points at."""
        place = self._place if field is None else self._field(field)
        return _Flat(self._content, place + self._unpack("<I", place))

    def has(self, field: int) -> bool:
        """Whether a field is there."""
        return bool(self._offset(field))

    def long(self, field: int) -> int:
        """Return a whole number of 64 bits, 0 where it is left out."""
        return max(0, self._unpack("<q", self._field(field))) if self.has(field) else 0

    def vector(self, field: int, size: int) -> range:
        """Return the places of structures of one size."""
        if not self.has(field):
            return range(0)
        start = self._field(field)
        start += self._unpack("<I", start)
        n = self._unpack("<I", start)
        if start + 4 + n * size > len(self._content):
            raise IndexError
        return range(start + 4, start + 4 + n * size, size)

    def _field(self, field: int) -> int:
        offset = self._offset(field)
        if not offset:
            raise IndexError
        return self._place + offset

    def _offset(self, field: int) -> int:
        entries = self._place - self._unpack("<i", self._place)
        place = 4 + 2 * field
        return self._unpack("<H", entries + place) if place < self._unpack("<H", entries) else 0

    def _unpack(self, form: str, place: int) -> int:
        if place < 0:  # which struct would count from the end
            raise IndexError
        value: int = struct.unpack_from(form, self._content, place)[0]
        return value
