"""Discoverers made of a method's name and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from newfound.errors import InputError
from newfound.registry import registered

if TYPE_CHECKING:
    from newfound.discoverers.base import BaseDiscoverer


def build(method: str, n_novel: int | str, settings: Mapping[str, Any], **parameters: Any) -> BaseDiscoverer:
    """Make a discoverer; parameters that it does not have are left out, settings that it does not have are refused."""
    from newfound.selection.space import with_settings

    kind: Any = registered()[method].load()
    accepted = kind().get_params()
    plain = {name: value for name, value in parameters.items() if name in accepted and value is not None}
    discoverer = kind(n_novel, **plain)
    try:
        found: BaseDiscoverer = with_settings(discoverer, settings)
    except ValueError as error:
        raise InputError(f"Got settings that {method} does not have: {error}") from None
    return found
