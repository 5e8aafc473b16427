"""Which changes of a history are asked for: by when they happened, when they were recorded, and what they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypedDict

from api.requests.spans import WHOLE, TimeSpan
from events.catalogue import EVENT_TYPES
from events.errors import refused
from projections.fold.changelog import DECISIONS, Entry

_TYPES = tuple(EVENT_TYPES)


class ChangeTerms(TypedDict, total=False):
    """Which changes, as they are asked for."""

    since: str | None
    """Happened then or later."""
    until: str | None
    """Happened then or before."""
    recorded_since: str | None
    recorded_until: str | None
    kinds: Sequence[str]
    """Decisions (`negate`) and types of events (`MemoryNegated`)."""
    law: str | None
    """In the numbers of which law; the stored ones are the weighted law's."""


class ChangesWanted(NamedTuple):
    """The same, checked."""

    happened: TimeSpan = WHOLE
    decisions: frozenset[int] = frozenset()
    types: frozenset[int] = frozenset()
    """Either will do; where both are empty any does."""
    positions: range | None = None
    """Seqs that were recorded when asked for; None: any."""

    @property
    def all(self) -> bool:
        """Whether every change is asked for."""
        return self == ANY

    def holds(self, entry: Entry) -> bool:
        """Whether a change is asked for."""
        kinds = not (self.decisions or self.types)
        return (
            (kinds or entry.decision in self.decisions or entry.type in self.types)
            and self.happened.holds(entry.at)
            and (self.positions is None or entry.seq in self.positions)
        )


ANY = ChangesWanted()


def kinds_of(kinds: Sequence[str]) -> ChangesWanted:
    """Changes of these kinds. Raises InputError for what is none."""
    for one in kinds:
        if one not in DECISIONS and one not in EVENT_TYPES:
            raise refused("kinds", one, f"a decision ({', '.join(DECISIONS)}) or a type of events (MemoryNegated)")
    return ChangesWanted(
        decisions=frozenset(DECISIONS.index(one) for one in kinds if one in DECISIONS),
        types=frozenset(_TYPES.index(one) for one in kinds if one in EVENT_TYPES),
    )
