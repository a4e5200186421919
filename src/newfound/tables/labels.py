"""Which rows carry a known class, as codes; and names for novel classes in the type of `y`."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.counting import counted
from newfound.errors import LABELS, TABLE, InputError, Message, ModelFileError, warn_user
from newfound.tables.cells import MISSING_TEXTS, family_of, is_missing, shown, text_itself, unmasked

UNLABELLED = -1
TEXT_MARKS = (str(UNLABELLED), *MISSING_TEXTS)
"""What NumPy makes of the marks of an unlabelled row among text."""

_CURE = "Turn the labels into integers, strings or booleans, with None, NaN or -1 for unlabelled rows."
# Texts are objects: an array of text would give each the room of the longest, and drop a NUL at its end.
_KINDS = {"b": "bool", "i": "int", "f": "float", "O": "str", "U": "str", "T": "str"}
_DTYPES: dict[str, type[Any]] = {"bool": np.bool_, "int": np.int64, "float": np.float64, "str": object}
_LARGEST_FLOAT = 2**53  # whole numbers beyond it are not all floats


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of a table's rows.

    Attributes
    ----------
    codes : ndarray of int64, shape (n,)
        Index of each row's class in `known_classes`, -1 for unlabelled rows.
    known_classes : ndarray of shape (n_known,)
        Sorted, in the type of `y`: int64, float64, bool, or objects that are all str.
    """

    codes: NDArray[np.int64]
    known_classes: NDArray[Any]

    @property
    def n_known(self) -> int:
        """Number of known classes."""
        return len(self.known_classes)

    @property
    def unlabelled(self) -> NDArray[np.bool_]:
        """Mask of the unlabelled rows, shape (n,)."""
        return np.equal(self.codes, UNLABELLED)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Mask of the rows with a known class, shape (n,)."""
        return np.not_equal(self.codes, UNLABELLED)

    def codes_with(self, found: NDArray[np.int64]) -> NDArray[np.int64]:
        """Codes of all rows, novel classes following the known ones.

        Parameters
        ----------
        found : ndarray of shape (..., n_unlabelled), int64
            Novel class of each unlabelled row, from 0 on.

        Returns
        -------
        ndarray of shape (..., n), int64
        """
        codes = np.broadcast_to(self.codes, (*found.shape[:-1], len(self.codes))).copy()
        codes[..., self.unlabelled] = self.n_known + found
        return codes


def read_labels(y: Any, n_rows: int) -> Labels:
    """Read labels of any accepted type.

    Parameters
    ----------
    y : list, numpy array, pandas, polars or pyarrow column, or None, of length n_rows
        Integers, strings, booleans, categories or whole floats. Unlabelled rows are marked with -1, None, NaN, NaT or
        ``pandas.NA``. If `y` is None, every row is unlabelled.
    n_rows : int
        Number of rows of the table.

    Raises
    ------
    InputError
        If the length is not `n_rows`, or the labels are not of one such type.

    Examples
    --------
    >>> labels = read_labels(["cat", None, "ant"], 3)
    >>> labels.codes, labels.known_classes
    (array([ 1, -1,  0]), array(['ant', 'cat'], dtype=object))
    """
    if y is None:
        return Labels(np.full(n_rows, UNLABELLED, dtype=np.int64), np.empty(0, dtype=np.int64))
    values = _flat(_to_array(y))
    if len(values) != n_rows:
        cure = "pass one label a row, -1 or None if unlabelled"
        raise InputError(
            Message(
                LABELS, f" has {counted(len(values), 'label')} but ", TABLE, f" has {counted(n_rows, 'row')}; {cure}."
            ),
            cure=cure,
        )
    labelled, present = _read_array(values)
    known_classes, inverse = _factorised(present)
    codes = np.full(n_rows, UNLABELLED, dtype=np.int64)
    codes[labelled] = inverse
    if holds_text(known_classes) and "" in known_classes:
        n_empty = (present == "").sum()
        warn_user(
            Message(
                LABELS,
                f" has the empty text as a label in {counted(n_empty, 'row')}, taken as a known class. If they are "
                "unlabelled, replace it by None.",
            )
        )
    # Without a single label there is no type to keep; novel classes are then numbered.
    return Labels(codes, known_classes if len(known_classes) else np.empty(0, dtype=np.int64))


def holds_text(classes: NDArray[Any]) -> bool:
    """Whether classes are texts."""
    return classes.dtype.kind in "OUT"


def _factorised(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted different labels, and the place of each label among them."""
    if not holds_text(labels):
        return np.unique(labels, return_inverse=True)
    classes = class_array(sorted(set(labels)), labels)
    places = {name: place for place, name in enumerate(classes.tolist())}
    return classes, np.fromiter((places[label] for label in labels), dtype=np.intp, count=len(labels))


