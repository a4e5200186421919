"""Files of one table that were not written alike are read as one, where nothing is lost by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import newfound as nf
from newfound.errors import InputError
from newfound.tables import streams
from newfound.tables.streams.schemas import as_in, common_schema, nested_columns, own_columns

TEXTS = pa.dictionary(pa.int32(), pa.string())


def read(source: Any) -> tuple[pa.Table, list[Any]]:
    """All rows of a stream, and their labels."""
    with streams.open_stream(source, "kind") as stream:
        assert stream.column_names() == [*stream.schema.names]
        parts = list(stream.batches())
        labels = [label for cells in stream.labels() for label in cells]
    assert labels == [label for _, cells in parts for label in cells or ()]
    return pa.concat_tables([table for table, _ in parts]), labels


@pytest.mark.parametrize("as_batches", [False, True])
def test_months_of_one_table_are_read_as_one(as_batches: bool, tmp_path: Path) -> None:
    january = pa.table({"n": [1, 2], "note": ["a", None], "kind": ["x", "y"], "seen": [None, None]})
    # a missing cell among whole numbers, no label at all, categories, another order, and numbers of rows
    february = pd.DataFrame({"seen": [True, None], "kind": [None, None], "note": ["b", "a"], "n": [None, 4.5]})
    february["note"] = february["note"].astype("category")
    later = pa.table({"n": pa.array([7], pa.int8()), "note": ["c"], "kind": pa.array(["z"], TEXTS), "seen": [False]})
    tables = [january, pa.Table.from_pandas(february, preserve_index=True), later]
    for month, table in enumerate(tables):
        pq.write_table(table, tmp_path / f"{month}.parquet")
    rows, labels = read(iter(tables) if as_batches else tmp_path)
    assert rows.to_pydict() == {
        "n": [1.0, 2.0, None, 4.5, 7.0],
        "note": ["a", None, "b", "a", "c"],
        "seen": [None, None, True, None, False],
    }
    assert labels == ["x", "y", None, None, "z"]


def test_a_month_without_labels_is_learned_from(tmp_path: Path) -> None:
    frame = pd.DataFrame({"size": [*range(1, 41), *range(201, 241), *range(601, 641)]})
    frame["kind"] = ["small"] * 40 + ["large"] * 40 + [None] * 40
    for month, part in enumerate((frame[:80], frame[80:])):
        part.to_parquet(tmp_path / f"{month}.parquet")
    whole = nf.WhitenedKMeans(1).fit(frame[["size"]], frame["kind"])
    streamed = nf.WhitenedKMeans(1).fit(tmp_path, "kind")
    assert streamed.labels_.tolist() == whole.labels_.tolist()
    assert nf.predict_parquet(streamed, tmp_path, tmp_path.parent / "found.parquet", keep=["kind"]) == len(frame)
    found = pd.read_parquet(tmp_path.parent / "found.parquet")
    assert found["class"].tolist() == whole.predict(frame[["size"]]).tolist()


@pytest.mark.parametrize("as_batches", [False, True])
def test_categories_and_cells_that_are_never_missing_differ_from_file_to_file(as_batches: bool, tmp_path: Path) -> None:
    tables = []
    for place in range(3):
        texts, numbers = ([make(100 * place + i) for i in range(100)] for make in (str, int))
        few = pa.array(range(100), pa.int8())  # has no room for the categories of all files
        schema = pa.schema([pa.field("size", pa.float64(), nullable=place == 1), ("kind", pa.string())])
        table = pa.table({"size": np.arange(100.0), "kind": ["x"] * 100}, schema=schema)
        for name, values in (("text", texts), ("number", numbers)):
            table = table.append_column(name, pa.DictionaryArray.from_arrays(few, pa.array(values)))
        tables.append(table)
        pq.write_table(table, tmp_path / f"{place}.parquet")
    rows, _ = read(iter(tables) if as_batches else tmp_path)
    places = pa.array([0, 150, 299])
    assert rows.take(places).to_pydict() == {"size": [0, 50, 99], "text": ["0", "150", "299"], "number": [0, 150, 299]}


def test_columns_have_names_of_their_own(tmp_path: Path) -> None:
    pq.write_table(pa.table([[1], [2], ["x"]], names=["n", "n", "kind"]), tmp_path / "0.parquet")
    with pytest.raises(InputError, match=r"X has two columns 'n' in .*0\.parquet"):
        read(tmp_path)


def test_lists_and_structures_are_nested() -> None:
    schema = pa.schema([("a", pa.list_(pa.int8())), ("b", pa.string()), ("c", pa.struct([("d", pa.int8())]))])
    assert nested_columns(schema) == ["a", "c"]


@pytest.mark.parametrize(
    ("types", "common"),
    [
        ((pa.int64(), pa.float32()), pa.float64()),
        ((pa.null(), TEXTS), pa.string()),
        ((TEXTS, pa.large_string()), pa.large_string()),
        ((pa.timestamp("us"), pa.timestamp("ns")), pa.timestamp("ns")),
        ((pa.bool_(), pa.null()), pa.bool_()),
    ],
)
def test_types_that_go_together(types: tuple[Any, Any], common: Any) -> None:
    first, other = (own_columns(pa.schema([("x", kind), ("__index_level_0__", pa.int64())]), "it") for kind in types)
    for pair in ((first, other), (other, first)):
        schema = common_schema(*pair, ("one", "other"))
        assert schema == pa.schema([("x", common)])
        assert all(common_schema(schema, one, ("one", "other")) == schema for one in pair)


@pytest.mark.parametrize(
    "types",
    [(pa.int64(), pa.string()), (pa.bool_(), pa.int8()), (pa.date32(), pa.float64()), (pa.string(), None)],
)
def test_types_that_do_not(types: tuple[Any, Any]) -> None:
    first, other = (pa.schema([("n", pa.int8()), *([("x", kind)] if kind else [])]) for kind in types)
    there = types[1] or "missing"
    told = f"X has files with different columns: b.parquet differs, column 'x' is {there} there and {types[0]} in a.par"
    with pytest.raises(InputError) as refused:
        common_schema(first, other, ("a.parquet", "b.parquet"))
    assert str(refused.value).startswith(told)


def test_no_cell_is_changed(tmp_path: Path) -> None:
    number = 2**60 + 1
    pq.write_table(pa.table({"id": [0.5], "kind": ["x"]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"id": [number], "kind": ["x"]}), tmp_path / "1.parquet")
    with pytest.raises(InputError, match=f"column 'id', of which double holds all but some values .*{number}"):
        read(tmp_path)
    schema = pa.schema([("id", pa.int64())])
    table = pa.table({"more": [1], "id": [number]})
    assert as_in(schema, table).to_pydict() == {"id": [number]}
