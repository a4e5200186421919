"""Which process of pytest runs which tests, where several run them."""

from __future__ import annotations

from typing import Any

import pytest

# Files whose tests share something that takes long to start, and must be run by one process.
TOGETHER = {
    "tests/scale/test_ray.py": "a cluster of Ray",
    "tests/web/test_attacks.py": "a workbench",
    "tests/web/test_killed.py": "a workbench",
    "tests/web/test_schema.py": "a workbench",
    "tests/web/test_story.py": "a workbench",
    "tests/reporting/test_browser.py": "a browser",
    "tests/reporting/test_report.py": "a browser",
    "tests/web/test_browser.py": "a browser",
    "tests/web/test_browser_screens.py": "a browser",
}

# What takes longest is begun first, so that no process is left alone with it in the end.
FIRST = (
    "a cluster of Ray",
    "tests/discoverers/test_sklearn_checks.py",
    "a browser",
    "tests/discoverers/test_living.py",
    "tests/discoverers/test_mixed.py",
    "a workbench",
    "laboratory/tests/pages/test_figures.py",
)


def unit_of(nodeid: str) -> str:
    """What is run as a whole by one process: a file, or several that share something."""
    file = nodeid.partition("::")[0]
    return TOGETHER.get(file, file)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest units first, and the files of a unit beside each other."""
    places = {unit: place for place, unit in enumerate(FIRST)}
    items.sort(key=lambda item: places.get(unit_of(item.nodeid), len(FIRST)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Deal out units in the order of the tests: fixtures of a file are made once, and not in every process.

    Groups by marks are no way to say so: with pytest 9.2, xdist 3.8 deals out marked tests as all others
    (https://github.com/pytest-dev/pytest-xdist/issues/1386).
    """
    if config.getoption("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Units(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit_of(nodeid)

    config.option.loadscopereorder = False
    return Units(config, log)
