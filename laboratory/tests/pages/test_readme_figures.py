"""The README's figures are typed; here they are compared with the committed results."""

from __future__ import annotations

from pathlib import Path

from newfound_lab.pages.page import fill
from newfound_lab.runner.results import ResultFile

ROOT = Path(__file__).parents[3]
ROWS = {"k-means": "kmeans", "`WhitenedKMeans`": "whitened_kmeans", "`AutoDiscoverer`": "auto"}
SENTENCE = "p = {{lead:auto/whitened_kmeans/given/acc/p}} by ACC and {{lead:auto/whitened_kmeans/given/bacc/p}} by BACC"


def test_the_readme_quotes_the_committed_results() -> None:
    expected = [
        f"{name} | " + " | ".join(f"{{{{label_free:all/{method}/given/all/{metric}}}}}" for metric in ("acc", "bacc"))
        for name, method in ROWS.items()
    ]
    lines = ResultFile(ROOT / "benchmarks" / "results").lines
    filled, absent = fill("\n".join([SENTENCE, *expected]), lines, {}, "images")
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").replace("*", "").split())
    assert not absent
    assert [quote for quote in filled.splitlines() if quote not in readme] == []
