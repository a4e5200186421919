from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound.benchmark import paper
from newfound.benchmark.figures import Figure, write_figures
from newfound.benchmark.trials import Trial
from newfound.errors import InputError
from tests.pictures.common import PNG, Catcher, assert_readable, catcher, words_in

__all__ = ["catcher"]

Line = dict[str, Any]
PAPER = ("mnist", "forest", "letter", "human", "satimage", "pendigits")
N_NOVEL = {"mnist": 5, "forest": 3, "letter": 7, "human": 3, "satimage": 3, "pendigits": 5}


def line(
    experiment: str,
    dataset: str,
    method: str = "tabular_ncd",
    variant: str = "",
    regime: Any = "oracle",
    protocol: Any = "inductive",
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    **measured: Any,
) -> Line:
    cuda = dataset == "mnist"
    common = {
        "fit_seconds": 1.0,
        "predict_seconds": 0.1,
        "n_packed": 1,
        "peak_memory_mib": 100.0,
        "device": "cuda" if cuda else "cpu",
        "device_name": "NVIDIA H200" if cuda else "x86_64",
        "versions": {"newfound": "0"},
        "reduced": dataset == "human",
    }
    trial = Trial(experiment, dataset, method, variant, regime, protocol, seed, settings or {})
    return trial.line(common | measured)


def scored(acc: float, dataset: str, n_found: int | None = None) -> Line:
    n_novel = N_NOVEL.get(dataset, 5)
    acc = float(np.clip(acc, 0.02, 0.999))
    scores = {"acc": acc, "bacc": acc, "nmi": acc / 2, "ari": acc / 2, "known_acc": None}
    return scores | {"n_found": n_novel if n_found is None else n_found, "n_novel": n_novel}


def main_lines(rng: np.random.Generator, datasets: Sequence[str], extra: Sequence[str], n_seeds: int) -> Iterator[Line]:
    for dataset in (*datasets, *extra):
        runs = [
            ("tabular_ncd", "default", "label-free", "inductive"),
            ("baseline", "default", "label-free", "inductive"),
        ]
        for protocol in ("inductive", "transductive"):
            runs += [(method, "default", "label-free", protocol) for method in ("spectral", "kmeans")]
        if dataset in datasets:
            runs.append(("tabular_ncd", "appendix", "oracle", "inductive"))
        if dataset == "satimage":
            runs.append(("tabular_ncd", "published", "oracle", "inductive"))
        for method, variant, regime, protocol in runs:
            centre = rng.uniform(0.5, 0.9) if method != "tabular_ncd" else rng.uniform(0.7, 0.95)
            for seed in range(n_seeds):
                acc = centre + rng.normal(0, 0.03)
                yield line("main", dataset, method, variant, regime, protocol, seed, **scored(acc, dataset))


def ablation_lines(rng: np.random.Generator, datasets: Sequence[str], n_seeds: int) -> Iterator[Line]:
    losses = {"full": 0.0, "without_ssl": 0.02, "without_ce": 0.15, "without_bce": 0.45, "without_mse": 0.25}
    for dataset in datasets:
        for variant, loss in losses.items():
            loss *= rng.uniform(0.3, 1.4)
            for seed in range(n_seeds):
                acc = 0.9 - loss + rng.normal(0, 0.03)
                yield line("ablation", dataset, variant=variant, seed=seed, **scored(acc, dataset))


def sweep_lines(rng: np.random.Generator, datasets: Sequence[str], n_values: int, n_seeds: int) -> Iterator[Line]:
    grids = {
        "top_k": np.unique(np.geomspace(1, 100, n_values).round(2)),
        "k_neighbors": np.unique(np.geomspace(1, 90, n_values).astype(int)),
        "w1": np.linspace(0, 1, n_values),
        "w2": np.linspace(0, 1, n_values),
    }
    for dataset in datasets:
        best, n_novel = rng.uniform(0.7, 0.95), N_NOVEL[dataset]
        for variant, grid in grids.items():
            for value in map(float, grid):
                fall = {"top_k": 0.5 * (value / 100) ** 0.5, "w2": 0.3 * (1 - value)}.get(variant, 0.05 * rng.random())
                n_found = n_novel if variant != "top_k" else max(1, round(n_novel * (1 - value / 70)))
                for seed in range(n_seeds):
                    measured = scored(best - fall + rng.normal(0, 0.02), dataset, n_found)
                    settings = paper.SETTINGS[dataset] | {variant: value}
                    yield line("sweep", dataset, variant=variant, seed=seed, settings=settings, **measured)


