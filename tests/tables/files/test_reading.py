from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

import newfound as nf
from newfound.errors import InputError, MissingExtraError
from newfound.tables.files import read_file, read_target

JSON = '{"a": 1, "b": "x"}\n\n{"b": null, "c": true}\n'


def written(folder: Path, content: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "content"), [("t.jsonl", JSON), ("t.csv", JSON), ("t.json", '[{"a": 1}, {"a": 2}]')])
def test_json_is_known_by_its_name_or_its_first_letter(tmp_path: Path, name: str, content: str) -> None:
    file = read_file(written(tmp_path, content, name))
    assert file.format == "JSON lines"
    assert file.n_rows == 2


def test_json_lines_may_lack_keys(tmp_path: Path) -> None:
    file = read_file(written(tmp_path, JSON, "t.jsonl"))
    assert file.names == ("a", "b", "c")
    table = file.table()
    assert np.array_equal(table.columns["a"], [1.0, np.nan], equal_nan=True)
    assert table.columns["c"].tolist() == [None, True]
    assert list(file.text_rows()) == [["1", "x", ""], ["", "", "True"]]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("[1, 2]", "row 1 holds 1, but expected an object"),
        ("{}\n{}", "rows without columns"),
        ("[]", "no rows"),
        ('{"a": [1]}', "nested cells are not supported: column 'a'"),
    ],
)
def test_json_that_is_no_table(tmp_path: Path, content: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint.replace("[", r"\[")):
        read_file(written(tmp_path, content, "t.json")).table()


