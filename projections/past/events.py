"""An owner's events in columns: seq, when each happened and was recorded, its type; numpy arrays, in blocks of 4,096 events. Pure.

Events are numbered from 0 in the order in which they were applied. About ten bytes an event as it is stored; no contents.

There are two time lines: an event happened when its producer says (`occurred_at`), and was recorded when the log says. Late events
come in the order of the one and not of the other.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from engramlog_server.events.catalogue import EVENT_TYPES
from engramlog_server.events.envelope import AnyEvent, Stored, decode, micros
from engramlog_server.events.partitions import parse_position
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.past.moments import KeptMoment, MomentsHead, with_sum, without_sum


class Lines(NamedTuple):
    """Up to where on either line events count; instants are microseconds since 1970, both ends count. None: all do."""

    happened: int | None = None
    seq: int | None = None
    """The last position that counts."""
    recorded: int | None = None

    def counts(self, stored: Stored, event: AnyEvent) -> bool:
        """Whether an event is part of the answer: what `fold_owner` and `fold_records` keep."""
        return (
            (self.happened is None or micros(event.occurred_at) <= self.happened)
            and (self.seq is None or stored.seq <= self.seq)
            and (self.recorded is None or stored.recorded <= self.recorded)
        )


def recorded_by(seqs: Sequence[int], instant: int, recorded: Callable[[int], int]) -> Sequence[int]:
    """Those of ascending seqs that were recorded by an instant: the first of them, since no partition's clock goes back.

    `recorded` is asked of as many as a bisection takes.
    """
    return seqs[: bisect_right(seqs, instant, key=recorded)]


Integers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]
BLOCK = 4_096
_NUMBER = {name: number for number, name in enumerate(EVENT_TYPES)}
"""The catalogue only grows at its end: a number stands for the same type in every release."""
_DROPPED = 0x80
"""In a mark: the event discarded a parked one."""
_DISCARD = _NUMBER["EventDiscarded"]
_SILENT = np.array([_NUMBER[name] for name in ("TurnRecorded", "ToolResultRecorded", "MemoriesAccessed")], np.uint8)
"""Types that leave nothing in the change log."""
_INTEGERS = ("seqs", "happened", "recorded")
_WIDTH = 8
_LEVEL = 6


@dataclass(frozen=True, slots=True)
class OwnerEvents:
    """An owner's events, by their numbers."""

    seqs: Integers
    happened: Integers
    """Microseconds since 1970."""
    recorded: Integers
    """Microseconds since 1970; 0 if the entry has no recorded time."""
    marks: Bytes
    """The number of each type, as `number_of` has it, and whether the event discarded a parked one."""
    size: int = 0
    """Bytes of their bodies."""

    def __len__(self) -> int:
        return len(self.seqs)

    @property
    def types(self) -> Bytes:
        """Numbers of their types."""
        return self.marks & np.uint8(_DROPPED - 1)

    @property
    def dropping(self) -> Flags:
        """Which discarded a parked event."""
        return self.marks >= _DROPPED

    @property
    def silent(self) -> Flags:
        """Which leave nothing in the change log: turns, tool results, accesses."""
        return np.isin(self.marks, _SILENT)

    @property
    def ascend(self) -> bool:
        """Whether seqs ascend: then the events up to a position are the first ones."""
        return bool((np.diff(self.seqs) > 0).all())

    def followed_by(self, more: OwnerEvents) -> OwnerEvents:
        """These and then those."""
        return joined([self, more], self.size + more.size)

    def first(self, events: int) -> OwnerEvents:
        """The first so many."""
        return self if events >= len(self) else self.of(slice(events))

    def of(self, some: slice | Flags) -> OwnerEvents:
        """Some of them, with the size of all."""
        return OwnerEvents(self.seqs[some], self.happened[some], self.recorded[some], self.marks[some], self.size)

    def known_by(self, lines: Lines) -> Flags:
        """Which were recorded by where `lines` end."""
        known = np.ones(len(self), np.bool_) if lines.seq is None else self.seqs <= lines.seq
        if lines.recorded is not None:
            known &= self.recorded <= lines.recorded
        return known

    def on_lines(self, lines: Lines) -> Flags:
        """Which count, as `Lines.counts` decides for one event."""
        known = self.known_by(lines)
        return known if lines.happened is None else known & (self.happened <= lines.happened)

    def counting(self, happened: int | None, upto: int, first: int = 0) -> Integers:
        """Numbers from `first` below `upto` of the events that had happened by an instant; None: of all."""
        if happened is None:
            return np.arange(first, upto)
        return np.flatnonzero(self.happened[first:upto] <= happened) + first

    def parting(self, one: int | None, other: int | None, upto: int, first: int = 0) -> int:
        """The first such number that had happened by only one of two instants; `upto` if there is none."""
        if one == other:
            return upto
        bounds, happened = [at for at in (one, other) if at is not None], self.happened[first:upto]
        between = happened > min(bounds)
        if len(bounds) > 1:
            between &= happened <= max(bounds)
        return int(between.argmax()) + first if between.any() else upto

    def split(self, most: int, least: int) -> int:
        """How many events were recorded before an older past was imported behind them; 0 if none was.

        Those before the first that is older than the very first: at most `most`, and behind them at least `least` are older.
        """
        older = self.happened < self.happened[0] if len(self) else np.zeros(0, np.bool_)
        first = int(older[: most + 1].argmax()) if older.any() else 0
        return first if int(older[first:].sum()) >= least else 0


