from __future__ import annotations

from pathlib import Path

import pytest

from laboratory.tests.made_lines import Line, compared, estimated, judged, line, lines_of_the_plan
from newfound.errors import InputError
from newfound_lab.pages.figures import Figure
from newfound_lab.pages.page import figures_in, fill
from newfound_lab.pages.rendering import markdown
from newfound_lab.pages.tables import TABLES, build_tables

LINES = [line(0.84, seed=0), line(0.86, seed=1)]
PATH = "main/pendigits/tabular_ncd/appendix/inductive"


FILES = Path("/elsewhere/sweep.png"), Path("/elsewhere/sweep.svg")
FIGURES = {"sweep": Figure("sweep", *FILES, "ACC for\nall [top_k]")}


def filled(template: str, lines: list[Line] | None = None) -> str:
    """The page, of which nothing is absent."""
    page, absent = fill(template, LINES if lines is None else lines, FIGURES, "images/paper")
    assert absent == []
    return page


def test_prose_stays_as_it_is() -> None:
    text = "# Title\n\nA set {x} and { {y} }.\n"
    assert filled(text) == text


def test_values_are_those_of_the_tables() -> None:
    page = filled(f"ACC {{{{value:{PATH}/acc}}}}, {{{{value±:{PATH}/acc}}}}, NMI {{{{ value:{PATH}/nmi }}}}.")
    assert page == "ACC 85.0, 85.0 ± 1.0, NMI 0.75."
    assert "85.0 ± 1.0" in filled("{{table:main}}")


def test_other_values() -> None:
    names = ("n_seeds", "fit_seconds", "peak_memory_mib", "devices", "known_acc")
    page = filled(" ".join(f"{{{{value:{PATH}/{name}}}}}" for name in names))
    assert page == "2 2.50 1,001 CPU 90.0"


def test_a_value_of_a_sweep_needs_its_value() -> None:
    lines = [line(0.1 * k, experiment="sweep", variant="top_k", settings={"top_k": k}) for k in (5, 6.5)]
    assert filled("{{value:sweep/pendigits/tabular_ncd/top_k=5/inductive/acc}}", lines) == "50.0"
    assert filled("{{value:sweep/pendigits/tabular_ncd/top_k=6.5/inductive/acc}}", lines) == "65.0"
    with pytest.raises(InputError, match="2 measurements match it"):
        filled("{{value:sweep/pendigits/tabular_ncd/top_k/inductive/acc}}", lines)
    with pytest.raises(InputError, match="number in place of 'many'"):
        filled("{{value:sweep/pendigits/tabular_ncd/top_k=many/inductive/acc}}", lines)


def test_papers_figures_have_the_same_path() -> None:
    assert filled(f"{{{{paper:{PATH}/acc}}}} {{{{paper±:{PATH}/acc}}}}", []) == "85.6 85.6 ± 0.8"
    assert filled("{{paper:cd_knet/mnist/cd_knet_exp//inductive/acc}}", []) == "94.5"


def test_tables_and_figures_are_markdown() -> None:
    assert filled("{{table:main}}\n") == markdown(build_tables(LINES)["main"])
    assert filled("{{figure:sweep}}") == (
        "![ACC for all \\[top_k\\]](images/paper/sweep.png)\n\n*ACC for all \\[top_k\\]*"
    )


def test_a_page_with_everything_has_no_placeholder_and_no_html_left() -> None:
    template = "\n\n".join(f"{{{{table:{name}}}}}" for name in TABLES) + "\n\n{{facts:versions}}, {{facts:devices}}"
    page = filled(template, lines_of_the_plan())
    assert "{{" not in page
    assert "not measured" in page  # census
    assert "<" not in page


def test_facts_say_what_was_used() -> None:
    lines = [*LINES, line(0.8, dataset="mnist")]
    assert filled("{{facts:devices}}", lines) == "2 lines on CPU, 1 line on NVIDIA H200"
    assert filled("{{facts:versions}}", lines) == "newfound 0.2.0, torch 2.13.0 and 2.13.0+cu130"


def test_facts_of_each_suite_are_apart() -> None:
    lines = [*LINES, compared(0.8, dataset="mnist"), estimated(5, {})]
    assert filled("{{facts:devices}}", lines) == "2 lines on CPU"
    assert filled("{{facts:devices/label-free}}", lines) == "1 line on NVIDIA H200, 1 line on CPU"
    assert filled("{{facts:versions/label-free}}", lines) == "newfound 0.2.0, torch 2.13.0 and 2.13.0+cu130"