def threshold_lines(rng: np.random.Generator, datasets: Sequence[str], n_values: int, n_seeds: int) -> Iterator[Line]:
    for dataset in datasets:
        best, n_novel = rng.uniform(0.7, 0.95), N_NOVEL[dataset]
        for value in map(float, np.linspace(-1, 1, n_values)):
            n_found = 1 if value < rng.uniform(-0.2, 0.4) else n_novel
            for seed in range(n_seeds):
                acc = (best - abs(value - 0.7) if n_found > 1 else 1 / n_novel) + rng.normal(0, 0.02)
                settings = {"similarity_threshold": value}
                measured = scored(acc, dataset, n_found)
                yield line(
                    "threshold", dataset, variant="similarity_threshold", seed=seed, settings=settings, **measured
                )


def search_lines(rng: np.random.Generator, datasets: Sequence[str], n_trials: int) -> Iterator[Line]:
    for dataset in datasets:
        accs = rng.beta(4, 2, n_trials).tolist()
        trials = [{"settings": {}, "acc": acc} for acc in accs]
        data = {"trials": trials, "best": {}}
        yield line("search", dataset, variant="bayesian", settings={"n_trials": n_trials, "share": 0.2}, data=data)


def coefficients_line(rng: np.random.Generator, dataset: str, attributes: Sequence[str], n_known: int) -> Line:
    d = len(attributes)
    data = {
        "attributes": list(attributes),
        "known": {f"k{i}": rng.normal(0, 1, d).tolist() for i in range(n_known)},
        "novel": {str(i): (3 * rng.standard_t(3, d)).tolist() for i in range(N_NOVEL[dataset])},
    }
    return line("coefficients", dataset, "logistic_regression", data=data)


def map_line(rng: np.random.Generator, dataset: str, known: Sequence[str], novel: Sequence[str], n: int) -> Line:
    names = sorted([*known, *novel])
    codes = rng.integers(len(names), size=n)
    centres = rng.normal(0, 30, (len(names), 2))
    panels = []
    titles = ("Original data", "After pre-training", "Joint training, epoch 15", "Joint training, epoch 30")
    for title, spread in zip(titles, (14, 12, 8, 4), strict=True):
        xy = centres[codes] + rng.normal(0, spread, (n, 2))
        panels.append({"title": title, "x": xy[:, 0].round(2).tolist(), "y": xy[:, 1].round(2).tolist()})
    data = {
        "class_names": names,
        "novel": [name in novel for name in names],
        "codes": codes.tolist(),
        "panels": panels,
    }
    return line("map", dataset, data=data)


def pairs_line(rng: np.random.Generator, dataset: str, n: int, k: int, names: Sequence[str]) -> Line:
    codes = np.arange(n) % len(names)
    angles = 2 * np.pi * codes / len(names) + rng.normal(0, 0.25, n)
    points = np.column_stack([np.cos(angles), np.sin(angles)]) * rng.uniform(0.6, 1.2, (n, 1))
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    similarities = unit @ unit.T
    positives = np.zeros((n, n), dtype=int)
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: -similarities[i, j])
        positives[i, others[:k]] = 1
    data = {
        "points": points.tolist(),
        "class_names": list(names),
        "codes": codes.tolist(),
        "similarities": similarities.tolist(),
        "positives": (positives | positives.T).tolist(),
        "k": k,
    }
    return line("pairs", dataset, data=data)


def some_lines(n_seeds: int = 2) -> list[Line]:
    """Lines of every experiment, for two or three datasets each."""
    rng = np.random.default_rng(0)
    few = ("human", "satimage")
    return [
        *main_lines(rng, few, ("nsl_kdd",), n_seeds),
        *ablation_lines(rng, few, n_seeds),
        *sweep_lines(rng, few, 4, n_seeds),
        *threshold_lines(rng, few, 5, n_seeds),
        *search_lines(rng, few, 12),
        coefficients_line(rng, "satimage", [f"p{i}" for i in range(36)], 3),
        coefficients_line(rng, "mnist", [f"pixel_{i}" for i in range(784)], 5),
        map_line(rng, "human", ["SITTING", "WALKING_UPSTAIRS"], ["LAYING", "WALKING_DOWNSTAIRS"], 300),
        pairs_line(rng, "satimage", 10, 2, ["1", "4", "5"]),
    ]


