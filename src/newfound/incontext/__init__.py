"""The network that sees a whole table at once: labelled rows of known classes beside unlabelled rows."""

from newfound.incontext.context import ALL_NOVEL, MIXED, UNKNOWN, Context, Draws
from newfound.incontext.features import Prepared, prepare
from newfound.incontext.network import InContextNetwork, NetworkOutput, NetworkShape

__all__ = [
    "ALL_NOVEL",
    "MIXED",
    "UNKNOWN",
    "Context",
    "Draws",
    "InContextNetwork",
    "NetworkOutput",
    "NetworkShape",
    "Prepared",
    "prepare",
]
