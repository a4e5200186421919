"""Tables that are larger than memory: read batch by batch, as often as needed."""

from newfound.tables.streams.schemas import nested_columns
from newfound.tables.streams.source import (
    RESULT,
    Piece,
    TableStream,
    is_stream,
    open_files,
    open_stream,
    refuse_to_overwrite,
)
from newfound.tables.streams.summary import Summary, count_labelled, summarise, summarise_piece

__all__ = [
    "RESULT",
    "Piece",
    "Summary",
    "TableStream",
    "count_labelled",
    "is_stream",
    "nested_columns",
    "open_files",
    "open_stream",
    "refuse_to_overwrite",
    "summarise",
    "summarise_piece",
]
