"""Keeps every rejection outside of the store, and appends again what a restored store lacks.

The file holds what this machine's processes appended, each before its receipt is returned, and never what is only in Redis: write
access to Redis alone puts nothing into the file. The log holds all that was kept if it has the event that was kept last.
"""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from engramlog_server.events.catalogue import (
    ValueReadmitted,
    ValueRejected,
)
from engramlog_server.events.entry import checked_principal
from engramlog_server.events.envelope import AnyEvent, Prepared, decode
from engramlog_server.events.errors import EngramlogError, LogGap, StoreError, StoreUnavailable
from engramlog_server.events.partitions import parse_position, position_text
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.standing import Speaker
from engramlog_server.events.text import many
from engramlog_server.events.validation import make_event
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS
from engramlog_server.ops.kept.rejections import (
    Anchor,
    KeptValue,
    Level,
    Line,
    ValueBook,
    ValueFile,
    by_owner,
    line_of,
    opened_secret,
    wrap_kept,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engramlog_server.events.alarms import Alarms
    from engramlog_server.events.log import Appendable, AppendReceipt

NOT_KEPT = "rejections_not_kept"
RESTORED = "rejections_restored"
LOST = "rejections_lost"
MOST_WAITING = 1_000
"""Events of one process that wait for a disk that takes them; more are dropped, counted and reported."""
UNWRITTEN = "unwritten"
"""Subject of the alarm about what a process could not write."""
LOOK_SECONDS = 10.0
SHOWN = 5
"""Positions that an alarm names."""
_NAMES = (ValueRejected.__name__, ValueReadmitted.__name__)
_KINDS = tuple(f"{name}." for name in _NAMES)


def is_value(event: Appendable) -> bool:
    """Whether an event rejects values, or readmits them."""
    return event.kind.startswith(_KINDS) if isinstance(event, Prepared) else event.type in _NAMES


class _Waiting(NamedTuple):
    """An event that is in the log, and not kept yet."""

    event: AnyEvent
    place: tuple[int, int]
    principal: str


class _Missing(NamedTuple):
    """Kept lines that are not in the log."""

    lines: list[KeptValue]
    found: dict[int, Anchor]
    """Partition -> the last kept event that is in the log."""


class ValueKeeper:
    """The kept rejections of one store, for one process. Safe for threads."""

    def __init__(self, log: RedisEventLog, again: Callable[[], RedisEventLog], file: ValueFile, alarms: Alarms) -> None:
        self.file = file
        self._log = log
        self._again = again
        """Makes the log that appends again. It has no receipts: whatever else a restored log lost, rejections must hold."""
        self._alarms = alarms
        self._waiting: list[_Waiting] = []
        self._lock = Lock()
        self.restored: str | None = None
        """A sentence about what was appended again; None if nothing was."""
        self._unclear = True
        """Whether an alarm about the file, of this or an earlier process, may be active."""
        self._unwritten = False
        """Whether our alarm about unwritten lines is active."""

    def keep(self, events: Sequence[Appendable], receipts: Sequence[AppendReceipt], principal: str) -> None:
        """Write those that are in the log to the file. If that fails, an alarm is raised, and it is tried again."""
        with self._lock:
            for event, receipt in zip(events, receipts, strict=True):
                if receipt.written and receipt.position and is_value(event):
                    whole = decode(event.kind, event.body) if isinstance(event, Prepared) else event
                    self._waiting.append(_Waiting(whole, parse_position(receipt.position), principal))
            self._write_waiting()

    def look(self) -> dict[int, int]:
        """Append again what the log lacks; returns the newest seq of such events by partition, also of an earlier look: they may
        still have to be folded.

        Failures raise alarms, and no errors.
        """
        with self._lock:
            self._write_waiting()
            try:
                book = self.file.read()
                if book.is_new:
                    return {}
                if self._log.on_a_wire(lambda wire, tags: wrap_kept(wire, tags, self.file)):
                    book = self.file.read()
                said = self._look(book)
            except EngramlogError as error:
                if "file" in error.context:  # a store that does not answer is reported elsewhere
                    self._unclear = True
                    self._alarms.raised(NOT_KEPT, str(self.file.path), error.message)
                return {}
            if trouble := _trouble(book, str(self.file.path)):
                self._unclear = True
                self._alarms.raised(NOT_KEPT, str(self.file.path), trouble)
            elif self._unclear:
                self._unclear = False
                self._alarms.cleared(NOT_KEPT, str(self.file.path))
            return said

    def lacking(self, partitions: Sequence[int]) -> tuple[int, list[KeptValue]]:
        """The number of kept lines of these partitions, and the lines that the log lacks. Raises StoreError."""
        book = self.file.read()
        kept = [one for one in book.kept.values() if one.partition in partitions]
        return len(kept), self._missing(kept).lines

    def close(self) -> None:
        """Write what still waits for the disk."""
        with self._lock:
            self._write_waiting()

    def _write_waiting(self) -> None:
        """Write waiting lines; an alarm if that fails. It stays if the process ends before: those lines are only in the log."""
        if not self._waiting:
            return
        try:
            self._write()
        except EngramlogError as error:
            left = len(self._waiting) - MOST_WAITING
            more = f"; {left:,} wait no longer, and are in the log alone" if left > 0 else ""
            del self._waiting[MOST_WAITING:]
            self._unwritten = True
            self._alarms.raised(NOT_KEPT, UNWRITTEN, f"{error.message}{more}")
            return
        self._waiting.clear()
        if self._unwritten:
            self._unwritten = False
            self._alarms.cleared(NOT_KEPT, UNWRITTEN)

    def _write(self) -> None:
        secrets = self._log.secret_lines_of({one.event.owner for one in self._waiting})
        lines = [
            line_of(one.event, self.file.store, one.place, secrets.get(one.event.owner, b""), one.principal)
            for one in self._waiting
        ]
        self.file.append(lines)

    def _look(self, book: ValueBook) -> dict[int, int]:
        apart = [partition for partition, anchor in book.anchors.items() if not self._is_there(partition, anchor)]
        if not apart:
            return dict(book.levels)
        missing = self._missing([one for one in book.kept.values() if one.partition in apart])
        said, lost = self._say_again(missing.lines)
        for one, seq in said.items():
            anchor = missing.found.get(one.partition)
            if anchor is None or anchor.seq < seq:
                missing.found[one.partition] = Anchor(seq, one.again)
        newest = {partition: seq for partition, seq in book.levels.items() if partition not in apart}
        for one, seq in said.items():
            newest[one.partition] = max(seq, newest.get(one.partition, 0))
        levels: list[Line] = []
        for partition in apart:
            anchor = missing.found.get(partition, Anchor(0, ""))
            levels.append(Level(self.file.store, partition, anchor.seq, anchor.event))
        self._tell(said, lost)
        self.file.append(levels)
        return newest

    def _is_there(self, partition: int, anchor: Anchor) -> bool:
        if not anchor.seq:
            return True
        try:
            found = self._log.read_at(partition, [anchor.seq])
        except LogGap:
            return False
        return any(one.raw_id.hex() == anchor.event.replace("-", "") for one in found)

    def _missing(self, kept: Sequence[KeptValue]) -> _Missing:
        missing, found = list[KeptValue](), dict[int, Anchor]()
        for owner, lines in by_owner(kept):
            seqs = self._log.seqs_of(owner, [name for one in lines for name in (one.event, one.again)])
            for one in lines:
                there = [Anchor(seqs[name], name) for name in (one.event, one.again) if name in seqs]
                if not there:
                    missing.append(one)
                    continue
                known = found.get(one.partition)
                found[one.partition] = max([*there, *([known] if known else [])])
        return _Missing(missing, found)

    def _say_again(self, lines: Sequence[KeptValue]) -> tuple[dict[KeptValue, int], list[KeptValue]]:
        """Append missing lines with their principal and time; returns the seq of each, and the lines that could not be appended.

        Raises StoreError if the store takes no writes now.
        """
        ready: dict[str, list[tuple[KeptValue, AnyEvent]]] = {}
        lost: list[KeptValue] = []
        now = self._log.now()
        for owner, mine in by_owner(lines):
            secret = self._secret(owner, mine[-1])
            for one in mine:
                event = self._event(one, now) if self._opened(one) == secret else None
                if event is None or secret is None:
                    lost.append(one)
                else:
                    ready.setdefault(one.principal, []).append((one, event))
        return (self._append(ready) if ready else {}), lost

    def _append(self, ready: Mapping[str, list[tuple[KeptValue, AnyEvent]]]) -> dict[KeptValue, int]:
        """Append lines by principal; returns the seq of each."""
        said: dict[KeptValue, int] = {}
        try:
            with closing(self._again()) as log:
                for principal, pairs in ready.items():
                    for start in range(0, len(pairs), MAX_REQUEST_EVENTS):
                        part = pairs[start : start + MAX_REQUEST_EVENTS]
                        receipts = log.append([event for _, event in part], principal=principal)
                        for (one, _), receipt in zip(part, receipts, strict=True):
                            if not receipt.written or receipt.position is None:
                                raise StoreUnavailable(receipt.error or receipt.status)
                            said[one] = parse_position(receipt.position)[1]
        except StoreError as error:
            text = f"kept rejections could not be recorded again, so rejected statements may come back: {error.message}"
            raise StoreUnavailable(text, file=str(self.file.path)) from error
        return said

    def _secret(self, owner: str, last: KeptValue) -> bytes | None:
        """The secret that keys the owner's digests. An owner without one, in an older copy of the store, gets the kept secret.
        None if that does not open."""
        held = self._log.secrets_of([owner]).get(owner)
        if held is None and (told := self._opened(last)) is not None:
            held = self._log.adopt_secret(owner, told)
        return held

    def _opened(self, one: KeptValue) -> bytes | None:
        """The secret of a line; None if it does not open any more. Raises KeyUnavailable if the master key cannot be reached."""
        return opened_secret(self._log.seals, one)

    @staticmethod
    def _event(one: KeptValue, now: int) -> AnyEvent | None:
        """The event; None if validation refuses it."""
        try:
            checked_principal(one.principal)
            return make_event(
                one.data(),
                owner=one.owner,
                occurred_at=datetime.fromisoformat(one.occurred_at),
                actor=one.actor,
                now=now,
                event_id=one.again,
                by=Speaker("terminal", one.principal),
            )
        except (EngramlogError, ValueError, msgspec.ValidationError):
            return None

    def _tell(self, said: Mapping[KeptValue, int], lost: Sequence[KeptValue]) -> None:
        path = self.file.path
        if said:
            text = (
                f"{_many(said)} kept in {path} {'was' if len(said) == 1 else 'were'} not in the log: the store came back as it was"
                f" before. Said again, with the times they had: {_places(said)}"
            )
            self.restored = text
            self._alarms.raised(RESTORED, "", text)
        if lost:
            text = (
                f"{_many(lost)} kept in {path} cannot be recorded again: the owner's secret changed, the"
                f" line does not open under the master key, or it contains an impossible event: {_places(lost)}. Rejected"
                " statements may come back: reject them again"
            )
            self._alarms.raised(LOST, "", text)


def _many(lines: Sequence[KeptValue] | Mapping[KeptValue, int]) -> str:
    owners = len({one.owner for one in lines})
    return f"{many(len(lines), 'rejection')} of {many(owners, 'owner')}"


def _places(lines: Sequence[KeptValue] | Mapping[KeptValue, int]) -> str:
    places = [position_text(one.partition, one.seq) for one in lines]
    return "once at " + ", ".join(places[:SHOWN]) + (" ..." if len(places) > SHOWN else "")


def _trouble(book: ValueBook, path: str) -> str:
    """Unusable lines of the file, in one sentence; empty if there are none."""
    told = []
    if book.bad:
        told.append(
            f"lines of {path} that cannot be used, next to others that can: {book.bad:,} ({'; '.join(book.problems)})"
        )
    if book.foreign:
        told.append(f"lines of {path} that are of another store, and were left alone: {book.foreign:,}")
    return ". ".join(told)


class KeepingLog(RedisEventLog):
    """The log of a store whose rejections are also written to a file, before their receipts are returned."""

    keeper: ValueKeeper | None = None

    def append(
        self,
        events: Sequence[Appendable],
        *,
        expected_heads: Mapping[str, int] | None = None,
        principal: str | None = None,
    ) -> list[AppendReceipt]:
        """See `EventLog.append`."""
        receipts = super().append(events, expected_heads=expected_heads, principal=principal)
        if self.keeper is not None and any(map(is_value, events)):
            self.keeper.keep(events, receipts, principal or self.principal)
        return receipts
