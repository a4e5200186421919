from __future__ import annotations

import base64
import copy
import hashlib
import itertools
import json
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import newfound as nf
from newfound.cli.app import run
from newfound.reporting.assets import report_script, shared_files
from newfound.reporting.doubts import doubts, sureness
from newfound.reporting.facts import map_columns, report_facts
from newfound.reporting.figures import draw_shift
from newfound.reporting.fragments import draw_curves, fragments
from newfound.reporting.html import render, safe_json
from newfound.reporting.method import next_commands, next_python
from newfound.reporting.summary import headline, key_figures, sentences
from newfound.tables.frame import as_table
from tests.reporting.conftest import HOSTILE, Case


class Page(HTMLParser):
    """What a document holds: elements with their attributes, and the texts of scripts and style sheets."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, str]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self._open.append(tag)
        if tag in ("script", "style"):
            self.raw.append((dict(attrs).get("type") or tag, ""))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("script", "style"):
            self.raw[-1] = (self.raw[-1][0], self.raw[-1][1] + data)
        else:
            self.text += data


@pytest.fixture(scope="module")
def page(mixed_facts: dict[str, Any]) -> Page:
    return Page(render(mixed_facts))


def test_texts_of_the_table_stay_texts(page: Page) -> None:
    assert [kind for kind, _ in page.raw] == ["style", "application/json", "script"]
    assert not [name for name, _ in page.elements if name in ("img", "i")]
    assert not [value for _, values in page.elements for key, value in values.items() if key.startswith("on")]
    assert HOSTILE in page.text  # the title
    assert "<b>city</b>" in page.text
    assert "<i>gold</i>" in page.text


def test_the_data_can_be_read_back(page: Page, mixed_facts: dict[str, Any]) -> None:
    data = json.loads(dict(page.raw)["application/json"])
    expected = {name: value for name, value in mixed_facts["map"].items() if name != "middles"}
    assert data["map"] == expected
    assert [class_["name"] for class_ in data["classes"]] == [class_["name"] for class_ in mixed_facts["classes"]]


def test_json_ends_no_script() -> None:
    value = {"</script>": "<!-- & \u2028 \u2029 \ud83d\ude00"}
    text = safe_json(value)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == value


def test_only_our_own_style_and_script_may_run(page: Page) -> None:
    policy = next(v["content"] for _, v in page.elements if v.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(dict(page.raw)[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not [values for _, values in page.elements if "style" in values]  # which the policy would refuse


def test_nothing_is_fetched(page: Page) -> None:
    for name, values in page.elements:
        assert name not in ("link", "iframe", "object", "embed", "base")
        assert "src" not in values
        assert (values.get("href") or "#").startswith("#")
    for kind, text in page.raw:
        if kind != "application/json":
            assert not re.search(r"https?://|@import|url\(", text)


def test_anchors_and_names_lead_somewhere(page: Page) -> None:
    ids = [values["id"] for _, values in page.elements if "id" in values]
    assert len(ids) == len(set(ids))
    for _, values in page.elements:
        assert (values.get("href") or "#main")[1:] in ids
        for key in ("aria-labelledby", "aria-describedby"):
            assert values.get(key) is None or values[key] in ids


def test_headings_go_down_one_by_one(page: Page) -> None:
    levels = [int(name[1]) for name, _ in page.elements if re.fullmatch(r"h[1-6]", name)]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_every_class_has_a_card_and_a_button(page: Page, mixed: Case) -> None:
    cards = [values for name, values in page.elements if name == "article"]
    assert len(cards) == len(mixed.model.novel_classes_)
    picks = [values["data-class"] for _, values in page.elements if (values.get("class") or "") == "pick"]
    shown = np.unique(mixed.model.predict(mixed.X))
    assert len(picks) == len(shown)


def test_the_page_says_how_it_was_made(page: Page, mixed: Case, mixed_facts: dict[str, Any]) -> None:
    for text in (nf.__version__, "TabularNCD", "pretrain_epochs", "every cell is", mixed_facts["made_at"], "Training"):
        assert text in page.text


def test_sections_are_there_only_where_there_is_something_to_say(numeric: Case) -> None:
    page = Page(render(report_facts(numeric.model, numeric.X, None, n_map_rows=40)))
    ids = {values["id"] for _, values in page.elements if "id" in values}
    assert {"summary", "map-section", "classes", "known", "making"} <= ids
    assert not {"count", "candidates", "training"} & ids


def test_estimates_and_candidates_are_shown(mixed_facts: dict[str, Any]) -> None:
    facts = copy.deepcopy(mixed_facts)
    facts["n_classes"] = {
        "n_classes": 2,
        "interval": [1, 3],
        "curve": [{"k": k, "probability": p} for k, p in ((1, 0.2), (2, 0.5), (3, 0.3))],
        "criteria": [{"criterion": "halves", "n_classes": 2, "weight": 1.4}],
    }
    facts["candidates"] = {
        "leaderboard": [{"rank": 1, "method": "<Ward>", "score": None}],
        "confidence": 0.4,
        "class_confidence": [0.5, 0.3],
    }
    facts["weaknesses"] = ["the best candidates disagree"]
    page = Page(render(facts))
    texts = ["2 novel classes, likely 1 to 3", "halves", "<Ward>", "Agreement says how far", "median of these"]
    texts += [
        "The best candidates disagree.",
        "The chance that more than four in five unlabelled rows are in the right class is 40\N{NO-BREAK SPACE}%",
    ]
    for text in texts:
        assert text in page.text


def test_a_table_without_novel_classes_or_rows_of_them(mixed_facts: dict[str, Any]) -> None:
    facts = copy.deepcopy(mixed_facts)
    class_ = facts["explanation"]["classes"][0]
    class_ |= {
        "n_rows": 0,
        "share": 0.0,
        "rules": [],
        "profile": [],
        "exemplars": [],
        "borderline": [],
        "stability": None,
    }
    class_ |= {"warnings": [], "nearest_known": None, "against_nearest": [], "confidence": None}
    assert "No row of this table is of this class." in Page(render(facts)).text
    facts["explanation"]["classes"] = []
    facts["classes"] = [class_ for class_ in facts["classes"] if not class_["is_novel"]]
    facts["map"]["classes"] = [0] * len(facts["map"]["rows"])
    facts["map"]["middles"] = facts["map"]["middles"][: len(facts["classes"])]
    assert "No novel class in 300 rows" in Page(render(facts)).text


def test_large_and_wide_tables_stay_below_three_megabytes(numeric: Case) -> None:
    facts = numeric.facts(n_map_rows=60)
    repeats = -(-3_000 // len(facts["map"]["rows"]))
    for name in ("rows", "x", "y", "classes", "probabilities", "labels"):
        facts["map"][name] *= repeats
    n_rows = len(facts["map"]["rows"])
    wide = as_table(np.random.default_rng(0).normal(size=(n_rows, 150)))
    facts["map"]["columns"], _ = map_columns(wide, facts["explanation"], 1, 4)
    assert 30 < len(facts["map"]["columns"]) < 150
    assert 1_000_000 < len(render(facts).encode()) < 3_000_000


# ---- words


def test_the_summary_says_what_was_found(mixed: Case, mixed_facts: dict[str, Any]) -> None:
    said = " ".join(sentences(mixed_facts))
    n_novel = int(np.isin(mixed.model.predict(mixed.X), mixed.model.novel_classes_).sum())
    assert headline(mixed_facts) == "2 novel classes in 300 rows"
    assert "The table has 300 rows and 6 columns." in said
    assert f"{n_novel} rows" in said
    assert "3 classes were known before" in said
    assert dict(key_figures(mixed_facts))["rows in novel classes"] == str(n_novel)


def test_the_chance_is_on_show_and_not_the_mean_probability(mixed_facts: dict[str, Any]) -> None:
    facts = copy.deepcopy(mixed_facts)
    facts["candidates"] = {"confidence": 0.76, "class_confidence": [0.8, 0.7], "leaderboard": []}
    assert [class_.agreement for class_ in sureness(facts)] == [0.8, 0.7]
    (chance,) = [sentence for sentence in sentences(facts) if "chance" in sentence]
    assert "76\N{NO-BREAK SPACE}%" in chance
    assert "treat the classes as a proposal" in chance
    assert dict(key_figures(facts))["chance that more than 4 of 5 rows are right"] == "76\N{NO-BREAK SPACE}%"
    assert "confidence" not in " ".join(sentences(facts) + [name for name, _ in key_figures(facts)])
    assert not any("candidates" in sentence for sentence in sentences(mixed_facts))
    without = {class_.source for class_ in sureness(mixed_facts)}
    assert without <= {"members", "bootstraps", None}
    assert without != {None}


def test_high_agreement_is_no_comfort_beside_doubts(mixed_facts: dict[str, Any]) -> None:
    facts = copy.deepcopy(mixed_facts)
    facts["candidates"] = {"confidence": 0.97, "class_confidence": [0.98, 0.96], "leaderboard": []}
    facts["weaknesses"] = []
    assert any("treat the classes as found" in sentence for sentence in sentences(facts))
    facts["weaknesses"] = ["column 'day' alone tells labelled from unlabelled rows"]
    assert any("97\N{NO-BREAK SPACE}%: that does not outweigh the doubts" in sentence for sentence in sentences(facts))


def test_an_estimate_of_one_class_shows_how_sure_that_is(mixed_facts: dict[str, Any]) -> None:
    facts = copy.deepcopy(mixed_facts)
    facts["explanation"]["classes"] = facts["explanation"]["classes"][:1]
    facts["classes"] = facts["classes"][:-1]
    facts["candidates"] = None
    assert sureness(facts)[0].source != "count"  # the user said that it is one
    facts["n_classes"] = {"n_classes": 1, "interval": [1, 2], "curve": [{"k": 1, "probability": 0.62}], "criteria": []}
    assert sureness(facts)[0][:2] == (0.62, "count")
    assert any("The probability that it is one class, and not more, is 62" in sentence for sentence in sentences(facts))
    facts["candidates"] = {"confidence": 0.2, "class_confidence": [1.0], "leaderboard": []}  # which is about rows
    assert any("The probability that it is one class, and not more, is 62" in sentence for sentence in sentences(facts))


def test_rows_to_look_at_are_counted(mixed_facts: dict[str, Any]) -> None:
    facts = copy.deepcopy(mixed_facts)
    facts["doubted_rows"]["unsure"] = 12
    assert "The model is unsure of 12 rows." in sentences(facts)
    assert dict(key_figures(facts))["rows it is unsure of"] == "12"


@pytest.mark.parametrize("case", ["numeric", "mixed"])
def test_what_to_do_next_can_be_run(
    case: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: Case = request.getfixturevalue(case)
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame(found.X)
    table.assign(label=found.y).to_csv("table.csv", index=False)
    table.to_csv("new_rows.csv", index=False)
    nf.save(found.model, "model.newfound")
    names = found.model.novel_classes_.tolist()
    for line in next_commands(names):
        assert run(shlex.split(line)[1:]) == 0
    exec("\n".join(next_python(names, labelled=True)), {})
    assert Path("new_rows-labels.csv").exists()
    assert len(nf.load("named.newfound").novel_classes_) == len(names)  # two merged, one split


def test_what_to_do_next_names_the_real_files(
    numeric: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame(numeric.X)
    path, target = "it's a table.csv", "-the label;"
    table.assign(**{target: numeric.y}).to_csv(path, index=False, sep="|", encoding="cp1252")
    table.to_csv("new_rows.csv", index=False, sep="|")
    Path("my results").mkdir()
    nf.save(numeric.model, "my results/model.newfound")
    options = {"delimiter": "|", "encoding": "cp1252", "unlabelled": ["-1"]}
    source = {"path": path, "target": target, "model": "my results/model.newfound", "options": options}
    source["is_training"] = True
    facts = numeric.facts(n_map_rows=40, source=source)
    names = numeric.model.novel_classes_.tolist()
    python, commands = next_python(names, labelled=True, source=source), next_commands(names, source=source)
    page = Page(render(facts))
    for line in commands:
        assert line in page.text
        assert run(shlex.split(line)[1:]) == 0, capsys.readouterr().err
    exec("\n".join(python), {})
    assert any("nf.read_table" in line for line in python)
    assert Path("it's a table-next.csv").exists()
    assert Path("new_rows-labels.csv").exists()


def test_nothing_is_said_twice(mixed_facts: dict[str, Any]) -> None:
    facts = copy.deepcopy(mixed_facts)
    facts["candidates"] = {"confidence": 0.97, "class_confidence": [0.98, 0.96], "leaderboard": []}
    page = re.sub(r'<p[^>]*class="visually-hidden".*?</p>', "", render(facts), flags=re.DOTALL)
    said = [re.sub(r"<[^>]+>", "", text) for text in re.findall(r"<p\b[^>]*>(.*?)</p>", page, flags=re.DOTALL)]
    sentences_of = [
        sentence.strip() for text in said for sentence in re.split(r"(?<=[.:;]) ", text) if len(sentence) > 40
    ]
    assert len(sentences_of) == len(set(sentences_of))


def test_a_chance_is_not_called_an_agreement(mixed_facts: dict[str, Any]) -> None:
    facts = copy.deepcopy(mixed_facts)
    facts["candidates"] = {"confidence": 0.61, "class_confidence": [1.0, 1.0], "leaderboard": []}
    assert any("more than four in five unlabelled rows are in the right" in sentence for sentence in sentences(facts))
    assert dict(key_figures(facts))["chance that more than 4 of 5 rows are right"].startswith("61")


def test_the_columns_of_candidates_are_explained(mixed_facts: dict[str, Any]) -> None:
    facts = copy.deepcopy(mixed_facts)
    board = [{"rank": 1, "representation": "columns", "method": "k-means", "score": 0.00442871, "within": 1.0}]
    facts["candidates"] = {"confidence": 0.97, "class_confidence": [0.98, 0.96], "leaderboard": board}
    text = Page(render(facts)).text
    assert "share of the nearest neighbours that are of the same class" in text
    assert "0.00442871" not in text


def test_doubts_are_told_in_sentences(mixed_facts: dict[str, Any]) -> None:
    facts = copy.deepcopy(mixed_facts)
    novel = facts["classes"][-1]
    facts["doubted_rows"]["stray"] = facts["table"]["n_labelled"]
    facts["weaknesses"] = ["few rows"]
    facts["explanation"]["classes"][-1]["warnings"] = ["only a few rows"]
    found = doubts(facts)
    assert (novel["name"], "Only a few rows.") in found
    assert found[0] == (None, "Few rows.")
    assert any(
        name is None and "the border between known and novel classes is not sharp" in text for name, text in found
    )


@pytest.mark.parametrize("values", [(-1.7e308, 0, 1.7e308, 1, 2, 3), (5e-324, 1e-300, 1e300, -1, 0, 1), (0,) * 6])
def test_strips_of_extreme_numbers_stay_inside(values: tuple[float, ...]) -> None:
    here, rest = (dict(zip(("low", "median", "high"), part, strict=True)) for part in (values[:3], values[3:]))
    drawn = draw_shift({"here": here, "rest": rest, "text": "x" * 9999}, "c0")
    places = [float(place) for place in re.findall(r'c?x="([^"]*)%"', drawn)]
    assert places
    assert all(0 <= place <= 100 for place in places)
    assert len(drawn) < 2000


def test_long_cells_do_not_flood_the_summary(mixed_facts: dict[str, Any]) -> None:
    facts = copy.deepcopy(mixed_facts)
    for class_ in facts["explanation"]["classes"]:
        class_["rules"] = [{"conditions": [{"text": "city is " + "x" * 9999}], "text": "city is " + "x" * 9999}]
    assert max(map(len, sentences(facts))) < 400


def test_the_parts_are_those_of_the_report(mixed_facts: dict[str, Any]) -> None:
    whole, parts = render(mixed_facts), fragments(mixed_facts)
    assert len(parts["cards"]) == 2
    assert all(card["html"] in whole for card in parts["cards"])
    assert all(html is None or html in whole for html in parts["sections"].values())
    novel = [class_["name"] for class_ in mixed_facts["classes"] if class_["is_novel"]]
    assert [card["name"] for card in parts["cards"]] == novel
    assert len({(look["colour"], look["mark"]) for look in parts["looks"]["novel"]}) == 28
    json.dumps(parts)


def test_losses_of_a_training_that_goes_on_are_drawn_as_in_the_report(mixed: Case, mixed_facts: dict[str, Any]) -> None:
    assert draw_curves(mixed.model.history_) in render(mixed_facts)
    assert draw_curves([]) == '<div class="small-charts"></div>'


def test_shared_files_need_nothing_else() -> None:
    shared = {name: content.decode() for name, content in shared_files().items()}
    imported = {name for text in shared.values() for name in re.findall(r"from \"\./([^\"]+)\"", text)}
    assert imported <= set(shared)
    assert "import" not in report_script()
    assert "export" not in report_script()
    used = set(re.findall(r"var\(--([\w-]+)", shared["pictures.css"]))
    assert used <= set(re.findall(r"--([\w-]+):", shared["pictures.css"]))


def test_known_classes_are_told_by_rows_that_were_held_out(mixed_facts: dict[str, Any]) -> None:
    facts = copy.deepcopy(mixed_facts)
    known = [class_facts for class_facts in facts["classes"] if not class_facts["is_novel"]]
    known[0]["held_out"] = 0.64
    page = Page(render(facts)).text
    assert "64\N{NO-BREAK SPACE}%" in page
    assert "held out" in page
