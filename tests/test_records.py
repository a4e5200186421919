from __future__ import annotations

import copy
import pickle
import sys

import pandas as pd
import pytest

from newfound.errors import MissingExtraError
from newfound.records import Leaderboard, Records

TABLE = Records(
    [
        {"rank": 1, "method": "k-means", "score": 0.123456, "hidden": None},
        {"rank": 10, "method": "Ward", "score": -12.0, "hidden": 1.0},
    ]
)


def test_prints_as_an_aligned_table() -> None:
    assert str(TABLE).splitlines() == [
        "rank  method   score  hidden",
        "   1  k-means  0.123       -",
        "  10  Ward       -12       1",
    ]


def test_is_a_list_of_dicts() -> None:
    assert TABLE[0]["method"] == "k-means"
    assert list(TABLE) == [dict(record) for record in TABLE]
    assert len(TABLE) == 2
    for other in (copy.deepcopy(TABLE), pickle.loads(pickle.dumps(TABLE))):
        assert other == TABLE
        assert isinstance(other, Records)


def test_some_records_print_as_a_table_too() -> None:
    assert str(TABLE[:1]).splitlines() == str(TABLE).replace("  10  Ward       -12       1", "").splitlines()[:2]
    assert isinstance(TABLE[1:], Records)


def test_records_need_not_have_the_same_keys() -> None:
    table = Records([{"a": 1}, {"b": "x", "a": 2}])
    assert table.columns == ["a", "b"]
    assert str(table).splitlines() == ["a  b", "1  -", "2  x"]
    assert table.to_frame().columns.tolist() == ["a", "b"]


def test_becomes_a_data_frame() -> None:
    frame = TABLE.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["score"].tolist() == [0.123456, -12.0]
    assert frame.columns.tolist() == TABLE.columns == ["rank", "method", "score", "hidden"]


def test_nothing_to_show() -> None:
    assert str(Records()) == ""
    assert Records().columns == []
    assert Records().to_frame().empty
    assert "<table><thead><tr></tr></thead><tbody></tbody></table>" in Records()._repr_html_()


def test_html_is_escaped() -> None:
    html = Records([{"<b>": "a & b", "n": 0.5}])._repr_html_()
    assert (
        '<table><thead><tr><th>&lt;b&gt;</th><th class="number">n</th></tr></thead>'
        '<tbody><tr><td>a &amp; b</td><td class="number">0.5</td></tr></tbody></table>'
    ) in html


def test_a_leaderboard_shows_ten_and_says_how_many_more() -> None:
    board = Leaderboard({"rank": rank} for rank in range(1, 35))
    shown, html = str(board), board._repr_html_()
    assert shown.splitlines()[-2:] == ["  10", "... and 24 more; [:] shows all of them"]
    assert html.count("<td") == 10
    assert "and 24 more" in html
    assert len(str(board[:]).splitlines()) == 35
    assert len(board.to_frame()) == 34
    assert "more" not in str(Leaderboard(board[:10]))


def test_without_pandas_the_cure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pip install"):
        TABLE.to_frame()
