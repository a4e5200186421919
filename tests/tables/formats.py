"""The same table in every type that newfound reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

FORMATS = ("pandas", "pandas_nullable", "pandas_object", "pandas_arrow", "polars", "pyarrow", "numpy", "lists")


def convert(columns: dict[str, list[Any]], to: str) -> Any:
    """Return the same table in one of FORMATS."""
    if to == "polars":
        return pl.DataFrame(columns)
    if to == "pyarrow":
        return pa.table(columns)
    if to == "pandas_arrow":
        return pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype)
    if to.startswith("pandas"):
        frame = pd.DataFrame(columns)
        return {"pandas": frame, "pandas_nullable": frame.convert_dtypes(), "pandas_object": frame.astype(object)}[to]
    array = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=object)
    for j, column in enumerate(columns.values()):
        array[:, j] = column
    return array if to == "numpy" else array.tolist()
