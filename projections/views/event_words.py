"""An event of the log as it is shown: envelope, what the log records with it, and as much of its words as other answers show. Pure.

The change log keeps neither who brought it, nor when it was known, nor why, in its sender's words. So a page of changes reads
the events that it tells of (`telling`), and the words stay where they can be erased.

Reasons pass through `Teller`, turns are cut by deletions and set-aside sources, all else by the memories that the event names
as they are today. A withheld word is replaced by a mark with the reason; ids, numbers and times stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

import msgspec
import orjson

from engramlog_server.events.catalogue import LATEST_VERSION
from engramlog_server.events.cipher import BODY_MARK
from engramlog_server.events.envelope import (
    WORDS,
    AnyEvent,
    Stored,
    bringer,
    decode,
    from_micros,
    is_left,
    is_wordless,
    lateness,
    micros,
    utc_text,
)
from engramlog_server.events.errors import UndecodableEvent
from engramlog_server.events.partitions import position_text
from engramlog_server.events.text import UNREADABLE
from engramlog_server.events.trust import lowest
from engramlog_server.events.vocabulary import Actor, Shape
from engramlog_server.projections.fold.changelog import id_text
from engramlog_server.projections.fold.working_set import names
from engramlog_server.projections.language.sensitivity.level import (
    detect_sensitivity,
    level_now,
    level_of_data,
    may_hold_words,
)
from engramlog_server.projections.memory.record import SECRET, Asides, Memory
from engramlog_server.projections.memory.working_memory import ToolResult, Turn, read_said, set_aside_among
from engramlog_server.projections.shapes import Change, LoggedEvent
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


ERASED, PURGED, DELETED, RETRACTED, SECRET_WORDS, ASIDE, UNDECIDED = (
    "erased", "purged", "deleted", "retracted", "secret", "set_aside", "undecided",
)  # fmt: skip
"""Why words are withheld. Erased: nobody has them any more. Undecided: who could tell is too large to be loaded here."""
WHY = (ERASED, PURGED, DELETED, RETRACTED, SECRET_WORDS, ASIDE, UNDECIDED)
_BY_THE_TELLER = ("reason", "because")
_PROOFS = frozenset({"digest", "asked"})
"""Of a block, by `BlockMade`: compared here, and told on no face."""


class OwnerToday(NamedTuple):
    """What decides about an owner's words: its memories and turns as they are today."""

    get: Callable[[str], Memory | None]
    forgotten: Callable[[], frozenset[str] | None]
    """Turns that must not be told; None where nobody can say."""
    asides: Asides
    aside_turns: Callable[[], frozenset[str]] = frozenset
    """Turns of sources that are set aside: what tools answered in them is not told either, whoever brought it."""


class EventWords(NamedTuple):
    """An event's data as it may be told."""

    data: dict[str, Any]
    withheld: str | None
    """Why something of it is not told; None where all is."""


def words_of(stored: Stored, event: AnyEvent, today: OwnerToday) -> EventWords:
    """The data of an event that could be read, each text of it told or marked."""
    whose = _Whose(stored, event, today)
    data = without_proofs(orjson.loads(stored.body).get("data") or {})
    told = _shape(data, type(event.data), whose.told)
    if not (is_left(stored) and is_wordless(event)):
        return EventWords(told, whose.first)
    return EventWords(told | {name: mark(ERASED) for name in WORDS.get(event.type, ()) if told.get(name) == ""}, ERASED)


def hidden_among(stored: Stored, event: AnyEvent, today: OwnerToday, texts: Iterable[str]) -> frozenset[str]:
    """Which of these texts of an event may not be told."""
    whose = _Whose(stored, event, today)
    return frozenset(text for text in texts if whose.told("", text) != text)


