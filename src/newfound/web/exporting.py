"""Files for the user: labels, model, report, and the code that does the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from newfound.plain import EXACT, SAFE
from newfound.runs.labelling import Naming
from newfound.runs.labels_file import write_labels
from newfound.web.code import code_of
from newfound.web.curating import state_file
from newfound.web.records import read_json
from newfound.writing import replacing

if TYPE_CHECKING:
    from newfound.web.opened import Opened

FILES = {
    "labels": ("labels.csv", "text/csv; charset=utf-8"),
    "model": ("model.newfound", "application/octet-stream"),
    "report": ("report.html", "text/html; charset=utf-8"),
    "code": ("reproduce.py", "text/x-python; charset=utf-8"),
}
"""What can be exported: the name of the file, and its type."""

_FOLDER = "exports"


def export_file(opened: Opened, revision: int, what: str) -> str:
    """Write a file for the user; returns its path within the folder of the run."""
    place = opened.folder / _FOLDER
    place.mkdir(exist_ok=True)
    target = place / f"{revision}-{FILES[what][0]}"
    with replacing(target) as fresh:
        _WRITERS[what](opened, revision, fresh)
    return f"{_FOLDER}/{target.name}"


def _write_labels(opened: Opened, revision: int, fresh: Path) -> None:
    """Write what `newfound discover` writes, or `newfound update` for a batch."""
    from newfound.reporting.row_doubts import RowDoubts

    source = opened.source
    doubts = RowDoubts.of(opened.reading, source.labels).texts() if opened.is_training else None
    # names that people gave may be anything; those that were found are harmless
    naming = Naming.chosen(EXACT if not opened.model.curation_.steps and revision == 0 else SAFE, own=source.labels)
    write_labels(fresh, source.file, opened.labelling.columns(source.file, lambda _: None, doubts, naming=naming))


def _write_model(opened: Opened, _: int, fresh: Path) -> None:
    from newfound.persistence import save

    save(opened.model, fresh)


def _write_report(opened: Opened, revision: int, fresh: Path) -> None:
    from newfound.reporting import render

    found = state_file(opened.folder, "report", revision)
    assert found is not None
    fresh.write_bytes(render(read_json(found)).encode("utf-8", errors="replace"))


def _write_code(opened: Opened, _: int, fresh: Path) -> None:
    fresh.write_text(code_of(opened), encoding="utf-8", errors="backslashreplace")


_WRITERS = {"labels": _write_labels, "model": _write_model, "report": _write_report, "code": _write_code}
