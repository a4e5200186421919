"""Texts and budgets as the readers of files take them."""

from __future__ import annotations

from newfound.tables.files.budget import Budget
from newfound.tables.files.text import Decoded


def budget(memory: int = 1 << 30) -> Budget:
    return Budget(memory, "table.csv")


def as_decoded(text: str) -> Decoded:
    return Decoded(text.encode("utf-8", "surrogatepass"), "utf-8", "")
