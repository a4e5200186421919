"""`newfound info`: what is installed here and where data is looked for, or what a model holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from newfound.cli.options import JsonOption
from newfound.cli.output import Output
from newfound.counting import counted

PACKAGES = ("newfound", "torch", "numpy", "scipy", "scikit-learn", "narwhals", "safetensors")
_OPTIONAL = ("matplotlib", "pandas", "polars", "pyarrow", "openpyxl", "optuna", "onnx", "newfound-lab")


def info(
    model: Annotated[
        Path | None, typer.Argument(metavar="[MODEL]", help="Show what this model holds instead.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show versions, device and folders; or what a model holds."""
    output = Output(as_json)
    facts = _installed() if model is None else _model_facts(model, output)
    width = max(map(len, facts))
    for name, value in facts.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        output.say(f"{name:<{width}}  {shown}")
    output.finish(facts)


def version_of(package: str) -> str:
    """Version of an installed package."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _installed() -> dict[str, Any]:
    import platform

    return {
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        **{name: version_of(name) for name in (*PACKAGES, *_OPTIONAL)},
        "device": _device(),
        "data folder": _data_folder(),
        "cache folder": _cache_folder(),
    }


def _model_facts(path: Path, output: Output) -> dict[str, Any]:
    from newfound.cli.reading import load_model

    model = load_model(path, output)
    columns = [f"{column.name} ({column.kind})" for column in model.encoder_.schema_.used]
    return {
        "model": str(path),
        "discoverer": type(model).__name__,
        "known classes": model.known_classes_.tolist(),
        "novel classes": model.novel_classes_.tolist(),
        "rows seen": len(model.labels_),
        **_routing(model),
        "columns": columns,
        "ignored": [column.name for column in model.encoder_.schema_.ignored],
    }


def _routing(model: Any) -> dict[str, str]:
    """Say what the unlabelled rows were taken for, where that was found out."""
    if not hasattr(model, "known_share_"):
        return {}
    low, high = model.known_share_.interval
    share = f"known share {model.known_share_:.2f}, likely {low:.2f} to {high:.2f}"
    return {"unlabelled": f"{model.unlabelled_} ({model.unlabelled_reason_}; {share})"}


def _device() -> str:
    """Say what device="auto" picks."""
    import torch

    if torch.cuda.is_available():
        return f"cuda ({torch.cuda.get_device_name()})"
    return f"cpu ({counted(torch.get_num_threads(), 'thread')})"


def _data_folder() -> str:
    given = os.environ.get("NEWFOUND_DATA")
    if not given:
        return "not set (NEWFOUND_DATA)"
    return given + ("" if Path(given).expanduser().is_dir() else " (NEWFOUND_DATA; there is no such folder)")


def _cache_folder() -> str:
    from newfound.folders import cache_folder

    folder = cache_folder()
    return str(folder) + ("" if folder.is_dir() else " (not there yet)")
