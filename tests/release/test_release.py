"""Versions, pins and ranges say the same everywhere; `make release-check` and its sisters build and install."""

from __future__ import annotations

import re
import tomllib
from itertools import chain

import pytest

import newfound
from tests.release import smoke
from tests.release.environments import FOR_DEVELOPERS, PROJECT, ROOT, extras, lowest

PINS = (ROOT / "constraints.txt").read_text().splitlines()


def plain(name: str) -> str:
    """The name of a package as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_version_is_the_same_everywhere() -> None:
    laboratory = tomllib.loads((ROOT / "laboratory" / "pyproject.toml").read_text())["project"]
    citation = (ROOT / "CITATION.cff").read_text()
    heading = re.search(r"^## \[(.+)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert heading is not None
    assert heading[1] == laboratory["version"] == newfound.__version__
    assert f"=={newfound.__version__}" in laboratory["dependencies"][0]
    assert f"\nversion: {newfound.__version__}\ndate-released: {heading[2]}\n" in citation


def test_constraints_are_exact_pins_one_for_each_package() -> None:
    pins = [re.fullmatch(r"([\w.-]+)==[\w.+!]+", line) for line in PINS]
    names = [plain(pin[1]) for pin in pins if pin]
    assert len(names) == len(PINS) == len(set(names))
    wanted = [*PROJECT["dependencies"], *chain.from_iterable(PROJECT["optional-dependencies"].values())]
    required = {plain(match[0]) for need in wanted if (match := re.match(r"[\w.-]+", need))} - {"newfound"}
    assert required - set(names) == set()


def test_ranges_state_an_oldest_version_for_all_that_users_install() -> None:
    needs = [*PROJECT["dependencies"], *chain.from_iterable(extras().values())]
    assert len(lowest(needs)) == len(needs)
    with pytest.raises(AssertionError, match="no oldest version"):
        lowest(["numpy"])


def test_every_extra_is_tried_after_its_installation_and_told_on_the_page() -> None:
    page = (ROOT / "docs" / "install.md").read_text()
    for name in PROJECT["optional-dependencies"]:
        if name not in FOR_DEVELOPERS:
            assert hasattr(smoke, f"check_{name}"), name
            assert f"\n| `{name}` |" in page, name
