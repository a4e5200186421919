from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from laboratory.tests.made_lines import FOUND, Line, line, lines_of_the_plan
from newfound.errors import InputError
from newfound_lab.pages.cells import NOTES, differs
from newfound_lab.pages.rendering import ResultTable, markdown
from newfound_lab.pages.tables import TABLES, build_tables, write_tables
from newfound_lab.paper.published import Score


def records(table: ResultTable) -> list[dict[str, str]]:
    """Rows as headings to texts, with marks."""
    return [
        {heading: f"{cell.text} {cell.flag}".strip() for heading, cell in zip(table.columns, row, strict=True)}
        for row in table.rows
    ]


def row_of(table: ResultTable, **facts: str) -> dict[str, str]:
    (found,) = (row for row in records(table) if all(row[name.replace("_", " ")] == v for name, v in facts.items()))
    return found


def competitor(acc: float, method: str, protocol: Any, **facts: Any) -> Line:
    return line(acc, method=method, protocol=protocol, variant="default", regime="label-free", **facts)


@pytest.fixture(scope="module")
def all_lines() -> list[Line]:
    return lines_of_the_plan()


def test_every_table_has_rows_for_the_whole_plan(all_lines: list[Line]) -> None:
    tables = build_tables(all_lines)
    assert tuple(tables) == TABLES
    assert all(name == table.name for name, table in tables.items())


def test_without_lines_there_are_no_tables() -> None:
    assert build_tables([]) == {}
    assert set(build_tables([line(0.8)])) == {"main", "main_nmi_ari", "cost", "datasets"}


def test_main_table_has_ours_the_papers_and_the_difference() -> None:
    table = build_tables([line(0.84, seed=0), line(0.86, seed=1)])["main"]
    assert row_of(table, Dataset="Pendigits") == {
        "Dataset": "Pendigits",
        "Method": "TabularNCD",
        "Fitted on": "training rows",
        "Seeds": "2",
        "Device": "CPU",
        "BACC": "84.0 ± 1.0",
        "BACC, paper": "85.5 ± 0.7",
        "BACC, difference": "−1.5",
        "ACC": "85.0 ± 1.0",
        "ACC, paper": "85.6 ± 0.8",
        "ACC, difference": "−0.6",
    }


def test_papers_figures_stand_only_beside_the_same_protocol() -> None:
    lines = [line(0.85), competitor(0.7, "kmeans", "inductive"), competitor(0.825, "kmeans", "transductive")]
    table = build_tables(lines)["main"]
    assert row_of(table, Method="k-means", Fitted_on="training rows")["ACC, paper"] == "—"
    assert row_of(table, Method="k-means", Fitted_on="novel test rows")["ACC, difference"] == "0.0"


def test_label_free_settings_of_tabular_ncd_are_not_in_the_oracle_table() -> None:
    lines = [line(0.85), competitor(0.5, "tabular_ncd", "inductive"), competitor(0.6, "baseline", "inductive")]
    tables = build_tables(lines)
    ours = [row["ACC"] for row in records(tables["main"]) if row["Dataset"] == "Pendigits"]
    assert ours == ["85.0", "60.0"]
    assert [row["ACC"] for row in records(tables["main_label_free"])] == ["50.0", "60.0"]
    assert not any("paper" in column for column in tables["main_label_free"].columns)
    assert records(build_tables(lines[1:])["main"])[0]["Method"] == "Baseline"


def test_best_of_a_dataset_is_bold() -> None:
    lines = [line(0.85), competitor(0.8502, "kmeans", "transductive"), competitor(0.6, "baseline", "inductive")]
    table = build_tables(lines)["main"]
    at = table.columns.index("ACC")
    assert [row[at].bold for row in table.rows][:3] == [True, False, True]  # 85.0 twice: equal as shown


def test_far_means_are_marked_and_the_mark_is_explained() -> None:
    lines = [line(0.80 + 0.002 * seed, seed=seed) for seed in range(10)] + [line(0.72, dataset="letter")]
    table = build_tables(lines)["main"]
    assert row_of(table, Dataset="Pendigits")["ACC, difference"] == "−4.7 †"
    assert row_of(table, Dataset="Letter")["ACC, difference"] == "+0.2"
    assert f"† {NOTES['†']}" in markdown(table)
    assert "†" not in markdown(build_tables(lines[-1:])["main"])


@pytest.mark.parametrize(
    ("ours", "n", "theirs", "far"),
    [
        (Score(83.0, 0.5), 10, Score(85.0, 0.5), True),
        (Score(84.1, 0.0), 10, Score(85.0, 0.0), False),  # within a point
        (Score(80.0, 8.0), 10, Score(85.0, 4.0), False),  # two standard errors are 5.7
        (Score(79.0, 8.0), 10, Score(85.0, 4.0), True),
        (Score(80.0, 8.0), 40, Score(85.0, 4.0), True),  # more seeds, less doubt
        (Score(61.0), 1, Score(63.9), True),
    ],
)
def test_far_is_a_point_and_two_standard_errors(ours: Score, n: int, theirs: Score, far: bool) -> None:
    assert differs(ours, n, theirs) is far


