from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laboratory.tests.made_lines import Line, compared, estimated, line, lines_of_the_plan
from newfound.errors import InputError
from newfound_lab.pages.figures import Figure, write_figures
from newfound_lab.paper import published
from tests.pictures.common import Catcher, assert_drawn, assert_readable, catcher, words_in

__all__ = ["catcher"]

PAPERS = {"main", "ablation", "ablation_label_free", "sweep", "threshold", "search"}
OVERALL = PAPERS | {"label_free", "label_free_ranks", "n_classes", "mixed_shares", "mixed_estimates", "mixed_auroc"}
OF_A_DATASET = {"coefficients_satimage", "coefficients_mnist", "map_human", "pairs_satimage"}


def some_lines(n_seeds: int, datasets: list[str] | None, of_a_dataset: set[str]) -> list[Line]:
    """Lines of every experiment; of those with a figure for each dataset, only these."""
    return [
        line
        for line in lines_of_the_plan(n_seeds, datasets)
        if line["experiment"] not in ("coefficients", "map", "pairs")
        or f"{line['experiment']}_{line['dataset']}" in of_a_dataset
    ]


@pytest.fixture(scope="module")
def lines() -> list[Line]:
    return some_lines(2, ["mnist", "human", "satimage", "nsl_kdd"], OF_A_DATASET)


@pytest.fixture(scope="module")
def figures(lines: list[Line], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Figure]:
    return write_figures(lines, tmp_path_factory.mktemp("figures") / "new" / "folder")


def test_every_figure_has_two_files_and_a_caption(figures: dict[str, Figure]) -> None:
    assert set(figures) == OVERALL | OF_A_DATASET
    folder = figures["main"].png.parent
    assert {path.name for path in folder.iterdir()} == {f"{name}.{kind}" for name in figures for kind in ("png", "svg")}
    for name, figure in figures.items():
        assert figure.name == name
        assert_drawn(figure.png)
        assert 5_000 < figure.svg.stat().st_size < 300_000
        assert figure.caption.endswith(".")
        assert "Dataset" in figure.caption
        assert "seed" in figure.caption
        assert "measured on" in figure.caption


def test_captions_say_what_matters(figures: dict[str, Figure]) -> None:
    assert "oracle: uses novel labels" in figures["search"].caption
    assert "Human (66 features)" in figures["map_human"].caption
    assert "no yardstick" in figures["main"].caption
    assert "2 seeds; regime: label-free and oracle (uses novel labels)" in figures["main"].caption
    assert "NVIDIA H200" in figures["coefficients_mnist"].caption
    assert "All attributes" in figures["coefficients_satimage"].caption
    assert "of 784" in figures["coefficients_mnist"].caption
    assert "either chose the other" in figures["pairs_satimage"].caption


def test_pictures_name_datasets_methods_and_classes(figures: dict[str, Figure]) -> None:
    words = {name: words_in(figure.svg) for name, figure in figures.items()}
    for name in PAPERS - {"ablation_label_free"} | {"label_free"}:
        assert {"Human (66 features)", "Satimage"} <= words[name], name
    assert {"k given: 20 pairs", "k estimated: 20 pairs", "AutoDiscoverer", "k-means"} <= words["label_free_ranks"]
    assert {"Satimage: 5", "combined", "silhouette"} <= words["n_classes"]
    assert "NSL-KDD" in words["ablation_label_free"]
    assert "NSL-KDD" not in words["ablation"]
    assert {"TabularNCD, oracle", "TabularNCD, label-free", "baseline", "spectral", "k-means"} <= words["main"]
    assert {"NSL-KDD", "paper's, inductive", "ours, transductive"} <= words["main"]
    assert "the paper's own value" in words["sweep"]
    assert {f"p{i}" for i in range(36)} <= words["coefficients_satimage"]
    assert 20 <= len({f"p{i}" for i in range(784)} & words["coefficients_mnist"]) <= 40
    assert {"known: SITTING", "novel: LAYING", "Joint training, epoch 30"} <= words["map_human"]


def test_writing_again_gives_the_same_bytes(figures: dict[str, Figure], lines: list[Line], tmp_path: Path) -> None:
    # The order of lines depends on how a run went, and must not matter.
    again = write_figures([line for line in lines[::-1] if line["experiment"] in ("main", "map")], tmp_path)
    for name in ("main", "map_human"):
        assert again[name].svg.read_bytes() == figures[name].svg.read_bytes()
        assert again[name].png.read_bytes() == figures[name].png.read_bytes()
        assert again[name].caption == figures[name].caption


