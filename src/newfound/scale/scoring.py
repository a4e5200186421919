"""Prediction of large tables on many machines, with Ray Data."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from newfound.discoverers.base import BaseDiscoverer
from newfound.discoverers.parameters import check_integer
from newfound.errors import InputError
from newfound.extras import load_extra
from newfound.scale.cluster import cluster
from newfound.scale.predicting import check_fitted, check_kept, predicted, write_tables
from newfound.tables.streams import Piece, TableStream, open_stream, refuse_to_overwrite


def predict_on_ray(
    model: BaseDiscoverer,
    source: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    keep: Sequence[str] = (),
    n_workers: int | None = None,
    address: str | None = None,
) -> int:
    """Do what `predict_parquet` does on the workers of a cluster; the file is the same.

    Parameters
    ----------
    model : discoverer
        Fitted.
    source : str or path
        A Parquet file, a folder of them, or a pattern such as ``"2026-*.parquet"``; all machines have to see it.
    path : str or path
        The file to write, on this machine. It appears once it is complete; one that is there already is then replaced.
    keep : sequence of str, default=()
        Columns of the table that are written too.
    n_workers : int or None, default=None
        Processes that predict, each with one processor; None is one for each processor of the cluster.
    address : str or None, default=None
        Of a cluster, such as "auto" or "ray://head:10001"; None starts one of this machine alone. Where this process
        has called ``ray.init`` before, that cluster is used in any case.

    Returns
    -------
    int
        Number of rows.

    Examples
    --------
    >>> from newfound.scale import predict_on_ray
    >>> predict_on_ray(model, "calls/2027-*.parquet", "classes.parquet", keep=["call"])  # doctest: +SKIP
    12582912
    """
    check_fitted(model)
    if not isinstance(source, (str, os.PathLike)):
        raise InputError.of("source", type(source).__name__, "a Parquet file, a folder of them, or a pattern")
    if n_workers is not None:
        check_integer("n_workers", n_workers, low=1)
    with open_stream(os.path.abspath(os.fspath(source)), None) as stream, cluster(address) as ray:
        refuse_to_overwrite(stream, path)
        check_kept(keep, stream.column_names())
        data = load_extra("ray.data", "Prediction on Ray")
        with _in_order_and_quiet(data):
            pieces = stream.pieces()
            most = n_workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
            scored = data.from_items(list(range(len(pieces))), override_num_blocks=len(pieces)).map_batches(
                _Scorer,
                fn_constructor_args=(ray.put(model), stream, pieces, tuple(keep)),
                batch_size=1,
                compute=data.ActorPoolStrategy(size=min(most, len(pieces))),
                zero_copy_batch=True,
            )
            return write_tables(scored.iter_batches(batch_size=None, batch_format="pyarrow"), path)


@contextmanager
def _in_order_and_quiet(data: Any) -> Iterator[None]:
    """Have Ray Data keep the order of rows and say nothing, within this."""
    context, logger = data.DataContext.get_current(), logging.getLogger("ray.data")
    before = context.execution_options.preserve_order, context.enable_progress_bars, logger.level
    context.execution_options.preserve_order, context.enable_progress_bars = True, False
    logger.setLevel(logging.CRITICAL)  # errors are raised, and need not be told before
    try:
        yield
    finally:
        context.execution_options.preserve_order, context.enable_progress_bars = before[:2]
        logger.setLevel(before[2])


class _Scorer:
    """Predicts pieces of a table; one for each worker, which holds the model.

    Parameters
    ----------
    model : BaseDiscoverer or reference to one
    stream : TableStream
    pieces : sequence of Piece
    keep : sequence of str
    """

    def __init__(self, model: Any, stream: TableStream, pieces: Sequence[Piece], keep: Sequence[str]) -> None:
        self._model = model if isinstance(model, BaseDiscoverer) else load_extra("ray", "Prediction on Ray").get(model)
        self._stream, self._pieces, self._keep = stream, pieces, keep

    def __call__(self, batch: dict[str, Any]) -> Iterator[Any]:
        """Predict the pieces whose numbers are in a batch; yields tables of pyarrow."""
        for place in batch["item"]:
            for table, _ in self._stream.batches(self._pieces[int(place)]):
                yield predicted(self._model, table, self._keep)
