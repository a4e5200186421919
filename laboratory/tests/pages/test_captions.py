from __future__ import annotations

from laboratory.tests import made_lines
from newfound_lab.pages.captions import datasets_of, name_of, names_of, origin, sorted_lines
from newfound_lab.suites.trials import Regime

REGIMES: tuple[Regime, ...] = ("oracle", "label-free")


def line(dataset: str, seed: int = 0, regime: Regime = "oracle") -> made_lines.Line:
    return made_lines.line(0.5, dataset=dataset, seed=seed, regime=regime)


def test_datasets_of_the_paper_come_first_then_seeds() -> None:
    lines = sorted_lines([line("unheard_of"), line("letter", 1), line("soybean"), line("letter", 0), line("mnist")])
    assert [(line["dataset"], line["seed"]) for line in lines] == [
        ("mnist", 0),
        ("letter", 0),
        ("letter", 1),
        ("soybean", 0),
        ("unheard_of", 0),
    ]
    assert datasets_of(lines) == ["mnist", "letter", "soybean", "unheard_of"]


def test_the_order_in_which_lines_were_measured_does_not_matter() -> None:
    lines = [line("letter", seed, regime=regime) for seed in (1, 0) for regime in REGIMES]
    assert sorted_lines(lines) == sorted_lines(lines[::-1])


def test_names_keep_their_places_whatever_lines_there_are() -> None:
    assert name_of(line("human")) == "Human (66 features)"
    assert name_of(line("human") | {"reduced": False}) == "Human"
    assert name_of(line("letter") | {"reduced": True}) == "Letter (reduced)"
    names = list(names_of([line("human"), line("unheard_of")]).values())
    assert names.index("Human (66 features)") == list(names_of([])).index("human")
    assert names[-1] == "unheard_of"


def test_origin_of_one_line() -> None:
    assert origin([line("letter")]) == ("Dataset: Letter; 1 seed; regime: oracle (uses novel labels); measured on CPU.")


def test_origin_says_what_ran_where() -> None:
    lines = [line("mnist", seed) for seed in range(3)] + [line("forest"), line("letter"), line("human")]
    text = origin(lines, compared=True)
    assert text.startswith("Datasets: MNIST, Forest, Letter, Human (66 features); 1 to 3 seeds;")
    assert "measured on NVIDIA H200 (MNIST) and CPU (all others)." in text
    assert "no yardstick" in text


def test_origin_counts_class_splits() -> None:
    lines = [line("letter", seed) | {"class_split": split} for seed in range(3) for split in range(5)]
    assert "; 5 class splits, 3 seeds;" in origin(lines)


def test_a_dataset_with_two_regimes_is_not_shared_out() -> None:
    lines = [line("letter", regime=regime) for regime in REGIMES]
    assert "regime: oracle (uses novel labels) and label-free;" in origin(lines)
    lines = [line("letter"), line("soybean", regime="label-free"), line("digits", regime="label-free")]
    assert "regime: oracle (uses novel labels) (Letter) and label-free (all others);" in origin(lines)
