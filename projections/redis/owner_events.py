"""Columns of an owner's events as they are stored: read, and made by the questions that need them.

The one index of events for moments, lines and runs of events. Blocks are written behind what they were made from, so two who make
the same do no harm. They have no content: a purge leaves them.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock
from typing import NamedTuple

from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import DamagedState
from engramlog_server.events.redis.admission import ACCESS_FULL, memory_share
from engramlog_server.events.redis.wire import Argument, Wire, WirePool
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.checks import UNBOUNDED, Bounds, counted
from engramlog_server.projections.fold.builds import BuildKeys, version_of
from engramlog_server.projections.fold.owner import PROJECTION_VERSION, OwnerState
from engramlog_server.projections.past.events import (
    BLOCK,
    EventsHead,
    OwnerEvents,
    blocks_of,
    events_of,
    no_events,
    read_blocks,
    read_events_head,
    stored_block,
    stored_events_head,
)
from engramlog_server.projections.redis.changelog import ChangeLogs
from engramlog_server.projections.redis.made import write_made

EVENTS = "events"
"""The field with how far the blocks reach; a block's is `events:` and its number from 0."""
WORTH = 512
"""Events beyond the blocks from which on blocks are made of them: fewer are read each time, in some milliseconds."""
HELD_EVENTS = 2_000_000
"""Events of owners asked about last whose columns stay in this process: 25 bytes each."""
_AT_ONCE = 64
_READ_FOR_A_FOLDED = 4
"""Events that are read in the time in which one is folded."""
logger = logging.getLogger(__name__)


class OwnerLog(NamedTuple):
    """An owner's log, as its reader has it."""

    read: Callable[[Sequence[int]], Iterator[Stored]]
    """The events at these seqs, in pieces."""
    held: Callable[[str], bool]
    """As `fold_owner` asks it."""


class _Known(NamedTuple):
    """The state of an owner when its events were read: another history has another chain, or another last event."""

    owner: str
    build: str
    applied: int
    seq: int
    chain: bytes


class RedisOwnerEvents:
    """The events of a store's owners. Safe for threads."""

    def __init__(self, wires: WirePool, changelogs: ChangeLogs) -> None:
        self._wires, self._keys, self._changelogs = wires, changelogs.keys, changelogs
        self._held: OrderedDict[_Known, OwnerEvents] = OrderedDict()
        self._lock = Lock()
        self.worth = WORTH

    def of(
        self, owner: str, build: str, state: OwnerState, log: OwnerLog, bounds: Bounds = UNBOUNDED
    ) -> OwnerEvents | None:
        """All events in this state of an owner; missing blocks are made. None if the build is gone.

        Blocks that cannot be read are logged as a warning, and the events are read instead.
        """
        known = _Known(owner, build, state.applied, state.seq, state.chain)
        with self._lock:
            if (events := self._held.get(known)) is not None:
                self._held.move_to_end(known)
                return events
        events = self._brought_level(owner, build, log, bounds).first(state.applied)
        if len(events) < state.applied:
            return None
        with self._lock:
            for older in [one for one in self._held if one.owner == owner]:
                del self._held[older]
            self._held[known] = events
            while len(self._held) > 1 and sum(map(len, self._held.values())) > HELD_EVENTS:
                self._held.popitem(last=False)
        return events

    def _brought_level(self, owner: str, build: str, log: OwnerLog, bounds: Bounds) -> OwnerEvents:
        keys, today = self._keys(owner, build), version_of(build) == PROJECTION_VERSION
        head, events = EventsHead(), no_events()
        if today:  # packs of builds of before have no names by which some may be passed over
            try:
                with self._wires.wire() as wire:
                    head = read_head_of_events(wire, keys, owner)
                    events = read_stored_events(wire, keys, owner, head)
            except DamagedState as error:
                logger.warning(error.message)
                head, today = EventsHead(), False
        further = self._changelogs.seqs(owner, bounds.check, after=head.events, build=build)
        if not further:
            return events
        bounds.weigh(len(further) // _READ_FOR_A_FOLDED)

        def before() -> tuple[Iterable[int], Iterable[Stored]]:
            return events.seqs.tolist(), log.read(events.seqs[events.dropping].tolist())

        more = events_of(counted(log.read(further), bounds.check, len(further)), log.held, before)
        whole = events.followed_by(more)
        if today and len(further) >= self.worth:
            self._write(keys, owner, head, whole)
        return whole

    def _write(self, keys: BuildKeys, owner: str, head: EventsHead, events: OwnerEvents) -> None:
        """Some blocks at a time; the one that was not full is written again. Not if Redis should take no more."""
        with self._wires.wire() as wire:
            if (memory_share(wire) or 0) >= ACCESS_FULL:
                return
        while head.events < len(events):
            first = head.events // BLOCK
            upto = events.first((first + _AT_ONCE) * BLOCK)
            reaches = EventsHead(len(upto), events.size if len(upto) == len(events) else head.size)
            values: list[Argument] = [EVENTS, stored_events_head(reaches)]
            for number in range(first, blocks_of(reaches.events)):
                values += (f"{EVENTS}:{number}", stored_block(upto, number))
            if not write_made(self._wires, keys, owner, keys.index(owner), (EVENTS, stored_events_head(head)), values):
                return
            head = reaches


def read_head_of_events(wire: Wire, keys: BuildKeys, owner: str) -> EventsHead:
    """How far the blocks reach. Raises DamagedState, StoreError."""
    raw = wire.call("HGET", keys.index(owner), EVENTS)
    try:
        return read_events_head(raw)
    except (*UNREADABLE, ValueError) as error:
        raise _damaged(owner, error) from error


def read_stored_events(wire: Wire, keys: BuildKeys, owner: str, head: EventsHead) -> OwnerEvents:
    """The events in the blocks. Raises DamagedState, StoreError."""
    raw, fields = list[bytes | None](), [f"{EVENTS}:{number}" for number in range(blocks_of(head.events))]
    for at in range(0, len(fields), _AT_ONCE):
        raw += wire.call("HMGET", keys.index(owner), *fields[at : at + _AT_ONCE])
    try:
        return read_blocks(head, raw)
    except (*UNREADABLE, ValueError) as error:
        raise _damaged(owner, error) from error


def _damaged(owner: str, error: Exception) -> DamagedState:
    return DamagedState(
        f"the index of the events of owner {owner} cannot be read ({error}); the events are read instead, and"
        " `engramlog rebuild` makes it again",
        owner=owner,
    )
