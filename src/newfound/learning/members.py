"""Settings of the members of a pack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class MemberSettings:
    """Parameters of each member of a pack.

    Members of one discoverer have the same parameters; those of discoverers fitted together may differ in some.

    Attributes
    ----------
    members : tuple of dict
        One dict of parameters for each member.

    Examples
    --------
    >>> settings = MemberSettings(({"w1": 0.2, "epochs": 3}, {"w1": 0.8, "epochs": 3}))
    >>> settings["epochs"], settings.each("w1")
    (3, [0.2, 0.8])
    """

    members: tuple[Mapping[str, Any], ...]

    @classmethod
    def same(cls, parameters: Mapping[str, Any], n_members: int) -> Self:
        """Give all members the same parameters."""
        return cls((parameters,) * n_members)

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.members)

    def __getitem__(self, name: str) -> Any:
        """Return a parameter in which the members do not differ."""
        return self.members[0][name]

    def each(self, name: str) -> Any:
        """Return the value that all members have, or a list with one value for each where they differ."""
        values: Sequence[Any] = [member[name] for member in self.members]
        return values[0] if len(set(values)) == 1 else values
