"""When each of an owner's events happened, and where it stands: numpy arrays, in blocks of 4,096 events. Pure.

Events are numbered from 0 in the order in which they were applied. About ten bytes an event; no contents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from events.catalogue import EventDiscarded, MemoriesAccessed, ToolResultRecorded, TurnRecorded
from events.envelope import AnyEvent, Stored, decode, micros
from events.partitions import parse_position
from projections.past.stepped import Bytes, Integers, read_columns, stored_columns
from projections.past.summed import with_sum, without_sum

BLOCK = 4_096
CHANGES, SAID, NOTHING_DROPPED, DROPPED = range(4)
"""Kinds: what may change a memory; turns, tool results and accesses, which no change log tells; discards, of nothing and of
a parked event."""
_SAID = (TurnRecorded, ToolResultRecorded, MemoriesAccessed)


class TimesHead(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How far the blocks reach."""

    events: int = 0
    size: int = 0
    """Bytes of the bodies of those events."""


@dataclass(frozen=True, slots=True)
class EventTimes:
    """An owner's events, by their numbers."""

    seqs: Integers
    happened: Integers
    """Microseconds since 1970."""
    kinds: Bytes
    size: int = 0
    """Bytes of their bodies."""

    def __len__(self) -> int:
        return len(self.seqs)

    def followed_by(self, more: EventTimes) -> EventTimes:
        """These and then those."""
        return joined([self, more], self.size + more.size)

    @property
    def ascend(self) -> bool:
        """Whether each stands behind the one before it: then what ends at a position is a beginning of it."""
        return bool((np.diff(self.seqs) > 0).all())

    def counting(self, happened: int | None, upto: int, first: int = 0) -> Integers:
        """Numbers from one below another of what had happened by an instant; None: of all."""
        if happened is None:
            return np.arange(first, upto)
        return np.flatnonzero(self.happened[first:upto] <= happened) + first

    def parting(self, one: int | None, other: int | None, upto: int, first: int = 0) -> int:
        """The first such number at which what had happened by two instants differs; the upper one where none is."""
        if one == other:
            return upto
        bounds, happened = [at for at in (one, other) if at is not None], self.happened[first:upto]
        between = happened > min(bounds)
        if len(bounds) > 1:
            between &= happened <= max(bounds)
        return int(between.argmax()) + first if between.any() else upto

    def split(self, most: int, least: int) -> int:
        """How many events were told before an older past was imported behind them; 0 where it was not so.

        Those before the first that is older than the very first: at most so many, and behind them at least so many are older.
        """
        older = self.happened < self.happened[0] if len(self) else np.zeros(0, np.bool_)
        first = int(older[: most + 1].argmax()) if older.any() else 0
        return first if int(older[first:].sum()) >= least else 0


def no_times() -> EventTimes:
    """Before the first event."""
    return EventTimes(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint8))


def joined(parts: Sequence[EventTimes], size: int) -> EventTimes:
    """Events as they follow on each other."""
    seqs, happened, kinds = (np.concatenate([getattr(one, name) for one in parts]) for name in EventTimes.__slots__[:3])
    return EventTimes(seqs, happened, kinds, size)


def times_of(
    stored: Iterable[Stored],
    held: Callable[[str], bool],
    before: Callable[[], tuple[Iterable[int], Iterable[Stored]]],
) -> EventTimes:
    """What stands in these events, in the order in which they were applied.

    `held`: as `fold_owner` asks it. `before`: seqs of all events before them, and those of these that dropped a parked one; asked
    where something is discarded.
    """
    seqs, happened, kinds, size, over = list[int](), list[int](), bytearray(), 0, set[int]()
    for one in stored:
        event = decode(one.kind, one.body)
        kind = CHANGES
        if isinstance(event.data, _SAID):
            kind = SAID
        elif type(event.data) is EventDiscarded:
            if not over:
                all_before, dropping = before()
                over = {*all_before, *seqs, *(_discarded(decode(each.kind, each.body)) for each in dropping)}
            seq = _discarded(event)
            dropped = seq < one.seq and seq not in over and held(event.data.position)
            kind = DROPPED if dropped else NOTHING_DROPPED
            over.update({seq, one.seq} if dropped else {one.seq})
        if over:
            over.add(one.seq)
        seqs.append(one.seq)
        happened.append(micros(event.occurred_at))
        kinds.append(kind)
        size += len(one.body)
    return EventTimes(
        np.array(seqs, np.int64), np.array(happened, np.int64), np.frombuffer(bytes(kinds), np.uint8), size
    )


def _discarded(event: AnyEvent) -> int:
    assert isinstance(event.data, EventDiscarded)
    return parse_position(event.data.position)[1]


def stored_block(times: EventTimes, number: int) -> bytes:
    """A block by its number from 0, as it is stored: steps from one event to the next, like bytes beside each other."""
    some = slice(number * BLOCK, (number + 1) * BLOCK)
    return stored_columns((times.seqs[some], times.happened[some]), times.kinds[some])


def read_blocks(head: TimesHead, blocks: Sequence[bytes | None]) -> EventTimes:
    """The events of these blocks. Raises ValueError where they are not what the head tells, or cannot be read."""
    parts = [_read_block(raw or b"", min(head.events - at * BLOCK, BLOCK)) for at, raw in enumerate(blocks)]
    return joined([no_times(), *parts], head.size)


def _read_block(raw: bytes, events: int) -> EventTimes:
    (seqs, happened), kinds = read_columns(raw, 2, events)
    return EventTimes(seqs, happened, kinds)


def blocks_of(events: int) -> int:
    """How many blocks so many events take."""
    return -(-events // BLOCK)


_DECODE_HEAD = msgspec.msgpack.Decoder(TimesHead)


def read_times_head(raw: bytes | None) -> TimesHead:
    """How far the blocks reach; nothing stored is before the first. Raises MsgspecError, ValueError."""
    return TimesHead() if raw is None else _DECODE_HEAD.decode(without_sum(raw))


def stored_times_head(head: TimesHead) -> bytes:
    """The same as it is stored: nothing before the first."""
    return with_sum(msgspec.msgpack.encode(head)) if head.events else b""