def without_proofs(data: dict[str, Any]) -> dict[str, Any]:
    """The same without what proves how a block was worded: a digest confirms a guess to whoever has the owner's secret."""
    block = data.get("block")
    if not isinstance(block, dict):
        return data
    return data | {"block": {name: value for name, value in block.items() if name not in _PROOFS}}


def mark(reason: str) -> str:
    """What stands for a text."""
    return f"[withheld: {reason}]"


class _Whose:
    """Decides text by text for one event."""

    def __init__(self, stored: Stored, event: AnyEvent, today: OwnerToday) -> None:
        self._stored, self._event, self._today = stored, event, today
        level = level_now(stored)
        self._clean = level is not None and level < SECRET
        """Today's rules found no secret in any of its texts when it came in."""
        self.first: str | None = None
        self._reason = cache(self._why)
        self._said = cache(self._by_the_teller)

    def told(self, field: str, text: str) -> str:
        """The text, or the mark that stands for it."""
        if not text.strip():
            return text
        reason = self._reason_of(field, text)
        if reason is None:
            return text
        self.first = self.first or reason
        return mark(reason)

    def _reason_of(self, field: str, text: str) -> str | None:
        if field in _BY_THE_TELLER:
            said = self._said()
            return None if said is not None and said[field == "because"] == text else self._reason() or SECRET_WORDS
        if reason := self._reason():
            return reason
        return SECRET_WORDS if not self._clean and detect_sensitivity(text) >= SECRET else None

    def _by_the_teller(self) -> tuple[str | None, str | None] | None:
        words = telling(self._stored).words
        if words is None:
            return None
        forgotten = self._today.forgotten() if words.turn_id is not None else frozenset()
        if forgotten is None:
            return None
        gone = forgotten
        return Teller(self._today.get, lambda: gone).told(words, None)

    def _why(self) -> str | None:
        """Why none of its texts may be told, of which a memory or a turn decides."""
        memories = list(self._memories())
        if any(one.purged_at is not None for one in memories):
            return PURGED
        if any(one.deleted_at is not None for one in memories):
            return DELETED
        return (
            self._why_of_the_turn()
            or (SECRET_WORDS if self._is_secret(memories) else None)
            or self._why_of_the_source()
        )

    def _memories(self) -> Iterator[Memory]:
        """Those that it names, as they are today, and what they were merged into."""
        waiting = list(dict.fromkeys(names(self._event.data)))
        known = set(waiting)
        for one in waiting:
            memory = self._today.get(one)
            if memory is None:
                continue
            yield memory
            if memory.merged_into is not None and memory.merged_into not in known:
                known.add(memory.merged_into)
                waiting.append(memory.merged_into)

    def _why_of_the_turn(self) -> str | None:
        turn_id = getattr(self._event.data, "turn_id", None)
        if turn_id is None:
            return None
        forgotten = self._today.forgotten()
        if forgotten is None:
            return UNDECIDED
        return RETRACTED if turn_id in forgotten else None

    def _is_secret(self, memories: list[Memory]) -> bool:
        if self._event.type not in _OF_SHOWING and any(one.sensitivity >= SECRET for one in memories):
            return True
        level = self._stored.level
        return not self._clean and (level_of_data(self._event.data) if level is None else level) >= SECRET

    def _why_of_the_source(self) -> str | None:
        asides, said = self._today.asides, read_said(self._stored)
        if not isinstance(said, Turn | ToolResult) or not any(one.stands for one in asides):
            return None
        if set_aside_among([said], asides):
            return ASIDE
        answers = isinstance(said, ToolResult) and said.turn_id is not None
        return ASIDE if answers and said.turn_id in self._today.aside_turns() else None


Told = Callable[[str, str], str]


def _shape(data: dict[str, Any], cls: type, told: Told) -> dict[str, Any]:
    """An object by the shape that its type has; what that does not name is taken for words."""
    kinds = _kinds(cls)
    return {name: _value(name, value, kinds.get(name, str), told) for name, value in data.items()}


