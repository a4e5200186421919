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


def text_files() -> dict[str, bytes]:
    """Bombs of text, each of over a GiB in memory."""
    keys = "\n".join(json.dumps({f"k{i}": 1}) for i in range(16_000))
    many = gzip.compress(b'{"a": [' + b"[]," * (8 * MIB) + b"1]}\n")
    return {
        "zeros.csv.gz": gzip_one_part(bytes(4 * MIB), 640),
        "rows.csv.gz": gzipped(b"1,2,3\n" * 100_000, 4_000, b"a,b,c\n"),
        "line.csv.gz": gzipped(b"a," * MIB, 1_000),
        "empty_cells.csv.gz": gzipped(
            (b"," * 999 + b"\n") * 1_000, 500, b",".join(b"x%d" % i for i in range(1_000)) + b"\n"
        ),
        "quoted.csv.gz": gzipped(b'"a ""b""",1\n' * 100_000, 1_000, b"a,b\n"),
        "cell.csv.gz": gzipped(b"a" * MIB, 2_000, b'a,b\n1,"'),
        "utf16.csv.gz": gzipped("1,é\n".encode("utf-16-le") * 100_000, 2_000, "a,b\n".encode("utf-16")),
        "wide_letter.csv.gz": gzipped(b"abcdefg,2\n" * 100_000, 1_000, 'a,b\n"😀",1\n'.encode()),
        "keys.jsonl": keys.encode(),
        "nested.jsonl.gz": many * 12,
        "list.json.gz": gzipped(b"{}," * MIB, 400, b"["),
        "numbers.json.gz": gzipped(b"0," * MIB, 400, b'[{"a": ['),
        "lines.jsonl.gz": gzipped(b'{"a": 1}\n' * 100_000, 3_000),
        "late.jsonl.gz": gzipped(b'{"a": 1}\n' * 100_000, 30)
        + gzip.compress(b"{" + b",".join(b'"k%d":1' % i for i in range(500)) + b"}"),
    }


def arrow_files() -> dict[str, bytes]:
    """Bombs of Parquet and Feather."""
    import numpy as np
    import pyarrow as pa

    zeros = pa.table({"a": pa.array(np.zeros(10_000_000, dtype=np.int64))})
    label = pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000, dtype=np.int8)), pa.array(["x" * 131_000]))
    prefix = "p" * MIB
    return {
        "rows.parquet": parquet(zeros, 30, use_dictionary=True),
        "nulls.parquet": parquet(pa.table({"a": pa.nulls(100_000_000, pa.float64())}), 3),
        "spelled.parquet": parquet(pa.table({"a": label, "b": label}), 1, store_schema=False),
        "page.parquet": parquet(
            pa.table({"a": pa.array([bytes(200 * MIB)])}),
            8,
            use_dictionary=False,
            compression="zstd",
            write_statistics=False,
        ),
        "prefix.parquet": parquet(
            pa.table({"a": [f"{prefix}{i}" for i in range(100)]}),
            16,
            use_dictionary=False,
            column_encoding={"a": "DELTA_BYTE_ARRAY"},
        ),
        "list.parquet": parquet(
            pa.table({"a": pa.ListArray.from_arrays([0, 50_000_000], np.zeros(50_000_000, dtype=np.int8)), "b": [1]}), 6
        ),
        "zeros.feather": feather(zeros, 30, "zstd"),
        "lz4.feather": feather(zeros, 30, "lz4"),
        "nothing.feather": feather(pa.table({"a": pa.nulls(400_000_000)}), 1, "lz4"),
        "label.feather": feather(pa.table({"a": label}), 1, "lz4"),
    }


def excel_files() -> dict[str, bytes]:
    """Bombs of Excel, and what would make a reader count to the end of the world."""
    far = "".join(f'<row r="{i}"><c r="XFD{i}"><v>1</v></c></row>' for i in range(2, 40_002))
    laughs = (
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
        + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9))
        + "]>"
    )
    return {
        "cell.xlsx": excel(b"a" * MIB, sheet_times=700),
        "far.xlsx": excel(far),
        "row_number.xlsx": excel('<row r="99999999999"><c><v>1</v></c><c><v>1</v></c></row>'),
        "no_cells.xlsx": excel("<row>" + "<c/>" * 10_000 + "</row>", sheet_times=10_000),
        "one_row.xlsx": excel("<c/>" * 100_000, sheet_times=1_000, head=""),
        "no_rows.xlsx": excel("<row/>" * 100_000, sheet_times=1_000),
        "tags.xlsx": excel("<row>" + "<x/>" * 10_000 + "</row>", sheet_times=20_000),
        "texts.xlsx": excel('<row><c t="s"><v>1</v></c></row>', texts="<si/>" * 20_000_000),
        "styles.xlsx": excel("<row><c><v>1</v></c></row>", styles="<cellXfs>" + "<xf/>" * 2_000_000 + "</cellXfs>"),
        "laughs.xlsx": excel("<row><c><v>&j;</v></c></row>", head=laughs),
        "says.xlsx": excel_that_says(0xF0000000),
    }


BOMBS: dict[str, Callable[[], dict[str, bytes]]] = {"text": text_files, "arrow": arrow_files, "excel": excel_files}


def write(folder: Path, kind: str) -> list[Path]:
    paths = []
    for name, content in BOMBS[kind]().items():
        paths.append(folder / name)
        paths[-1].write_bytes(content)
    return paths
