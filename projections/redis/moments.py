"""An owner's kept moments as they are stored: read, and made by the questions that need them.

Everything is written behind what it was made from, so two who make the same do no harm. A purge takes the moments away in the
commit that folds it, and leaves a head of another text: whoever began before it adds nothing any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from engramlog_server.events.errors import DamagedState
from engramlog_server.events.redis.admission import ACCESS_FULL, memory_share
from engramlog_server.events.redis.wire import Wire, WirePool
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.checks import UNBOUNDED, Bounds
from engramlog_server.projections.fold.builds import BuildKeys, version_of
from engramlog_server.projections.fold.owner import PROJECTION_VERSION, OwnerState, encode_owner
from engramlog_server.projections.past.events import OwnerEvents
from engramlog_server.projections.past.folding import Added, MomentKeeper, Passage
from engramlog_server.projections.past.moments import (
    EVERY_EVENTS,
    KeptMoment,
    MomentsHead,
    Start,
    begin_at,
    read_moments,
    read_part,
    started,
    stored_moments,
)
from engramlog_server.projections.redis.changelog import ChangeLogs
from engramlog_server.projections.redis.made import write_made
from engramlog_server.projections.redis.owner_events import OwnerLog, RedisOwnerEvents
from engramlog_server.projections.redis.sealed import cipher_of, open_moment, seal_moment, seal_synonyms
from engramlog_server.projections.redis.store import MOMENTS

HEAD = MOMENTS
"""The field of what is kept; a moment's is its number."""
_T = TypeVar("_T")


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


class RedisMoments:
    """Moments of a store's owners. Safe for threads."""

    def __init__(self, wires: WirePool, changelogs: ChangeLogs, events: RedisOwnerEvents) -> None:
        self._wires, self._keys, self._changelogs, self._events = wires, changelogs.keys, changelogs, events
        self.limits = MomentLimits()

    def events(
        self, owner: str, build: str, state: OwnerState, log: OwnerLog, bounds: Bounds = UNBOUNDED
    ) -> OwnerEvents | None:
        """The owner's events, if moments are kept of them: not of few events, nor in a build of another version."""
        if state.applied < self.limits.least or version_of(build) != PROJECTION_VERSION:
            return None
        events = self._events.of(owner, build, state, log, bounds)
        return events if events is not None and events.ascend else None  # nothing folds otherwise

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
            path = _readable(owner, lambda: head.path(kept.number))
            raw = read_parts(wire, keys, owner, [one.number for one in path])
        counted_then = len(events.counting(kept.happened, kept.upto, first))
        try:
            return _readable(owner, lambda: _started(kept, raw, counted_then)), head
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
            values = (HEAD, stored_moments(head))
            if not write_made(self._wires, keys, owner, key, (HEAD, b""), values, token=token):
                return None

        def write(before: MomentsHead, added: Added) -> bool:
            part = seal_moment(cipher, owner, added.number, added.part)
            values = (HEAD, stored_moments(added.head), added.number, part)
            told = (HEAD, stored_moments(before))
            return write_made(self._wires, keys, owner, key, told, values, gone=[str(one) for one in added.gone])

        return MomentKeeper(head, start, passage, write, self.limits.every)


def read_parts(wire: Wire, keys: BuildKeys, owner: str, numbers: Sequence[int]) -> list[bytes | None]:
    """The parts of these moments, open. Raises DamagedState, StoreError."""
    if not numbers:
        return []
    raw, cipher = wire.call("HMGET", keys.moments(owner), *numbers), cipher_of(wire, keys, owner)
    return [one and open_moment(cipher, owner, number, one) for number, one in zip(numbers, raw, strict=True)]


def _started(kept: KeptMoment, raw: Sequence[bytes | None], events: int) -> Start:
    found = started(kept, map(read_part, raw))
    if found.owner.applied != events:
        raise ValueError(f"moment {kept.number} is of {found.owner.applied} events, not of {events}")
    return found


def read_moments_head(wire: Wire, keys: BuildKeys, owner: str) -> MomentsHead | None:
    """What is kept of an owner's past; None where nothing ever was. Raises DamagedState, StoreError."""
    raw = wire.call("HGET", keys.moments(owner), HEAD)
    return None if raw is None else _readable(owner, lambda: read_moments(raw))


def _readable(owner: str, read: Callable[[], _T]) -> _T:
    try:
        return read()
    except (*UNREADABLE, ValueError) as error:
        raise DamagedState(
            f"what was made of the past of owner {owner} cannot be read ({error}); its events are folded instead, and"
            " `engramlog rebuild` makes it anew",
            owner=owner,
        ) from error
