from __future__ import annotations

from pathlib import Path

import pytest

from laboratory.tests.made_lines import Line, mixed
from laboratory.tests.pages.test_tables import records, row_of
from newfound.errors import InputError
from newfound_lab.pages.figures import write_figures
from newfound_lab.pages.mixed import MixedResults, setting_of
from newfound_lab.pages.page import fill
from newfound_lab.pages.tables import build_tables
from newfound_lab.suites.experiments import plan
from newfound_lab.suites.mixed import ORACLE
from newfound_lab.suites.trials import Trial

ACCS = {"glass": 0.6, "vowel": 0.8}


def line(trial: Trial) -> Line:
    """A line in which the oracle is 10 points above all others, and a second class split 2 points above the first."""
    told = trial.method in (ORACLE, "auto_oracle")
    return mixed(trial, ACCS[trial.dataset] + 0.1 * told + 0.02 * trial.class_split)


LINES = [line(trial) for trial in plan("mixed", datasets=[*ACCS], n_seeds=2)]


def test_settings_have_names() -> None:
    names = {setting_of(line) for line in LINES}
    shares = {f"share={share}" for share in ("0", "0.1", "0.3", "0.5", "0.8", "1")}
    assert names == {"half", "shift", "labelled=10", "labelled=50", "labelled=10,shift", "labelled=50,shift"} | shares


def test_a_table_counts_once_however_many_class_splits_it_has() -> None:
    results = MixedResults([line for line in LINES if not (line["dataset"] == "vowel" and line["class_split"])])
    assert results.by_table("half", "routed", "all_acc") == pytest.approx({"glass": 61.0, "vowel": 80.0})
    assert results.mean("half", "routed", "all_acc") == pytest.approx(70.5)
    assert results.interval("half", "routed", "all_acc") == pytest.approx((61.0, 80.0))
    found = results.lead("half", "routed", "oracle", "all_acc")
    assert found is not None
    assert (found.mean, found.n_tables) == (pytest.approx(-10.0), 2)


def test_the_main_table_compares_with_the_oracle() -> None:
    table = build_tables(LINES)["mixed"]
    ours = row_of(table, Router="newfound, auto")
    assert (ours["All"], ours["AUROC"], ours["Share error"]) == ("71.0", "90.0", "5.0")
    assert ours["Against the oracle"] == "−10.0 (−10.0 to −10.0)"
    assert row_of(table, Router="oracle router")["Against the oracle"] == ""
    assert row_of(table, Router="all taken as novel")["Share error"] == "—"


def test_pure_tables_shares_and_small_labelled_sets() -> None:
    tables = build_tables(LINES)
    assert row_of(tables["mixed_pure"], Router="newfound, auto")["Says novel"] == "100.0"
    assert list(row_of(tables["mixed_shares"], Router="newfound, auto")) == [
        "Router",
        "0 (pure)",
        "10",
        "30",
        "50",
        "80",
        "100 (nothing novel)",
    ]
    assert list(row_of(tables["mixed_labelled"], Router="oracle router")) == [
        "Router",
        "10 a class",
        "50 a class",
        "all",
    ]
    assert {"10 a class, shift", "all"} <= set(row_of(tables["mixed_shift"], Router="oracle router"))
    assert len(records(tables["mixed_by_table"])) == 2
    both = records(tables["mixed_auto"])
    assert [row["Against the oracle"] for row in both] == ["−10.0 (−10.0 to −10.0)", ""]


def test_settings_are_compared_on_tables_that_have_all_of_them() -> None:
    some = [line for line in LINES if not (line["dataset"] == "vowel" and line["settings"].get("known_share") == 0.3)]
    shares = build_tables(some)["mixed_shares"]
    assert set(row_of(shares, Router="newfound, auto").values()) == {"newfound, auto", "60.0", "61.0"}, "glass alone"
    assert "mean over 1 tables" in shares.caption


def test_estimates_of_shares_and_of_numbers_of_classes() -> None:
    tables = build_tables(LINES)
    half = row_of(tables["mixed_estimates"], Setting="half of the known rows unlabelled")
    assert (half["Error"], half["Bias"], half["Holds"], half["Says mixed"]) == ("5.0", "5.0", "100.0", "100.0")
    known = row_of(tables["mixed_counting"], Setting="nothing novel", k="estimated")
    assert (known["None"], known["Exact"], known["Within 1"], known["Error"]) == ("50.0", "50.0", "100.0", "0.50")


def test_figures_and_values_of_a_page(tmp_path: Path) -> None:
    figures = write_figures(LINES, tmp_path)
    assert {"mixed_shares", "mixed_estimates", "mixed_auroc"} <= set(figures)
    assert all(figure.png.stat().st_size > 10_000 for figure in figures.values())
    text = "{{mixed:half/routed/all_acc}}, {{mixed:half/routed/all_acc interval}}, "
    text += "{{mixed:half/routed/all_acc against oracle}}, {{mixed:share=1/routed/auroc}}, {{facts:devices/mixed}}"
    page, absent = fill(text, LINES, figures, "images")
    assert page.startswith("71.0, 61.0 to 81.0, −10.0 (−10.0 to −10.0), not measured, ")
    assert absent == ["mixed:share=1/routed/auroc"]
    for wrong in (
        "half/routed",
        "most/routed/all_acc",
        "half/router/all_acc",
        "half/routed/acc",
        "half/routed/auroc by",
    ):
        with pytest.raises(InputError, match="correct the template"):
            fill(f"{{{{mixed:{wrong}}}}}", LINES, figures, "images")
