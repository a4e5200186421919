"""export_onnx: a fitted discoverer as one ONNX file, from the cells of a table to probabilities and classes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import newfound
from newfound.discoverers.base import BaseDiscoverer
from newfound.discoverers.curation import Curation, Merge
from newfound.errors import InputError, ModelFileError
from newfound.export.encoding import columns_of, encode, inputs_of
from newfound.export.graph import Graph, Value
from newfound.export.states import StateGraph, at_temperature, graph_of, nearness
from newfound.parameters import check_path
from newfound.tables import TableEncoder, as_table
from newfound.writing import replacing

LABEL, PROBABILITIES, NOVELTY = "label", "probabilities", "novelty"
"""Names of the outputs."""

METADATA_KEY = "newfound"
"""Entry of the file's metadata: JSON that says what inputs and outputs are."""


def export_onnx(model: BaseDiscoverer, path: str | os.PathLike[str]) -> None:
    """Write a fitted discoverer as an ONNX file that predicts without newfound and torch, as `predict_proba` does.

    Parameters
    ----------
    model : discoverer
        Fitted; curated, routed and updated ones too. It predicts by networks, centroids or forests: all discoverers but
        SpectralDiscoverer and NCDSpectral.
    path : str or path
        Where to; the ending ``.onnx`` is customary. A file that is there already is replaced once the new one is
        complete on the disk. The same model gives the same bytes.

    Raises
    ------
    InputError
        If the model is not fitted, or has something that cannot be exported, which the message names.
    MissingExtraError
        If onnx is not installed.
    ModelFileError
        If the file cannot be written. An earlier file is then intact.

    Notes
    -----
    Operators are those of ONNX 18 and ai.onnx.ml 3, which onnxruntime knows since 1.14. There are up to two inputs,
    each with a row for each row of the table and the used columns in their order:

    - ``numbers``, double (rows, n_numbers): numbers as they are, booleans as 0 and 1, dates as days since 1970, NaN
      where a cell is missing;
    - ``texts``, string (rows, n_texts): categories, the empty text where a cell is missing.

    There are three outputs:

    - ``label``, (rows,): the class as `predict` names it, string, int64, double or bool as the classes are;
    - ``probabilities``, double (rows, n_classes): as `predict_proba`;
    - ``novelty``, double (rows,): as `novelty_score`.

    The metadata has an entry "newfound": JSON with names and kinds of the inputs' columns, in order, the text that
    stands for a missing cell of each text column, the classes, and how many of them, the first ones, are known.

    A table that `predict` would refuse is not refused: an infinite number counts as a far one.

    Examples
    --------
    >>> import newfound as nf
    >>> model = nf.KMeansDiscoverer(n_novel_classes=1).fit([[0.0], [1.0], [9.0]], ["a", "a", None])
    >>> nf.export_onnx(model, "small.onnx")  # doctest: +SKIP
    """
    target = check_path("path", path)
    _check(model)
    graph = Graph()
    rows = encode(graph, model.encoder_)
    proba = _proba(model, rows)
    n_known, n_classes = len(model.known_classes_), len(model.classes_)
    labels = graph.op("Gather", graph.constant(model.classes_), graph.op("ArgMax", proba, axis=1, keepdims=0), axis=0)
    novel = proba.take(np.arange(n_known, n_classes)).over("Sum", 1, keep=False)
    graph.output(LABEL, labels, model.classes_.dtype)
    graph.output(PROBABILITIES, proba, np.dtype(np.float64), n_classes)
    graph.output(NOVELTY, graph.op("Min", novel, 1.0), np.dtype(np.float64))
    _write(target, graph.model_bytes(type(model).__name__, newfound.__version__, {METADATA_KEY: _description(model)}))


def onnx_inputs(model: BaseDiscoverer, X: Any) -> dict[str, NDArray[Any]]:
    """Return a table as the inputs of the exported model, to try it where newfound is at hand.

    Parameters
    ----------
    model : discoverer
        Fitted.
    X : table of shape (n, n_columns)
        As for `predict`.

    Returns
    -------
    dict
        "numbers", float64 of shape (n, n_numbers), and "texts", object of shape (n, n_texts), where there are such
        columns.

    Examples
    --------
    >>> import newfound as nf
    >>> model = nf.KMeansDiscoverer(n_novel_classes=1).fit([[0.0, "x"], [1.0, "y"], [9.0, "x"]], ["a", "a", None])
    >>> onnx_inputs(model, [[2.0, None]])
    {'numbers': array([[2.]]), 'texts': array([['']], dtype=object)}
    """
    _check(model)
    return inputs_of(model.encoder_, as_table(X), type(model).__name__)


def _check(model: Any) -> None:
    if not isinstance(model, BaseDiscoverer):
        raise InputError.of("model", model, "a fitted discoverer")
    model._check_is_fitted()
    if type(model.encoder_) is not TableEncoder:
        what = f"Got an encoder of type {type(model.encoder_).__name__}, but only a TableEncoder can be exported."
        raise InputError(what, parameter="encoder", value=model.encoder_, expected="a TableEncoder")


def _proba(model: BaseDiscoverer, rows: Value) -> Value:
    """Probabilities of all classes as users know them; (n, d) to (n, n_classes)."""
    state = graph_of(model._predicting, rows)
    found = state.proba if model._forest is not None else at_temperature(state.proba, model.temperature_)
    return _curated(model.curation_, found, state)


def _curated(curation: Curation, found: Value, state: StateGraph) -> Value:
    """Merge and split probabilities (n, n_classes)."""
    n_classes = curation.n_known + curation.n_found
    for step in curation.steps:
        if isinstance(step, Merge):
            places = step.codes(np.arange(n_classes), None)
            found = found @ np.eye(n_classes + step.n_more)[places]
        else:
            shares = nearness(state.latent, step.centroids, step.variance)
            sides = [np.arange(step.class_), np.arange(step.class_ + 1, n_classes)]
            before, after = ([found.take(side)] if len(side) else [] for side in sides)
            found = found.graph.joined([*before, found.take([step.class_]) * shares, *after])
        n_classes += step.n_more
    return found


def _description(model: BaseDiscoverer) -> str:
    """Return the metadata as JSON."""
    content: Mapping[str, Any] = {
        "format": 1,
        "newfound_version": newfound.__version__,
        "discoverer": type(model).__name__,
        **columns_of(model.encoder_),
        "classes": model.classes_.tolist(),
        "n_known": len(model.known_classes_),
    }
    return json.dumps(content, ensure_ascii=False)


def _write(path: str, content: bytes) -> None:
    try:
        with replacing(path) as fresh:
            fresh.write_bytes(content)
    except OSError as error:
        what = f"Cannot write {path}: {error.strerror or error}. No file was written or changed."
        raise ModelFileError(what) from error
