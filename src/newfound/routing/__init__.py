"""Known or novel: what decides for an unlabelled row whether it is of a known class."""

from newfound.routing.forest import Forest
from newfound.routing.router import Routing, route
from newfound.routing.share import KnownShare

__all__ = ["Forest", "KnownShare", "Routing", "route"]
