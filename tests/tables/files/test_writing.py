from __future__ import annotations

from pathlib import Path

import pytest

from newfound.tables.files import read_file
from newfound.tables.files.writing import encoding_of, write_file

TEXT = "größe;tier\n1,5;Kätzchen\n2;\n"


@pytest.mark.parametrize(
    ("encoding", "beside", "written"),
    [
        ("utf-8", "αβγ", "utf-8"),
        ("utf-8-sig", "αβγ", "utf-8-sig"),
        ("utf-16", "a", "utf-8-sig"),
        ("cp1252", "Käfer", "cp1252"),
        ("cp1252", "αβγ", "utf-8-sig"),
    ],
)
def test_the_encoding_of_a_table_is_kept_where_it_can_hold_what_is_added(
    tmp_path: Path, encoding: str, beside: str, written: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(TEXT.encode(encoding))
    file = read_file(path)
    assert encoding_of(file, [beside]) == written
    write_file(file, path, "tier", ["Kätzchen", beside])
    assert path.read_bytes() == TEXT.replace("2;", f"2;{beside}").encode(written)


def test_what_came_from_a_spreadsheet_can_be_opened_in_one(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["größe", "tier"], [1.5, "Kätzchen"]):
        book.active.append(row)
    book.save(tmp_path / "table.xlsx")
    assert encoding_of(read_file(tmp_path / "table.xlsx"), ["a"]) == "utf-8-sig"
