from __future__ import annotations

from tests.conftest import uninstall

__all__ = ["uninstall"]
