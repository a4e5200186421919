"""The documentation site: its pages, its reference of the API, and the code on its pages."""

from __future__ import annotations

import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote

import pytest

import newfound as nf
from newfound import export, scale
from tests.discoverers.conftest import keep_small_forests

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [path for path in sorted(DOCS.glob("*.md")) if not path.name.endswith(".in.md")]


def load(name: str) -> ModuleType:
    """One of the site's own extensions of Sphinx."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "_extensions" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- the reference


def referenced() -> list[Any]:
    names = re.findall(r"^   (\w[\w.]*)$", (DOCS / "api.rst").read_text(), re.MULTILINE)
    assert len(names) == len(set(names))
    found = []
    for name in names:
        thing: Any = nf
        for part in name.split("."):
            if isinstance(thing, ModuleType) and not hasattr(thing, part):
                importlib.import_module(f"{thing.__name__}.{part}")
            thing = getattr(thing, part)
        found.append(thing)
    return found


def public() -> list[Any]:
    """What users may call: names of the package and of its public modules, and what public functions return."""
    named = [getattr(nf, name) for name in nf.__all__ if name != "__version__"]
    modules = [thing for thing in named if isinstance(thing, ModuleType)]
    found = [thing for thing in named if thing not in modules]
    for module in [*modules, export, scale]:
        names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
        own = [getattr(module, name) for name in names if callable(getattr(module, name))]
        found += [thing for thing in own if thing.__module__.startswith(module.__name__)]
    for function in filter(inspect.isfunction, list(found)):
        name = function.__annotations__["return"]
        told = function.__globals__.get(name)
        if inspect.isclass(told) and told.__module__.startswith("newfound"):
            found.append(told)
    return found


def test_the_reference_has_every_public_name() -> None:
    listed, wanted = referenced(), public()
    assert len(wanted) > 50
    missing = {thing.__name__ for thing in wanted if thing not in listed}
    assert missing == set(), "add these to a section of docs/api.rst"


# ---- pages


def test_every_page_is_in_the_navigation() -> None:
    entries = set()
    for page in PAGES:
        for toctree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.DOTALL):
            entries |= {line for line in toctree.splitlines() if line and not line.startswith(":")}
    assert {path.stem for path in PAGES} | {"api", "gallery/index"} == entries | {"index"}


def test_licences_tell_of_every_folder_with_more_than_code() -> None:
    files = [path for path in (ROOT / "src").rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"}]
    page = (DOCS / "licences.md").read_text()
    named = re.findall(r"^\| `(newfound/[\w/]+)`", page, re.MULTILINE)
    assert all((ROOT / "src" / folder).is_dir() for folder in named)
    folders = {path.parent.relative_to(ROOT / "src") for path in files} - {Path("newfound")}
    assert [str(folder) for folder in folders if not any(folder.is_relative_to(parent) for parent in named)] == []
    texts = [path for path in files if path.suffix in {".js", ".css", ".html", ".svg"}]
    of_others = [path.name for path in texts if re.search(r"copyright|@licen[cs]e|\(c\)", path.read_text(), re.I)]
    assert [name for name in of_others if f"`{name}`" not in page] == []


def test_links_of_files_become_links_of_the_site() -> None:
    site_links = load("repository").site_links
    assert site_links("[a](../CHANGELOG.md#b) [c](paper.md#d)", "docs/x.md") == "[a](changelog.md#b) [c](paper.md#d)"
    assert site_links("[a](docs/paper.md) [b](#c)", "CHANGELOG.md") == "[a](paper.md) [b](#c)"
    assert site_links("[`docs/images`](../docs/images)", "laboratory/README.md") == "`docs/images`"
    assert site_links("[a](https://example.org/x.md)", "docs/x.md") == "[a](https://example.org/x.md)"
    assert site_links("[`benchmarks`](../benchmarks)", "docs/x.md") == "`benchmarks`"
    assert site_links("[lines](../benchmarks)", "docs/x.md") == "lines (`benchmarks` in the repository)"
    assert site_links("![picture](../laboratory/a.svg)", "docs/x.md") == "![picture](../laboratory/a.svg)"


@pytest.mark.filterwarnings("ignore::newfound.errors.WeakEvidence")
def test_code_on_the_pages_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    keep_small_forests(monkeypatch)
    data = nf.datasets.make_table(300, separation=6, random_state=0)
    for name in ("tutorial", "mixed_rows", "how_many_classes", "explain", "curation"):
        model = nf.WhitenedKMeans(n_novel_classes=3, random_state=0).fit(data.X_train, data.y_train)
        names: dict[str, Any] = {"X": data.X_train, "y": data.y_train, "X_new": data.X_test, "model": model}
        for code in re.findall(r"```python\n(.*?)```", (DOCS / f"{name}.md").read_text(), re.DOTALL):
            exec(code.replace("make_table(1000,", "make_table(300,"), names)


# ---- the built site


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_its_links_work(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", tmp_path / "trees", DOCS, tmp_path / "site"],
        check=True,
    )
    found = [path for path in (tmp_path / "site").rglob("*.html") if "_static" not in path.parts]
    pages = {path.resolve(): path.read_text() for path in found}
    assert len(pages) > 80
    broken = []
    for path, text in pages.items():
        for link in re.findall(r'(?:href|src)="([^"]+)"', text):
            name, _, anchor = unquote(link).partition("#")
            if re.match(r"[a-z]+:", name):
                continue
            target = (path.parent / name.partition("?")[0]).resolve() if name else path
            if not target.exists() or (anchor and target in pages and f'id="{anchor}"' not in pages[target]):
                broken.append(f"{path.name}: {link}")
    assert broken == []
