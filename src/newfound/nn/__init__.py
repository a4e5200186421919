"""Packed networks: many members trained at once, each exactly as if it were alone."""

from newfound.nn.layers import PackedBatchNorm, PackedDropout, PackedHead, PackedLinear, UnitLength
from newfound.nn.networks import ACTIVATIONS, DiscoveryNetwork, PackedMLP, class_softmax
from newfound.nn.streams import FixedDraws, MemberStreams

__all__ = [
    "ACTIVATIONS",
    "DiscoveryNetwork",
    "FixedDraws",
    "MemberStreams",
    "PackedBatchNorm",
    "PackedDropout",
    "PackedHead",
    "PackedLinear",
    "PackedMLP",
    "UnitLength",
    "class_softmax",
]