class EventsHead(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How far the blocks reach."""

    events: int = 0
    size: int = 0
    """Bytes of the bodies of those events."""


class _Head(msgspec.Struct, frozen=True):
    occurred_at: datetime


_HEAD = msgspec.json.Decoder(_Head)


def number_of(event_type: str) -> int:
    """The number that stands for a type of the catalogue."""
    return _NUMBER[event_type]


def _nothing_before() -> tuple[Iterable[int], Iterable[Stored]]:
    return (), ()


def events_of(
    stored: Iterable[Stored],
    held: Callable[[str], bool],
    before: Callable[[], tuple[Iterable[int], Iterable[Stored]]] = _nothing_before,
) -> OwnerEvents:
    """The columns of these events, which were applied in this order. Of a body only its time is read, unless it discards an event.

    `held`: as `fold_owner` asks it. `before`: seqs of all events before them, and those of these that discarded a parked one; asked
    only if something is discarded. Raises UndecodableEvent, ValueError for a recorded time that is no number.
    """
    columns = [list[int](), list[int](), list[int]()]
    marks, size, over = bytearray(), 0, set[int]()
    for one in stored:
        mark = _NUMBER[one.kind.rpartition(".")[0]]
        if mark == _DISCARD:
            if not over:
                all_before, discards = before()
                over = {*all_before, *columns[0], *(parse_position(_discarded(each))[1] for each in discards)}
            position = _discarded(one)
            seq = parse_position(position)[1]
            if seq < one.seq and seq not in over and held(position):
                mark |= _DROPPED
                over.add(seq)
            over.add(one.seq)
        if over:
            over.add(one.seq)
        for column, value in zip(columns, (one.seq, _happened(one), one.recorded), strict=True):
            column.append(value)
        marks.append(mark)
        size += len(one.body)
    seqs, happened, recorded = (np.array(each, np.int64) for each in columns)
    return OwnerEvents(seqs, happened, recorded, np.frombuffer(bytes(marks), np.uint8), size)


def _happened(one: Stored) -> int:
    try:
        return micros(_HEAD.decode(one.body).occurred_at)
    except UNREADABLE:
        return micros(decode(one.kind, one.body).occurred_at)  # raises what is wrong with it


def _discarded(one: Stored) -> str:
    position: str = decode(one.kind, one.body).data.position  # type: ignore[union-attr]
    return position


def no_events() -> OwnerEvents:
    """Before the first event."""
    return events_of((), lambda _position: False)


def joined(parts: Sequence[OwnerEvents], size: int) -> OwnerEvents:
    """Events as they follow on each other."""
    seqs, happened, recorded = (np.concatenate([getattr(one, name) for one in parts]) for name in _INTEGERS)
    return OwnerEvents(seqs, happened, recorded, np.concatenate([one.marks for one in parts]), size)


def blocks_of(events: int) -> int:
    """How many blocks so many events take."""
    return -(-events // BLOCK)


def stored_block(events: OwnerEvents, number: int) -> bytes:
    """A block by its number from 0, as it is stored: steps from one event to the next, like bytes side by side, behind a sum."""
    some = events.of(slice(number * BLOCK, (number + 1) * BLOCK))
    steps = [np.diff(getattr(some, name), prepend=np.int64(0)).astype("<i8") for name in _INTEGERS]
    planes = b"".join(one.view(np.uint8).reshape(-1, _WIDTH).T.tobytes() for one in steps)
    return with_sum(zlib.compress(planes + some.marks.tobytes(), _LEVEL))


def read_blocks(head: EventsHead, blocks: Sequence[bytes | None]) -> OwnerEvents:
    """The events of these blocks. Raises ValueError if they do not fit the head, or cannot be read."""
    parts = [_read_block(raw or b"", min(head.events - at * BLOCK, BLOCK)) for at, raw in enumerate(blocks)]
    return joined([no_events(), *parts], head.size)


def _read_block(raw: bytes, rows: int) -> OwnerEvents:
    try:
        plain = zlib.decompress(without_sum(raw))
    except zlib.error as error:
        raise ValueError(f"a block of events that is damaged: {error}") from error
    columns = len(_INTEGERS)
    there, rest = divmod(len(plain), _WIDTH * columns + 1)
    if rest or there < rows:  # there are more if another process went on after the head was read
        raise ValueError(f"a block of events of {len(plain)} bytes for {rows} events")
    planes = np.frombuffer(plain, np.uint8, _WIDTH * columns * there).reshape(columns, _WIDTH, there)
    seqs, happened, recorded = (np.ascontiguousarray(one.T).view("<i8").ravel().cumsum()[:rows] for one in planes)
    return OwnerEvents(seqs, happened, recorded, np.frombuffer(plain, np.uint8, rows, _WIDTH * columns * there))


def begin_at(
    head: MomentsHead, events: OwnerEvents, happened: int | None, upto: int, first: int = 0
) -> KeptMoment | None:
    """The furthest moment at which may begin what counts the first so many events, from one on, that had happened by an instant."""
    mine = [one for one in head.kept if one.first == first]
    partings = {one: events.parting(one, happened, upto, first) for one in {kept.happened for kept in mine}}
    fit = [one for one in mine if one.upto <= partings[one.happened]]
    return max(fit, key=lambda one: (one.upto, one.number), default=None)
