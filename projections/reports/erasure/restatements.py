"""What says what is erased, without a link to it: by the digest of its statement, or by most of its words. Pure.

It is shown and asked about, never taken along: who said it, and whether it is the same, only a person can tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import log
from typing import Any, NamedTuple

import msgspec

from engramlog_server.events.catalogue import (
    MemoriesAccessed,
    MemoryCompressed,
    MemoryCreated,
    MemoryMerged,
    MemoryNegated,
    MemoryRevised,
    ToolResultRecorded,
    TurnRecorded,
)
from engramlog_server.events.encryption.skeleton import WORDS
from engramlog_server.events.entry import read
from engramlog_server.events.envelope import AnyEvent, Stored
from engramlog_server.projections.fold.working_set import names
from engramlog_server.projections.language.sentences import ADDED
from engramlog_server.projections.language.text import kept_tokens
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.reports.erasure.reach import turn_name

LEAST_SHARE, LEAST_PLAIN = 0.4, 0.6
"""Of the words of what is erased, rare ones counting more, and all alike: from either on something is told to say it too. Rather
too much is told than too little: a person decides."""
LEAST_WORDS = 2
MOST_TOLD = 100
SHOWN = 100
"""Characters of a text that are told."""
_TYPES = (MemoryCreated, MemoryRevised, TurnRecorded)
_BESIDE = (MemoriesAccessed, ToolResultRecorded, MemoryNegated, MemoryMerged, MemoryCompressed)
"""What has words beside these: what was asked, what a tool answered, corrections, and what jobs made of others' words."""


class SaidAgain(NamedTuple):
    """An event that says it too."""

    seq: int
    type: str
    of: str
    """The memory or the turn, by what it is named; empty of what was asked, or a tool answered, which cannot be named."""
    how: str
    """`statement`: it states the same; `words`: it has many of its words."""
    share: float
    """Of the words, rare ones counting more, 0 to 1; 1 for the same statement."""
    text: str | None = None
    """How it begins; None of a secret."""


_Told = tuple[Stored, AnyEvent, frozenset[str], str]


class Sayings:
    """What is to be found again: words and statements of the events that go."""

    def __init__(self, going: Iterable[tuple[Stored, AnyEvent]]) -> None:
        self._words = list[frozenset[str]]()
        self._stated = set[bytes]()
        for one, event in going:
            if isinstance(event.data, _TYPES):
                said = event.data.text if isinstance(event.data, TurnRecorded) else event.data.content
                self._words.append(frozenset(kept_tokens(ADDED.sub("", said))))
                self._stated.update(_digests(one))
        self._words = [some for some in self._words if len(some) >= LEAST_WORDS]

    def found_in(self, left: Iterable[tuple[Stored, AnyEvent]]) -> list[SaidAgain]:
        """Those of the events that stay which say it too, each memory and turn once, the likest first."""
        told, beside = list[_Told](), list[_Told]()
        for one, event in left:
            if isinstance(event.data, _TYPES):
                text = event.data.text if isinstance(event.data, TurnRecorded) else event.data.content
                told.append((one, event, frozenset(kept_tokens("\n".join(words_in(event)))), text))
            elif isinstance(event.data, _BESIDE):  # several may have asked, each by himself
                beside += [(one, event, frozenset(kept_tokens(text)), text) for text in words_in(event)]
        held = Counter(word for _, _, said, _ in told for word in said)
        weights = {word: log((len(told) + 1) / (held[word] + 0.5)) for some in self._words for word in some}
        found = list[SaidAgain]()
        for one, event, said, text in (*told, *beside):
            if not self._stated.isdisjoint(_digests(one)):
                found.append(SaidAgain(one.seq, event.type, named_of(event), "statement", 1.0, _begins(one, text)))
            elif (share := self._share(said, weights)) >= LEAST_SHARE:
                found.append(
                    SaidAgain(one.seq, event.type, named_of(event), "words", round(share, 2), _begins(one, text))
                )
        likest = {one.of or one.seq: one for one in sorted(found, key=lambda one: (one.share, -one.seq))}
        return sorted(likest.values(), key=lambda one: (-one.share, one.seq))

    def _share(self, said: frozenset[str], weights: Mapping[str, float]) -> float:
        """Of the text of which it has most."""
        found = 0.0
        for some in self._words:
            plain = len(some & said) / len(some)
            rare = _sum(some & said, weights) / _sum(some, weights)
            found = max(found, rare, plain if plain >= LEAST_PLAIN else 0.0)
        return found


def named_of(event: AnyEvent) -> str:
    """The memory or the turn that an event is about, by what it is named; empty of what was asked, or a tool answered."""
    if isinstance(event.data, TurnRecorded):
        return _of_turn(event)
    return "" if isinstance(event.data, MemoriesAccessed | ToolResultRecorded) else names(event.data)[0]


def _sum(words: Iterable[str], weights: Mapping[str, float]) -> float:
    """Every word counts for something, however often it is said."""
    return sum(max(weights[word], 0.1) for word in words)


def _begins(one: Stored, text: str) -> str | None:
    if (one.level or 0) >= SECRET:
        return None
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


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
        return read(one.beside[3]).digests if one.beside[3] else ()
    except ValueError:
        return ()
