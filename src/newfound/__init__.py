"""Novel class discovery in tables.

Every name is imported when it is first used, so that ``import newfound`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "ClassifierProjection": "newfound.discoverers",
    "InputError": "newfound.errors",
    "KMeansDiscoverer": "newfound.discoverers",
    "MissingExtraError": "newfound.errors",
    "ModelFileError": "newfound.errors",
    "NewfoundError": "newfound.errors",
    "SpectralDiscoverer": "newfound.discoverers",
    "TableEncoder": "newfound.tables",
    "TabularNCD": "newfound.discoverers",
    "load": "newfound.persistence",
    "save": "newfound.persistence",
}
_MODULES = ("datasets", "errors", "metrics")

__all__ = [
    "ClassifierProjection",
    "InputError",
    "KMeansDiscoverer",
    "MissingExtraError",
    "ModelFileError",
    "NewfoundError",
    "SpectralDiscoverer",
    "TableEncoder",
    "TabularNCD",
    "__version__",
    "datasets",
    "errors",
    "load",
    "metrics",
    "save",
]

if TYPE_CHECKING:
    from newfound import datasets, errors, metrics
    from newfound.discoverers import ClassifierProjection, KMeansDiscoverer, SpectralDiscoverer, TabularNCD
    from newfound.errors import InputError, MissingExtraError, ModelFileError, NewfoundError
    from newfound.persistence import load, save
    from newfound.tables import TableEncoder


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"newfound.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'newfound' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
