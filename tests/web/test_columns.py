"""What the workbench says of columns: every kind that the library has."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from newfound.tables.files import read_file
from newfound.tables.schema import KINDS
from newfound.web import schemas
from newfound.web.columns import column_facts


def test_times_of_day_have_a_histogram_in_their_own_words(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("t,x,label\n" + "\n".join(f"{8 + i % 9}:{10 + i % 40},{i % 7}.5,{'ab'[i % 2]}" for i in range(60)))
    file = read_file(path)
    (clock, *_) = column_facts(file)["columns"]
    assert clock["kind"] == "time"
    assert (clock["histogram"]["low"], clock["histogram"]["high"]) == ("08:10", "16:45")
    assert sum(clock["histogram"]["counts"]) == 60
    schemas.Column.model_validate(clock)


def test_a_page_offers_every_kind() -> None:
    script = files("newfound.web").joinpath("static", "screens", "columns.js").read_text(encoding="utf-8")
    offered = re.findall(r'\["(\w+)", "[^"]+"\]', script[script.index("const KINDS") : script.index("]];") + 3])
    assert {*offered, "ignored"} == set(KINDS)