def novel_class_names(known_classes: NDArray[Any], n: int, used: Collection[Any] = ()) -> NDArray[Any]:
    """Return names for `n` novel classes in the type of the known ones.

    Integers (and whole floats) continue after the largest known class and are never negative, so that none is taken
    for the mark -1. After booleans come the integers 2, 3, ... Strings are "novel_0", "novel_1", ..., without those
    that are known classes. Names in `used` are passed over.

    Examples
    --------
    >>> novel_class_names(np.array([3, 7]), 2)
    array([8, 9])
    >>> novel_class_names(np.array(["ant", "novel_0"], dtype=object), 2, used=["novel_2"])
    array(['novel_1', 'novel_3'], dtype=object)
    """
    kind = known_classes.dtype.kind
    if holds_text(known_classes):
        taken = {*known_classes.tolist(), *used}
        names = (f"novel_{i}" for i in itertools.count())
        return class_array(list(itertools.islice((name for name in names if name not in taken), n)), known_classes)
    first = 2 if kind == "b" else max(int(known_classes.max()) + 1, 0) if len(known_classes) else 0
    largest = 2**53 if kind == "f" else int(np.iinfo(np.int64).max)
    free = (number for number in itertools.count(first) if number not in used)
    numbers = list(itertools.islice(free, n))
    if numbers and numbers[-1] > largest:
        problem = f" is {first - 1}, after which there is no room for {n} novel classes. "
        cure = "Use smaller labels, or strings."
        raise InputError(Message("The largest label in ", LABELS, problem, cure), cure=cure)
    return np.array(numbers, dtype=np.float64 if kind == "f" else np.int64)


def mark_unlabelled(labels: NDArray[Any], unlabelled: NDArray[np.bool_]) -> NDArray[Any]:
    """Return labels with the mark of an unlabelled row in some places.

    The mark is -1 among integers, NaN among floats and None among text and booleans, which are objects then.

    Examples
    --------
    >>> mark_unlabelled(np.array([5, 7]), np.array([False, True]))
    array([ 5, -1])
    >>> mark_unlabelled(np.array(["ant", "bee"], dtype=object), np.array([False, True]))
    array(['ant', None], dtype=object)
    """
    mark: Any = {"i": UNLABELLED, "f": np.nan}.get(labels.dtype.kind)
    marked = labels.astype(object) if mark is None else labels.copy()
    marked[unlabelled] = mark
    return marked


def all_classes(known_classes: NDArray[Any], novel_classes: NDArray[Any]) -> NDArray[Any]:
    """Return the known classes, then the novel ones, in one type.

    Examples
    --------
    >>> all_classes(np.array([False, True]), np.array([2]))
    array([0, 1, 2])
    """
    return np.concatenate([known_classes, novel_classes]) if len(novel_classes) else known_classes.copy()


def class_array(names: Sequence[Any], like: NDArray[Any]) -> NDArray[Any]:
    """Return names of classes as an array of the type of other classes."""
    return np.array(names, dtype=_DTYPES[_KINDS[like.dtype.kind]])


def classes_to_json(classes: NDArray[Any]) -> dict[str, Any]:
    """Return classes as a dict that JSON can hold."""
    return {"kind": _KINDS[classes.dtype.kind], "values": classes.tolist()}


def classes_from_json(content: Any) -> NDArray[Any]:
    """Return the classes of :func:`classes_to_json`; ModelFileError if the content is not that."""
    kind, values = (content.get("kind"), content.get("values")) if isinstance(content, dict) else (None, None)
    if not isinstance(kind, str) or kind not in _DTYPES or not isinstance(values, list):
        raise ModelFileError(f"classes need a kind and a list of values, got {shown(content)}.")
    if any(type(value).__name__ != kind for value in values):
        raise ModelFileError(f"classes must all be of type {kind}, got {shown(values)}.")
    try:
        classes: NDArray[Any] = np.array(values, dtype=_DTYPES[kind])
    except OverflowError as error:
        raise ModelFileError(f"classes must be 64-bit integers, got {shown(values)}.") from error
    if (kind == "float" and not np.isfinite(classes).all()) or len(set(values)) != len(classes):
        raise ModelFileError(f"classes must be finite and different, got {shown(values)}.")
    return classes


# ---- reading y


def _to_array(y: Any) -> NDArray[Any]:
    """Return y as a numpy array, of objects wherever numpy's own choice of type would lose what the labels were."""
    if isinstance(y, np.ma.MaskedArray):
        return unmasked(y)
    if isinstance(y, np.ndarray) or isinstance(getattr(y, "dtype", None), np.dtype):
        return np.asarray(y)
    if isinstance(y, (list, tuple)):
        return _from_list(list(y))
    if getattr(y, "ndim", None) == 1 or type(y).__module__.partition(".")[0] in ("polars", "pyarrow"):
        for method in ("to_pylist", "to_list", "tolist"):
            if hasattr(y, method):
                return _from_list(getattr(y, method)())
    if isinstance(y, (str, bytes, dict, set, frozenset)):
        expected = "a list, an array or a column of labels"
        got = f"{shown(y)} of type {type(y).__name__}"
        raise InputError(Message(LABELS, f" must be {expected}, got {got}."), value=y, expected=expected)
    return np.asarray(y)


