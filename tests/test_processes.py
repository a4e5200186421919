from __future__ import annotations

import os
from pathlib import Path

import pytest

from newfound.processes import environment_elsewhere, without_current_folder


@pytest.mark.parametrize("before", [None, "yes"])
def test_the_environment_is_as_before_in_the_end(before: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if before is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", before)
    with without_current_folder():
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert os.environ.get("PYTHONSAFEPATH") == before


def test_only_a_current_folder_that_is_spelled_out_stays_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here, sep = os.getcwd(), os.pathsep
    other = os.path.join(here, "more")
    for given, expected in (
        (other, other),
        ("more", other),
        (f"{sep}{other}{sep}", other),
        (f".{sep}more{sep}{os.path.join('more', '..')}", other),
        (f"{here}{sep}", here),
        (".", None),
        ("", None),
    ):
        monkeypatch.setenv("PYTHONPATH", given)
        assert environment_elsewhere().get("PYTHONPATH") == expected
    monkeypatch.delenv("PYTHONPATH")
    assert "PYTHONPATH" not in environment_elsewhere()
    assert environment_elsewhere()["PYTHONSAFEPATH"] == "1"
    assert "PYTHONPATH" not in os.environ
