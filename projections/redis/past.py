"""What questions made of an owner's past, as it is stored: all of its events in columns, and kept moments. Read, and made anew.

The columns are the one index of events for moments, lines and runs of events; they have no content, and a purge leaves them.
Moments are taken away in the commit that folds a purge, which leaves a head of another text: whoever began before it adds nothing
any more. Everything is written behind what it was made from, so two who make the same do no harm.
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
from engramlog_server.projections.checks import UNBOUNDED, Bounds, counted
from engramlog_server.projections.fold.owner import PROJECTION_VERSION, OwnerState, encode_owner
from engramlog_server.projections.past.events import (
    BLOCK,
    EventsHead,
    OwnerEvents,
    begin_at,
    blocks_of,
    events_of,
    no_events,
    read_blocks,
    stored_block,
)
from engramlog_server.projections.past.folding import Added, MomentKeeper, Passage
from engramlog_server.projections.past.moments import (
    EVERY_EVENTS,
    KeptMoment,
    MomentsHead,
    Start,
    read_head,
    read_part,
    started,
    stored_head,
)
from engramlog_server.projections.redis.builds import BuildKeys, readable, version_of, write_made
from engramlog_server.projections.redis.changelog import ChangeLogs
from engramlog_server.projections.redis.sealed import cipher_of, open_moment, seal_moment, seal_synonyms
from engramlog_server.projections.redis.store import MOMENTS

HEAD = MOMENTS
"""The field of what moments are kept; a moment's is its number."""
EVENTS = "events"
"""The field with how far the blocks of columns reach; a block's is `events:` and its number from 0."""
WORTH = 512
"""Events beyond the blocks from which on blocks are made of them: fewer are read each time, in some milliseconds."""
HELD_EVENTS = 2_000_000
"""Events of owners asked about last whose columns stay in this process: 25 bytes each."""
_AT_ONCE = 64
_READ_FOR_A_FOLDED = 4
"""Events that are read in the time in which one is folded."""
_INDEX, _READ_INSTEAD = "the index of the events", "the events are read instead, and "
_PAST, _FOLDED_INSTEAD = "what was made of the past", "its events are folded instead, and "
logger = logging.getLogger(__name__)


class MomentLimits(NamedTuple):
    """From when on anything is made."""

    least: int = 2_048
    """Events of an owner: fewer are folded in about 0.1 s."""
    fold: int = 1_024
    """Events that a question folds."""
    every: int = EVERY_EVENTS
    """Events from one moment to the next, at least."""
    before: int = 2_048
    """Events before an import that are folded by themselves, at most."""
    behind: int = 1_024
    """Events of an import that are older than all before it, at least."""


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


