"""The book of access as this process knows it: followed in the log itself, whether or not a worker folds it.

Whoever asks gets a book that holds all that was said before he asked. Looks are shared: one that begins after several have asked
is for all of them. Where the log cannot be read for a second, or an alarm says that it was changed, nobody with a key is admitted.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

from engramlog_server.events.door.of_the_store import ACCESS, access_id
from engramlog_server.events.envelope import decode, micros
from engramlog_server.events.errors import DamagedState, StoreError, StoreUnavailable, UndecodableEvent
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import partition_of, position_text
from engramlog_server.projections.access.book import AccessBook

AT_ONCE = 256
"""Numbers that are asked for in one go."""
MOST_STALE = 1.0
"""Seconds without an answer of the log after which nobody with a key is admitted."""
Clock = Callable[[], float]


class AccessEvent(NamedTuple):
    """One event of access."""

    data: Any
    at: int
    """When it was recorded, microseconds since 1970."""
    position: str
    principal: str | None
    actor: str


class _RolledBack(Exception):
    """The log does not hold what was read of it."""


class AccessFollower:
    """Follows what is said of access. Safe for threads."""

    def __init__(self, log: EventLog, clock: Clock = monotonic) -> None:
        """`clock`: seconds, never backwards."""
        self._log = log
        self._clock = clock
        self._partition = partition_of(ACCESS, log.partitions)
        self._said: list[AccessEvent] = []
        self._book = AccessBook()
        self._seen_at: float | None = None
        self._lock, self._looking = Lock(), Lock()
        self._next: Future[AccessBook] | None = None
        """The look that has not begun, with all who asked for it."""

    def book(self) -> AccessBook:
        """The book with all that was said before this was asked. Raises StoreUnavailable where it cannot be known."""
        with self._lock:
            mine = self._next
            if mine is not None:
                begins = False
            else:
                mine = self._next = Future()
                begins = True
        if begins:
            with self._looking:  # a look in hand may have begun before the last event
                with self._lock:
                    self._next = None
                try:
                    mine.set_result(self._look())
                except BaseException as error:
                    mine.set_exception(error)
                    raise
        return mine.result()

    def admitting(self) -> AccessBook:
        """The book by which somebody who shows a key is admitted. Raises as `book`, and StoreUnavailable while an alarm says that
        the log of access is not the one that was written: it may lack that a key was revoked."""
        found = self.book()
        try:
            alarm = self._log.alarm_of(self._partition)
        except StoreError:
            return found  # `book` had an answer just now; where there is none for a second, it has none either
        if alarm is not None:
            raise StoreUnavailable(
                f"access: nobody with a key is admitted while the alarm {alarm} of partition {self._partition} stands",
                retry_after=30,
            )
        return found

    def _look(self) -> AccessBook:
        began = self._clock()
        try:
            try:
                found = self._new()
            except _RolledBack:  # of what it knew nothing holds: it begins anew
                with self._lock:
                    self._said, self._book, self._seen_at = [], AccessBook(), None
                found = self._new()
        except (StoreError, DamagedState) as error:
            if self._seen_at is not None and self._clock() - self._seen_at < MOST_STALE:
                return self._book
            why = f" ({error.message})" if isinstance(error, DamagedState) else ""
            raise StoreUnavailable(
                f"access: the log does not tell who may do what; nobody with a key is admitted until it does{why}",
                retry_after=1,
            ) from None
        book = self._book.after_all((one.data, one.at) for one in found) if found else self._book
        with self._lock:
            self._said += found
            self._book, self._seen_at = book, began
        return book

    def said(self) -> list[AccessEvent]:
        """All that was said, in order. Raises as `book`."""
        self.book()
        with self._lock:
            return list(self._said)

    def _new(self) -> list[AccessEvent]:
        """What was said since the last look, by its numbers."""
        found, number = list[AccessEvent](), self._book.number
        last = self._said[-1] if self._said else None
        size = 1 if self._seen_at is not None else AT_ONCE
        while True:
            ids = [access_id(one) for one in range(number + 1, number + 1 + size)]
            beside = [] if last is None else [access_id(last.data.number)]
            seqs = self._log.seqs_of(ACCESS, [*beside, *ids])
            if last is not None and self._place(seqs.get(beside[0], 0)) != last.position:
                raise _RolledBack
            last = None
            known = [seqs[one] for one in ids if one in seqs]
            entries = self._log.read_at(self._partition, known)
            if len(entries) < len(known):
                raise StoreUnavailable(f"access: entries of partition {self._partition} are gone from the log")
            for stored in entries:
                try:
                    event = decode(stored.kind, stored.body)
                except UndecodableEvent as error:  # of a release to come: what it says of keys is not known here
                    raise StoreUnavailable(f"access: {error.message}") from None
                at = stored.recorded or micros(event.occurred_at)
                found.append(AccessEvent(event.data, at, self._place(stored.seq), stored.principal, event.actor))
            number += len(known)
            if len(known) < size:
                return found
            size = AT_ONCE

    def _place(self, seq: int) -> str:
        return position_text(self._partition, seq)
