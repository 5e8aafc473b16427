"""What says what is erased, without a link to it: by the digest of its statement, or by most of its words. Pure.

It is shown and asked about, never taken along: who said it, and whether it is the same, only a person can tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from events.catalogue import MemoryCreated, MemoryRevised, TurnRecorded
from events.envelope import AnyEvent, Stored
from events.statement_digests import read
from events.wordless import WORDS
from projections.fold.named import names
from projections.language.text import kept_tokens
from projections.reports.erasing_reach import turn_name

LEAST_SHARE = 0.6
"""Of the words of what is erased, from which on something is said to say it too."""
LEAST_WORDS = 2
MOST_TOLD = 100
_TYPES = (MemoryCreated, MemoryRevised, TurnRecorded)


class SaidAgain(NamedTuple):
    """An event that says it too."""

    seq: int
    type: str
    of: str
    """The memory or the turn, by what it is named."""
    how: str
    """`statement`: it states the same; `words`: it has most of its words."""
    share: float
    """Of the words, 0 to 1; 1 for the same statement."""


class Sayings:
    """What is to be found again: words and statements of the events that go."""

    def __init__(self, going: Iterable[tuple[Stored, AnyEvent]]) -> None:
        self._words = list[frozenset[str]]()
        self._stated = set[bytes]()
        for one, event in going:
            if isinstance(event.data, _TYPES):
                said = event.data.text if isinstance(event.data, TurnRecorded) else event.data.content
                self._words.append(frozenset(kept_tokens(said)))
                self._stated.update(_digests(one))
        self._words = [some for some in self._words if len(some) >= LEAST_WORDS]

    def found_in(self, left: Iterable[tuple[Stored, AnyEvent]]) -> Iterator[SaidAgain]:
        """Those of the events that stay which say it too, in the order of the log."""
        for one, event in left:
            if not isinstance(event.data, _TYPES):
                continue
            about = _of_turn(event) if isinstance(event.data, TurnRecorded) else names(event.data)[0]
            if not self._stated.isdisjoint(_digests(one)):
                yield SaidAgain(one.seq, event.type, about, "statement", 1.0)
            elif (share := self._share(event)) >= LEAST_SHARE:
                yield SaidAgain(one.seq, event.type, about, "words", round(share, 2))

    def _share(self, event: AnyEvent) -> float:
        said = frozenset(kept_tokens("\n".join(words_in(event))))
        return max((len(some & said) / len(some) for some in self._words), default=0.0)


def _of_turn(event: AnyEvent) -> str:
    return turn_name(event.data.turn_id, event.session_id) if event.session_id else event.data.turn_id


def words_in(event: AnyEvent) -> Iterator[str]:
    """Everything in an event that an erasure takes, as texts."""
    for field in WORDS.get(event.type, ()):
        yield from _texts(getattr(event.data, field))
    if event.type == "MemoriesAccessed":
        yield from (one.query for one in event.data.accesses if one.query)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, msgspec.Struct):
        yield from _texts(msgspec.structs.astuple(value))
    elif isinstance(value, dict):
        yield from (text for part in value.values() for text in _texts(part))
    elif isinstance(value, tuple | list):
        yield from (text for part in value for text in _texts(part))


def _digests(one: Stored) -> tuple[bytes, ...]:
    try:
        return read(one.beside[3]).digests if one.beside and one.beside[3] else ()
    except ValueError:
        return ()
