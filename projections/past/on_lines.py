"""An owner's events on both time lines: when each happened, when it was recorded, and of which type it is; numpy arrays. Pure.

Events are numbered from 0 in the order in which they were applied. About ten bytes an event as it is stored; no contents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec
import numpy as np
import numpy.typing as npt

from events.catalogue import EVENT_TYPES
from events.envelope import Stored, decode, micros
from events.text.unreadable import UNREADABLE
from projections.memory.timelines import Lines
from projections.past.event_times import BLOCK, TimesHead
from projections.past.stepped import Bytes, Integers, read_columns, stored_columns

Flags = npt.NDArray[np.bool_]
_NUMBER = {name: number for number, name in enumerate(EVENT_TYPES)}
"""The catalogue only grows at its end: a number stands for the same type in every release."""


@dataclass(frozen=True, slots=True)
class EventsOnLines:
    """An owner's events, by their numbers."""

    seqs: Integers
    happened: Integers
    """Microseconds since 1970."""
    recorded: Integers
    """The same."""
    types: Bytes
    """Numbers of their types, as `number_of` has them."""

    def __len__(self) -> int:
        return len(self.seqs)

    def followed_by(self, more: EventsOnLines) -> EventsOnLines:
        """These and then those."""
        return joined([self, more])

    def first(self, events: int) -> EventsOnLines:
        """The first so many."""
        return self if events >= len(self) else self.of(slice(events))

    def of(self, some: slice | Flags) -> EventsOnLines:
        """Some of them."""
        return EventsOnLines(self.seqs[some], self.happened[some], self.recorded[some], self.types[some])

    def known_by(self, lines: Lines) -> Flags:
        """Which were recorded by where `lines` end."""
        known = np.ones(len(self), np.bool_) if lines.seq is None else self.seqs <= lines.seq
        if lines.recorded is not None:
            known &= self.recorded <= lines.recorded
        return known

    def counting(self, lines: Lines) -> Flags:
        """Which count, as `Lines.counts` has it of one."""
        known = self.known_by(lines)
        return known if lines.happened is None else known & (self.happened <= lines.happened)


class _Head(msgspec.Struct, frozen=True):
    occurred_at: datetime


_HEAD = msgspec.json.Decoder(_Head)


def number_of(event_type: str) -> int:
    """The number that stands for a type of the catalogue."""
    return _NUMBER[event_type]


def on_lines_of(stored: Iterable[Stored]) -> EventsOnLines:
    """What stands in these events, which were applied in this order: of a body its time alone is read. Raises UndecodableEvent."""
    seqs, happened, recorded, types = list[int](), list[int](), list[int](), bytearray()
    for one in stored:
        seqs.append(one.seq)
        happened.append(_happened(one))
        recorded.append(one.recorded)
        types.append(_NUMBER[one.kind.rpartition(".")[0]])
    columns = [np.array(each, np.int64) for each in (seqs, happened, recorded)]
    return EventsOnLines(*_three(columns), np.frombuffer(bytes(types), np.uint8))


def _happened(one: Stored) -> int:
    try:
        return micros(_HEAD.decode(one.body).occurred_at)
    except UNREADABLE:
        return micros(decode(one.kind, one.body).occurred_at)  # which tells what is wrong with it


def joined(parts: Sequence[EventsOnLines]) -> EventsOnLines:
    """Events as they follow on each other."""
    columns = [np.concatenate([getattr(one, name) for one in parts]) for name in ("seqs", "happened", "recorded")]
    return EventsOnLines(*_three(columns), np.concatenate([one.types for one in parts]))


def none_on_lines() -> EventsOnLines:
    """Before the first event."""
    return on_lines_of(())


def stored_lines(lines: EventsOnLines, number: int) -> bytes:
    """A block of 4,096 by its number from 0, as it is stored."""
    one = lines.of(slice(number * BLOCK, (number + 1) * BLOCK))
    return stored_columns((one.seqs, one.happened, one.recorded), one.types)


def read_lines(head: TimesHead, blocks: Sequence[bytes | None]) -> EventsOnLines:
    """The events of these blocks. Raises ValueError where they are not what the head tells, or cannot be read."""
    parts = [none_on_lines()]
    for at, raw in enumerate(blocks):
        columns, types = read_columns(raw or b"", 3, min(head.events - at * BLOCK, BLOCK))
        parts.append(EventsOnLines(*_three(columns), types))
    return joined(parts)


def _three(columns: Sequence[Integers]) -> tuple[Integers, Integers, Integers]:
    seqs, happened, recorded = columns
    return seqs, happened, recorded
