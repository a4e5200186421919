from __future__ import annotations

import json
from pathlib import Path

import pytest

from newfound import KMeansDiscoverer, load, save
from newfound.cli.app import run
from tests.cli import tables

MODEL = "model.newfound"


def test_rename(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rename", MODEL, "novel_0=grand emu", "novel_1=fox=y", "--out", "named.newfound"]) == 0
    assert "Novel classes now: grand emu, fox=y." in capsys.readouterr().out
    assert load("named.newfound").novel_classes_.tolist() == ["grand emu", "fox=y"]
    assert load(MODEL).novel_classes_.tolist() == ["novel_0", "novel_1"]
    assert run(["rename", "named.newfound", "fox=y=fox", "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["novel_classes"] == ["grand emu", "fox"]
    assert run(["predict", "named.newfound", "truth.csv"]) == 0
    _, found = tables.read(folder / "truth-labels.csv")
    assert {row[-3] for row in found} == {"cat", "dog", "grand emu", "fox"}


def test_merge(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["merge", MODEL, "novel_0", "novel_1", "--into", "wild", "--out", "merged.newfound"]) == 0
    assert load("merged.newfound").novel_classes_.tolist() == ["wild"]
    assert run(["merge", MODEL, "novel_0", "cat", "--force"]) == 0
    model = load(MODEL)
    assert model.known_classes_.tolist() == ["cat", "dog"]
    assert model.novel_classes_.tolist() == ["novel_1"]


def test_split(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["split", MODEL, "table.csv", "novel_0", "--parts", "3", "--training", "--out", "divided.newfound"]) == 0
    printed = capsys.readouterr().out
    assert "Novel classes now: novel_0_1, novel_0_2, novel_0_3, novel_1." in printed
    divided = load("divided.newfound")
    assert divided.novel_classes_.tolist() == ["novel_0_1", "novel_0_2", "novel_0_3", "novel_1"]
    whole, parts = load(MODEL).labels_, divided.labels_
    assert {part for part, found in zip(parts, whole, strict=True) if found == "novel_0"} == set(
        divided.novel_classes_[:3]
    )
    assert (parts[whole != "novel_0"] == whole[whole != "novel_0"]).all()
    assert run(["split", MODEL, "table.csv", "novel_1", "--training", "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["novel_classes"] == ["novel_0", "novel_1_1", "novel_1_2"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["split", MODEL, "table.csv", "novel_0", "--training"],
            "This changes model.newfound; add --force to change it",
        ),
        (["split", MODEL, "table.csv", "novel_0", "--parts", "1", "--force"], "--parts 1"),
        (["split", MODEL, "table.csv", "cat", "--force"], "cat"),
        (["split", MODEL, "table.csv", "novel_9", "--force"], "no such class"),
        (["split", MODEL, "nowhere.csv", "novel_0", "--force"], "nowhere.csv"),
        (["split", MODEL, "table.csv", "novel_0", "--parts", "500", "--force"], "500"),
        (["rename", MODEL, "novel_0=emu"], "This changes model.newfound; add --force to change it"),
        (["rename", MODEL, "novel_0=emu", "--out", MODEL], "model.newfound is there already; add --force"),
        (["rename", MODEL, "novel_0", "--force"], "Got novel_0, but expected OLD=NEW"),
        (["rename", MODEL, "novel_0=", "--force"], "which has no name after the equals sign"),
        (["rename", MODEL, "novel_7=emu", "--force"], "no such class; its novel classes are novel_0, novel_1."),
        (["rename", MODEL, "novel_0=a", "novel_0=b", "--force"], "Got two new names for novel_0"),
        (["rename", MODEL, "novel_0=cat", "--force"], "cat"),
        (["rename", MODEL, "novel_0=novel_1", "--force"], "novel_1"),
        (["rename", MODEL, "cat=dog", "--force"], "cat"),
        (["merge", MODEL, "novel_0", "--force"], "Got novel_0 alone, but two or more"),
        (["merge", MODEL, "novel_0", "novel_0", "--force"], "two or more different classes"),
        (["merge", MODEL, "cat", "dog", "--force"], "known"),
        (["merge", MODEL, "novel_0", "novel_1", "--into", "cat", "--force"], "cat"),
        (["rename", "table.csv", "a=b", "--force"], "Cannot load table.csv"),
        (["rename", MODEL, "novel_0=emu", "--out", "no/such"], "the folder no is not there"),
    ],
)
def test_refusals(folder: Path, arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert run(arguments) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert complaint in printed
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_classes_that_are_numbers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(KMeansDiscoverer(n_novel_classes=1).fit([[0.0], [1.0], [9.0]], [0, 1, -1]), "numbers.newfound")
    assert run(["rename", "numbers.newfound", "2=7", "--force"]) == 0
    assert load("numbers.newfound").novel_classes_.tolist() == [7]
    assert run(["rename", "numbers.newfound", "7=worm", "--force"]) == 2
    assert "the classes of this model are numbers" in capsys.readouterr().err


def test_classes_have_the_names_that_files_have(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X = [[0.0], [1.0], [9.0], [19.0]]
    save(KMeansDiscoverer(n_novel_classes=2).fit(X, [False, True, None, None]), "booleans.newfound")
    assert run(["merge", "booleans.newfound", "True", "3", "--force"]) == 0
    assert capsys.readouterr().out.startswith("Novel classes now: 2.\n")
    save(KMeansDiscoverer(n_novel_classes=2).fit(X, [0.0, 1.0, None, None]), "floats.newfound")
    assert run(["rename", "floats.newfound", "2=7", "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["novel_classes"] == ["7", "3"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["rename", MODEL, "novel_0"], "expected OLD=NEW"),
        (["merge", MODEL, "novel_0", "novel_9"], "novel_9"),
        (["split", MODEL, "table.csv", "novel_9"], "novel_9"),
        (["discover", "table.csv", "--target", "anmal", "--out", "there"], "no such column"),
    ],
    ids=["rename", "merge", "split", "discover"],
)
def test_force_is_never_the_cure_for_another_mistake(
    folder: Path, arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "there").mkdir()
    (folder / "there" / "report.html").touch()  # results that only --force replaces
    assert run(arguments) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert "--force" not in said


@pytest.mark.parametrize(
    "other",
    [
        ["rename", MODEL, "novel_1=fox", "--force"],
        ["merge", MODEL, "novel_0", "novel_1", "--force"],
        ["split", MODEL, "table.csv", "novel_1", "--training", "--force"],
    ],
    ids=lambda other: other[0],
)
def test_of_two_changes_at_once_none_is_lost(
    other: list[str], folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that comes while another has read the model, but not yet written it, is refused."""
    rename = KMeansDiscoverer.rename

    def meanwhile(model: KMeansDiscoverer, names: dict[str, str]) -> KMeansDiscoverer:
        monkeypatch.setattr(KMeansDiscoverer, "rename", rename)
        assert run(other) != 0
        assert "Another newfound is just now writing to model.newfound" in capsys.readouterr().err
        return rename(model, names)

    monkeypatch.setattr(KMeansDiscoverer, "rename", meanwhile)
    assert run(["rename", MODEL, "novel_0=emu", "--force"]) == 0
    assert load(MODEL).novel_classes_.tolist() == ["emu", "novel_1"]
    assert run([argument.replace("novel_0", "emu") for argument in other]) == 0
    assert "emu" in load(MODEL).novel_classes_.tolist()
    assert sorted(path.name for path in folder.iterdir()) == [MODEL, "table.csv", "truth.csv"]
