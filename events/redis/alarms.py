"""Alarms kept in the store, so that every process and every face shows them: one hash, bounded, best effort.

Where Redis does not answer an alarm is told in the log at once, and written when it answers again.
"""

from __future__ import annotations

from contextlib import suppress
from threading import Lock
from time import monotonic

import msgspec

from engramlog_server.events.alarms import KNOWN, MOST_SUBJECT, MOST_TEXT, Alarm, Tell, one_line
from engramlog_server.events.errors import StoreError, StoreFull, StoreUnavailable
from engramlog_server.events.partitions import ALARMS_KEY
from engramlog_server.events.redis.server import redis_micros
from engramlog_server.events.redis.wire import Wire, WirePool, in_haste
from engramlog_server.events.text import UNREADABLE

WRITE_SECONDS = 5.0
"""How often the same alarm is written at most while it goes on being raised."""
AWAY_SECONDS = 1.0
"""For so long no alarm is written after one could not be: many may be raised at once, and none may keep its raiser waiting."""
TELL_SECONDS = 60.0
"""How often it is told in the log at most."""
MOST_ALARMS = 500
"""Alarms that the store keeps; beyond, a subject is left out, and the alarms of a name are counted as one."""


class _Mine(msgspec.Struct):
    """An alarm as this process raised it."""

    text: str
    unwritten: int = 0
    write_at: float = 0.0
    tell_at: float = 0.0


