"""Small files that would take gigabytes, or for ever, in a reader that does not look."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

MIB = 1 << 20
WORKBOOK = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def gzipped(part: bytes, times: int, begin: bytes = b"") -> bytes:
    """Pack a text that repeats, quickly: gzip may consist of parts, which all are the same here."""
    return gzip.compress(begin) * bool(begin) + gzip.compress(part) * times


def gzip_one_part(part: bytes, times: int) -> bytes:
    """Pack a text that repeats as one stream, without the right check sum, which comes too late to help."""
    packing = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packing.compress(part) + packing.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08" + bytes(7) + block * times + b"\x03\x00" + bytes(8)


def excel(
    sheet: str | bytes = "", *, texts: str = "", styles: str = "", sheet_times: int = 1, end: str = "", head: str = ""
) -> bytes:
    """Write an Excel file whose sheet holds a part many times."""
    begin = f'{head}<worksheet xmlns="{WORKBOOK}"><sheetData>'
    names = '<row><c t="inlineStr"><is><t>a</t></is></c><c t="inlineStr"><is><t>b</t></is></c></row>'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        f'<Override PartName="/xl/workbook.xml" ContentType="{KIND}.sheet.main+xml"/>'
        + f'<Override PartName="/xl/sharedStrings.xml" ContentType="{KIND}.sharedStrings+xml"/>' * bool(texts)
        + f'<Override PartName="/xl/styles.xml" ContentType="{KIND}.styles+xml"/></Types>',
        "xl/workbook.xml": f'<workbook xmlns="{WORKBOOK}" xmlns:r="{RELATIONS}"><sheets>'
        '<sheet name="one" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{WORKBOOK}">{styles}</styleSheet>',
    }
    if texts:
        parts["xl/sharedStrings.xml"] = f'<sst xmlns="{WORKBOOK}">{texts}</sst>'
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as stream:
            stream.write((begin + names).encode())
            for _ in range(sheet_times):
                stream.write(sheet if isinstance(sheet, bytes) else sheet.encode())
            stream.write(f"{end}</sheetData></worksheet>".encode())
    return content.getvalue()


def excel_that_says(size: int) -> bytes:
    """Write an Excel file whose sheet has a huge size in the list of parts."""
    content = bytearray(excel("<row><c><v>1</v></c></row>"))
    place = content.rfind(b"xl/worksheets/sheet1.xml") - 46
    struct.pack_into("<I", content, place + 24, size)
    return bytes(content)


def parquet(table: Any, groups: int = 1, **options: Any) -> bytes:
    from pyarrow import parquet as writer

    stream = io.BytesIO()
    with writer.ParquetWriter(stream, table.schema, **options) as file:
        for _ in range(groups):
            file.write_table(table)
    return stream.getvalue()


def feather(table: Any, batches: int, compression: str) -> bytes:
    import pyarrow as pa

    stream = io.BytesIO()
    with pa.ipc.new_file(stream, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as file:
        for _ in range(batches):
            file.write_table(table)
    return stream.getvalue()


def _far() -> bytes:
    return excel("".join(f'<row r="{i}"><c r="XFD{i}"><v>1</v></c></row>' for i in range(2, 40_002)))


def _laughs() -> bytes:
    named = (f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9))
    head = f'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">{"".join(named)}]>'
    return excel("<row><c><v>&j;</v></c></row>", head=head)


def _zeros(n: int) -> Any:
    import numpy as np
    import pyarrow as pa

    return pa.table({"a": np.zeros(n, dtype=np.int64)})


def _nulls(n: int, kind: str) -> Any:
    import pyarrow as pa

    return pa.table({"a": pa.nulls(n, kind)})


def _label(length: int = 131_000) -> Any:
    import numpy as np
    import pyarrow as pa

    label = pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000, dtype=np.int8)), pa.array(["x" * length]))
    return pa.table({"a": label, "b": label})


def _list(n: int) -> Any:
    import numpy as np
    import pyarrow as pa

    return pa.table({"a": pa.ListArray.from_arrays([0, n], np.zeros(n, dtype=np.int8)), "b": [1]})


def _cell(length: int) -> Any:
    import pyarrow as pa

    return pa.table({"a": pa.array([bytes(length)])})


def _prefix() -> bytes:
    import pyarrow as pa

    texts = pa.table({"a": [f"{'p' * MIB}{i}" for i in range(100)]})
    return parquet(texts, 16, use_dictionary=False, column_encoding={"a": "DELTA_BYTE_ARRAY"})


_ROW = "<row><c><v>1</v></c></row>"
_HEADING = b",".join(b"x%d" % i for i in range(1_000)) + b"\n"

QUICK: dict[str, Callable[[], bytes]] = {
    "zeros.csv.gz": lambda: gzip_one_part(bytes(4 * MIB), 640),
    "rows.csv.gz": lambda: gzipped(b"1,2,3\n" * 100_000, 4_000, b"a,b,c\n"),
    "empty_cells.csv.gz": lambda: gzipped((b"," * 999 + b"\n") * 1_000, 60, _HEADING),
    "cell.csv.gz": lambda: gzipped(b"a" * MIB, 2_000, b'a,b\n1,"'),
    "wide_letter.csv.gz": lambda: gzipped(b'ab"cdefg,2\n' * 100_000, 40, 'a,b\n"😀",1\n'.encode()),
    "keys.jsonl": lambda: "\n".join(json.dumps({f"k{i}": 1}) for i in range(16_000)).encode(),
    "nested.jsonl.gz": lambda: gzip.compress(b'{"a": [' + b"[]," * (8 * MIB) + b"1]}\n"),
    "list.json.gz": lambda: gzipped(b"{}," * MIB, 30, b"["),
    "nulls.parquet": lambda: parquet(_nulls(20_000_000, "float32"), 1),
    "spelled.parquet": lambda: parquet(_label(), 1, store_schema=False),
    "page.parquet": lambda: parquet(
        _cell(90 * MIB), 3, use_dictionary=False, compression="zstd", write_statistics=False
    ),
    "nothing.feather": lambda: feather(_nulls(400_000_000, "null"), 1, "lz4"),
    "zeros.feather": lambda: feather(_zeros(1_000_000), 60, "zstd"),
    "far.xlsx": _far,
    "row_number.xlsx": lambda: excel('<row r="99999999999"><c><v>1</v></c><c><v>1</v></c></row>'),
    "texts.xlsx": lambda: excel(_ROW, texts="<si/>" * 3_000_000),
    "styles.xlsx": lambda: excel(_ROW, styles="<cellXfs>" + "<xf/>" * 2_000_000 + "</cellXfs>"),
    "laughs.xlsx": _laughs,
    "says.xlsx": lambda: excel_that_says(0xF0000000),
}
"""Bombs that are made at once, by the name of the file."""

LARGE: dict[str, Callable[[], bytes]] = {
    "line.csv.gz": lambda: gzipped(b"a," * MIB, 1_000),
    "quoted.csv.gz": lambda: gzipped(b'"a ""b""",1\n' * 100_000, 1_000, b"a,b\n"),
    "utf16.csv.gz": lambda: gzipped("1,é\n".encode("utf-16-le") * 100_000, 2_000, "a,b\n".encode("utf-16")),
    "numbers.json.gz": lambda: gzipped(b"0," * MIB, 400, b'[{"a": ['),
    "lines.jsonl.gz": lambda: gzipped(b'{"a": 1}\n' * 100_000, 3_000),
    "rows.parquet": lambda: parquet(_zeros(10_000_000), 30),
    "prefix.parquet": _prefix,
    "list.parquet": lambda: parquet(_list(50_000_000), 6),
    "lz4.feather": lambda: feather(_zeros(10_000_000), 30, "lz4"),
    "cell.xlsx": lambda: excel(b"a" * MIB, sheet_times=700),
    "no_cells.xlsx": lambda: excel("<row>" + "<c/>" * 10_000 + "</row>", sheet_times=10_000),
    "one_row.xlsx": lambda: excel("<c/>" * 100_000, sheet_times=1_000),
    "no_rows.xlsx": lambda: excel("<row/>" * 100_000, sheet_times=1_000),
    "tags.xlsx": lambda: excel("<row>" + "<x/>" * 10_000 + "</row>", sheet_times=20_000),
}
"""Bombs that take seconds to make."""


def write(folder: Path, bombs: dict[str, Callable[[], bytes]]) -> list[Path]:
    paths = []
    for name, content in bombs.items():
        paths.append(folder / name)
        paths[-1].write_bytes(content())
    return paths
