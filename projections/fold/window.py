"""A window of a partition's log, folded owner by owner: each state, record and chunk is written once for all of its events.

What is written of it lets owners run ahead of the checkpoint, each wholly or not at all; an event that an owner's state has
already is passed over. So a window of which only some pieces were written is folded again from its start. No store, no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from events.envelope import Stored
from events.parameters import DEFAULTS, Parameters
from projections.fold.changelog import event_link
from projections.fold.partition import (
    Checkpoint,
    Decoded,
    Outcome,
    OwnerWrites,
    WorkingOwner,
    apply_or_park,
    discarded_position,
)

PIECE_EVENTS = 500
PIECE_BYTES = 256 * 1024
PIECE_RECORDS = 1_000


class WindowLimits(NamedTuple):
    """How much is folded before it is written, and how much of that one script writes."""

    events: int = 50_000
    size: int = 32 * 1024 * 1024
    """Bytes of events' bodies."""
    piece_events: int = PIECE_EVENTS
    """Of an owner that has more by itself: what it has when it is reached."""


LIMITS = WindowLimits()


@dataclass(slots=True)
class OwnerPart(Outcome):
    """What a window has of one owner and is not written yet."""

    size: int = 0
    """Bytes of its events' bodies."""

    @property
    def heavy(self) -> bool:
        """Whether it fills a piece by itself, however few its events are."""
        return self.size >= PIECE_BYTES or self.records >= PIECE_RECORDS


class Window:
    """What was folded after a checkpoint and is not written yet."""

    def __init__(self, checkpoint: Checkpoint, limits: WindowLimits = LIMITS) -> None:
        self._start, self._limits = checkpoint, limits
        self.seq, self.head, self.raw_id = checkpoint.seq, checkpoint.head, b""
        self.parts: dict[str, OwnerPart] = {}
        self._events = self._bytes = self._parked = 0

    @property
    def open(self) -> bool:
        """Whether anything was taken."""
        return self.seq > self._start.seq

    @property
    def past_pieces(self) -> bool:
        """Whether it is past all that pieces of before may hold: only then a checkpoint can stand here."""
        return self.seq >= self._start.reach

    @property
    def full(self) -> bool:
        """Whether it holds as much as it may."""
        limits = self._limits
        many = self._events >= limits.events or self._bytes >= limits.size or self._parked >= PIECE_EVENTS
        return many and self.past_pieces

    def feed(
        self,
        owners: Mapping[str, WorkingOwner],
        decoded: Sequence[Decoded],
        *,
        base: Parameters = DEFAULTS,
        on_failure: Callable[[Stored, Exception], None] = lambda _stored, _error: None,
    ) -> tuple[int, OwnerPart | None]:
        """Fold the next entries; how many were taken, and the part that became ripe.

        It ends at a part that is ripe, when the window is full, and before a discard whose parked events have to be read.
        """
        head, parts, most = self.head, self.parts, self._limits.piece_events
        for taken, (stored, event) in enumerate(decoded):
            owner, name = owners[stored.owner], stored.owner
            stands_still = owner.quarantine is not None
            if stands_still and discarded_position(event) is not None:
                self.head = head
                return taken, None
            head = event_link(head, stored)
            self.seq, self.raw_id = stored.seq, stored.raw_id
            if stored.seq <= owner.state.seq:
                continue
            part = parts.get(name)
            if part is None:
                part = parts[name] = OwnerPart(0, 0, b"", b"")
            apply_or_park(part, owner, stored, event, base, on_failure)
            size = len(stored.body)
            part.events += 1
            part.size += size
            self._events += 1
            self._bytes += size
            self._parked += owner.quarantine is not None
            ripe = part.events >= most or part.heavy
            if ripe or self.full:
                self.head = head
                return taken + 1, part if ripe else None
        self.head = head
        return len(decoded), None

    def pieces(self) -> Iterator[Outcome]:
        """All of it in outcomes that a commit can hold, what is parked in the last: at least one."""
        piece, size, parked = self._piece(), 0, dict[str, OwnerWrites]()
        for name, part in self.parts.items():
            if piece.owners and (
                size + part.size > PIECE_BYTES
                or piece.records + part.records > PIECE_RECORDS
                or piece.events + part.events > self._limits.piece_events
            ):
                yield piece
                piece, size = self._piece(), 0
            size += part.size
            _add(piece, name, part)
            if writes := _parked_of(part.owners[name]):
                parked[name] = writes
        for name, writes in parked.items():
            held = piece.owners.get(name)
            if held is None:
                piece.owners[name] = writes
            else:
                held.park, held.quarantine_changed = writes.park, writes.quarantine_changed
        self.parts = {}
        yield piece

    def take(self, name: str) -> Outcome:
        """One owner's part as an outcome; what is parked stays."""
        piece, part = self._piece(), self.parts.pop(name)
        _add(piece, name, part)
        if writes := _parked_of(part.owners[name]):
            self.parts[name] = OwnerPart(0, 0, b"", b"", owners={name: writes})
        return piece

    def _piece(self) -> Outcome:
        return Outcome(self._start.seq, self.seq, self.raw_id, self.head)


def _add(piece: Outcome, name: str, part: OwnerPart) -> None:
    """What was applied of an owner into a piece."""
    writes = part.owners[name]
    piece.owners[name] = OwnerWrites(writes.seqs, writes.entries, writes.touched)
    piece.events += part.events
    piece.records += part.records
    piece.waiting += part.waiting
    piece.full += part.full
    piece.refused += part.refused
    piece.filled += part.filled


def _parked_of(writes: OwnerWrites) -> OwnerWrites | None:
    if not writes.park and not writes.quarantine_changed:
        return None
    return OwnerWrites(park=writes.park, quarantine_changed=writes.quarantine_changed)
