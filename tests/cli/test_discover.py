from __future__ import annotations

import html
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from newfound import AutoDiscoverer, __version__, load
from newfound.cli.app import run
from newfound.registry import BUILT_IN, Registration
from newfound.reporting import facts as facts_module
from newfound.reporting.wording import share_in_words
from tests.cli import tables
from tests.cli.tables import TARGET

KMEANS = ["--target", TARGET, "--method", "kmeans", "--novel-classes", "2"]


def test_what_is_written(results: Path) -> None:
    out = results / "out"
    tables.check_found(out / "labels.csv")
    report = (out / "report.html").read_text(encoding="utf-8")
    assert "novel_0" in report
    assert "table.csv" in report
    facts = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert facts["table"] | {"path": ""} == {
        "path": "",
        "format": "CSV",
        "encoding": "utf-8",
        "delimiter": ",",
        "rows": 48,
        "columns": 4,
        "target": TARGET,
        "labelled_rows": 24,
        "unlabelled_rows": 24,
    }
    assert facts["method"] == "kmeans"
    assert facts["known_classes"] == {"cat": 12, "dog": 12}
    assert [class_["rows"] for class_ in facts["novel_classes"]] == [12, 12]
    heading, _ = tables.read(out / "labels.csv")
    assert list(facts["meanings"]["labels.csv"]) == heading[4:]
    assert facts["meanings"]["novel_classes"].keys() <= facts["novel_classes"][0].keys()
    assert facts["settings"]["random_state"] == facts["seed"] == 0
    assert facts["versions"]["newfound"] == __version__
    model = load(out / "model.newfound")
    assert model.known_classes_.tolist() == tables.KNOWN
    assert model.novel_classes_.tolist() == ["novel_0", "novel_1"]


def test_what_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["discover", "table.csv", *KMEANS]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[0] == "table.csv: 48 rows, 3 columns; 24 rows of 2 known classes, 24 unlabelled."
    assert "2 novel classes:" in lines
    assert [line.split()[:3] for line in lines if line.startswith(" novel_")] == [
        ["novel_0", "12", "25.0"],
        ["novel_1", "12", "25.0"],
    ]
    assert "  model.newfound  for other tables: newfound predict newfound-table/model.newfound TABLE" in lines
    assert printed.err == ""
    assert not any(line != line.rstrip() for line in lines)


def test_rules_are_in_the_words_of_the_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables.write(folder / "table.csv", tables.rows(160))
    assert run(["discover", "table.csv", *KMEANS, "--json"]) == 0
    for class_ in json.loads(capsys.readouterr().out)["novel_classes"]:
        assert "size is" in class_["rule_text"]
        assert class_["rule_precision"] > 0.9
        assert class_["rule_coverage"] > 0.9


def test_json_is_all_that_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body, heading = tables.with_column("id", [str(i) for i in range(48)])
    tables.write(folder / "table.csv", body, heading)
    assert run(["discover", "table.csv", *KMEANS, "--json"]) == 0
    printed = capsys.readouterr()
    facts = json.loads(printed.out)
    assert printed.err == ""
    assert facts["files"]["labels.csv"] == "newfound-table/labels.csv"
    (note,) = facts["notes"]
    assert note.startswith("ignored column 'id' (a row number: consecutive whole numbers). To keep a column, name its")
    assert "--kind id=categorical." in note
    assert note.endswith("--kind id=ignored.")
    written = json.loads((folder / "newfound-table" / "run.json").read_text())
    assert {**written, "files": facts["files"]} == facts