def test_only_figures_with_lines_are_written(tmp_path: Path) -> None:
    assert write_figures([], tmp_path) == {}
    threshold = line(0.5, experiment="threshold", variant="similarity_threshold", settings={"similarity_threshold": 0})
    assert set(write_figures([threshold], tmp_path)) == {"threshold"}
    assert write_figures([line(0.5, experiment="representations")], tmp_path) == {}
    assert write_figures([line(0.5, experiment="ablation", variant="full")], tmp_path) == {}  # nothing to compare yet


def test_only_the_figures_that_are_wanted_are_written(tmp_path: Path) -> None:
    lines = [line(0.5), compared(0.5), compared(0.6, k="estimated")]
    assert set(write_figures(lines, tmp_path, {"label_free_ranks", "sweep"})) == {"label_free_ranks"}
    assert {path.stem for path in tmp_path.iterdir()} == {"label_free_ranks"}


@pytest.mark.slow
def test_texts_are_readable(catcher: Catcher, tmp_path: Path) -> None:
    """With all datasets of both suites, which is the most that is ever drawn."""
    names = write_figures(some_lines(1, None, {"map_letter", "pairs_human"}), tmp_path)
    assert set(catcher.texts) == {f"{name}.png" for name in names}
    assert len(names) == len(OVERALL) + 2
    for name, texts in catcher.texts.items():
        assert_readable(texts, catcher.sizes[name])


class Drawn:
    """Takes the place of a function that writes a picture, and keeps what it was given."""

    def __init__(self) -> None:
        self.args: tuple[Any, ...] = ()

    def __call__(self, *args: Any, **_: Any) -> None:
        self.args = args


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    instead = Drawn()
    for name in ("figures.write_curves", "figures.write_dots", "label_free_figures.write_dots"):
        monkeypatch.setattr(f"newfound_lab.pages.{name}", instead)
    return instead


def test_main_shows_means_and_the_papers_figures(drawn: Drawn, tmp_path: Path) -> None:
    lines = [line(acc, dataset="satimage", seed=seed) for seed, acc in enumerate((0.8, 0.9))]
    kmeans: dict[str, Any] = {"method": "kmeans", "regime": "label-free", "protocol": "transductive"}
    write_figures([*lines, line(0.7, dataset="satimage", variant="default", **kmeans)], tmp_path)
    _, (panel,), rows, _ = drawn.args
    assert rows == ["TabularNCD, oracle", "k-means"]
    shown = {(dot.row, dot.kind): (round(dot.mean, 6), round(dot.sd, 6)) for dot in panel.dots}
    assert shown == {
        (0, "ours, inductive"): (85.0, 5.0),
        (0, "paper's, inductive"): tuple(published.RESULTS["satimage"]["tabular_ncd"]["acc"]),
        (1, "ours, transductive"): (70.0, 0.0),
        (1, "paper's, transductive"): tuple(published.RESULTS["satimage"]["kmeans"]["acc"]),
    }


def test_ablation_compares_equal_seeds(drawn: Drawn, tmp_path: Path) -> None:
    accs = {"full": (0.9, 0.8), "without_ce": (0.7, 0.5), "without_mse": (0.6,)}
    lines = [
        line(acc, experiment="ablation", dataset="satimage", variant=variant, seed=seed)
        for variant, row in accs.items()
        for seed, acc in enumerate(row)
    ]
    write_figures(lines, tmp_path)
    _, panels, rows, _ = drawn.args
    assert rows == ["Satimage"]
    ours = {panel.title.split()[1]: dot for panel in panels for dot in panel.dots if dot.kind == "ours"}
    assert set(ours) == {"CE", "MSE"}
    assert (round(ours["CE"].mean, 6), round(ours["CE"].sd, 6)) == (-25.0, 5.0)
    assert (round(ours["MSE"].mean, 6), ours["MSE"].sd) == (-30.0, 0.0)
    papers = [dot.mean for panel in panels for dot in panel.dots if dot.kind != "ours"]
    np.testing.assert_allclose(papers, [88.6 - 91.4, 69.5 - 91.4, 51.7 - 91.4, 63.9 - 91.4])