def test_what_cannot_be_compared_or_measured_says_so(all_lines: list[Line]) -> None:
    table = build_tables(all_lines)["main"]
    human = row_of(table, Dataset="Human ‡", Method="TabularNCD")
    assert (human["ACC, paper"], human["ACC, difference"]) == ("99.0 ± 0.2", "—")
    census = row_of(table, Dataset="Census §", Method="TabularNCD")
    assert (census["ACC"], census["ACC, paper"]) == ("not measured", "50.1 ± 0.9")
    unfinished = row_of(table, Dataset="MNIST", Method="Spectral clustering", Fitted_on="novel test rows")
    assert unfinished["ACC, paper"] == "— ¶"
    text = markdown(table)
    assert "66 of 561 features: not comparable" in text
    assert "Not measured: the data is not here" in text
    assert "Did not finish within an hour" in text
    assert records(table)[0]["Dataset"] == "MNIST"
    assert {row["Device"] for row in records(table) if row["Dataset"] == "MNIST"} == {"NVIDIA H200"}


def test_published_settings_are_a_row_of_their_own(all_lines: list[Line]) -> None:
    table = build_tables(all_lines)["main"]
    assert row_of(table, Dataset="Satimage", Method="TabularNCD, published settings")["ACC, paper"] == "91.4 ± 5.0"


def test_later_study_is_beside_label_free_figures_only() -> None:
    lines = [line(0.9, dataset="letter"), competitor(0.6, "tabular_ncd", "inductive", dataset="letter")]
    lines.append(competitor(0.6, "tabular_ncd", "inductive", dataset="satimage"))  # the study has no such figure
    (row,) = records(build_tables(lines)["follow_up"])
    assert (row["ACC"], row["ACC, later study"], row["ACC, difference"]) == ("60.0", "62.1", "−2.1")


def test_ablation_shows_the_change_against_all_parts() -> None:
    facts: dict[str, Any] = {"experiment": "ablation", "dataset": "satimage"}
    lines = [line(0.9, variant="full", **facts), line(0.7, variant="without_ce", **facts)]
    tables = build_tables(lines)
    assert row_of(tables["ablation"], Parts="without CE")["ACC, change"] == "−20.0"
    assert row_of(tables["ablation"], Parts="all parts")["ACC, change"] == "—"
    beside = row_of(tables["ablation_satimage"], Parts="without CE")
    assert (beside["ACC, change"], beside["ACC, paper's change"]) == ("−20.0", "−21.9")
    assert (beside["ACC, paper"], beside["ACC, difference"]) == ("69.5 ± 6.0", "+0.5")


def test_ablation_keeps_regimes_apart(all_lines: list[Line]) -> None:
    tables = build_tables(all_lines)
    oracle, label_free = ({row["Dataset"] for row in records(tables[n])} for n in ("ablation", "ablation_label_free"))
    assert "Satimage" in oracle
    assert "Optdigits" in label_free
    assert not oracle & label_free


def test_representations_have_both_protocols_and_the_original_data(all_lines: list[Line]) -> None:
    tables = build_tables(all_lines)
    mine = [row for row in records(tables["representations"]) if row["Dataset"] == "Letter"]
    assert [row["Representation"] for row in mine[::2]] == [
        "original data",
        "after pre-training",
        "after joint training",
    ]
    assert [row["Fitted on"] for row in mine[:2]] == ["training rows", "novel test rows"]
    beside = records(tables["representations_mnist"])
    assert [row["ACC, paper"] for row in beside] == ["61.1", "63.9", "85.4"]


def test_cd_knet_has_the_figures_as_printed() -> None:
    rows = records(build_tables([line(0.842, dataset="mnist", nmi=0.7512)])["cd_knet"])
    assert [row["ACC"] for row in rows] == ["84.2", "91.4", "86.9", "94.5"]
    assert [row["NMI"] for row in rows] == ["0.751", "0.823", "0.683", "0.856"]


def curve(experiment: str, parameter: str, accs: dict[float, float], collapsed: tuple[float, ...] = ()) -> list[Line]:
    return [
        line(acc, experiment=experiment, variant=parameter, settings={parameter: value, "w3": 1}, n_found=n_found)
        for value, acc in accs.items()
        for n_found in [1 if value in collapsed else 5]
    ]


