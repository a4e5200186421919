"""The laboratory of newfound: benchmarks, the paper, and the research behind the discoverers."""

from __future__ import annotations

from newfound import __version__

__all__ = ["__version__"]