def test_sweep_has_means_over_seeds_in_order_and_the_papers_value(drawn: Drawn, tmp_path: Path) -> None:
    lines = [
        line(acc, experiment="sweep", dataset="letter", variant="top_k", seed=seed, settings={"top_k": value})
        for value, accs in ((50, (0.2, 0.4)), (5, (0.6, 0.8)))
        for seed, acc in enumerate(accs)
    ]
    write_figures(lines, tmp_path)
    (panel,) = drawn.args[1]
    (curve,) = panel.curves
    np.testing.assert_allclose([curve.x, curve.mean, curve.sd], [[5, 50], [69, 29], [10, 10]])
    assert curve.ring_at == published.SETTINGS["letter"]["top_k"]


def test_threshold_shows_the_share_of_classes_beside_bacc(drawn: Drawn, tmp_path: Path) -> None:
    facts: dict[str, Any] = {"experiment": "threshold", "variant": "similarity_threshold", "dataset": "letter"}
    write_figures([line(0.4, **facts, settings={"similarity_threshold": 0.5}, n_found=1, n_novel=7)], tmp_path)
    bacc, share = drawn.args[1]
    np.testing.assert_allclose(bacc.curves[0].mean, [39.0])
    np.testing.assert_allclose(share.curves[0].mean, [100 / 7])


def test_search_shows_the_best_so_far(drawn: Drawn, tmp_path: Path) -> None:
    trials = [{"settings": {}, "acc": acc} for acc in (0.4, 0.3, 0.6, 0.5)]
    write_figures([line(0, experiment="search", variant="bayesian", data={"trials": trials, "best": {}})], tmp_path)
    (panel,) = drawn.args[1]
    np.testing.assert_allclose(panel.curves[0].mean, [40, 40, 60, 60])
    np.testing.assert_allclose(panel.curves[0].x, [1, 2, 3, 4])


def test_label_free_shows_both_ways_to_come_by_k(drawn: Drawn, tmp_path: Path) -> None:
    given = [compared(acc, class_split=split) for split, acc in enumerate((0.8, 0.9))]
    write_figures([*given, compared(0.7, "auto", k="estimated")], tmp_path, {"label_free"})
    _, (panel,), rows, _ = drawn.args
    assert rows == ["k-means", "AutoDiscoverer"]
    shown = {(dot.row, dot.kind): (round(dot.mean, 6), round(dot.sd, 6)) for dot in panel.dots}
    assert shown == {(0, "k given"): (85.0, 5.0), (1, "k estimated"): (70.0, 0.0)}


def test_ranks_are_means_by_both_metrics_with_intervals_over_datasets(drawn: Drawn, tmp_path: Path) -> None:
    lines = [
        compared(acc, method, dataset=dataset, bacc=1 - acc)
        for method, accs in {"kmeans": (0.5, 0.9), "pbn": (0.6, 0.8), "auto": (0.7, 0.95)}.items()
        for dataset, acc in zip(("letter", "pendigits"), accs, strict=True)
    ]
    write_figures(lines, tmp_path, {"label_free_ranks"})
    _, (panel,), rows, _ = drawn.args
    assert rows == ["k-means", "PBN", "AutoDiscoverer"]
    assert panel.title == "k given: 2 pairs"
    by_acc, by_bacc = ([dot for dot in panel.dots if dot.kind == kind] for kind in ("by ACC", "by BACC"))
    assert [dot.mean for dot in by_acc] == [2.5, 2.5, 1.0]
    assert [dot.ends for dot in by_acc] == [(2.0, 3.0), (2.0, 3.0), (1.0, 1.0)]
    assert [dot.mean for dot in by_bacc] == [1.5, 1.5, 3.0]


def test_estimates_are_shown_by_their_distance_from_the_truth(drawn: Drawn, tmp_path: Path) -> None:
    lines = [estimated(n, {"gap": n + 2}, class_split=split) for split, n in enumerate((4, 6))]
    write_figures(lines, tmp_path, {"n_classes"})
    _, (combined, gap), rows, _ = drawn.args
    assert rows == ["Pendigits: 5"]
    assert [(dot.mean, dot.sd) for dot in (*combined.dots, *gap.dots)] == [(0.0, 1.0), (2.0, 1.0)]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        write_figures([line(0.8)], tmp_path / "file" / "figures")
