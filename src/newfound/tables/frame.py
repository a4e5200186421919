"""Any accepted table, read once into numpy columns."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.errors import InputError, Message
from newfound.tables import arrow, cells

CHUNK_ROWS = 4096
_MOST_SHOWN = 12

# Booleans, whole numbers, floats, durations and dates, by numpy's letters.
_PLAIN_KINDS = "biufmM"
_ACCEPTED = "a pandas or polars DataFrame, a pyarrow Table, or a 2-d numpy array"


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of any accepted table, as numpy arrays; discoverers take it as it is.

    Attributes
    ----------
    columns : dict of str to ndarray of shape (n_rows,)
        In the order of the table; their types are those of :mod:`newfound.tables.cells`. They may be views of the
        user's own data and must not be written to.
    n_rows : int
    named : bool
        False for numpy arrays and lists, whose columns are then called "x0", "x1", ...
    """

    columns: dict[str, NDArray[Any]]
    n_rows: int
    named: bool

    def __repr__(self) -> str:
        rows, columns = (f"{n:,} {what}{'s' * (n != 1)}" for n, what in zip(self.shape, ("row", "column"), strict=True))
        shown = [f"{name} ({_type_of(values)})" for name, values in list(self.columns.items())[:_MOST_SHOWN]]
        more = [f"and {self.n_columns - _MOST_SHOWN:,} more"] * (self.n_columns > _MOST_SHOWN)
        return f"Table of {rows} and {columns}: {', '.join(shown + more)}"

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, key: Any) -> Any:
        """Return a column by its name; columns of a list of names, or rows of a slice, a mask or places, as a table.

        Rows may be asked for as in ``table[rows, ...]``, which is how scikit-learn splits what is like an array.
        """
        if isinstance(key, str):
            return self.columns[key]
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            return Table({name: self.columns[name] for name in key}, self.n_rows, self.named)
        rows = key[0] if isinstance(key, tuple) and key[1:] == (...,) else key
        if isinstance(rows, tuple | int | np.integer):
            raise TypeError(f"a Table gives columns by name and rows by a slice, a mask or places, not {key!r}")
        return self.take(np.arange(self.n_rows)[rows])

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n_rows, self.n_columns

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self.columns)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Return the rows at these places as a table of their own."""
        return Table({name: column[rows] for name, column in self.columns.items()}, len(rows), self.named)


def chunks(n_rows: int, length: int = CHUNK_ROWS) -> Iterator[slice]:
    """Cut rows into slices, by default so short that all columns of one stay in the processor's cache.

    The columns of a numpy array lie across its rows, and reading them whole, one by one, is several times slower.
    """
    for start in range(0, n_rows, length):
        yield slice(start, min(start + length, n_rows))


def as_table(X: Any, *, what: str = "X") -> Table:
    """Read a table into numpy columns, without copying what need not be converted.

    Parameters
    ----------
    X : pandas or polars DataFrame, pyarrow Table, 2-d numpy array, list of rows, or Table
    what : str, default="X"
        The name of the argument, for messages.

    Raises
    ------
    InputError
        If it is not such a table, is empty, or has cells that no column kind can hold.

    Examples
    --------
    >>> as_table([[1, "a"], [2, None]]).columns
    {'x0': array([1., 2.]), 'x1': array(['a', None], dtype=object)}
    """
    if isinstance(X, Table):
        return X
    if hasattr(X, "nnz") and hasattr(X, "toarray"):
        raise InputError(
            f"{what} is a sparse matrix ({type(X).__name__}), which is not supported; pass {what}.toarray().",
            parameter=what,
            cure=f"pass {what}.toarray()",
        )
    if isinstance(X, str | os.PathLike):
        raise InputError(
            f"Got the name of a file, {os.fspath(X)!r}, as {what}; read the table first, for example with "
            f"newfound.read_table, or pass {_ACCEPTED}. Files larger than memory are for fit and "
            "newfound.predict_parquet.",
            parameter=what,
            value=X,
            expected=_ACCEPTED,
        )
    if _is_dataframe(X):
        return _read_dataframe(X, what)
    return _read_array(_to_array(X, what), what)


def refuse_infinite(table: Table, names: Iterable[str], *, what: str = "X") -> None:
    """Raise InputError if any of these columns holds infinite numbers."""
    floats = {name: table.columns[name] for name in names if table.columns[name].dtype == np.float64}
    found = {name for rows in chunks(table.n_rows) for name, values in floats.items() if np.isinf(values[rows]).any()}
    if found:
        bad = [name for name in floats if name in found]
        out = cells.kind_setting(bad[0], "ignored")
        raise InputError.about(
            what,
            f"has infinite values in {listed(bad)}",
            Message("Make them finite numbers or missing values (NaN), or leave such a column out: ", out, "."),
        )


def listed(names: Iterable[str], limit: int = 10) -> str:
    """Return "column 'a'" or "columns 'a', 'b' and 3 more", for messages."""
    quoted = [repr(name) for name in names]
    more = len(quoted) - limit
    text = ", ".join(quoted[:limit]) + (f" and {more} more" if more > 0 else "")
    return f"column {text}" if len(quoted) == 1 else f"columns {text}"


def _type_of(values: NDArray[Any]) -> str:
    if cells.holds_booleans(values):
        return "booleans"
    return {"f": "numbers", "M": "dates"}.get(values.dtype.kind, "text")


# ---- data frames


def _is_dataframe(X: Any) -> bool:
    if isinstance(X, (np.ndarray, list, tuple)):
        return False
    return type(X).__module__.partition(".")[0] in ("pandas", "polars", "pyarrow", "narwhals") or any(
        hasattr(X, protocol) for protocol in ("__narwhals_dataframe__", "__dataframe__", "__arrow_c_stream__")
    )


def _read_dataframe(X: Any, what: str) -> Table:
    import narwhals as nw

    # Asked of the type: a pandas table answers for its columns' names too. A lazy frame's names would cost a query.
    if hasattr(type(X), "collect"):
        raise _lazy(what)
    names = _unique_names(X, what)
    together = _read_together(X, names, what)
    if together and len(together) == len(names):
        return Table({name: together[name] for name in names}, len(X), named=True)
    rest = [place for place, name in enumerate(names) if name not in together]
    try:
        frame = nw.from_native(X.iloc[:, rest] if together else X, allow_series=True)
    except TypeError as error:
        raise InputError(
            f"{what} is of type {type(X).__name__}, which cannot be read; pass {_ACCEPTED}.",
            parameter=what,
            expected=_ACCEPTED,
        ) from error
    if isinstance(frame, nw.Series):
        raise _not_2d(1, what)
    if isinstance(frame, nw.LazyFrame):
        raise _lazy(what)
    _refuse_empty(frame.shape, what)
    columns = dict(together)
    for place, column in zip(rest, frame.iter_columns(), strict=True):
        columns[names[place]] = _read_series(column, names[place])
    return Table({name: columns[name] for name in names}, len(frame), named=True)


def _read_together(X: Any, names: list[str], what: str) -> dict[str, NDArray[Any]]:
    """Read numbers, booleans and texts of a short pandas table at once: one by one takes longer than to predict rows.

    Other columns, and those of other tables, are left out. A long table is read by column, without a copy.
    """
    is_pandas = type(X).__module__.partition(".")[0] == "pandas"
    if not is_pandas or getattr(X, "ndim", 0) != 2 or len(X) > CHUNK_ROWS:
        return {}
    _refuse_empty(X.shape, what)
    groups: dict[type, list[int]] = {}
    for place, dtype in enumerate(X.dtypes):
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf" and dtype.itemsize <= 8:
            groups.setdefault(np.bool_ if dtype.kind == "b" else np.float64, []).append(place)
        elif type(dtype).__name__ == "StringDtype":
            groups.setdefault(object, []).append(place)
    found: dict[str, NDArray[Any]] = {}
    for kind, places in groups.items():
        part = X if len(places) == len(names) else X.iloc[:, places]
        values = np.asfortranarray(part.to_numpy(kind))
        found |= {names[place]: values[:, column] for column, place in enumerate(places)}
    texts = [names[place] for place in groups.get(object, ())]
    return found | {name: cells.read_texts(found[name], name) for name in texts}


def _unique_names(X: Any, what: str) -> list[str]:
    # Asked of the frame itself: narwhals refuses duplicate names with an error of its own.
    attribute = "column_names" if hasattr(type(X), "column_names") else "columns"
    names = [str(name) for name in getattr(X, attribute, ())]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError.about(
            what, f"has duplicate column names: {listed(twice)}", "Give every column a name of its own."
        )
    return names


def _read_series(series: Any, name: str) -> NDArray[Any]:
    import narwhals as nw

    dtype = series.dtype
    native = series.to_native()
    of_arrow = type(native).__module__.partition(".")[0] == "pyarrow"
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        found = arrow.distinct_cells(native) if of_arrow else None
        if found is None:
            return cells.read_texts(_objects(series), name)
        texts = cells.read_texts(found[0], name)
        spelled = arrow.spread(texts, found[1]) if texts.dtype == object else np.full(len(series), None)
        return np.full(len(series), np.nan) if cells.missing_mask(spelled).all() else spelled
    if dtype.is_nested() or (of_arrow and arrow.is_nested(native)):  # one such cell is enough to say so
        cells.read_cells(_objects(series.drop_nulls().head(1)), name)
    numbers = dtype.is_numeric() and dtype not in (nw.Int128, nw.UInt128)  # which are wider than anything in numpy
    if numbers or dtype.is_temporal() or dtype == nw.Boolean:
        values = series.to_numpy()
        if values.dtype.kind in _PLAIN_KINDS:
            return np.ascontiguousarray(_read_plain(values, name))
    # Cell by cell: decimals, which libraries round differently, and whatever has missing cells that numpy cannot mark.
    return cells.read_cells(_objects(series), name)


def _objects(series: Any) -> NDArray[Any]:
    """Return the cells of a series; equal texts are one object, however long they are."""
    native = series.to_native()
    if type(native).__module__.partition(".")[0] == "pyarrow":
        return arrow.cells_of(native)
    array = np.empty(len(series), dtype=object)
    same: dict[Any, Any] = {}
    for rows in chunks(len(series)):
        some = series[rows].to_list()
        array[rows] = [same.setdefault(cell, cell) if type(cell) is str else cell for cell in some]
    return array


# ---- arrays and lists


def _to_array(X: Any, what: str) -> NDArray[Any]:
    if isinstance(X, np.ma.MaskedArray):
        return cells.unmasked(X)
    try:
        # numpy spells the numbers of a mixed list as text, and gives each text the room of the longest; keep them
        array = np.asarray(X, dtype=object if _holds_text(X) else None)
        if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
            array = np.asarray(X, dtype=object)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError.about(what, f"cannot be read as a table: {error}", f"Pass {_ACCEPTED}.") from error
    return array


def _holds_text(X: Any) -> bool:
    """Whether a list of rows has a text in it."""
    return isinstance(X, (list, tuple)) and any(
        isinstance(cell, (str, bytes)) for row in X if isinstance(row, (list, tuple)) for cell in row
    )


def _read_array(array: NDArray[Any], what: str) -> Table:
    if array.ndim != 2:
        raise _not_2d(array.ndim, what)
    _refuse_empty(array.shape, what)
    kind = array.dtype.kind
    if kind == "c":
        raise InputError(
            f"Complex data not supported: {what} has dtype {array.dtype}. Pass real and imaginary parts as columns.",
            parameter=what,
            cure="Pass real and imaginary parts as columns.",
        )
    if kind in "mM":
        columns = {f"x{j}": _read_plain(array[:, j], f"x{j}") for j in range(array.shape[1])}
        return Table(columns, array.shape[0], named=False)
    array = _read_plain(array, what) if kind in _PLAIN_KINDS else array.astype(object)
    columns = {f"x{j}": array[:, j] for j in range(array.shape[1])}
    if array.dtype == object:
        columns = {name: cells.read_cells(column, name) for name, column in columns.items()}
    return Table(columns, array.shape[0], named=False)


def _read_plain(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Turn an array of one of the plain kinds into the type that columns of a table have, by a copy only if needed."""
    kind = array.dtype.kind
    if kind == "b":
        return array
    if kind == "M":
        return cells.moments(array, name)
    if kind == "m":
        return cells.seconds(array)
    with np.errstate(over="ignore"):  # long doubles beyond float64 are reported with the infinite values
        return array.astype(np.float64, copy=False)


