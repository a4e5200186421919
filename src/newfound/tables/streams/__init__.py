"""Tables that are larger than memory: read batch by batch, as often as needed."""

from newfound.tables.streams.source import TableStream, is_stream, open_stream
from newfound.tables.streams.summary import Summary, summarise

__all__ = ["Summary", "TableStream", "is_stream", "open_stream", "summarise"]
