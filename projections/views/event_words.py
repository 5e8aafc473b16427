"""An event of the log as it is shown: envelope, what the log records with it, and as much of its words as other answers show. Pure.

Reasons pass through `telling.Teller`, turns are cut by deletions and set-aside sources, all else by the memories that the event
names as they are today. A withheld word is replaced by a mark with the reason; ids, numbers and times stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple, TypedDict

import msgspec
import orjson

from engramlog_server.events.catalogue import LATEST_VERSION
from engramlog_server.events.entry import bringer
from engramlog_server.events.envelope import AnyEvent, Stored, decode, from_micros, lateness, micros, utc_text
from engramlog_server.events.errors import UndecodableEvent
from engramlog_server.events.partitions import position_text
from engramlog_server.events.sealing.cipher import BODY_MARK
from engramlog_server.events.sealing.wordless import WORDS, is_left, is_wordless
from engramlog_server.events.trust import lowest
from engramlog_server.events.vocabulary import Shape
from engramlog_server.projections.fold.changelog import id_text
from engramlog_server.projections.fold.working_set import names
from engramlog_server.projections.language.sensitivity.event_level import level_now, level_of_data, may_hold_words
from engramlog_server.projections.language.sensitivity.text_level import SECRET, detect_sensitivity
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.sources import Asides
from engramlog_server.projections.memory.working_memory import ToolResult, Turn, read_said, set_aside_among
from engramlog_server.projections.views.telling import Teller, telling

ERASED, PURGED, DELETED, RETRACTED, SECRET_WORDS, ASIDE, UNDECIDED = (
    "erased", "purged", "deleted", "retracted", "secret", "set_aside", "undecided",
)  # fmt: skip
"""Why words are withheld. Erased: nobody has them any more. Undecided: who could tell is too large to be loaded here."""
WHY = (ERASED, PURGED, DELETED, RETRACTED, SECRET_WORDS, ASIDE, UNDECIDED)
_BY_THE_TELLER = ("reason", "because")
_PROOFS = frozenset({"digest", "asked"})
"""Of a block, by `BlockMade`: compared here, and told on no face."""
_OF_SHOWING = frozenset({"MemoriesRevealed", "SensitivitySet"})


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


class LoggedEvent(TypedDict):
    """One event of the log. Words that may not be told stand as `[withheld: ...]`; ids, numbers and times stay."""

    position: str
    event_id: str
    type: str
    schema_version: int | None
    owner: str
    occurred_at: str | None
    recorded_at: str | None
    late_by: float | None
    actor: str | None
    principal: str | None
    model: str | None
    trust: str | None
    session_id: str | None
    causation_id: str | None
    correlation_id: str | None
    data: dict[str, Any] | None
    withheld: str | None
    folded: bool | None
    problem: str | None
    bytes: int


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
    recorded, principal = _beside(stored)
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


def _beside(stored: Stored) -> tuple[int | None, str | None]:
    """Recorded time and principal; None of what cannot be read."""
    try:
        return stored.recorded, stored.principal
    except (ValueError, IndexError):
        return None, None


def _model(principal: str | None, correlation: str | None) -> str | None:
    """The language model that decided it, where that is known."""
    if principal is not None and bringer(principal) == "model":
        return principal.partition(" model:")[2]
    job, _, model = (correlation or "").partition(":")
    return model if model and job in MODELS_DECIDE else None