def _value(name: str, value: Any, kind: Any, told: Told) -> Any:
    if not may_hold_words(kind):
        return value
    if isinstance(value, str):
        return told(name, value)
    inner = _inner(kind)
    if isinstance(value, dict):
        if inner is not None:
            return _shape(value, inner, told)
        lines = "\n".join(f"{one}: {item}" for one, item in value.items())
        return value if told(name, lines) == lines else told(name, lines)
    if isinstance(value, list):
        return [_value(name, one, inner or kind, told) for one in value]
    return value


@cache
def _kinds(cls: type) -> dict[str, Any]:
    return {one.encode_name: one.type for one in msgspec.structs.fields(cls)} if issubclass(cls, Shape) else {}


def _inner(kind: Any) -> type | None:
    """The shape of what lies in a field, where it has one."""
    if isinstance(kind, type):
        return kind if issubclass(kind, Shape) else None
    return next((found for one in getattr(kind, "__args__", ()) if (found := _inner(one)) is not None), None)


MODELS_DECIDE = frozenset({"extract", "review", "sessions"})
"""What a correlation begins with that names the model behind it."""
UNKNOWN, DAMAGED, SHUT = (
    "of no type or version that this release knows",
    "its bytes cannot be read",
    "it is sealed, and its key was destroyed or cannot be had now",
)
UNDECODABLE = "undecodable"


def event_of(stored: Stored) -> AnyEvent | None:
    """The event in an entry; None where it cannot be read."""
    try:
        return decode(stored.kind, stored.body)
    except UndecodableEvent:
        return None


def event_told(stored: Stored, partition: int, today: Callable[[], OwnerToday], *, folded: bool | None) -> LoggedEvent:
    """An entry of the log. `today` is asked where it can be read; `folded`: whether it is, None where nobody looked."""
    recorded, principal, _ = _beside(stored)
    kind, _, version = stored.kind.rpartition(".")
    told: LoggedEvent = {
        "position": position_text(partition, stored.seq),
        "event_id": id_text(stored.raw_id),
        "type": kind or stored.kind,
        "schema_version": int(version) if version.isdigit() else None,
        "owner": stored.owner,
        "occurred_at": None,
        "recorded_at": None if recorded is None else utc_text(from_micros(recorded)),
        "late_by": None,
        "actor": None,
        "principal": principal,
        "model": _model(principal, None),
        "trust": None,
        "session_id": None,
        "causation_id": None,
        "correlation_id": None,
        "data": None,
        "withheld": UNDECODABLE,
        "folded": folded,
        "problem": _problem(stored, kind, version),
        "bytes": len(stored.body),
    }
    event = event_of(stored)
    if event is None:
        return told
    words = words_of(stored, event, today())
    return {
        **told,
        "occurred_at": utc_text(event.occurred_at),
        "late_by": None if recorded is None else lateness(micros(event.occurred_at), recorded),
        "actor": event.actor,
        "model": _model(principal, event.correlation_id),
        "trust": lowest(stored.trust, event.trust),
        "session_id": event.session_id,
        "causation_id": event.causation_id,
        "correlation_id": event.correlation_id,
        "data": words.data,
        "withheld": words.withheld,
        "problem": None,
    }


def _problem(stored: Stored, kind: str, version: str) -> str:
    """Why an entry cannot be read."""
    if stored.body[:1] == BODY_MARK:
        return SHUT
    return UNKNOWN if version.isdigit() and _unknown(kind, int(version)) else DAMAGED


def _unknown(kind: str, version: int) -> bool:
    return not 1 <= version <= LATEST_VERSION.get(kind, 0)


def _model(principal: str | None, correlation: str | None) -> str | None:
    """The language model that decided it, where that is known."""
    if principal is not None and bringer(principal) == "model":
        return principal.partition(" model:")[2]
    job, _, model = (correlation or "").partition(":")
    return model if model and job in MODELS_DECIDE else None