# ---- refusals, in the words of scikit-learn where its users know them


def _refuse_empty(shape: tuple[int, ...], what: str) -> None:
    if shape[1] == 0:
        raise InputError(
            f"Found {what} with 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is required. "
            "Pass at least one column.",
            parameter=what,
            cure="Pass at least one column.",
        )
    if shape[0] == 0:
        raise InputError(
            f"Found {what} with 0 sample(s) (shape={tuple(shape)}) while a minimum of 1 is required. "
            "Pass at least one row.",
            parameter=what,
            cure="Pass at least one row.",
        )


def _not_2d(ndim: int, what: str) -> InputError:
    if ndim > 2:
        return InputError(
            f"Found {what} with dim {ndim}, but expected 2. Pass one row a sample and one column a feature.",
            parameter=what,
            expected="2 dimensions",
        )
    got = "1D array" if ndim else "scalar"
    return InputError(
        f"Expected 2D array, got {got} instead in {what}. Reshape your data either using array.reshape(-1, 1) if it "
        f"has a single feature or array.reshape(1, -1) if it is a single sample; or pass {_ACCEPTED}.",
        parameter=what,
        expected=_ACCEPTED,
    )


def _lazy(what: str) -> InputError:
    cure = f"pass {what}.collect()"
    return InputError(f"{what} is a lazy frame, whose rows are not in memory yet; {cure}.", parameter=what, cure=cure)
