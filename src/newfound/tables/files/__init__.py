"""Tables in files: CSV of any delimiter and encoding, JSON lines, Parquet, Feather and Excel."""

from __future__ import annotations

from newfound.tables.files.reading import read_file, read_table
from newfound.tables.files.table_file import TableFile
from newfound.tables.files.targets import Target, read_target

__all__ = ["TableFile", "Target", "read_file", "read_table", "read_target"]
