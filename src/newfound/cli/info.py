"""`newfound info`: what is installed here, and where data is looked for."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import typer

_PACKAGES = ("newfound", "torch", "numpy", "scipy", "scikit-learn", "narwhals", "safetensors")
_OPTIONAL = ("matplotlib", "pandas", "polars", "pyarrow")


def info() -> None:
    """Show versions, device and folders, for bug reports."""
    lines = {
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        **{name: _version(name) for name in (*_PACKAGES, *_OPTIONAL)},
        "device": _device(),
        "data folder": _data_folder(),
        "cache folder": _cache_folder(),
    }
    width = max(map(len, lines))
    for name, value in lines.items():
        typer.echo(f"{name:<{width}}  {value}")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _device() -> str:
    """Say what device="auto" picks."""
    import torch

    if torch.cuda.is_available():
        return f"cuda ({torch.cuda.get_device_name()})"
    return f"cpu ({torch.get_num_threads()} threads)"


def _data_folder() -> str:
    given = os.environ.get("NEWFOUND_DATA")
    if not given:
        return "not set (NEWFOUND_DATA)"
    return given + ("" if Path(given).expanduser().is_dir() else " (NEWFOUND_DATA; there is no such folder)")


def _cache_folder() -> str:
    from newfound.datasets.files import cache_folder

    folder = cache_folder()
    return str(folder) + ("" if folder.is_dir() else " (not there yet)")
