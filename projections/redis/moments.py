"""An owner's times of events and kept moments as they lie in the store: read, and made by the questions that need them.

Everything is written behind what it was made from, so two who make the same do no harm. A purge takes the moments away in the
commit that folds it, and leaves a head of another text: whoever began before it adds nothing any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from events.admission import ACCESS_FULL
from events.envelope import Stored
from events.errors import DamagedState
from events.redis.admission import memory_share
from events.redis.wire import Argument, Wire, WirePool
from events.text.unreadable import UNREADABLE
from projections.checks import UNBOUNDED, Bounds, counted
from projections.fold.builds import BuildKeys, version_of
from projections.fold.owner import PROJECTION_VERSION, OwnerState, encode_owner
from projections.past.event_times import (
    BLOCK,
    DROPPED,
    EventTimes,
    TimesHead,
    blocks_of,
    read_blocks,
    read_times_head,
    stored_block,
    stored_times_head,
    times_of,
)
from projections.past.keeping import Added, MomentKeeper, Passage
from projections.past.moments import (
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
from projections.redis.changelog import ChangeLogs
from projections.redis.made import write_made
from projections.redis.sealed import cipher_of, open_moment, seal_moment, seal_synonyms
from projections.redis.store import MOMENTS

TIMES, HEAD = "times", MOMENTS
"""The fields that say how far each reaches; of a block of times `times:` and its number from 0, of a moment its number."""
_AT_ONCE = 64
_READ_FOR_A_FOLDED = 4
"""Events that are read, to know when they happened, in the time in which one is folded."""
_T = TypeVar("_T")


class OwnerLog(NamedTuple):
    """An owner's log, as whoever asks reads it."""

    read: Callable[[Sequence[int]], Iterator[Stored]]
    """The events at these seqs, in pieces."""
    held: Callable[[str], bool]
    """As `fold_owner` asks it."""


class MomentLimits(NamedTuple):
    """From when on anything is made."""

    least: int = 2_048
    """Events of an owner: fewer are folded in about 0.1 s."""
    times: int = 512
    """Events beyond the blocks of times."""
    fold: int = 1_024
    """Events that a question folds."""
    every: int = EVERY_EVENTS
    """Events from one moment to the next, at least."""
    before: int = 2_048
    """Events before an import that are folded by themselves, at most."""
    behind: int = 1_024
    """Events of an import that are older than all before it, at least."""


class RedisMoments:
    """Times and moments of a store's owners. Safe for threads."""

    def __init__(self, wires: WirePool, changelogs: ChangeLogs) -> None:
        self._wires, self._keys, self._changelogs = wires, changelogs.keys, changelogs
        self.limits = MomentLimits()

    def times(
        self, owner: str, build: str, applied: int, source: OwnerLog, bounds: Bounds = UNBOUNDED
    ) -> EventTimes | None:
        """When each of an owner's events happened; made as far as it is not. None of few events, or by a build of another version.

        Raises DamagedState where what is stored cannot be read.
        """
        if applied < self.limits.least or version_of(build) != PROJECTION_VERSION:
            return None
        keys = self._keys(owner, build)
        with self._wires.wire() as wire:
            head = read_head_of_times(wire, keys, owner)
            known = read_times(wire, keys, owner, head)
        further = self._changelogs.seqs(owner, bounds.check, after=head.events, build=build)
        if not further:
            return known if len(known) >= applied else None
        bounds.weigh(len(further) // _READ_FOR_A_FOLDED)

        def before() -> tuple[Iterable[int], Iterable[Stored]]:
            return known.seqs.tolist(), source.read(known.seqs[known.kinds == DROPPED].tolist())

        found = known.followed_by(
            times_of(counted(source.read(further), bounds.check, len(further)), source.held, before)
        )
        if not found.ascend or len(found) < applied:  # nothing folds so; or a rebuild took the build away meanwhile
            return None
        if len(further) >= self.limits.times:
            self._write_times(keys, owner, head, found)
        return found

    def kept(self, owner: str) -> MomentsHead:
        """What is kept of the owner's past. Raises DamagedState where that cannot be read."""
        with self._wires.wire() as wire:
            return read_moments_head(wire, self._keys(owner, self._changelogs.live(owner)), owner) or MomentsHead()

    def _write_times(self, keys: BuildKeys, owner: str, head: TimesHead, times: EventTimes) -> None:
        """Some blocks at a time; the one that was not full is written again."""
        while head.events < len(times):
            first = head.events // BLOCK
            events = min((first + _AT_ONCE) * BLOCK, len(times))
            reaches = TimesHead(events, times.size if events == len(times) else head.size)
            values: list[Argument] = [TIMES, stored_times_head(reaches)]
            upto = EventTimes(times.seqs[:events], times.happened[:events], times.kinds[:events])
            for number in range(first, blocks_of(events)):
                values += (f"{TIMES}:{number}", stored_block(upto, number))
            if not write_made(self._wires, keys, owner, keys.index(owner), (TIMES, stored_times_head(head)), values):
                return
            head = reaches

    def begin(
        self,
        owner: str,
        build: str,
        times: EventTimes,
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
            kept = begin_at(head, times, happened, upto, first)
            if kept is None:
                return started(None, ()), head
            path = _readable(owner, lambda: head.path(kept.number))
            raw = read_parts(wire, keys, owner, [one.number for one in path])
        counted_then = len(times.counting(kept.happened, kept.upto, first))
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


def read_head_of_times(wire: Wire, keys: BuildKeys, owner: str) -> TimesHead:
    """How far the blocks of times reach. Raises DamagedState, StoreError."""
    raw = wire.call("HGET", keys.index(owner), TIMES)
    return _readable(owner, lambda: read_times_head(raw))


def read_times(wire: Wire, keys: BuildKeys, owner: str, head: TimesHead) -> EventTimes:
    """The events that the blocks tell. Raises DamagedState, StoreError."""
    raw, fields = list[bytes | None](), [f"{TIMES}:{number}" for number in range(blocks_of(head.events))]
    for at in range(0, len(fields), _AT_ONCE):
        raw += wire.call("HMGET", keys.index(owner), *fields[at : at + _AT_ONCE])
    return _readable(owner, lambda: read_blocks(head, raw))


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
