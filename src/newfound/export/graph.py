"""A graph of ONNX operators, written down as arithmetic.

All numbers are double precision, as in `predict`, so that the two agree where small differences grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.errors import InputError
from newfound.extras import load_extra

OPSETS = {"": 18, "ai.onnx.ml": 3}
"""Versions of the two sets of operators that exported files use."""

IR_VERSION = 8
"""Version of the file format; onnxruntime reads it since 1.14."""

MAX_BYTES = 2**31 - 2**20  # a protobuf message ends at 2 GiB

_ML = "ai.onnx.ml"
_ROWS = "rows"  # the name of the dimension whose length is open


@dataclass(frozen=True, eq=False)
class Value:
    """What a node of a graph gives; operators make further nodes."""

    graph: Graph
    name: str

    def __add__(self, other: Any) -> Value:
        return self.graph.op("Add", self, other)

    def __sub__(self, other: Any) -> Value:
        return self.graph.op("Sub", self, other)

    def __mul__(self, other: Any) -> Value:
        return self.graph.op("Mul", self, other)

    def __truediv__(self, other: Any) -> Value:
        return self.graph.op("Div", self, other)

    def __pow__(self, other: Any) -> Value:
        return self.graph.op("Pow", self, other)

    def __matmul__(self, other: Any) -> Value:
        return self.graph.op("MatMul", self, other)

    def take(self, places: Sequence[int] | NDArray[np.intp]) -> Value:
        """Pick columns of (n, d)."""
        if len(places) and (np.diff(places) == 1).all():  # onnxruntime cuts several times as fast as it gathers
            return self.cut(int(places[0]), int(places[-1]) + 1, axis=1)
        return self.graph.op("Gather", self, np.asarray(places, dtype=np.int64), axis=1)

    def cut(self, start: int, stop: int, *, axis: int) -> Value:
        """Pick a range of an axis."""
        return self.graph.op("Slice", self, *(np.array([number]) for number in (start, stop, axis)))

    def to(self, dtype: type[np.generic]) -> Value:
        """Convert to another type of numbers."""
        return self.graph.op("Cast", self, to=self.graph.type_of(np.dtype(dtype)))

    def over(self, kind: str, axis: int, *, keep: bool = True) -> Value:
        """Reduce an axis by "Sum", "Mean" or "Max"."""
        return self.graph.op(f"Reduce{kind}", self, np.array([axis], dtype=np.int64), keepdims=int(keep))

    def softmax(self) -> Value:
        """Probabilities from logits, over the last axis."""
        return self.graph.op("Softmax", self, axis=-1)

    def shares(self) -> Value:
        """Rows (n, d) divided by their sums."""
        return self / self.over("Sum", 1)

    def log1p(self) -> Value:
        """``log(1 + x)`` of numbers that are not negative, exact for small ones too."""
        graph, above = self.graph, self + 1.0
        # Kahan's correction of what rounding has done to 1 + x; where that is 1, the logarithm is x.
        step = above - 1.0
        is_small = graph.op("Equal", step, 0.0)
        divisor = graph.op("Where", is_small, 1.0, step)
        return graph.op("Where", is_small, self, graph.op("Log", above) * (self / divisor))

    def arcsinh(self) -> Value:
        """Inverse hyperbolic sine; onnxruntime has none for double precision."""
        size = self.graph.op("Abs", self)
        inverse = self.graph.op("Reciprocal", size)
        tail = size / (inverse + self.graph.op("Sqrt", inverse * inverse + 1.0))
        return (size + tail).log1p() * self.graph.op("Sign", self)


@dataclass
class Graph:
    """Nodes and constants of a model in the making."""

    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    n_bytes: int = 0

    def __post_init__(self) -> None:
        self._onnx = load_extra("onnx", "An export to ONNX")

    def type_of(self, dtype: np.dtype[Any]) -> int:
        """Return ONNX's number of a type; text is any type of text."""
        if dtype.kind in "UO":
            return int(self._onnx.TensorProto.STRING)
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(dtype))

    def op(self, kind: str, *operands: Any, domain: str = "", **attributes: Any) -> Value:
        """Add a node; operands that are not values yet are constants of double precision."""
        names = [self._operand(operand).name for operand in operands]
        result = f"{kind}_{len(self.nodes)}"
        self.nodes.append(self._onnx.helper.make_node(kind, names, [result], domain=domain, **attributes))
        return Value(self, result)

    def constant(self, array: NDArray[Any]) -> Value:
        """Add an array; weights in single precision take half of the file, and are used in double."""
        self.n_bytes += array.nbytes
        if self.n_bytes > MAX_BYTES:
            raise InputError(
                f"The model is too large for ONNX, whose files end at 2 GiB: it has {self.n_bytes:,} bytes and more. "
                "Fit with narrower hidden layers, fewer members or fewer categories."
            )
        name = f"constant_{len(self.constants)}"
        if array.dtype.kind in "UO":
            texts = [_utf8(text) for text in array.ravel().tolist()]
            tensor = self._onnx.helper.make_tensor(name, self.type_of(array.dtype), array.shape, texts)
        else:
            tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self.constants.append(tensor)
        value = Value(self, name)
        return value.to(np.float64) if array.dtype == np.float32 else value

    def input(self, name: str, dtype: np.dtype[Any], width: int) -> Value:
        """Add an input of shape (rows, width)."""
        self.inputs.append(self._onnx.helper.make_tensor_value_info(name, self.type_of(dtype), [_ROWS, width]))
        return Value(self, name)

    def output(self, name: str, value: Value, dtype: np.dtype[Any], *shape: int) -> None:
        """Give a value out under a name; its shape is (rows, *shape)."""
        self.nodes.append(self._onnx.helper.make_node("Identity", [value.name], [name]))
        self.outputs.append(self._onnx.helper.make_tensor_value_info(name, self.type_of(dtype), [_ROWS, *shape]))

    def joined(self, parts: Sequence[Value], axis: int = 1) -> Value:
        """Put values side by side."""
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=axis)

    def codes_of(self, texts: Value, codes: dict[str, int], otherwise: int) -> Value:
        """Look texts up; int64 of the same shape."""
        keys, values = [_utf8(key) for key in codes], list(codes.values())
        table = {"keys_strings": keys, "values_int64s": values, "default_int64": otherwise}
        return self.op("LabelEncoder", texts, domain=_ML, **table)

    def model_bytes(self, name: str, version: str, metadata: dict[str, str]) -> bytes:
        """Return the file; the same graph gives the same bytes."""
        helper = self._onnx.helper
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.constants)
        opsets = [helper.make_opsetid(domain, number) for domain, number in OPSETS.items()]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="newfound", producer_version=version
        )
        helper.set_model_props(model, metadata)
        content: bytes = model.SerializeToString(deterministic=True)
        return content

    def _operand(self, operand: Any) -> Value:
        if isinstance(operand, Value):
            return operand
        array = np.asarray(operand)
        return self.constant(array if array.dtype.kind in "iUO" else array.astype(np.float64))


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        what = f"ONNX cannot hold the text {text!r}: it has half of a surrogate pair. Correct it in the table"
        raise InputError(f"{what}, and fit again.", parameter="model") from error
