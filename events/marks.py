"""What is said of an event beside its body: how sensitive its words are, and what it states. Decided once, when it is appended.

The log knows neither the rules of sensitivity nor what two texts have in common: whoever opens it hands it a `Marker`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from engramlog_server.events.envelope import AnyEvent


class Marks(NamedTuple):
    """What a marker found in one event."""

    level: int
    """0 to 3."""
    statements: tuple[bytes, ...]
    """What the event states, each as the bytes of its normalised text; the log keeps keyed digests of them."""
    values: tuple[bytes, ...] = ()
    """Digests that the event names itself, as they are: those of a value that is rejected outlive the event's words."""
    doubtful: bool = False
    """Whether a person should look at its words before they count; of a person's own word nobody asks."""

    def by(self, marker: Marker) -> Marks:
        """What of it a log with this marker writes: only what its rules have a version for, else no entry could say by which."""
        told = (self.statements, self.values) if marker.statement_rules else ((), ())
        return Marks(self.level if marker.level_rules else 0, *told, self.doubtful)


class Marker(NamedTuple):
    """Who marks, and by which versions of its rules (from 1; 0: nobody looks, and a fold decides for itself)."""

    level_rules: int
    statement_rules: int
    of: Callable[[AnyEvent], Marks]
    wordless: frozenset[str] = frozenset()
    """Kinds (`Type.version`) that hold no words: of such an event nothing is found, and nobody has to read it."""
    doubts: Callable[[AnyEvent], bool] = lambda _event: False
    """Whether a person should look at what an event says; asked of a word that is not his own (`Prepared.doubted`)."""


NOTHING = Marks(0, ())
UNMARKED = Marker(0, 0, lambda _event: NOTHING)
"""Of a log that nobody handed a marker."""