NAMES = {
    "main",
    "ablation",
    "sweep",
    "threshold",
    "search",
    "coefficients_satimage",
    "coefficients_mnist",
    "map_human",
    "pairs_satimage",
}


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Figure]:
    return write_figures(some_lines(), tmp_path_factory.mktemp("figures") / "new" / "folder")


def test_every_figure_has_two_files_and_a_caption(figures: dict[str, Figure]) -> None:
    assert set(figures) == NAMES
    folder = figures["main"].png.parent
    assert {path.name for path in folder.iterdir()} == {f"{name}.{kind}" for name in NAMES for kind in ("png", "svg")}
    for name, figure in figures.items():
        assert figure.name == name
        assert figure.png.read_bytes().startswith(PNG)
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
    assert "either chose the other" in figures["pairs"].caption


def test_pictures_name_datasets_methods_and_classes(figures: dict[str, Figure]) -> None:
    words = {name: words_in(figure.svg) for name, figure in figures.items()}
    for name in ("main", "ablation", "sweep", "threshold", "search"):
        assert {"Human (66 features)", "Satimage"} <= words[name], name
    assert {"TabularNCD, oracle", "TabularNCD, label-free", "baseline", "spectral", "k-means"} <= words["main"]
    assert {"NSL-KDD", "paper's, inductive", "ours, transductive"} <= words["main"]
    assert "the paper's own value" in words["sweep"]
    assert {f"p{i}" for i in range(36)} <= words["coefficients_satimage"]
    assert sum(word.startswith("pixel_") for word in words["coefficients_mnist"]) <= 40
    assert {"known: SITTING", "novel: LAYING", "Joint training, epoch 30"} <= words["map_human"]


def test_writing_again_gives_the_same_bytes(figures: dict[str, Figure], tmp_path: Path) -> None:
    lines = [line for line in some_lines() if line["experiment"] in ("main", "map")]
    # The order of lines depends on how a run went, and must not matter.
    again = write_figures(lines[::-1], tmp_path)
    for name in ("main", "map_human"):
        assert again[name].svg.read_bytes() == figures[name].svg.read_bytes()
        assert again[name].png.read_bytes() == figures[name].png.read_bytes()
        assert again[name].caption == figures[name].caption


def test_only_figures_with_lines_are_written(tmp_path: Path) -> None:
    assert write_figures([], tmp_path) == {}
    rng = np.random.default_rng(0)
    assert set(write_figures([*threshold_lines(rng, ["letter"], 3, 1)], tmp_path)) == {"threshold"}
    assert write_figures([line("representations", "mnist", "kmeans", **scored(0.5, "mnist"))], tmp_path) == {}


def test_texts_are_readable(catcher: Catcher, tmp_path: Path) -> None:
    """With all datasets of both suites, which is the most that is ever drawn."""
    rng = np.random.default_rng(0)
    extra = ("digits", "optdigits", "nsl_kdd", "adult_education", "soybean", "dermatology")
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    lines = [
        *main_lines(rng, PAPER, extra, 1),
        *ablation_lines(rng, (*PAPER, *extra), 1),
        *sweep_lines(rng, PAPER, 5, 1),
        *threshold_lines(rng, PAPER, 5, 1),
        *search_lines(rng, PAPER, 30),
        map_line(rng, "letter", sorted(set(letters) - set("ADHMPVX")), list("ADHMPVX"), 500),
        pairs_line(rng, "human", 12, 2, ["LAYING", "WALKING", "WALKING_DOWNSTAIRS"]),
    ]
    write_figures(lines, tmp_path)
    assert len(catcher.texts) == 14
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
    for name in ("write_curves", "write_dots"):
        monkeypatch.setattr(f"newfound.benchmark.figures.{name}", instead)
    return instead