class RedisAlarms:
    """The alarms of a store. Safe for threads: each call borrows a connection."""

    def __init__(self, wires: WirePool, by: str, tell: Tell) -> None:
        self._wires = wires
        self._by = by
        self._tell = tell
        self._mine: dict[tuple[str, str], _Mine] = {}
        self._uncleared: set[tuple[str, str]] = set()
        """Alarms that are over, and may stand in the store: it did not answer."""
        self._away_until = 0.0
        self._lock = Lock()

    def raised(self, name: str, subject: str = "", text: str = "", *, times: int = 1) -> None:
        """See `Alarms.raised`. `name` stands in the table; `times`: as often as that at once."""
        assert name in KNOWN, name
        subject, text, now = one_line(subject, MOST_SUBJECT), one_line(text, MOST_TEXT), monotonic()
        with self._lock:
            self._uncleared.discard((name, subject))
            if (name, subject) not in self._mine and len(self._mine) >= MOST_ALARMS:
                subject = ""
            mine = self._mine.setdefault((name, subject), _Mine(text))
            mine.unwritten += times
            told = now >= mine.tell_at or text != mine.text
            due = now >= mine.write_at or text != mine.text
            mine.text = text
            if told:
                mine.tell_at = now + TELL_SECONDS
        if told:
            self._tell("alarm raised", name=name, subject=subject, reason=text, alarm=True)
        if due and now >= self._away_until:
            self._write(name, subject, mine)

    def cleared(self, name: str, subject: str = "") -> None:
        """See `Alarms.cleared`."""
        subject = one_line(subject, MOST_SUBJECT)
        with self._lock:
            mine = self._mine.pop((name, subject), None)
        gone = False
        with self._lock:
            if len(self._uncleared) < MOST_ALARMS:
                self._uncleared.add((name, subject))
        with suppress(StoreError), self._wires.wire() as wire, in_haste(wire):
            gone = bool(wire.call("HDEL", ALARMS_KEY, alarm_field(name, subject)))
            self._clear_left(wire, (name, subject))
        if gone or mine:
            self._tell("alarm cleared", name=name, subject=subject)

    def _clear_left(self, wire: Wire, done: tuple[str, str] | None = None) -> None:
        """Clear what could not be cleared while the store did not answer. Raises StoreError."""
        with self._lock:
            if done is not None:
                self._uncleared.discard(done)
            left = list(self._uncleared)
        if left:
            wire.call("HDEL", ALARMS_KEY, *(alarm_field(*one) for one in left))
            with self._lock:
                self._uncleared.difference_update(left)

    def acknowledged(self, name: str, subject: str | None, face: str) -> int:
        """Forget what somebody has looked at, and tell which, how many, and the face by which he says so. Raises StoreError."""
        count = self.drop(name, subject)
        about = "all" if subject is None else one_line(subject, MOST_SUBJECT)
        self._tell("alarm acknowledged", name=name, subject=about, count=count, face=face)
        return count

    def drop(self, name: str, subject: str | None = None) -> int:
        """Forget an alarm, or every alarm of a name; how many there were. Raises StoreError."""
        with self._wires.wire() as wire, in_haste(wire):
            fields = [alarm_field(name, subject)] if subject is not None else self._fields_of(wire, name)
            return int(wire.call("HDEL", ALARMS_KEY, *fields)) if fields else 0

    def standing(self) -> list[Alarm]:
        """Every alarm that stands, the worst and newest first; of those that Redis does not take this process's own. Raises
        StoreError."""
        self._write_left()
        with self._wires.wire() as wire:
            with suppress(StoreFull, StoreUnavailable):  # a Redis that takes no writes
                self._clear_left(wire)
            answer, now = wire.call("HGETALL", ALARMS_KEY), redis_micros(wire)
        found = [alarm for raw in answer[1::2] if (alarm := _decoded(raw)) is not None]
        there = {(one.name, one.subject) for one in found}
        with self._lock:
            found += [
                Alarm(name, subject, mine.text, now, now, mine.unwritten, self._by)
                for (name, subject), mine in self._mine.items()
                if mine.unwritten and (name, subject) not in there
            ]
        return sorted(found, key=lambda one: (one.severity != "stopped", -one.last, one.name, one.subject))

    def _write_left(self) -> None:
        with self._lock:
            left = [(key, mine) for key, mine in self._mine.items() if mine.unwritten]
        for (name, subject), mine in left:
            self._write(name, subject, mine)

    def _write(self, name: str, subject: str, mine: _Mine) -> None:
        """Add what this process raised to what the store keeps; left for later where Redis does not answer."""
        try:
            with self._wires.wire() as wire, in_haste(wire):
                self._put(wire, name, subject, mine)
        except StoreError:
            with self._lock:
                self._away_until = monotonic() + AWAY_SECONDS
                mine.write_at = monotonic() + WRITE_SECONDS
                mine.unwritten = max(mine.unwritten, 1)

    def _put(self, wire: Wire, name: str, subject: str, mine: _Mine) -> None:
        field = alarm_field(name, subject)
        kept, many = wire.call("HGET", ALARMS_KEY, field), int(wire.call("HLEN", ALARMS_KEY))
        if kept is None and many >= MOST_ALARMS:
            subject, field = "", alarm_field(name, "")
            kept = wire.call("HGET", ALARMS_KEY, field)
        before = _decoded(kept) if kept else None
        now = redis_micros(wire)
        with self._lock:
            count, mine.unwritten, mine.write_at = mine.unwritten, 0, monotonic() + WRITE_SECONDS
        alarm = Alarm(
            name=name,
            subject=subject,
            text=mine.text,
            first=before.first if before else now,
            last=now,
            count=count + (before.count if before else 0),
            by=self._by,
        )
        try:
            wire.call("HSET", ALARMS_KEY, field, msgspec.json.encode(alarm))
        except StoreError:
            with self._lock:
                mine.unwritten += count
            raise

    def close(self) -> None:
        """Close idle connections."""
        self._wires.close()

    @staticmethod
    def _fields_of(wire: Wire, name: str) -> list[bytes]:
        return [field for field in wire.call("HKEYS", ALARMS_KEY) if field.partition(b"|")[0] == name.encode()]


def alarm_field(name: str, subject: str) -> str:
    """The field of an alarm in the hash."""
    return f"{name}|{subject}"


def _decoded(raw: bytes) -> Alarm | None:
    """An alarm as kept; None for what cannot be read, which is nobody's alarm."""
    try:
        return msgspec.json.decode(raw, type=Alarm)
    except UNREADABLE:
        return None
