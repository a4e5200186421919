"""Packages that newfound can do without, until somebody asks for what they do."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from newfound.errors import MissingExtraError

EXTRAS = {
    "fastapi": "web",
    "matplotlib": "plot",
    "onnx": "export",
    "onnxruntime": "export",
    "openpyxl": "excel",
    "optuna": "tune",
    "pandas": "data",
    "pyarrow": "data",
    "python_multipart": "web",
    "ray": "scale",
    "uvicorn": "web",
}
"""The extra of newfound's that brings each package."""


def is_installed(package: str) -> bool:
    """Say whether a package is there, without importing it."""
    return find_spec(package) is not None


def load_extra(module: str, purpose: str, otherwise: str | None = None) -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        Such as "optuna" or "pyarrow.parquet".
    purpose : str
        What the package is needed for, as the subject of a sentence, such as "The search".
    otherwise : str, optional
        What else the user can do, such as "save the table as CSV".

    Returns
    -------
    module

    Raises
    ------
    MissingExtraError
        If the package is not installed; says how to install it.

    Examples
    --------
    >>> load_extra("optuna", "The search").__name__
    'optuna'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(missing_extra(module, purpose, otherwise)) from error


def missing_extra(module: str, purpose: str, otherwise: str | None = None) -> str:
    """Say what a package is needed for and how to install it; the parameters are those of `load_extra`.

    Examples
    --------
    >>> missing_extra("matplotlib", "A picture")
    "A picture needs matplotlib, which is not installed; run: pip install 'newfound[plot]'"
    """
    package = module.partition(".")[0]
    command = f"pip install 'newfound[{EXTRAS[package]}]'"
    return f"{purpose} needs {package}, which is not installed; run: {command}" + (
        "" if otherwise is None else f", or {otherwise}."
    )