def _from_list(labels: list[Any]) -> NDArray[Any]:
    if labels and all(isinstance(label, (list, np.ndarray)) for label in labels):
        try:
            return np.array(labels, dtype=object)
        except ValueError as error:
            problem = "must be a list of single labels, got nested lists of different lengths"
            raise InputError.about("y", problem, _CURE) from error
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim == 2 and array.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warn_user(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), "
            "for example using ravel().",
            DataConversionWarning,
        )
        return array.ravel()
    if array.ndim != 1:
        raise InputError(
            Message(
                LABELS, f" should be a 1d array, got an array of shape {array.shape} instead; pass one label a row."
            ),
            expected="a 1d array",
            cure="pass one label a row",
        )
    return array


def _read_array(values: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return the mask of labelled rows, and their labels as int64, float64, bool or objects that are str."""
    kind = values.dtype.kind
    if kind == "O":
        return _read_cells(values)
    if kind == "b":
        return np.ones(len(values), dtype=np.bool_), values
    if kind in "UT":
        return _read_text(values.astype(object))
    if kind in "iu":
        labelled = values != UNLABELLED
        return labelled, _integers(values[labelled])
    if kind == "f":
        labelled = ~(np.isnan(values) | (values == UNLABELLED))
        return labelled, _whole_floats(_floats(values[labelled]))
    raise _unknown_type(values.dtype.name, values[0] if len(values) else None)


def _read_text(values: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Read an array of text, in which NumPy has turned any mark of an unlabelled row into text as well."""
    labelled = ~np.isin(values, TEXT_MARKS)
    if not labelled.all():
        marks = shown(str(values[~labelled][0]))
        warn_user(
            Message(
                LABELS,
                f" is an array of text, and {(~labelled).sum()} of its labels are marks such as {marks}: these rows "
                "are taken as unlabelled. If that is a class of yours, pass ",
                LABELS,
                " with dtype=object, in which text is never a mark.",
            )
        )
    return labelled, values[labelled]


def _read_cells(values: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    labelled = np.fromiter((not _is_unlabelled(cell) for cell in values), dtype=np.bool_, count=len(values))
    cells = values[labelled]
    types = {type(cell) for cell in cells}
    if not types:
        return labelled, np.empty(0, dtype=np.int64)
    if all(issubclass(kind, (bool, np.bool_)) for kind in types):
        return labelled, cells.astype(np.bool_)
    if all(issubclass(kind, str) for kind in types):
        return labelled, class_array([text_itself(cell) for cell in cells], cells)
    numbers = not any(issubclass(kind, (bool, np.bool_, np.timedelta64)) for kind in types)
    if numbers and all(issubclass(kind, (int, np.integer)) for kind in types):
        return labelled, _integers(cells)
    if numbers and all(issubclass(kind, (int, float, np.integer, np.floating)) for kind in types):
        return labelled, _whole_floats(_floats(cells))
    raise _unknown_cells(cells, types)


def _is_unlabelled(cell: Any) -> bool:
    if isinstance(cell, (bool, np.bool_)):
        return False
    return is_missing(cell) or (isinstance(cell, (int, float, np.integer, np.floating)) and bool(cell == UNLABELLED))


def _integers(labels: NDArray[Any]) -> NDArray[np.int64]:
    limits = np.iinfo(np.int64)
    if len(labels) and not (limits.min <= int(labels.min()) and int(labels.max()) <= limits.max):
        cure = "use smaller numbers or strings"
        raise InputError(Message(LABELS, f" has labels beyond 64-bit integers; {cure}."), cure=cure)
    return labels.astype(np.int64)


def _floats(labels: NDArray[Any]) -> NDArray[np.float64]:
    """Return labels as floats; InputError if two of them would become one."""
    with np.errstate(over="ignore"):
        floats = labels.astype(np.float64)
    large = np.flatnonzero(np.isfinite(floats) & (np.abs(floats) >= _LARGEST_FLOAT))
    wrong = next((labels[place] for place in large if int(labels[place]) != int(floats[place])), None)
    if wrong is not None:
        cure = "Use smaller numbers or strings."
        raise InputError.about("y", f"has labels such as {wrong}, which no floating-point number holds", cure)
    return floats


def _whole_floats(labels: NDArray[Any]) -> NDArray[np.float64]:
    if np.isinf(labels).any():
        raise InputError.about("y", "has infinite labels", _CURE)
    broken = labels[labels != np.floor(labels)]
    if len(broken):
        such = f" has labels such as {broken[0]:g}, but classes are needed. "
        raise InputError(Message("Unknown label type: continuous. ", LABELS, such, _CURE), cure=_CURE)
    return labels.astype(np.float64)


def _unknown_cells(cells: NDArray[Any], types: set[type]) -> InputError:
    if len({family_of(kind) for kind in types}) > 1:
        names = " and ".join(sorted(kind.__name__ for kind in types))
        return InputError.about("y", f"mixes labels of types {names}, e.g. {shown(cells[0])}", _CURE)
    return _unknown_type(type(cells[0]).__name__, cells[0])


def _unknown_type(kind: str, example: Any) -> InputError:
    such = f" has labels such as {shown(example)}. "
    return InputError(Message(f"Unknown label type: {kind}. ", LABELS, such, _CURE), cure=_CURE)