def test_sweep_says_what_is_best_by_bacc_and_how_much_it_matters() -> None:
    accs = {1: 0.5, 4: 0.839, 6: 0.85, 8: 0.6, 20: 0.835, 100: 0.9}
    lines = curve("sweep", "top_k", accs, collapsed=(100,))
    lines[-1]["bacc"] = 0.2  # one class for all rows
    (row,) = records(build_tables(lines)["sweep"])
    assert (row["Values tried"], row["Best value"], row["BACC there"], row["ACC there"]) == ("6", "6", "84.0", "85.0")
    assert row["Within 2 points of the best"] == "4 to 6, 20"
    assert (row["Paper's value"], row["BACC near the paper's value"]) == ("5.609", "84.0 (at 6)")


def test_sweep_names_every_device_and_the_fewest_seeds() -> None:
    lines = curve("sweep", "top_k", {1: 0.5, 4: 0.8})
    lines += [line | {"seed": 1, "device": "cuda", "device_name": "NVIDIA H200"} for line in lines[1:]]
    (row,) = records(build_tables(lines)["sweep"])
    assert (row["Seeds"], row["Device"]) == ("1", "CPU, NVIDIA H200")


def test_threshold_is_compared_with_top_k() -> None:
    lines = curve("threshold", "similarity_threshold", {-1: 0.2, 0: 0.2, 0.5: 0.6, 0.9: 0.8}, collapsed=(-1, 0))
    (row,) = records(build_tables(lines)["threshold"])
    assert row["Best top_k"] == "not measured"
    lines += curve("sweep", "top_k", {1: 0.84, 5: 0.85, 100: 0.2}, collapsed=(100,))
    (row,) = records(build_tables(lines)["threshold"])
    shown = [row["Best threshold"], row["BACC, best threshold"], row["ACC, best threshold"]]
    assert [*shown, row["threshold within 2 points"]] == ["0.9", "79.0", "80.0", "25 %"]
    assert (row["Best top_k"], row["ACC, best top_k"], row["top_k within 2 points"]) == ("5", "85.0", "67 %")
    assert row["threshold with one class only"] == "-1 to 0"
    assert row["top_k with one class only"] == "100"


def test_search_is_beside_the_appendix_and_says_oracle(all_lines: list[Line]) -> None:
    table = build_tables(all_lines)["search"]
    assert table.caption.startswith("Oracle: uses novel labels.")
    found = row_of(table, Dataset="Letter", Settings="found, uniform rates")
    assert (found["top_k"], found["lr_classification"], found["dropout"]) == ("7.25", "0.001235", "—")
    assert (found["Trials"], found["Validation ACC"], found["Seeds"]) == ("3", "90.0", "2")
    main = build_tables(all_lines)["main"]
    appendix = row_of(table, Dataset="Letter", Settings="appendix")
    assert appendix["Test ACC"] == row_of(main, Dataset="Letter", Method="TabularNCD")["ACC"]
    unscored = [line for line in all_lines if line["experiment"] == "search"]
    assert records(build_tables(unscored)["search"])[0]["Test ACC"] == "not measured"
    assert unscored[0]["data"]["best"] == FOUND


def test_cost_is_a_seeds_share_of_its_pack_by_device() -> None:
    lines = [line(0.8, seed=0), line(0.8, seed=1, device="cuda", device_name="NVIDIA H200", fit_seconds=2.0)]
    slow, quick = records(build_tables(lines)["cost"])
    assert (slow["Device"], slow["Fit, seconds a seed"], slow["Peak memory, MiB"]) == ("CPU", "2.50", "1,000")
    assert (quick["Device"], quick["Fit, seconds a seed"]) == ("NVIDIA H200", "0.50")


def test_files_are_written_in_three_forms_and_an_index(all_lines: list[Line], tmp_path: Path) -> None:
    folder = tmp_path / "new" / "tables"
    paths = write_tables(all_lines, folder)
    assert {path.name for path in paths} == {f"{n}.{kind}" for n in TABLES for kind in ("md", "tex", "html")} | {
        "index.html"
    }
    assert sorted(paths) == sorted(folder.iterdir())  # and nothing else is left there
    assert (folder / "index.html").read_text(encoding="utf-8").count("<table>") == len(TABLES)
    assert (folder / "main.md").read_text(encoding="utf-8") == markdown(build_tables(all_lines)["main"])
    before = {path: path.read_bytes() for path in paths}
    write_tables(all_lines, folder)
    assert {path: path.read_bytes() for path in paths} == before


def test_order_of_the_lines_does_not_matter(all_lines: list[Line]) -> None:
    there, back = build_tables(all_lines), build_tables(all_lines[::-1])
    assert {name: records(table) for name, table in there.items()} == {name: records(t) for name, t in back.items()}


def test_a_folder_that_cannot_be_made_is_a_clear_mistake(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="expected a folder that can be written to"):
        write_tables([line(0.8)], tmp_path / "file")


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tables([line(0.8)], tmp_path)
    before = {path: path.read_text() for path in tmp_path.iterdir()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(InputError, match="No space left on device"):
        write_tables([line(0.9)], tmp_path)
    assert {path: path.read_text() for path in tmp_path.iterdir()} == before
