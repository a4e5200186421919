from __future__ import annotations

import re
from html import escape

import numpy as np
import sklearn

import newfound as nf
from newfound.counting import share_text

HOSTILE = "</td><script>alert(1)</script>"


def table() -> tuple[np.ndarray, np.ndarray]:
    y = np.repeat(np.arange(5), 20)
    X = 9 * np.random.default_rng(0).normal(size=(5, 3))[y] + np.random.default_rng(1).normal(size=(100, 3))
    return X, np.array(["ant", "bee", "fly", None, None], dtype=object)[y]


def cells(html: str) -> list[str]:
    return re.findall(r"<td[^>]*>(.*?)</td>", html.partition("<details>")[0])


def test_before_fit_it_is_the_diagram_of_scikit_learn() -> None:
    model = nf.KMeansDiscoverer(2)
    assert "sk-container" in model._repr_html_()
    assert "newfound" not in model._repr_html_()
    assert model._repr_mimebundle_()["text/html"].count("sk-top-container") > 0


def test_after_fit_it_shows_classes_sizes_and_doubts() -> None:
    model = nf.KMeansDiscoverer(2, random_state=0).fit(*table())
    model.weaknesses_ = ["a & b"]
    html = model._repr_mimebundle_()["text/html"]
    assert "2 novel classes beside 3 known classes, in 100 training rows" in html
    assert cells(html) == ["novel_0", "20", "20 %", "novel_1", "20", "20 %"]
    assert "<li>a &amp; b</li>" in html
    assert "sk-container" in html.partition("<details>")[2]
    assert "Reasons for doubt" in html
    model.weaknesses_ = []
    assert "Reasons for doubt" not in model._repr_html_()


def test_names_of_classes_are_text() -> None:
    model = nf.KMeansDiscoverer(2, random_state=0).fit(*table()).rename({"novel_0": HOSTILE})
    html = model._repr_html_()
    assert HOSTILE not in html
    assert "&lt;/td&gt;&lt;script&gt;" in html


def test_no_novel_class_is_said() -> None:
    X, _ = table()
    html = nf.KMeansDiscoverer("auto").fit(X, np.repeat(["ant", "bee"], 50))._repr_html_()
    assert "No novel class beside 2 known classes" in html
    assert cells(html) == []


def test_known_rows_among_the_unlabelled_are_said() -> None:
    X, y = table()
    y[:5] = None
    model = nf.KMeansDiscoverer(2, unlabelled="mixed", random_state=0).fit(X, y)
    assert f"about {escape(share_text(float(model.known_share_)))} (" in model._repr_html_()


def test_where_scikit_learn_shall_print_text_so_do_we() -> None:
    model = nf.KMeansDiscoverer(2, random_state=0).fit(*table())
    with sklearn.config_context(display="text"):
        assert list(model._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(model, "_repr_html_")
