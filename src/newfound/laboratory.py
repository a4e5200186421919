"""The laboratory, a package of its own that measures what this one does; found by its name, never imported here."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = ["INSTALL_LABORATORY", "find_laboratory"]

INSTALL_LABORATORY = "pip install newfound-lab, or from a clone of the repository: pip install ./laboratory"


def find_laboratory(module: str) -> ModuleType | None:
    """Import a module of the laboratory; None where the laboratory is not installed.

    Parameters
    ----------
    module : str
        Name within ``newfound_lab``, such as "datasets".
    """
    try:
        return import_module(f"newfound_lab.{module}")
    except ModuleNotFoundError as error:
        if error.name != "newfound_lab":  # it is there, and something that it needs is not
            raise
        return None
