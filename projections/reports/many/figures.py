"""What every figure of many owners has: how many were looked at, who could not be, and adding that no order changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import msgspec


class OwnersFigures(msgspec.Struct, tag_field="work"):
    """Many owners in sum. `add` takes in another part: the sum does not depend on how owners were parted, nor on the order."""

    own: ClassVar[frozenset[str]] = frozenset()
    """Fields that are added up in a way of their own."""
    owners: int = 0
    """All that were looked at, or could not be."""
    quarantined: int = 0
    """Looked at as of before the event that stuck: what follows there is in no figure."""
    behind: int = 0
    """Looked at as far as they are folded: newer events of them wait."""
    left_out: dict[str, int] = {}
    """Owners that could not be looked at, by the kind of error."""

    def add(self, other: OwnersFigures) -> None:
        """Take in another part, of the same kind. Counts are added, tallies value by value."""
        for name in self.__struct_fields__:
            if name in self.own:
                continue
            mine, more = getattr(self, name), getattr(other, name)
            if isinstance(mine, dict):
                tally(mine, more.items())
            else:
                setattr(self, name, mine + more)

    def leaves_out(self, kind: str) -> None:
        """Count an owner that cannot be looked at."""
        self.owners += 1
        tally(self.left_out, [(kind, 1)])

    def told(self) -> dict[str, Any]:
        """JSON-ready."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        del found["work"]
        return found


def tally(counts: dict[str, int], more: Iterable[tuple[str, int]]) -> None:
    """Add counts to those of the same names."""
    for name, many in more:
        counts[name] = counts.get(name, 0) + many