def test_a_column_can_be_left_out_or_read_in_another_way(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body, heading = tables.with_column("code", [str(i % 3) for i in range(48)])
    tables.write(folder / "table.csv", body, heading)
    options = ["--ignore", "colour", "--kind", "code=categorical"]
    assert run(["discover", "table.csv", *KMEANS, *options]) == 0
    schema = load("newfound-table/model.newfound").encoder_.schema_
    assert {column.name: column.kind for column in schema.columns} == {
        "code": "categorical",
        "size": "numeric",
        "weight": "numeric",
    }
    tables.check_found(folder / "newfound-table" / "labels.csv", body)
    assert capsys.readouterr().err == ""


def test_the_target_may_be_called_like_our_columns(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables.write(folder / "table.csv", heading=["size", "weight", "colour", "class"])
    options = ["--target", "class", "--method", "kmeans", "--novel-classes", "2"]
    assert run(["discover", "table.csv", *options]) == 0
    heading, _ = tables.read(folder / "newfound-table" / "labels.csv")
    assert heading[-4:] == ["newfound_class", "newfound_probability", "newfound_is_novel", "newfound_doubt"]
    assert "note: the table has a column 'class' of its own" in capsys.readouterr().err


def test_unlabelled_rows_may_be_of_known_classes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = tables.rows()
    for i in (0, 4, 8):
        body[i][-1] = ""
    tables.write(folder / "table.csv", body)
    assert run(["discover", "table.csv", *KMEANS]) == 0
    assert "Of the unlabelled rows, 3 look like a known class: cat (3)." in capsys.readouterr().out
    _, found = tables.read(folder / "newfound-table" / "labels.csv")
    doubt = "looks like the known class cat"  # though kmeans takes all unlabelled rows to be novel
    assert [found[i][-4:] for i in (0, 4, 8)] == [["cat", found[i][-3], "false", doubt] for i in (0, 4, 8)]


def mixed_rows(n: int = 160) -> tables.Rows:
    """Rows of which every other one of the known classes has lost its label."""
    body = tables.rows(n)
    for i, row in enumerate(body):
        row[-1] = "" if i // 4 % 2 else row[-1]
    return body


def test_mixed_rows_are_told_apart_and_everything_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables.write(folder / "table.csv", mixed_rows())
    assert run(["discover", "table.csv", *KMEANS, "--rows", "mixed"]) == 0
    out = folder / "newfound-table"
    facts, report = json.loads((out / "run.json").read_text()), (out / "report.html").read_text(encoding="utf-8")
    printed = capsys.readouterr().out
    _, found = tables.read(out / "labels.csv")
    assert facts["settings"]["unlabelled"] == facts["routing"]["unlabelled"] == "mixed"
    low, high = facts["routing"]["interval"]
    assert low <= facts["routing"]["known_share"] <= high
    to_known = facts["unlabelled_rows_of_known_classes"]
    assert to_known == {"cat": 20, "dog": 20}
    assert "Of the unlabelled rows, 40 were given known classes: " in printed
    assert "Of the 120 rows without a label, 80 do; 40 were given a known class." in report
    assert [row[-2] for row in found] == ["false", "false", "true", "true"] * 40
    assert [row[-4] for row in found if row[-2] == "false"] == ["cat", "dog"] * 40
    story = "The unlabelled rows were taken for a mix of known and novel classes: " + facts["routing"]["reason"]
    assert story in printed
    assert story in report
    share = share_in_words(facts["routing"])
    assert f"Share of known classes among them: {share}.".replace("\xa0", " ") in printed
    assert f"<dt>of known classes among them</dt><dd>{share}</dd>" in report
    assert run(["info", str(out / "model.newfound")]) == 0
    assert f"mixed ({facts['routing']['reason']}; known share" in capsys.readouterr().out


@pytest.mark.parametrize("method", ["kmeans", "tabular_ncd"])
def test_nothing_novel(method: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = tables.rows(160, truth=True)
    tables.write(folder / "truth.csv", body)
    for i, row in enumerate(body):
        row[-1] = "" if i // 4 % 2 else row[-1]
    tables.write(folder / "table.csv", body)
    assert run(["discover", "table.csv", "--target", TARGET, "--method", method, "--rows", "mixed"]) == 0
    printed = capsys.readouterr()
    assert "\nNo novel class.\n" in printed.out
    assert "The unlabelled rows were taken for known classes alone: " in printed.out
    assert "all 80 unlabelled rows were taken for rows of the 4 known classes" in printed.err
    assert "use --rows novel." in printed.err
    model = "newfound-table/model.newfound"
    _, found = tables.read(folder / "newfound-table" / "labels.csv")
    assert {row[-2] for row in found} == {"false"}
    assert run(["evaluate", model, "truth.csv", "--target", TARGET]) == 0
    assert run(["explain", model, "table.csv", "--report", "again.html"]) == 0
    assert run(["predict", model, "table.csv"]) == 0
    assert run(["info", model]) == 0


def test_rows_are_one_of_three(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["discover", "table.csv", *KMEANS, "--rows", "both"]) == 2
    assert "Got --rows both, but expected one of" in capsys.readouterr().err


def test_a_training_is_kept_in_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["discover", "table.csv", *KMEANS[:3], "classifier_projection", *KMEANS[4:], "--checkpoint", "kept"]
    assert run(command) == 0
    assert list((folder / "kept").glob("checkpoint-*.safetensors"))
    assert run([*command, "--seed", "1", "--force"]) == 2
    told = capsys.readouterr().err
    assert "Got --checkpoint kept, which holds a checkpoint of another training (random_state=0 there, 1 here)" in told
    assert run(["discover", "table.csv", *KMEANS, "--checkpoint", "kept", "--force"]) == 2
    assert "only methods that train networks have checkpoints" in capsys.readouterr().err


def test_without_labels_for_methods_that_need_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables.write(folder / "table.csv", [[*row[:-1], ""] for row in tables.rows()])
    assert run(["discover", "table.csv", *KMEANS[:-1], "4"]) == 0
    _, found = tables.read(folder / "newfound-table" / "labels.csv")
    assert len({row[-4] for row in found}) == 4
    assert all(row[-2] == "true" for row in found)


def test_the_number_of_classes_is_estimated_unless_given(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["discover", "table.csv", "--target", TARGET, "--method", "whitened_kmeans"]) == 0
    assert "novel classes (estimated" in capsys.readouterr().out
    facts = json.loads((folder / "newfound-table" / "run.json").read_text())
    assert facts["estimate"]["n_classes"] == len(facts["novel_classes"])


def test_settings_that_tune_wrote(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"method": "spectral", "settings": {"n_neighbors": 4, "encoder__numeric_scaling": "quantile"}}
    (folder / "tuned.json").write_text(json.dumps(settings))
    options = ["--target", TARGET, "--novel-classes", "2", "--settings", "tuned.json"]
    assert run(["discover", "table.csv", *options]) == 0
    model = load("newfound-table/model.newfound")
    assert model.n_neighbors == 4
    assert model.encoder.numeric_scaling == "quantile"
    assert run(["discover", "table.csv", *options, "--method", "kmeans", "--out", "other"]) == 2
    (folder / "tuned.json").write_text(json.dumps({"method": ["spectral"], "settings": {}}))
    assert run(["discover", "table.csv", *options, "--out", "other"]) == 2
    (folder / "tuned.json").write_text(json.dumps({"method": "spectral", "settings": {"w1": 1}}))
    assert run(["discover", "table.csv", *options, "--out", "other"]) == 2
    complaints = capsys.readouterr().err.splitlines()
    assert "tuned.json, which is not such a file" in complaints[-2]
    assert complaints[-3].endswith("tuned.json has settings of spectral; leave one of the two out.")
    assert "Got settings that spectral does not have: Invalid parameter 'w1'" in complaints[-1]


@pytest.mark.parametrize("built_in", BUILT_IN, ids=lambda built_in: built_in.method)
def test_every_method_can_be_made(built_in: Registration) -> None:
    from newfound.runs.building import build

    model = build(built_in.method, 3, {}, random_state=7, device="cpu", time_limit=None, verbose=0, encoder=None)
    assert type(model).__name__ == built_in.class_name
    assert (model.n_novel_classes, model.random_state) == (3, 7)


def test_without_a_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["discover", "table.csv", *KMEANS, "--no-report", "--out", "out"]) == 0
    assert "report.html" not in capsys.readouterr().out
    assert sorted(path.name for path in Path("out").iterdir()) == ["labels.csv", "model.newfound", "run.json"]
    tables.check_found(Path("out/labels.csv"))
    facts = json.loads(Path("out/run.json").read_text(encoding="utf-8"))
    assert [class_["rows"] for class_ in facts["novel_classes"]] == [12, 12]
    assert all(class_["rule_text"] for class_ in facts["novel_classes"])


def test_the_time_limit_is_for_everything(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Part of it goes to the fit, and what is left to explanation and report; the model says what was asked for."""
    given: dict[str, float] = {}
    fit, gather = AutoDiscoverer.fit, facts_module.explain_in_time

    def fitted(model: AutoDiscoverer, *args: Any, **more: Any) -> AutoDiscoverer:
        assert model.time_limit is not None
        given["fit"] = model.time_limit
        return fit(model, *args, **more)

    def explained(*args: Any, **more: Any) -> Any:
        given["explanation"] = more["deadline"].left
        return gather(*args, **more)

    monkeypatch.setattr(AutoDiscoverer, "fit", fitted)
    monkeypatch.setattr(facts_module, "explain_in_time", explained)
    assert run(["discover", "table.csv", "--target", TARGET, "-k", "2", "--time-limit", "100", "--out", "out"]) == 0
    assert 40 < given["fit"] < 65
    assert 10 < given["explanation"] < 100 - 40
    assert load("out/model.newfound").get_params()["time_limit"] == 100


def test_an_overdue_command_ends_at_once_with_all_its_files(folder: Path) -> None:
    begin = time.process_time()
    assert run(["discover", "table.csv", "--target", TARGET, "-k", "2", "--time-limit", "0.01", "--out", "out"]) == 0
    assert time.process_time() - begin < 6.0
    facts = json.loads(Path("out/run.json").read_text(encoding="utf-8"))
    assert len(facts["novel_classes"]) == 2
    assert Path("out/report.html").stat().st_size > 10_000


@pytest.mark.slow
def test_without_a_single_option(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["discover", "table.csv", "--target", TARGET, "--time-limit", "20"]) == 0
    assert json.loads((folder / "newfound-table" / "run.json").read_text())["method"] == "auto"


def test_terminal_report_labels_and_record_tell_the_same_doubts(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = tables.rows(96)
    for i, row in enumerate(body):
        row.insert(0, f"{2024 + (not row[-1])}-03-{i % 28 + 1:02}")
    body[0][1:3] = body[2][1:3]  # a cat that looks like an emu
    tables.write(folder / "dated.csv", body, ["seen", *tables.HEADING])
    options = ["--target", tables.TARGET, "--method", "whitened_kmeans", "-k", "2"]
    assert run(["discover", "dated.csv", *options]) == 0
    printed = capsys.readouterr()
    out = folder / "newfound-dated"
    facts = json.loads((out / "run.json").read_text())
    weaknesses = load(out / "model.newfound").weaknesses_
    assert weaknesses[0].startswith("column 'seen' alone tells labelled from unlabelled rows")
    said = {entry["doubt"] for entry in facts["doubts"] if entry["class"] is None}
    assert {weakness.lower() + "." for weakness in weaknesses} == {doubt.lower() for doubt in said}
    page = html.unescape((out / "report.html").read_text())
    for doubt in said:
        assert f"- {doubt}" in printed.out
        assert doubt in page
        assert doubt not in printed.err  # once is enough
    doubted = [row[-1] for row in tables.read(out / "labels.csv")[1] if row[-1]]
    assert len(doubted) == facts["doubted_rows"]["any"]
    (table,) = re.findall(r"class +rows +share +(\w+) +unsure", printed.out)
    assert table in ("agreement", "stability")
    for class_ in facts["novel_classes"]:
        assert 0 <= class_["agreement"] <= 1
        assert class_["source"] in ("members", "bootstraps")
