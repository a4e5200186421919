"""A table comes in, a matrix goes out: reading, column kinds, encoding, and the labels beside it."""

from __future__ import annotations

from newfound.tables.encoder import Layout, TableEncoder
from newfound.tables.frame import Table, as_table
from newfound.tables.labels import Labels, all_classes, novel_class_names, read_labels
from newfound.tables.schema import Column, Kind, Schema, infer_schema

__all__ = [
    "Column",
    "Kind",
    "Labels",
    "Layout",
    "Schema",
    "Table",
    "TableEncoder",
    "all_classes",
    "as_table",
    "infer_schema",
    "novel_class_names",
    "read_labels",
]
