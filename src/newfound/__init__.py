"""Novel class discovery in tables.

Every name is imported when it is first used, so that ``import newfound`` costs nothing.
"""

# Nothing is imported here: `python -m newfound` runs this while Python still looks for modules in the current folder.
TYPE_CHECKING = False

__version__ = "0.2.0"

_HOMES = {
    "BaseDiscoverer": "newfound.discoverers.base",
    "Choice": "newfound.selection.space",
    "Discovery": "newfound.discoverers.fitted",
    "HiddenClassKFold": "newfound.selection.hidden_classes",
    "InputError": "newfound.errors",
    "MissingExtraError": "newfound.errors",
    "ModelFileError": "newfound.errors",
    "NewfoundError": "newfound.errors",
    "Real": "newfound.selection.space",
    "TableEncoder": "newfound.tables",
    "Update": "newfound.discoverers.update",
    "Whole": "newfound.selection.space",
    "estimate_n_novel_classes": "newfound.selection.n_classes",
    "explain": "newfound.explanation",
    "export_onnx": "newfound.export",
    "hidden_class_score": "newfound.selection.hidden_classes",
    "hidden_class_scores": "newfound.selection.hidden_classes",
    "load": "newfound.persistence",
    "predict_parquet": "newfound.scale",
    "read_table": "newfound.tables.files",
    "register_discoverer": "newfound.registry",
    "report": "newfound.reporting",
    "suggest_labels": "newfound.suggestions",
    "suggest_merges": "newfound.suggestions",
    "save": "newfound.persistence",
    "tune": "newfound.selection.tune",
    "write_report": "newfound.reporting",
}
_MODULES = ("datasets", "errors", "metrics")

__all__ = [
    "PBN",
    "AutoDiscoverer",
    "BaseDiscoverer",
    "Choice",
    "ClassifierProjection",
    "Discovery",
    "HiddenClassKFold",
    "InContextDiscoverer",
    "InputError",
    "KMeansDiscoverer",
    "MissingExtraError",
    "ModelFileError",
    "NCDKMeans",
    "NCDSpectral",
    "NewfoundError",
    "Real",
    "SpectralDiscoverer",
    "TableEncoder",
    "TabularNCD",
    "Update",
    "WhitenedKMeans",
    "Whole",
    "__version__",
    "datasets",
    "errors",
    "estimate_n_novel_classes",
    "explain",
    "export_onnx",
    "hidden_class_score",
    "hidden_class_scores",
    "load",
    "metrics",
    "predict_parquet",
    "read_table",
    "register_discoverer",
    "report",
    "save",
    "suggest_labels",
    "suggest_merges",
    "tune",
    "write_report",
]

if TYPE_CHECKING:
    from typing import Any

    from newfound import datasets, errors, metrics
    from newfound.discoverers.auto import AutoDiscoverer
    from newfound.discoverers.base import BaseDiscoverer
    from newfound.discoverers.classifier_projection import ClassifierProjection
    from newfound.discoverers.fitted import Discovery
    from newfound.discoverers.in_context import InContextDiscoverer
    from newfound.discoverers.kmeans import KMeansDiscoverer
    from newfound.discoverers.ncd_kmeans import NCDKMeans
    from newfound.discoverers.ncd_spectral import NCDSpectral
    from newfound.discoverers.pbn import PBN
    from newfound.discoverers.spectral import SpectralDiscoverer
    from newfound.discoverers.tabular_ncd import TabularNCD
    from newfound.discoverers.update import Update
    from newfound.discoverers.whitened_kmeans import WhitenedKMeans
    from newfound.errors import InputError, MissingExtraError, ModelFileError, NewfoundError
    from newfound.explanation import explain
    from newfound.export import export_onnx
    from newfound.persistence import load, save
    from newfound.registry import register_discoverer
    from newfound.reporting import report, write_report
    from newfound.scale import predict_parquet
    from newfound.selection.hidden_classes import HiddenClassKFold, hidden_class_score, hidden_class_scores
    from newfound.selection.n_classes import estimate_n_novel_classes
    from newfound.selection.space import Choice, Real, Whole
    from newfound.selection.tune import tune
    from newfound.suggestions import suggest_labels, suggest_merges
    from newfound.tables import TableEncoder
    from newfound.tables.files import read_table


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"newfound.{name}")
    home = _HOMES.get(name) or _homes_of_discoverers().get(name)
    if home is not None:
        return getattr(import_module(home), name)
    raise AttributeError(f"module 'newfound' has no attribute {name!r}")


def _homes_of_discoverers() -> dict[str, str]:
    from newfound.registry import BUILT_IN

    return {entry.class_name: entry.module for entry in BUILT_IN}


def __dir__() -> list[str]:
    return __all__
