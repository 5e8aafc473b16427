"""What the log holds of an event beside what folding it did: who brought it, when it was known, and why, in its sender's words.

The change log keeps none of it. So a page of changes reads the events that it tells of, and the words stay where they can be
erased; they are told only as far as what they are about may be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache
from typing import NamedTuple

import msgspec

from engramlog_server.events.envelope import Stored, from_micros, lateness, micros, utc_text
from engramlog_server.events.text import UNREADABLE
from engramlog_server.events.vocabulary import Actor
from engramlog_server.projections.fold.changelog import Change
from engramlog_server.projections.language.sensitivity.text_level import detect_sensitivity
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.views.view import WITHHELD


class Words(NamedTuple):
    """Why somebody did it or keeps a memory, and what that is about."""

    reason: str | None
    because: str | None
    about: tuple[str, ...]
    """Memories that the event names."""
    turn_id: str | None = None
    replaced_by: str | None = None
    of_showing: bool = False
    """Whether it says why something is shown or how sensitive it is, not what it says."""

    @property
    def named(self) -> tuple[str, ...]:
        """Every memory that decides whether they may be told."""
        return self.about if self.replaced_by is None else (*self.about, self.replaced_by)


class Telling(NamedTuple):
    """What is told of a change beside its entry; all None of an event that cannot be read."""

    actor: Actor | None = None
    correlation_id: str | None = None
    recorded_at: str | None = None
    """RFC 3339; None if the entry cannot be read, as the principal."""
    principal: str | None = None
    late_by: float | None = None
    """Seconds, where it was recorded more than five minutes after it occurred."""
    words: Words | None = None

    def beside(self, change: Change) -> Change:
        """The change with what is told beside it, without any words."""
        return {
            **change,
            "actor": self.actor,
            "correlation_id": self.correlation_id,
            "recorded_at": self.recorded_at,
            "principal": self.principal,
            "late_by": self.late_by,
        }


UNTOLD = Telling()


class _Data(msgspec.Struct, frozen=True):
    reason: str = ""
    because: str | None = None
    memory_id: str | None = None
    into: str | None = None
    sources: tuple[str, ...] = ()
    memory_ids: tuple[str, ...] = ()
    turn_id: str | None = None
    replaced_by: str | None = None


class _Event(msgspec.Struct, frozen=True):
    type: str
    actor: Actor
    occurred_at: datetime
    data: _Data
    correlation_id: str | None = None


_EVENT = msgspec.json.Decoder(_Event)
_OF_SHOWING = frozenset({"MemoriesRevealed", "SensitivitySet"})


def telling(stored: Stored) -> Telling:
    """What a stored event tells. Several times as fast as `decode`."""
    recorded, principal, known = _beside(stored)
    try:
        event = _EVENT.decode(stored.body)
    except UNREADABLE:
        return Telling(recorded_at=known, principal=principal)
    data, words = event.data, None
    reason, because = (((text or "").strip() and text) or None for text in (data.reason, data.because))
    if reason or because:
        named = (data.memory_id, data.into, *data.sources, *data.memory_ids)
        about = tuple(one for one in named if one is not None)
        words = Words(reason, because, about, data.turn_id, data.replaced_by, event.type in _OF_SHOWING)
    late = None if recorded is None else lateness(micros(event.occurred_at), recorded)
    return Telling(event.actor, event.correlation_id, known, principal, late, words)


def _beside(stored: Stored) -> tuple[int | None, str | None, str | None]:
    """Recorded time, principal, and the time as text; None of what cannot be read."""
    try:
        recorded, principal = stored.recorded, stored.principal
    except (ValueError, IndexError):
        return None, None, None
    return recorded, principal, None if recorded is None else utc_text(from_micros(recorded))


class Teller:
    """Tells words as far as an owner's memories of today let them be told."""

    def __init__(self, get: Callable[[str], Memory | None], forgotten: Callable[[], frozenset[str]]) -> None:
        """`get`: a memory of today; `forgotten`: turns that must not be told, asked for once, of words about a turn."""
        self._get = get
        self._forgotten = cache(forgotten)

    def told(self, words: Words, memory_id: str | None) -> tuple[str | None, str | None]:
        """`said_reason`, why it was done, and `because`, why the memory is kept.

        None where what they are about is purged, or its correction deleted, or its turn retracted; a deleted memory is no longer
        kept because of anything. Withheld where they look secret, or speak of a memory that is one.
        """
        memories = list(self._memories([*words.about, memory_id]))
        if any(one.purged_at is not None for one in memories) or self._is_gone(words):
            return None, None
        secret = not words.of_showing and any(one.sensitivity >= SECRET for one in memories)
        kept = not any(one.deleted_at is not None for one in memories)
        because = words.because if kept else None
        return _as_may_be(words.reason, secret=secret), _as_may_be(because, secret=secret)

    def _memories(self, ids: Iterable[str | None]) -> Iterable[Memory]:
        found = (self._get(one) for one in dict.fromkeys(ids) if one is not None)
        return (one for one in found if one is not None)

    def _is_gone(self, words: Words) -> bool:
        successor = None if words.replaced_by is None else self._get(words.replaced_by)
        if successor is not None and (successor.deleted_at is not None or successor.purged_at is not None):
            return True
        return words.turn_id is not None and words.turn_id in self._forgotten()


def _as_may_be(text: str | None, *, secret: bool) -> str | None:
    return text if text is None or not (secret or detect_sensitivity(text) >= SECRET) else WITHHELD