def test_values_of_the_label_free_comparison() -> None:
    lines = [
        compared(acc, method, dataset=dataset, class_split=split)
        for method, accs in {"kmeans": (0.5, 0.7, 0.9), "auto": (0.6, 0.8, 0.85)}.items()
        for (dataset, split), acc in zip((("letter", 0), ("letter", 1), ("forest", 0)), accs, strict=True)
    ]

    def value(path: str, sd: str = "") -> str:
        return filled(f"{{{{label_free{sd}:{path}}}}}", lines)

    assert value("letter/auto/given/all/acc") == "70.0"
    assert value("letter/auto/given/all/acc", "±") == "70.0 ± 10.0"
    assert value("letter/auto/given/0/bacc") == "59.0"
    assert value("letter/auto/given/all/worst") == "60.0"
    assert value("letter/auto/given/all/gain") == "+10.0"
    assert value("letter/auto/given/all/seconds") == "2.6"
    assert value("all/auto/given/all/acc") == "77.5"
    assert value("all/auto/given/all/worst") == "60.0"
    assert value("all/auto/given/all/gain") == "+2.5"
    assert value("all/auto/given/all/lowest_gain") == "−5.0"
    assert value("all/auto/given/all/rank") == "1.50"
    assert value("all/auto/given/all/pairs") == "3"
    assert fill("{{label_free:all/pbn/given/all/rank}}", lines, {}, "images")[0] == "not measured"


def test_values_of_leads() -> None:
    lines = [
        compared(acc, method, dataset=dataset)
        for method, accs in {"kmeans": (0.5, 0.7, 0.9), "auto": (0.6, 0.9, 0.95)}.items()
        for dataset, acc in zip(("letter", "forest", "human"), accs, strict=True)
    ]
    shown = [filled(f"{{{{lead:auto/kmeans/given/bacc/{what}}}}}", lines) for what in ("lead", "interval", "p")]
    assert shown == ["+11.7", "+5.0 to +20.0", ".25"]
    assert filled("{{lead:auto/kmeans/given/acc/better on}}", lines) == "3 of 3"
    assert fill("{{lead:auto/kmeans/estimated/acc/p}}", lines, {}, "images")[0] == "not measured"


def test_values_of_the_estimates() -> None:
    lines = [estimated(k, {"gap": 5}, class_split=split) for split, k in enumerate((5, 6, 8, 9))]
    assert filled("{{n_classes:all/combined/within_1}}", lines) == "50 %"
    assert filled("{{n_classes:pendigits/combined/exact}}", lines) == "25 %"
    assert filled("{{n_classes:all/gap/exact}} {{n_classes:all/gap/pairs}}", lines) == "100 % 4"
    assert fill("{{n_classes:letter/gap/exact}}", lines, {}, "images")[0] == "not measured"


def test_values_of_the_open_world() -> None:
    lines = [
        *(judged(acc, seed=seed, rules=[(0.9, 0.6), (0.7, 0.8)]) for seed, acc in enumerate((0.7, 0.8))),
        judged(0.5, dataset="letter"),
    ]
    assert filled("{{open_world:pendigits/auto/all_acc}}", lines) == "75.0"
    assert filled("{{open_world±:pendigits/auto/all_acc}}", lines) == "75.0 ± 5.0"
    assert filled("{{open_world:all/auto/all_acc}}", lines) == "62.5"
    assert filled("{{open_world:letter/auto/known_ece_before}}", lines) == "10.0"
    assert filled("{{open_world:letter/auto/temperature}}", lines) == "1.50"
    assert filled("{{open_world:pendigits/auto/rules_precision}}", lines) == "80.0"
    assert fill("{{open_world:letter/auto/rules_precision}}", lines, {}, "images")[0] == "not measured"
    assert filled("{{facts:devices/open-world}}", [*LINES, *lines]) == "3 lines on CPU"
    assert filled("{{facts:devices}}", [*LINES, *lines]) == "2 lines on CPU"


def test_figures_of_a_page() -> None:
    assert figures_in("{{figure:main}} {{ figure:map_letter }} {{table:sweep}} {figure:no}") == {"main", "map_letter"}