def test_main_shows_means_and_the_papers_figures(drawn: Drawn, tmp_path: Path) -> None:
    lines = [
        line("main", "satimage", variant="appendix", seed=seed, **scored(acc, "satimage"))
        for seed, acc in enumerate((0.8, 0.9))
    ]
    lines.append(line("main", "satimage", "kmeans", "default", "label-free", "transductive", **scored(0.7, "satimage")))
    write_figures(lines, tmp_path)
    _, (panel,), rows, _ = drawn.args
    assert rows == ["TabularNCD, oracle", "k-means"]
    shown = {(dot.row, dot.kind): (round(dot.mean, 6), round(dot.sd, 6)) for dot in panel.dots}
    assert shown == {
        (0, "ours, inductive"): (85.0, 5.0),
        (0, "paper's, inductive"): tuple(paper.RESULTS["satimage"]["tabular_ncd"]["acc"]),
        (1, "ours, transductive"): (70.0, 0.0),
        (1, "paper's, transductive"): tuple(paper.RESULTS["satimage"]["kmeans"]["acc"]),
    }


def test_ablation_compares_equal_seeds(drawn: Drawn, tmp_path: Path) -> None:
    accs = {"full": (0.9, 0.8), "without_ce": (0.7, 0.5), "without_mse": (None, 0.6)}
    lines = [
        line("ablation", "satimage", variant=variant, seed=seed, **(scored(0.5, "satimage") | {"acc": acc}))
        for variant, row in accs.items()
        for seed, acc in enumerate(row)
    ]
    write_figures(lines, tmp_path)
    _, panels, rows, _ = drawn.args
    assert rows == ["Satimage"]
    ours = {panel.title.split()[1]: dot for panel in panels for dot in panel.dots if dot.kind == "ours"}
    assert set(ours) == {"CE", "MSE"}
    assert (round(ours["CE"].mean, 6), round(ours["CE"].sd, 6)) == (-25.0, 5.0)
    assert (round(ours["MSE"].mean, 6), ours["MSE"].sd) == (-20.0, 0.0)
    papers = [dot.mean for panel in panels for dot in panel.dots if dot.kind != "ours"]
    np.testing.assert_allclose(papers, [88.6 - 91.4, 69.5 - 91.4, 51.7 - 91.4, 63.9 - 91.4])


def test_sweep_has_means_over_seeds_in_order_and_the_papers_value(drawn: Drawn, tmp_path: Path) -> None:
    lines = [
        line("sweep", "letter", variant="top_k", seed=seed, settings={"top_k": value}, **scored(acc, "letter"))
        for value, accs in ((50, (0.2, 0.4)), (5, (0.6, 0.8)))
        for seed, acc in enumerate(accs)
    ]
    write_figures(lines, tmp_path)
    (panel,) = drawn.args[1]
    (curve,) = panel.curves
    np.testing.assert_allclose([curve.x, curve.mean, curve.sd], [[5, 50], [70, 30], [10, 10]])
    assert curve.ring_at == paper.SETTINGS["letter"]["top_k"]


def test_threshold_shows_the_share_of_classes_beside_acc(drawn: Drawn, tmp_path: Path) -> None:
    settings = {"similarity_threshold": 0.5}
    measured = scored(0.4, "letter", n_found=1)
    write_figures(
        [line("threshold", "letter", variant="similarity_threshold", settings=settings, **measured)], tmp_path
    )
    acc, share = drawn.args[1]
    np.testing.assert_allclose(acc.curves[0].mean, [40.0])
    np.testing.assert_allclose(share.curves[0].mean, [100 / 7])


def test_search_shows_the_best_so_far(drawn: Drawn, tmp_path: Path) -> None:
    trials = [{"settings": {}, "acc": acc} for acc in (0.4, 0.3, 0.6, 0.5)]
    write_figures([line("search", "letter", data={"trials": trials, "best": {}})], tmp_path)
    (panel,) = drawn.args[1]
    np.testing.assert_allclose(panel.curves[0].mean, [40, 40, 60, 60])
    np.testing.assert_allclose(panel.curves[0].x, [1, 2, 3, 4])


def test_the_later_of_two_lines_of_one_trial_counts(drawn: Drawn, tmp_path: Path) -> None:
    settings = {"similarity_threshold": 0.5}
    lines = [
        line("threshold", "letter", variant="similarity_threshold", settings=settings, **scored(acc, "letter"))
        for acc in (0.4, 0.6)
    ]
    write_figures(lines, tmp_path)
    np.testing.assert_allclose(drawn.args[1][0].curves[0].mean, [60.0])


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        write_figures(some_lines()[:1], tmp_path / "file" / "figures")
