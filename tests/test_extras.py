from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from newfound.errors import MissingExtraError
from newfound.extras import EXTRAS, is_installed, load_extra


def test_a_missing_package_is_named_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError) as refused:
        load_extra("openpyxl", "An Excel file", "save the table as CSV")
    assert str(refused.value) == (
        "An Excel file needs openpyxl, which is not installed; run: pip install 'newfound[excel]', or save the table "
        "as CSV."
    )


def test_what_is_there_is_imported() -> None:
    assert load_extra("pyarrow.parquet", "A Parquet file") is sys.modules["pyarrow.parquet"]
    assert is_installed("pyarrow")
    assert not is_installed("no_such_package")


def test_every_extra_brings_its_package() -> None:
    with (Path(__file__).parents[1] / "pyproject.toml").open("rb") as file:
        offered = tomllib.load(file)["project"]["optional-dependencies"]
    for package, extra in EXTRAS.items():
        assert any(requirement.replace("-", "_").startswith(package) for requirement in offered[extra])