def test_columnar_formats_keep_their_types(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    stamps = pa.array([0, None], pa.timestamp("us"))
    table = pa.table(
        {"n": [1.5, None], "s": pa.array(["x", "y"]).dictionary_encode(), "t": stamps, "007": ["007", None]}
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, tmp_path / "t.feather")
    for name, form in (("t.parquet", "Parquet"), ("t.feather", "Feather")):
        file = read_file(tmp_path / name)
        assert (file.format, file.names, file.n_rows) == (form, ("n", "s", "t", "007"), 2)
        read = file.table(without=["n"])
        assert read.names == ("s", "t", "007")
        assert read.columns["t"].dtype.kind == "M"
        assert list(file.text_rows()) == [["1.5", "x", "1970-01-01 00:00:00", "007"], ["", "y", "", ""]]


@pytest.mark.parametrize(("cells", "used"), [(["7", "3"], False), (["7", "7"], True), (["0.5", "0.1"], True)])
def test_row_numbers_that_pandas_wrote_are_not_used(tmp_path: Path, cells: list[str], used: bool) -> None:
    file = read_file(written(tmp_path, f",a,\n{cells[0]},1,x\n{cells[1]},2,y\n"))
    assert file.names == ("column_1", "a", "column_3")
    assert list(file.table().columns) == ["column_1"] * used + ["a", "column_3"]
    assert ["taken for row numbers" in note for note in file.notes] == [True] * (not used)
    assert next(file.text_rows()) == [cells[0], "1", "x"]


def test_parquet_of_pandas_with_an_index_or_a_name_twice(tmp_path: Path) -> None:
    pa, pandas = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    pandas.DataFrame({"x": [1.5, 2.5]}, index=[7, 3]).to_parquet(path)
    file = read_file(path)
    assert list(file.table().columns) == ["x"]
    assert list(file.text_rows()) == [["1.5", "7"], ["2.5", "3"]]
    parquet.write_table(pa.table([pa.array([1]), pa.array([2])], names=["x", "x"]), path)
    with pytest.raises(InputError, match="duplicate column names: column 'x'"):
        read_file(path)


def test_excel(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    from datetime import datetime, time

    book = openpyxl.Workbook()
    book.active.append(["a", None, "when", "at"])
    book.active.append([1, "x", datetime(2024, 1, 5), time(7, 5)])
    book.active.append([None] * 4)
    book.active.append(["#N/A", None, None, None])
    other = book.create_sheet("other")
    other.append(["b"])
    other.append([2])
    book.save(tmp_path / "t.xlsx")
    file = read_file(tmp_path / "t.xlsx")
    assert file.names == ("a", "column_2", "when", "at")
    assert file.n_rows == 2
    assert file.notes[0].startswith("read sheet 'Sheet', the first of 2")
    assert np.array_equal(file.table().columns["a"], [1.0, np.nan], equal_nan=True)
    assert next(file.text_rows()) == ["1", "x", "2024-01-05 00:00:00", "07:05:00"]
    assert read_file(tmp_path / "t.xlsx", sheet="other").names == ("b",)
    with pytest.raises(InputError, match="has the sheets 'Sheet', 'other'"):
        read_file(tmp_path / "t.xlsx", sheet="third")


@pytest.mark.parametrize(
    ("content", "package", "extra"),
    [(b"PAR1", "pyarrow", "data"), (b"ARROW1", "pyarrow", "data"), (b"PK", "openpyxl", "excel")],
)
def test_a_package_that_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, package: str, extra: str
) -> None:
    import zipfile

    path = tmp_path / "table"
    if content == b"PK":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("xl/workbook.xml", "")
    else:
        path.write_bytes(content)
    for name in (package, f"{package}.parquet", f"{package}.feather"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'newfound\[{extra}\]'"):
        read_file(path)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [("t.parquet", "is no Parquet file"), ("t.xlsx", "is no Excel file"), ("t.csv", None)],
)
def test_a_name_that_promises_something_else(tmp_path: Path, name: str, complaint: str | None) -> None:
    path = written(tmp_path, "a,b\n1,2\n", name)
    if complaint is None:
        assert read_file(path).names == ("a", "b")
    else:
        with pytest.raises(InputError, match=complaint):
            read_file(path)


# ---- what Python users call


def test_a_table_and_its_target(tmp_path: Path) -> None:
    path = written(tmp_path, "id,size,when,animal\n007,1.5,2024-01-05,cat\n008,NA,2024-01-06,?\n009,2,2024-01-07,dog\n")
    with pytest.warns(UserWarning, match=r"rows with '\?' \(1\) in 'animal' are taken as unlabelled"):
        X, y = nf.read_table(str(path), target="animal", ignore="id")
    assert X.names == ("size", "when")
    assert np.array_equal(X["size"], [1.5, np.nan, 2.0], equal_nan=True)
    assert y.tolist() == ["cat", None, "dog"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nf.read_table(path).names == ("id", "size", "when", "animal")
        assert nf.read_table(path, target="animal", unlabelled="dog")[1].tolist() == ["cat", "?", None]
        assert nf.read_table(path, target="animal", unlabelled=["dog", "?"])[1].tolist() == ["cat", None, None]


def test_it_is_the_table_that_the_command_line_reads(tmp_path: Path) -> None:
    path = written(tmp_path, "a;b;c\n1,5;x;\n2,5;y;1.1.2024\n")
    X, y = nf.read_table(path, target="b")
    file = read_file(path)
    for name, values in file.table(["b"]).columns.items():
        assert repr(X[name].tolist()) == repr(values.tolist())
    assert y.tolist() == read_target(file, "b").labels.tolist()


def test_discoverers_take_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal(i % 3)},{'red' if i % 3 else 'blue'},{['ant', 'bee', ''][i % 3]}" for i in range(60)]
    X, y = nf.read_table(written(tmp_path, "\n".join(["size,colour,animal", *lines])), target="animal")
    model = nf.KMeansDiscoverer(1, random_state=0).fit(X, y)
    frame = pd.DataFrame(X.columns)
    assert model.predict(X).tolist() == model.predict(frame).tolist()
    X_train, X_test, y_train, _ = train_test_split(X, y, random_state=0)
    assert len(model.fit(X_train, y_train).predict(X_test)) == X_test.n_rows == 15


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        (
            {"target": "animals"},
            "Got target='animals', but .* has no such column; it has the columns 'size'",
        ),
        ({"ignore": ["zip"]}, "Got ignore='zip', but"),
        ({"delimiter": "ab"}, "Got delimiter 'ab', but expected one character"),
        ({"decimal": "x"}, "Got decimal='x', but expected"),
        ({"encoding": "utf-99"}, "Got encoding='utf-99', but there is no such encoding"),
        ({"sheet": "a"}, "Got sheet='a', but .* is not an Excel file; leave sheet out"),
        ({"delimiter": ";"}, "try delimiter='comma'"),
        ({"target": 1}, "Got target=1, but expected the name of a column"),
        ({"ignore": [0]}, r"Got ignore=\[0\], but expected a text or a list of texts"),
        ({"unlabelled": -1}, "Got unlabelled=-1, but expected a text or a list of texts"),
        ({"path": 1}, "Got path=1, but expected the path of a file"),
    ],
)
def test_complaints_speak_of_parameters(tmp_path: Path, how: dict[str, Any], complaint: str) -> None:
    path = written(tmp_path, "size,animal\n1,cat\n2,\n")
    with pytest.raises(InputError, match=complaint):
        nf.read_table(**({"path": path, "target": "animal"} | how))


