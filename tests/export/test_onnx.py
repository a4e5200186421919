"""Exported models: onnxruntime says what predict_proba says, for every kind of cell and of discoverer."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import newfound as nf
from newfound.export import onnx_inputs
from newfound.export.encoding import encode, inputs_of, missing_text
from newfound.export.graph import IR_VERSION, OPSETS, Graph
from newfound.tables import as_table
from newfound.tables.blocks import CategoryBlock
from newfound.tables.scaling import NUMERIC_SCALINGS
from tests.discoverers.common import SMALL, frame, integer_labels, kmeans, ncd_kmeans, tabular_ncd
from tests.golden.make import FOLDER, tiny_table

pytestmark = SMALL
GOLDEN = sorted(path.stem for path in FOLDER.glob("v2-*.newfound"))


def session(content: bytes) -> Any:
    onnx.checker.check_model(content, full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def exported(model: Any, folder: Path) -> Any:
    nf.export_onnx(model, folder / "model.onnx")
    return session((folder / "model.onnx").read_bytes())


def assert_equal_predictions(model: Any, table: Any, folder: Path) -> None:
    label, probabilities, novelty = exported(model, folder).run(None, onnx_inputs(model, table))
    assert_allclose(probabilities, model.predict_proba(table), atol=1e-9)
    assert_allclose(novelty, model.novelty_score(table), atol=1e-9)
    assert_array_equal(label, model.predict(table))


def strange_table() -> pd.DataFrame:
    """The golden table, with cells of all kinds that were not there at fit."""
    table = tiny_table()[0].astype({"member": object, "since": object})
    table.loc[0, "city"] = "Ulan Bator"
    table.loc[1, "member"] = table.loc[2, "since"] = None
    table.loc[4, "größe"], table.loc[5, "income"], table.loc[6, "income"] = -1e9, 1e300, -3.0
    return table


# ---- discoverers


@pytest.mark.parametrize("name", GOLDEN)
def test_every_discoverer(name: str, tmp_path: Path) -> None:
    # These were curated: classes are split, renamed and merged with known ones, and the temperature is not 1.
    model = nf.load(FOLDER / f"{name}.newfound")
    if "Spectral" in name:
        with pytest.raises(nf.InputError, match=r"State, which cannot be exported to ONNX yet.* ClassifierProjection"):
            nf.export_onnx(model, tmp_path / "model.onnx")
        assert not list(tmp_path.iterdir())
        return
    assert_equal_predictions(model, strange_table(), tmp_path)


@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
def test_self_training_leaves_one_head(activation: str, tmp_path: Path) -> None:
    model = tabular_ncd(activation=activation, epochs=2, n_members=2, self_training=1).fit(frame(), integer_labels())
    assert model._state.has_joint_head
    assert_equal_predictions(model.split(2, 2, frame(), training=True), frame(1), tmp_path)


def test_heavy_tails_of_the_student(tmp_path: Path) -> None:
    model = nf.load(FOLDER / "v2-AutoDiscoverer.newfound")
    inputs = replace(model._state.inputs, heavy=~model.encoder_.layout_.categorical)
    model._state = replace(model._state, inputs=inputs)
    table = strange_table()
    table.loc[:2, "größe"] = [1e9, 1e-12, 0.0]
    assert_equal_predictions(model, table, tmp_path)


def test_an_updated_model(tmp_path: Path) -> None:
    model = ncd_kmeans().fit(frame(), integer_labels())
    model.update(frame(1))
    assert_equal_predictions(model.merge([2, 3]), frame(2), tmp_path)


@pytest.mark.parametrize(
    "labels",
    [[0, 1, -1], [0.0, 2.0, np.nan], ["a", "ö", None], [True, False, None]],
    ids=["int", "float", "str", "bool"],
)
def test_classes_keep_their_type(labels: list[Any], tmp_path: Path) -> None:
    X = np.array([[0.0, 0], [9, 0], [0, 9]])
    model = kmeans(n_novel_classes=1).fit(
        np.repeat(X, 5, axis=0), labels * 0 + [label for label in labels for _ in range(5)]
    )
    label = exported(model, tmp_path).run(["label"], onnx_inputs(model, X))[0]
    assert label.tolist() == model.predict(X).tolist()
    assert [type(value) for value in label.tolist()] == [type(value) for value in model.predict(X).tolist()]


def test_without_novel_classes(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="nothing to discover"):
        model = tabular_ncd(epochs=1).fit(frame(), np.arange(60) % 2)
    assert_equal_predictions(model, frame(1), tmp_path)


# ---- cells

KINDS = {
    "number": "numeric",
    "category": "categorical",
    "rare": "categorical",
    "flag": "boolean",
    "day": "date",
    "clock": "time",
}
CLOCKS = [None, "00:00", "24:00", "4:59", "05:00", "22:30", "23:59:59.5"]
NUMBERS = [0.0, -0.0, 1.0, -1.0, 1e-300, 5e-324, -1e-13, 0.1, 3.7, -42.5, 1e9, -1e300, 1e300, np.nan]
DAYS = [*np.arange("1899-12-30", "2300-01-01", 20_000, dtype="M8[D]"), np.datetime64("NaT")]


def drawn_table(n: int, seed: int) -> pd.DataFrame:
    """Cells of every kind, drawn from those that are most likely to go wrong."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.5, rng.normal(size=n), rng.choice(NUMBERS, n)),
            "category": rng.choice(np.array(["", "a", "b", "1", "2.0", "<missing>", None], dtype=object), n),
            "rare": rng.choice(np.array([None, "", "é", "x", *map(str, range(20))], dtype=object), n),
            "flag": rng.choice(np.array([True, False, None], dtype=object), n),
            "day": rng.choice(np.array(DAYS, dtype="M8[us]"), n),
            "clock": rng.choice(np.array(CLOCKS, dtype=object), n),
        }
    )