@pytest.mark.parametrize(
    "placeholder",
    [
        "table:sweep",
        "figure:map_human",
        "figure:main",
        "value:main/letter/tabular_ncd/appendix/inductive/acc",
        "value:sweep/pendigits/tabular_ncd/top_k=5/inductive/acc",
        "table:label_free",
        "figure:n_classes",
        "label_free:letter/auto/estimated/all/acc",
        "label_free:letter/auto/estimated/0/seconds",
        "label_free:all/auto/given/all/lowest_gain",
        "n_classes:all/combined/within_1",
        "facts:devices/label-free",
        "table:open_world",
        "open_world:all/auto/auroc",
        "open_world:letter/auto/all_ece",
        "facts:versions/open-world",
    ],
)
def test_what_has_no_lines_is_said_to_be_not_measured(placeholder: str) -> None:
    page = fill(f"It is {{{{{placeholder}}}}} and {{{{{placeholder}}}}}.", LINES, {}, "images")
    assert page == ("It is not measured and not measured.", [placeholder])


def test_facts_of_no_lines_are_not_measured() -> None:
    assert fill("{{facts:devices}}", [], {}, "images") == ("not measured", ["facts:devices"])


@pytest.mark.parametrize(
    ("placeholder", "reason"),
    [
        ("tabel:main", "expected one of table, figure"),
        ("main", "expected one of table, figure"),
        ("table:mian", "there is no table 'mian'"),
        ("figure:mian", "there is no figure 'mian'"),
        ("figure:map_nowhere", "there is no dataset 'nowhere'"),
        ("figure:main_letter", "there is no figure 'main_letter'"),
        ("value:mian/pendigits/tabular_ncd/appendix/inductive/acc", "there is no experiment 'mian'"),
        ("value:main/pendigits/tabularncd/appendix/inductive/acc", "there is no method 'tabularncd'"),
        ("value:main/pendigits/acc", "expected EXPERIMENT/DATASET"),
        ("value:main/pendigitz/tabular_ncd/appendix/inductive/acc", "there is no dataset 'pendigitz'"),
        ("value:main/pendigits/tabular_ncd/appendix/inductiv/acc", "there is no protocol 'inductiv'"),
        (f"value:{PATH}/f1", "there is no metric 'f1'"),
        ("paper:main/optdigits/kmeans/default/transductive/acc", "the paper has no such figure"),
        (f"paper:{PATH}/known_acc", "the paper has no such figure"),
        ("facts:weather", "there is no fact 'weather'"),
        ("facts:devices/paper", "there is no suite 'paper'"),
        ("value:label_free/letter/auto/default/inductive/acc", "there is no experiment 'label_free'"),
        ("label_free:letter/auto/given/acc", "expected DATASET/METHOD/K/CLASS_SPLIT/METRIC"),
        ("label_free:lettr/auto/given/all/acc", "there is no dataset 'lettr'"),
        ("label_free:letter/baseline/given/all/acc", "there is no method 'baseline'"),
        ("label_free:letter/auto/guessed/all/acc", "there is no k 'guessed'"),
        ("label_free:letter/auto/given/5/acc", "there is no class split '5'"),
        ("label_free:letter/auto/given/all/rank", "there is no metric 'rank'"),
        ("lead:auto/kmeans/given/acc", "expected METHOD/OTHER/K/METRIC/WHAT"),
        ("lead:auto/kmeans/given/nmi/p", "there is no metric 'nmi'"),
        ("lead:auto/kmeans/given/acc/q", "there is no fact 'q'"),
        ("value:open_world/letter/auto/default/inductive/acc", "there is no experiment 'open_world'"),
        ("open_world:letter/auto", "expected DATASET/METHOD/METRIC"),
        ("open_world:letter/pbn/all_acc", "there is no method 'pbn'"),
        ("open_world:letter/auto/acc", "there is no metric 'acc'"),
        ("n_classes:all/within_1", "expected DATASET/CRITERION/METRIC"),
        ("n_classes:all/combined/within_2", "there is no metric 'within_2'"),
    ],
)
def test_an_unknown_placeholder_is_a_mistake_that_names_it(placeholder: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        filled(f"It is {{{{{placeholder}}}}}.")
    assert f"{{{{{placeholder}}}}}" in str(caught.value)