def test_texts_among_numbers_are_told_as_a_warning(tmp_path: Path) -> None:
    path = written(tmp_path, "size,b\n" + "".join(f"{i},1\n" for i in range(100)) + "many,2\n")
    with pytest.warns(UserWarning, match="column 'size' holds numbers, but also text such as 'many'") as told:
        nf.read_table(path)
    assert told[0].filename == __file__


# ---- the target


def test_classes_that_differ_in_capitals_alone_are_named(tmp_path: Path) -> None:
    path = tmp_path / "spellings.csv"
    path.write_text("x,y\n1,valve\n2,VALVE\n3,door  seal\n4,door seal\n5,valve \n6,pump\n7,\n")
    target = read_target(read_file(path), "y")
    assert set(target.counts) == {"valve", "VALVE", "door  seal", "door seal", "pump"}
    [note] = target.notes
    assert "'valve' and 'VALVE', 'door  seal' and 'door seal'. If they are the same class" in note


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["cat", "", "nan", "NaN", "NA", "None", "null", "N/A", "<NA>", " dog "], ["cat", *[None] * 8, "dog"]),
        (["0", "1", "-1", "-1.0", " 2.0 "], ["0", "1", None, None, "2"]),
        (["cat", "-1"], ["cat", "-1"]),
        (["True", "", "False"], ["True", None, "False"]),
    ],
)
def test_which_rows_are_unlabelled(tmp_path: Path, cells: list[str], expected: list[str | None]) -> None:
    content = "x,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells))
    target = read_target(read_file(written(tmp_path, content)), "y")
    assert target.labels.tolist() == expected
    assert target.unlabelled.tolist() == [label is None for label in expected]


def test_marks_of_the_users_own(tmp_path: Path) -> None:
    file = read_file(written(tmp_path, "x,y\n1,none\n2,Todo\n3,\n4,a\n"))
    assert read_target(file, "y", ["todo"]).labels.tolist() == ["none", None, None, "a"]


def test_labels_that_may_be_none(tmp_path: Path) -> None:
    file = read_file(written(tmp_path, "x,y\n1,unknown\n2,nan\n3,\n4,a\n"))
    assert read_target(file, "y").notes == [
        "rows with 'nan' (1) in 'y' are taken as unlabelled.",
        "'unknown' in 'y' is taken as a known class; if it means no label, add unlabelled='unknown'.",
    ]


@pytest.mark.parametrize("cell", ["{}.5", "id{}"])
def test_measurements_and_identifiers_are_no_classes(tmp_path: Path, cell: str) -> None:
    file = read_file(written(tmp_path, "x,y\n" + "".join(f"1,{cell.format(i)}\n" for i in range(40))))
    with pytest.raises(InputError, match="expected classes, which repeat"):
        read_target(file, "y")