@pytest.mark.parametrize("categorical_scaling", ["none", "standard"])
@pytest.mark.parametrize("numeric_scaling", NUMERIC_SCALINGS)
@pytest.mark.parametrize("seed", range(3))
def test_encoding(seed: int, numeric_scaling: Any, categorical_scaling: Any) -> None:
    scalings = {"numeric_scaling": numeric_scaling, "categorical_scaling": categorical_scaling}
    # The first has seen nearly everything, the second hardly anything, and the third no missing cell.
    seen = drawn_table([60, 6, 40][seed], seed)
    if numeric_scaling == "none":  # which takes no larger numbers; those of new tables are clipped
        seen["number"] = seen["number"].clip(-1e30, 1e30)
    encoder = nf.TableEncoder(KINDS, **scalings, max_categories=5).fit(seen.dropna() if seed == 2 else seen)
    new = drawn_table(100, 10)
    for block in encoder._blocks:
        if isinstance(block, CategoryBlock):  # whose mark for a missing cell is none of its categories
            new[block.column.name] = new[block.column.name].mask(new[block.column.name] == missing_text(block), None)
    graph = Graph()
    graph.output("rows", encode(graph, encoder), np.dtype(np.float64), encoder.layout_.n_columns)
    found = session(graph.model_bytes("encoder", "0", {})).run(None, inputs_of(encoder, as_table(new), "it"))[0]
    assert_allclose(found, encoder.transform(new), rtol=1e-12, atol=1e-12)


def test_whole_numbers_may_be_spelled_as_floats(tmp_path: Path) -> None:
    table = pd.DataFrame({"code": ["1", "2", "10"] * 10, "size": np.arange(30.0) % 7})
    model = kmeans(n_novel_classes=1).fit(table, [0] * 15 + [-1] * 15)
    run = exported(model, tmp_path).run
    sizes = np.zeros((2, 1))
    first, other = (
        run(["probabilities"], {"numbers": sizes, "texts": texts})[0]
        for texts in ([["1"], ["10"]], [["1.0"], ["10.0"]])
    )
    assert_array_equal(first, other)


# ---- the file


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    table = frame().assign(colour=frame()["colour"].fillna(""))
    model = kmeans().fit(table, integer_labels()).rename({2: 7})
    nf.export_onnx(model, tmp_path / "model.onnx")
    content = (tmp_path / "model.onnx").read_bytes()
    nf.save(model, tmp_path / "model.newfound")
    nf.export_onnx(nf.load(tmp_path / "model.newfound"), tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == content  # the same model, the same bytes
    read = onnx.load_from_string(content)
    assert {opset.domain: opset.version for opset in read.opset_import} == OPSETS
    assert read.ir_version == IR_VERSION
    runner = session(content)
    shapes = [(value.name, value.type, value.shape) for value in (*runner.get_inputs(), *runner.get_outputs())]
    assert shapes == [
        ("numbers", "tensor(double)", ["rows", 3]),
        ("texts", "tensor(string)", ["rows", 1]),
        ("label", "tensor(int64)", ["rows"]),
        ("probabilities", "tensor(double)", ["rows", 4]),
        ("novelty", "tensor(double)", ["rows"]),
    ]
    assert json.loads(runner.get_modelmeta().custom_metadata_map["newfound"]) == {
        "format": 1,
        "newfound_version": nf.__version__,
        "discoverer": "KMeansDiscoverer",
        "numbers": [
            {"name": "width", "kind": "numeric"},
            {"name": "height", "kind": "numeric"},
            {"name": "round", "kind": "boolean"},
        ],
        "texts": [{"name": "colour", "missing": "<missing>"}],
        "classes": [0, 1, 7, 3],
        "n_known": 2,
    }


def test_what_cannot_be_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(nf.InputError, match="not fitted yet"):
        nf.export_onnx(kmeans(), tmp_path / "model.onnx")
    with pytest.raises(nf.InputError, match="model='model', but expected a fitted discoverer"):
        nf.export_onnx("model", tmp_path / "model.onnx")
    broken = kmeans().fit([["half \ud800"], ["green"]] * 30, integer_labels())
    with pytest.raises(nf.InputError, match="half of a surrogate pair"):
        nf.export_onnx(broken, tmp_path / "model.onnx")
    model = kmeans().fit(frame(), integer_labels())
    with pytest.raises(nf.InputError, match="path=3"):
        nf.export_onnx(model, 3)
    with pytest.raises(nf.ModelFileError, match=r"Cannot write .*: No such file or directory"):
        nf.export_onnx(model, tmp_path / "nowhere" / "model.onnx")
    monkeypatch.setattr("newfound.export.graph.MAX_BYTES", 100)
    with pytest.raises(nf.InputError, match="too large for ONNX"):
        nf.export_onnx(model, tmp_path / "model.onnx")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(nf.MissingExtraError, match=r"pip install 'newfound\[export\]'"):
        nf.export_onnx(model, tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())
