"""Which events of the log are asked for, and from where on: filters, bounds on both lines, and cursors, which go by positions."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any, NamedTuple, TypedDict

import msgspec
import orjson

from api.requests.checks import check_actor, check_id_of
from api.requests.timelines import WHOLE, TimeSpan
from events.catalogue import EVENT_TYPES
from events.entry import MOST_PRINCIPAL
from events.envelope import AnyEvent, Stored, micros
from events.errors import refused
from events.lateness import lateness
from events.text.unreadable import UNREADABLE
from projections.fold.named import names
from projections.views.event_told import event_of

_RULE = "what `next` or `follow` said on a page before, with nothing else changed in the question"


class EventTerms(TypedDict, total=False):
    """Which events, as they are asked for; nothing asked of a line says nothing of it."""

    types: Sequence[str]
    since: str | None
    until: str | None
    recorded_since: str | None
    recorded_until: str | None
    session: str | None
    principal: str | None
    actor: str | None
    late: bool
    turn: str | None
    memory: str | None
    correlation: str | None
    as_of: str | None
    known: str | None


class _Head(msgspec.Struct, frozen=True):
    """What filters ask of an envelope."""

    actor: str
    occurred_at: datetime
    session_id: str | None = None
    correlation_id: str | None = None


_HEAD = msgspec.json.Decoder(_Head)


class EventsWanted(NamedTuple):
    """The same, checked. What cannot be read is asked for by type, position, principal and recorded time alone."""

    types: frozenset[str] = frozenset()
    session: str | None = None
    principal: str | None = None
    actor: str | None = None
    late: bool = False
    turn: str | None = None
    memory: str | None = None
    correlation: str | None = None
    happened: TimeSpan = WHOLE

    def holds(self, stored: Stored) -> bool:
        """Whether an event is asked for."""
        if self.types and stored.kind.rpartition(".")[0] not in self.types:
            return False
        if self.principal is not None and _principal(stored) != self.principal:
            return False
        return self._holds_envelope(stored) and self._holds_data(stored)

    def _holds_envelope(self, stored: Stored) -> bool:
        if self.happened == WHOLE and not self.late and self.actor is self.session is self.correlation is None:
            return True
        try:
            head = _HEAD.decode(stored.body)
            recorded = stored.recorded
        except (*UNREADABLE, ValueError, IndexError):
            return False
        happened = micros(head.occurred_at)
        return (
            self.happened.holds(happened)
            and self.actor in (None, head.actor)
            and self.session in (None, head.session_id)
            and self.correlation in (None, head.correlation_id)
            and not (self.late and lateness(happened, recorded) is None)
        )

    def _holds_data(self, stored: Stored) -> bool:
        if self.memory is None and self.turn is None:
            return True
        event = event_of(stored)
        if event is None:
            return False
        named = self.memory is None or self.memory in names(event.data)
        return named and (self.turn is None or self.turn in _turns(event))


def _principal(stored: Stored) -> str | None:
    try:
        return stored.principal
    except (ValueError, IndexError):
        return None


def _turns(event: AnyEvent) -> set[Any]:
    """Turns that an event is about or names."""
    data = event.data
    alone = {getattr(data, name, None) for name in ("turn_id", "reply_to", "up_to")}
    return alone.union(*(getattr(data, name, ()) for name in ("source_turns", "by_rules")))


def wanted_of(terms: EventTerms) -> EventsWanted:
    """Filters as they were asked for, but for instants. Raises InputError naming the field."""
    types = tuple(terms.get("types", ()))
    for one in types:
        if one not in EVENT_TYPES:
            raise refused("types", one, ", ".join(EVENT_TYPES))
    ids = {name: terms.get(name) for name in ("session", "turn", "memory", "correlation")}
    for name, value in ids.items():
        if value is not None:
            check_id_of(name, str(value))
    principal, actor = terms.get("principal"), terms.get("actor")
    if principal is not None and not (1 <= len(principal) <= 2 * MOST_PRINCIPAL and principal.isprintable()):
        raise refused("principal", principal[:80], f"1 to {2 * MOST_PRINCIPAL} printable characters")
    return EventsWanted(
        frozenset(types),
        terms.get("session"),
        principal,
        None if actor is None else check_actor(actor),
        bool(terms.get("late", False)),
        terms.get("turn"),
        terms.get("memory"),
        terms.get("correlation"),
    )


class EventCursor(NamedTuple):
    """Where a page ended: all up to a position was looked at, or, newest first, all down to it."""

    seq: int
    newest: bool


def question_of(whose: str | int, terms: EventTerms) -> str:
    """What a cursor must have been made for."""
    told = [whose, *([name, value] for name, value in sorted(terms.items()) if value)]
    return blake2b(orjson.dumps(told), digest_size=9).hexdigest()


def cursor_text(cursor: EventCursor, question: str) -> str:
    """A cursor as callers hold it: URL-safe, opaque."""
    return urlsafe_b64encode(orjson.dumps([cursor.seq, int(cursor.newest), question])).decode().rstrip("=")


def read_cursor(text: str, question: str, *, newest: bool) -> EventCursor:
    """The cursor. Raises InputError for one of another question, or of another order."""
    try:
        seq, order, asked = orjson.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, TypeError):
        raise refused("cursor", text[:80], _RULE) from None
    whole = type(seq) is int and 0 <= seq < 1 << 53 and order in (0, 1)
    if not whole or asked != question or bool(order) is not newest:
        raise refused("cursor", text[:80], _RULE)
    return EventCursor(seq, newest)