class RedisPast:
    """The pasts of a store's owners. Safe for threads."""

    def __init__(self, wires: WirePool, changelogs: ChangeLogs) -> None:
        self._wires, self._keys, self._changelogs = wires, changelogs.keys, changelogs
        self._held: OrderedDict[_Known, OwnerEvents] = OrderedDict()
        self._lock = Lock()
        self.limits = MomentLimits()
        self.worth = WORTH

    def columns(
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

    def events(
        self, owner: str, build: str, state: OwnerState, log: OwnerLog, bounds: Bounds = UNBOUNDED
    ) -> OwnerEvents | None:
        """The same, if moments are kept of them: not of few events, nor in a build of another version."""
        if state.applied < self.limits.least or version_of(build) != PROJECTION_VERSION:
            return None
        events = self.columns(owner, build, state, log, bounds)
        return events if events is not None and events.ascend else None  # nothing folds otherwise

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
            values: list[Argument] = [EVENTS, stored_head(reaches)]
            for number in range(first, blocks_of(reaches.events)):
                values += (f"{EVENTS}:{number}", stored_block(upto, number))
            if not write_made(self._wires, keys, owner, keys.index(owner), (EVENTS, stored_head(head)), values):
                return
            head = reaches

    def kept(self, owner: str) -> MomentsHead:
        """What is kept of the owner's past. Raises DamagedState where that cannot be read."""
        with self._wires.wire() as wire:
            return read_moments_head(wire, self._keys(owner, self._changelogs.live(owner)), owner) or MomentsHead()

    def begin(
        self,
        owner: str,
        build: str,
        events: OwnerEvents,
        happened: int | None,
        upto: int,
        known: OwnerState,
        first: int = 0,
    ) -> tuple[Start, MomentsHead | None]:
        """Where to begin what counts the events from one to another that had happened by an instant, and what is kept of the owner.

        `known`: the owner's state as whoever asks knows it; None is kept where he does not know of a purge that came since.
        Raises DamagedState where what is stored cannot be read.
        """
        keys = self._keys(owner, build)
        with self._wires.wire() as wire:
            head = read_moments_head(wire, keys, owner)
            if head is None:
                return started(None, ()), MomentsHead()
            if head.since > known.seq:
                return started(None, ()), None
            kept = begin_at(head, events, happened, upto, first)
            if kept is None:
                return started(None, ()), head
            path = readable(_PAST, owner, lambda: head.path(kept.number), _FOLDED_INSTEAD)
            raw = read_parts(wire, keys, owner, [one.number for one in path])
        counted_then = len(events.counting(kept.happened, kept.upto, first))
        try:
            return readable(_PAST, owner, lambda: _started(kept, raw, counted_then), _FOLDED_INSTEAD), head
        except DamagedState:
            with self._wires.wire() as wire:
                if read_moments_head(wire, keys, owner) == head:
                    raise
            return started(None, ()), None  # somebody took them away meanwhile

    def keeping(
        self, owner: str, build: str, head: MomentsHead | None, start: Start, passage: Passage
    ) -> MomentKeeper | None:
        """What keeps moments while a fold passes; None where it is not worth it, or Redis should take no more."""
        if head is None or len(passage.numbers) < self.limits.fold or not passage.keyed:
            return None
        keys = self._keys(owner, build)
        key = keys.moments(owner)
        with self._wires.wire() as wire:
            if (memory_share(wire) or 0) >= ACCESS_FULL:
                return None
            cipher = cipher_of(wire, keys, owner)
        if not head.since:  # from here on a purge finds something to take away
            head, token = MomentsHead(passage.known.seq), encode_owner(passage.known, seal_synonyms(cipher, owner))
            if not write_made(self._wires, keys, owner, key, (HEAD, b""), (HEAD, stored_head(head)), token=token):
                return None

        def write(before: MomentsHead, added: Added) -> bool:
            part = seal_moment(cipher, owner, added.number, added.part)
            values = (HEAD, stored_head(added.head), added.number, part)
            told = (HEAD, stored_head(before))
            return write_made(self._wires, keys, owner, key, told, values, gone=[str(one) for one in added.gone])

        return MomentKeeper(head, start, passage, write, self.limits.every)


def _started(kept: KeptMoment, raw: Sequence[bytes | None], events: int) -> Start:
    found = started(kept, map(read_part, raw))
    if found.owner.applied != events:
        raise ValueError(f"moment {kept.number} is of {found.owner.applied} events, not of {events}")
    return found


def read_parts(wire: Wire, keys: BuildKeys, owner: str, numbers: Sequence[int]) -> list[bytes | None]:
    """The parts of these moments, open. Raises DamagedState, StoreError."""
    if not numbers:
        return []
    raw, cipher = wire.call("HMGET", keys.moments(owner), *numbers), cipher_of(wire, keys, owner)
    return [one and open_moment(cipher, owner, number, one) for number, one in zip(numbers, raw, strict=True)]


def read_moments_head(wire: Wire, keys: BuildKeys, owner: str) -> MomentsHead | None:
    """What is kept of an owner's past; None where nothing ever was. Raises DamagedState, StoreError."""
    raw = wire.call("HGET", keys.moments(owner), HEAD)
    return None if raw is None else readable(_PAST, owner, lambda: read_head(MomentsHead, raw), _FOLDED_INSTEAD)


def read_head_of_events(wire: Wire, keys: BuildKeys, owner: str) -> EventsHead:
    """How far the blocks of columns reach. Raises DamagedState, StoreError."""
    raw = wire.call("HGET", keys.index(owner), EVENTS)
    return readable(_INDEX, owner, lambda: read_head(EventsHead, raw), _READ_INSTEAD)


def read_stored_events(wire: Wire, keys: BuildKeys, owner: str, head: EventsHead) -> OwnerEvents:
    """The events in the blocks. Raises DamagedState, StoreError."""
    raw, fields = list[bytes | None](), [f"{EVENTS}:{number}" for number in range(blocks_of(head.events))]
    for at in range(0, len(fields), _AT_ONCE):
        raw += wire.call("HMGET", keys.index(owner), *fields[at : at + _AT_ONCE])
    return readable(_INDEX, owner, lambda: read_blocks(head, raw), _READ_INSTEAD)
