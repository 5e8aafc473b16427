"""An owner's events on both time lines as they lie in the store: read, and made by the questions that need them.

Blocks are written behind what they were made from, so two who make the same do no harm. They hold no content: a purge leaves them.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import NamedTuple

from events.admission import ACCESS_FULL
from events.envelope import Stored
from events.errors import DamagedState
from events.redis.admission import memory_share
from events.redis.wire import Argument, Wire, WirePool
from events.text.unreadable import UNREADABLE
from projections.checks import UNBOUNDED, Bounds, counted
from projections.fold.builds import BuildKeys, version_of
from projections.fold.owner import PROJECTION_VERSION, OwnerState
from projections.past.event_times import BLOCK, TimesHead, blocks_of, read_times_head, stored_times_head
from projections.past.on_lines import EventsOnLines, none_on_lines, on_lines_of, read_lines, stored_lines
from projections.redis.changelog import ChangeLogs
from projections.redis.made import write_made

LINES = "lines"
"""The field that says how far the blocks reach; a block's is `lines:` and its number from 0."""
WORTH = 512
"""Events beyond the blocks from which on blocks are made of them: fewer are read each time, in some milliseconds."""
HELD_EVENTS = 2_000_000
"""Events of owners asked about last whose lines stay in this process: 25 bytes each."""
_AT_ONCE = 64
_READ_FOR_A_FOLDED = 4
"""Events that are read in the time in which one is folded."""
logger = logging.getLogger(__name__)
Read = Callable[[Sequence[int]], Iterator[Stored]]


class _Known(NamedTuple):
    """As what an owner stood when its lines were read: another history has another chain, or another last event."""

    owner: str
    build: str
    applied: int
    seq: int
    chain: bytes


class RedisOnLines:
    """The lines of a store's owners. Safe for threads."""

    def __init__(self, wires: WirePool, changelogs: ChangeLogs) -> None:
        self._wires, self._keys, self._changelogs = wires, changelogs.keys, changelogs
        self._held: OrderedDict[_Known, EventsOnLines] = OrderedDict()
        self._lock = Lock()
        self.worth = WORTH

    def of(
        self, owner: str, build: str, state: OwnerState, read: Read, bounds: Bounds = UNBOUNDED
    ) -> EventsOnLines | None:
        """All events that are in this state of an owner; blocks are made as far as they are not. None where the build is gone.

        Blocks that cannot be read are told in a warning, and the events read instead.
        """
        known = _Known(owner, build, state.applied, state.seq, state.chain)
        with self._lock:
            if (found := self._held.get(known)) is not None:
                self._held.move_to_end(known)
                return found
        found = self._brought_level(owner, build, read, bounds).first(state.applied)
        if len(found) < state.applied:
            return None
        self._hold(known, found)
        return found

    def _hold(self, known: _Known, lines: EventsOnLines) -> None:
        with self._lock:
            for older in [one for one in self._held if one.owner == known.owner]:
                del self._held[older]
            self._held[known] = lines
            while len(self._held) > 1 and sum(map(len, self._held.values())) > HELD_EVENTS:
                self._held.popitem(last=False)

    def _brought_level(self, owner: str, build: str, read: Read, bounds: Bounds) -> EventsOnLines:
        keys, today = self._keys(owner, build), version_of(build) == PROJECTION_VERSION
        head, lines = TimesHead(), none_on_lines()
        if today:  # packs of builds of before have no names by which some may be passed over
            try:
                with self._wires.wire() as wire:
                    head = read_head_of_lines(wire, keys, owner)
                    lines = read_stored_lines(wire, keys, owner, head)
            except DamagedState as error:
                logger.warning(error.message)
                head, today = TimesHead(), False
        further = self._changelogs.seqs(owner, bounds.check, after=head.events, build=build)
        if not further:
            return lines
        bounds.weigh(len(further) // _READ_FOR_A_FOLDED)
        found = lines.followed_by(on_lines_of(counted(read(further), bounds.check, len(further))))
        if today and len(further) >= self.worth:
            self._write(keys, owner, head, found)
        return found

    def _write(self, keys: BuildKeys, owner: str, head: TimesHead, lines: EventsOnLines) -> None:
        """Some blocks at a time; the one that was not full is written again. Not where Redis should take no more."""
        with self._wires.wire() as wire:
            if (memory_share(wire) or 0) >= ACCESS_FULL:
                return
        while head.events < len(lines):
            first = head.events // BLOCK
            reaches = TimesHead(min((first + _AT_ONCE) * BLOCK, len(lines)))
            upto = lines.first(reaches.events)
            values: list[Argument] = [LINES, stored_times_head(reaches)]
            for number in range(first, blocks_of(reaches.events)):
                values += (f"{LINES}:{number}", stored_lines(upto, number))
            if not write_made(self._wires, keys, owner, keys.index(owner), (LINES, stored_times_head(head)), values):
                return
            head = reaches


def read_head_of_lines(wire: Wire, keys: BuildKeys, owner: str) -> TimesHead:
    """How far the blocks reach. Raises DamagedState, StoreError."""
    raw = wire.call("HGET", keys.index(owner), LINES)
    try:
        return read_times_head(raw)
    except (*UNREADABLE, ValueError) as error:
        raise _damaged(owner, error) from error


def read_stored_lines(wire: Wire, keys: BuildKeys, owner: str, head: TimesHead) -> EventsOnLines:
    """The events that the blocks tell. Raises DamagedState, StoreError."""
    raw, fields = list[bytes | None](), [f"{LINES}:{number}" for number in range(blocks_of(head.events))]
    for at in range(0, len(fields), _AT_ONCE):
        raw += wire.call("HMGET", keys.index(owner), *fields[at : at + _AT_ONCE])
    try:
        return read_lines(head, raw)
    except (*UNREADABLE, ValueError) as error:
        raise _damaged(owner, error) from error


def _damaged(owner: str, error: Exception) -> DamagedState:
    return DamagedState(
        f"what was made of the times of owner {owner} cannot be read ({error}); its events are read instead, and"
        " `engramlog rebuild` makes it anew",
        owner=owner,
    )
