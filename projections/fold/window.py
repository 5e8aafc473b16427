"""A window of a partition's log: read first, then folded and written owner by owner, so that each owner is met once.

What is written of it lets owners run ahead of the checkpoint; an event that an owner's state has already, or that is parked
already, is passed over. So a window of which only some pieces were written is read again from its start. No store, no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

from engramlog_server.events.catalogue import EventDiscarded
from engramlog_server.events.envelope import Stored
from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.events.sealing.cipher import BODY_MARK
from engramlog_server.projections.fold.changelog import event_link
from engramlog_server.projections.fold.partition import Checkpoint, Decoded, Outcome, WorkingOwner, apply_or_park

PIECE_EVENTS = 500
PIECE_BYTES = 256 * 1024
PIECE_RECORDS = 1_000
GROUP_EVENTS = 1_000
"""Decoded and loaded together: some pieces of them."""
_DISCARD = f"{EventDiscarded.__name__}."


class WindowLimits(NamedTuple):
    """How much is read before it is written, and how much of that one script writes."""

    events: int = 50_000
    size: int = 32 * 1024 * 1024
    """Bytes of events' bodies."""
    piece_events: int = PIECE_EVENTS
    group_events: int = GROUP_EVENTS


LIMITS = WindowLimits()


class Window:
    """What was read after a checkpoint and is not folded yet, by owner."""

    def __init__(self, checkpoint: Checkpoint, limits: WindowLimits = LIMITS) -> None:
        self._start, self._limits = checkpoint, limits
        self.seq, self.head, self.raw_id = checkpoint.seq, checkpoint.head, b""
        self._of: dict[str, list[Stored]] = {}
        self.events = self.size = 0

    @property
    def open(self) -> bool:
        """Whether anything was read."""
        return self.seq > self._start.seq

    @property
    def past_pieces(self) -> bool:
        """Whether it is past all that pieces of before may hold: only then a checkpoint can stand here."""
        return self.seq >= self._start.reach

    @property
    def full(self) -> bool:
        """Whether it holds as much as it may."""
        return (self.events >= self._limits.events or self.size >= self._limits.size) and self.past_pieces

    def read(self, stored: Sequence[Stored], *, passing: bool = False) -> int:
        """Take the next entries; how many. It ends when full, and before a discard: its owner may stand still.

        `passing`: the first is a discard that this is known of, and is taken as any other.
        """
        head, held, taken = self.head, self._of, 0
        events, size, (most, largest, *_), reach = self.events, self.size, self._limits, self._start.reach
        for one in stored:
            seq, kind, _, owner, body, _, _ = one
            if kind.startswith(_DISCARD) and (taken or not passing):
                break
            head = event_link(head, one)
            taken += 1
            events += 1
            size += len(body)
            mine = held.get(owner)
            if mine is None:
                mine = held[owner] = []
            mine.append(slim(one, mine[0].owner if mine else owner))
            if (events >= most or size >= largest) and seq >= reach:
                break
        if taken:
            self.seq, self.raw_id = stored[taken - 1].seq, stored[taken - 1].raw_id
        self.head, self.events, self.size = head, events, size
        return taken

    def groups(self, owner: str | None = None) -> Iterator[list[Stored]]:
        """What was read, owner by owner, or of one owner; it is held no more."""
        of, self._of = self._of, {}
        if owner is not None:
            self._of, of = of, {owner: of.pop(owner, [])}
        flat = chain.from_iterable(of.pop(name) for name in list(of))
        while group := list(islice(flat, self._limits.group_events)):
            yield group

    def pieces(
        self,
        owners: Mapping[str, WorkingOwner],
        decoded: Sequence[Decoded],
        *,
        base: Parameters = DEFAULTS,
        on_failure: Callable[[Stored, Exception], None] = lambda _stored, _error: None,
    ) -> Iterator[Outcome]:
        """Fold a group into outcomes that a commit can hold; one is written before the next is asked for."""
        piece, size, most = self.outcome(), 0, self._limits.piece_events
        for name, start, end in _runs(decoded):
            owner = owners[name]
            if piece.events and piece.events + end - start > most:
                yield piece
                piece, size = self.outcome(), 0
            for stored, event in islice(decoded, start, end):
                if stored.seq <= owner.state.seq or stored.seq <= owner.parked_to:
                    continue
                apply_or_park(piece, owner, stored, event, base, on_failure)
                piece.events += 1
                size += len(stored.body)
                if piece.events >= most or size >= PIECE_BYTES or piece.records >= PIECE_RECORDS:
                    yield piece
                    piece, size = self.outcome(), 0
        if piece.events:
            yield piece

    def outcome(self) -> Outcome:
        """Nothing yet, up to where was read."""
        return Outcome(self._start.seq, self.seq, self.raw_id, self.head)


def is_discard(stored: Stored) -> bool:
    """Whether an operator drops what is parked by this, if it can be read."""
    return stored.kind.startswith(_DISCARD)


def slim(one: Stored, owner: str) -> Stored:
    """An entry as a fold needs it: the chain has been over what commits to its body, by which a sealed one opens."""
    seq, kind, raw_id, _, body, beside, _ = one
    if beside and body[:1] != BODY_MARK:
        beside = (*beside[:4], b"", *beside[5:])
    return _STORED(Stored, (seq, kind, raw_id, owner, body, beside, b""))  # as Stored(...), in half the time


_STORED = tuple.__new__


def _runs(decoded: Sequence[Decoded]) -> Iterable[tuple[str, int, int]]:
    """Owners as they follow on each other, each with where its events begin and end."""
    start, name = 0, decoded[0][0].owner if decoded else ""
    for at, (stored, _) in enumerate(decoded):
        if stored.owner is not name and stored.owner != name:
            yield name, start, at
            start, name = at, stored.owner
    if decoded:
        yield name, start, len(decoded)
