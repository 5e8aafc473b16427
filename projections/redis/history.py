"""An owner's history as it is stored: the change log, read pack by pack, and the past that questions made of it.

A pack has the number of its first event for a name, and never changes; the tail only grows, and becomes a pack of its name.
So a place (pack, number) holds for as long as the build does. Whoever asks for a page, or for seqs, holds no more than that.

A block of about 4,096 entries says which packs have a memory: a sum of each memory id with the name of the pack. A sum that two
ids share costs a pack that is read for nothing. Blocks are made of packs when needed, and never of the tail.

The past is all of the owner's events in columns, and kept moments. The columns are the one index of events for moments, lines and
runs of events; they have no content, and a purge leaves them. Moments are taken away in the commit that folds a purge, which
leaves a head of another text: whoever began before it adds nothing any more. Everything is written behind what it was made from,
so two who make the same do no harm.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from threading import Lock
from typing import NamedTuple, TypeVar
from zlib import crc32

import msgspec
import numpy as np

from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import DamagedState, StoreUnavailable
from engramlog_server.events.keys import erased, is_tombstone
from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.events.redis.log import ACCESS_FULL, memory_share
from engramlog_server.events.redis.wire import Argument, Wire, WirePool
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.checks import UNBOUNDED, Bounds, Check, counted, unchecked
from engramlog_server.projections.fold.changelog import Entry, first_in, unpack, unpack_seqs
from engramlog_server.projections.fold.owner import PROJECTION_VERSION, OwnerState, encode_owner
from engramlog_server.projections.past.folding import (
    BLOCK,
    Added,
    EventsHead,
    MomentKeeper,
    OwnerEvents,
    Passage,
    begin_at,
    blocks_of,
    events_of,
    no_events,
    read_blocks,
    stored_block,
)
from engramlog_server.projections.past.moments import (
    EVERY_EVENTS,
    KeptMoment,
    MomentsHead,
    Start,
    read_head,
    read_part,
    started,
    stored_head,
    with_sum,
    without_sum,
)
from engramlog_server.projections.redis.builds import (
    FIRST_BUILD,
    BuildKeys,
    cipher_of,
    open_moment,
    open_pack,
    readable,
    seal_moment,
    seal_synonyms,
    version_of,
    write_made,
)
from engramlog_server.projections.redis.store import MOMENTS, read_owner

BLOCK_ENTRIES = 4_096
"""A block ends with the pack that reaches this many entries."""


class EntryHead(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How far the blocks reach into an owner's change log."""

    last: int = 0
    """Name of the last pack in the blocks; 0 before the first."""
    entries: int = 0
    """How many entries are in the blocks."""
    blocks: int = 0


class EntryBlock(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Sums of memory ids, ascending, and for each the number of its pack among `packs`; all little-endian."""

    packs: bytes
    """Names, 8 bytes each, ascending."""
    sums: bytes
    """4 bytes each."""
    numbers: bytes
    """2 bytes each."""

    def pairs(self) -> Iterable[tuple[int, int]]:
        """Each sum with the name of its pack."""
        names = np.frombuffer(self.packs, "<u8")
        return zip(np.frombuffer(self.sums, "<u4").tolist(), names[self._numbers()].tolist(), strict=True)

    def packs_of(self, sums: Collection[int]) -> set[int]:
        """Names of the packs that have ids with these sums."""
        known, names = np.frombuffer(self.sums, "<u4"), np.frombuffer(self.packs, "<u8")
        wanted = np.fromiter(sums, "<u4", len(sums))
        starts, ends = known.searchsorted(wanted, "left").tolist(), known.searchsorted(wanted, "right").tolist()
        numbers = self._numbers()
        spans = [numbers[start:end] for start, end in zip(starts, ends, strict=True) if start < end]
        return set(names[np.concatenate(spans)].tolist()) if spans else set()

    def _numbers(self) -> np.ndarray[tuple[int], np.dtype[np.uint16]]:
        return np.frombuffer(self.numbers, "<u2")


_DECODE = msgspec.msgpack.Decoder(EntryBlock)


def read_block(raw: bytes) -> EntryBlock:
    """A block in its stored bytes. Raises MsgspecError, or ValueError if its parts do not fit."""
    block = _DECODE.decode(without_sum(raw))
    many, names = len(block.numbers) // 2, len(block.packs) // 8
    numbers = np.frombuffer(block.numbers, "<u2")
    if len(block.sums) != 4 * many or (many and int(numbers.max()) >= names):
        raise ValueError("a block of entries whose parts do not fit each other")
    return block


def sum_of(memory_id: str) -> int:
    """Four bytes that distinguish memory ids, with rare collisions."""
    return crc32(memory_id.encode())


class Blocked(NamedTuple):
    """A block that is to be stored, and how far all of them reach with it."""

    head: EntryHead
    block: bytes


class BlockMaker:
    """Makes blocks of packs that come in order."""

    def __init__(self, head: EntryHead) -> None:
        self.head = head
        self._names: list[int] = []
        self._told: set[tuple[int, int]] = set()
        self._entries = self._last = 0

    def put(self, name: int, entries: Sequence[Entry]) -> Blocked | None:
        """Take a pack in; the block that it fills, if it does."""
        if entries:
            number = len(self._names)
            self._names.append(name)
            self._told.update((sum_of(entry.memory_id), number) for entry in entries)
        self._entries, self._last = self._entries + len(entries), name
        return self.block() if self._entries >= BLOCK_ENTRIES else None

    def block(self) -> Blocked | None:
        """What was taken in since the last block, as one; None where nothing was."""
        if not self._last:
            return None
        told = sorted(self._told)
        block = EntryBlock(
            np.array(self._names, "<u8").tobytes(),
            np.array([one for one, _ in told], "<u4").tobytes(),
            np.array([number for _, number in told], "<u2").tobytes(),
        )
        self.head = EntryHead(self._last, self.head.entries + self._entries, self.head.blocks + 1)
        self._names, self._told, self._entries, self._last = [], set(), 0, 0
        return Blocked(self.head, with_sum(msgspec.msgpack.encode(block)))


INDEX = "the index of the change log"
ENTRIES = "entries"
"""The field with how far the blocks reach; a block's is `entries:` and its number from 1."""
ENTRIES_WORTH = 2_048
"""Entries beyond the blocks from which on a reader makes blocks of them."""
AT_ONCE = 32


def told_of(wires: WirePool, keys: BuildKeys, owner: str, ids: Collection[str]) -> tuple[int, set[int]]:
    """The name of the last pack in the blocks, and the names of packs that have these memories.

    Raises DamagedState where the blocks cannot be read.
    """
    sums, found = {sum_of(one) for one in ids}, set[int]()
    with wires.wire() as wire:
        head = read_entry_head(wire, keys, owner)
        for block in blocks(wire, keys, owner, head):
            found |= block.packs_of(sums)
    return head.last, found


def read_entry_head(wire: Wire, keys: BuildKeys, owner: str) -> EntryHead:
    """How far the blocks reach."""
    raw = wire.call("HGET", keys.index(owner), ENTRIES)
    return readable(INDEX, owner, lambda: read_head(EntryHead, raw))


def blocks(wire: Wire, keys: BuildKeys, owner: str, head: EntryHead) -> Iterator[EntryBlock]:
    """The blocks, some at a time."""
    for start in range(0, head.blocks, AT_ONCE):
        fields = [f"{ENTRIES}:{number + 1}" for number in range(start, min(start + AT_ONCE, head.blocks))]
        for raw in wire.call("HMGET", keys.index(owner), *fields):
            yield readable(INDEX, owner, partial(read_block, raw or b""))


def make_blocks(
    wires: WirePool,
    keys: BuildKeys,
    owner: str,
    entries: int,
    packs: Callable[[int], Iterable[tuple[int, list[Entry]]]],
    *,
    worth: int = ENTRIES_WORTH,
    check: Check = unchecked,
) -> None:
    """Make blocks of what lies beyond them, of `entries` in all, where that are as many as is `worth` it.

    `packs`: those of a higher name than told, in order. What is made when `check` ends it stays.
    """
    with wires.wire() as wire:
        head = read_entry_head(wire, keys, owner)
    if entries - head.entries < worth:
        return
    maker = BlockMaker(head)

    def written(before: EntryHead, made: Blocked | None) -> bool:
        if made is None:
            return True
        values = (ENTRIES, stored_head(made.head), f"{ENTRIES}:{made.head.blocks}", made.block)
        return write_made(wires, keys, owner, keys.index(owner), (ENTRIES, stored_head(before)), values)

    for name, told in packs(head.last):
        check(maker.head.entries, entries)
        if not written(maker.head, maker.put(name, told)):
            return
    written(maker.head, maker.block())


PACKS = 64
"""Packs that are read at once: about 256 KiB."""
LOOKED_FOR = 64
"""Memories whose names are looked for in a pack before it is read; of more, all packs are."""
_T = TypeVar("_T")


class EntryPlace(NamedTuple):
    """Where an entry stands."""

    build: str
    pack: int = 0
    number: int = 0


class Mark(NamedTuple):
    """An event of an owner, by its number in the order of folding, and where it is read."""

    build: str
    pack: int
    before: int
    """How many events stand in the packs before that one."""
    number: int


def _all(names: list[int]) -> list[int]:
    return names


class ChangeLogs:
    """The change logs of a store's owners. Safe for threads."""

    def __init__(self, wires: WirePool, tags: Sequence[str]) -> None:
        self._wires = wires
        self._tags = list(tags)

    def seqs(self, owner: str, check: Check = unchecked, *, after: int = 0, build: str | None = None) -> list[int]:
        """Seqs of all of the owner's applied events but so many first ones, in the order of folding; no entry is read.

        Where some are passed over, packs have to have the names of today's version.
        """

        def only(names: list[int]) -> list[int]:
            return names[max(bisect_right(names, after + 1) - 1, 0) :] if after else names

        found, first = list[int](), 0
        for pack, raw in self._packs(owner, build or self.live(owner), check=check, only=only):
            first = first or pack
            found += _readable(owner, raw, unpack_seqs)
        return found[max(after + 1 - first, 0) :] if after else found

    def entries(
        self,
        owner: str,
        of: Collection[str] | None = None,
        *,
        start: EntryPlace | None = None,
        newest: bool = False,
        check: Check = unchecked,
    ) -> Iterator[tuple[EntryPlace, Entry]]:
        """Entries with their places, the oldest or the newest first, from a place on; `of`: those about these memories.

        Packs without any of them are passed over unread; of a long log an index says which those are. Raises StoreUnavailable
        where a rebuild took the build away.
        """
        place = start or EntryPlace(self.live(owner))
        wanted = None if of is None else frozenset(of)
        names = [one.encode() for one in wanted or () if len(wanted or ()) <= LOOKED_FOR]
        only = self._telling_of(owner, place.build, wanted or (), check) if names else _all
        first = True
        for pack, raw in self._packs(owner, place.build, place.pack, newest=newest, check=check, only=only):
            begins, first = (place.number if start and first else None), False
            if names and not any(name in raw for name in names):
                continue
            found = list(enumerate(_readable(owner, raw, _entries)))
            if begins is not None:
                found = found[: begins + 1] if newest else found[begins:]
            for index, entry in reversed(found) if newest else found:
                if wanted is None or entry.memory_id in wanted:
                    yield EntryPlace(place.build, pack, index), entry

    def unread(self, owner: str, entries: int) -> int:
        """About how many of so many entries no index tells of yet: they are read to find a memory's."""
        keys = self.keys(owner, self.live(owner))
        with self._wires.wire() as wire:
            return max(entries - read_entry_head(wire, keys, owner).entries, 0)

    def index(self, owner: str, *, worth: int = ENTRIES_WORTH, check: Check = unchecked) -> BuildKeys:
        """Bring the owner's index level, where so many entries lie beyond it; of which build that is."""
        return self._indexed(owner, self.live(owner), worth, check)

    def _indexed(self, owner: str, build: str, worth: int, check: Check) -> BuildKeys:
        keys = self.keys(owner, build)
        with self._wires.wire() as wire:
            raw = wire.call("HGET", keys.owners, owner)
        entries = read_owner(keys, owner, raw).entries if raw else 0
        whole = partial(self._whole, owner, build, check)
        make_blocks(self._wires, keys, owner, entries, whole, worth=worth, check=check)
        return keys

    def _telling_of(
        self, owner: str, build: str, ids: Collection[str], check: Check
    ) -> Callable[[list[int]], list[int]]:
        """Of packs by name, ascending, those that may tell of these memories; the index is brought level first."""
        last, told = told_of(self._wires, self._indexed(owner, build, ENTRIES_WORTH, check), owner, ids)

        def only(names: list[int]) -> list[int]:
            return [name for name in names if name >= last or name in told]

        return only

    def _whole(self, owner: str, build: str, check: Check, after: int) -> Iterator[tuple[int, list[Entry]]]:
        """Packs of a higher name with their entries; the tail, which still grows, is none."""
        for name, raw in self._packs(owner, build, after + 1, check=check, tail=False):
            yield name, _readable(owner, raw, _entries)

    def newest(self, owner: str, check: Check = unchecked) -> Iterator[tuple[list[int], list[Entry]]]:
        """The packs, the newest first: seqs and entries of each in the order of folding. An event's entries are in its pack."""
        for _, raw in self._packs(owner, self.live(owner), newest=True, check=check):
            yield _both(owner, raw)

    def mark_after(self, owner: str, seq: int, check: Check = unchecked) -> Mark:
        """The event that was folded after an owner's own event; where it is none of its own, the first of a higher seq.

        No entry is read. Behind the last event where there is none.
        """
        build, before, higher = self.live(owner), 0, None
        last = Mark(build, 0, 0, 0)
        for pack, raw in self._packs(owner, build, check=check):
            seqs = _readable(owner, raw, unpack_seqs)
            if seq in seqs:
                return Mark(build, pack, before, before + seqs.index(seq) + 1)
            if higher is None:
                at = next((at for at, one in enumerate(seqs) if one > seq), None)
                higher = None if at is None else Mark(build, pack, before, before + at)
            if higher is not None and not seq:
                break
            last = Mark(build, pack, before, before + len(seqs))
            before += len(seqs)
        return last if higher is None else higher

    def page(self, owner: str, mark: Mark, most: int) -> tuple[list[int], list[Entry], Mark]:
        """Seqs and entries from the pack of a mark on, about `most` events, and the mark to go on from.

        The newest pack is read again when it has grown, so the mark told is in the last pack that was read.
        """
        seqs: list[int] = []
        entries: list[Entry] = []
        for pack, raw in self._packs(owner, mark.build, mark.pack):
            some, told = _both(owner, raw)
            before = mark.before + len(seqs)
            seqs, entries = seqs + some, entries + told
            following = Mark(mark.build, pack, before, before + len(some))
            if following.number - mark.number >= most:
                return seqs, entries, following
        return seqs, entries, following if seqs else mark

    def keys(self, owner: str, build: str) -> BuildKeys:
        """The keys of an owner's partition in a build."""
        return BuildKeys(self._tags[partition_of(owner, len(self._tags))], build)

    def live(self, owner: str) -> str:
        """The build that an owner's questions are answered from. Raises OwnerErased: of such an owner there is none."""
        with self._wires.wire() as wire:
            keys = LogKeys(self._tags[partition_of(owner, len(self._tags))])
            live, line = wire.answers([["HGET", keys.meta, "live"], ["HGET", keys.secrets, owner]])
        if line is not None and wire.seals.is_on and is_tombstone(line):
            raise erased(owner)
        return (live or FIRST_BUILD.encode()).decode()

    def _packs(
        self,
        owner: str,
        build: str,
        start: int = 0,
        *,
        newest: bool = False,
        check: Check = unchecked,
        only: Callable[[list[int]], list[int]] = _all,
        tail: bool = True,
    ) -> Iterator[tuple[int, bytes]]:
        """Packs by name, and the tail by its own, from the pack of a name on: as of when this begins.

        `only`: those that are read of all packs that are there. `tail`: whether what is no pack yet comes too.
        """
        keys = self.keys(owner, build)
        with self._wires.wire() as wire:
            last, names = read_names(wire, keys, owner)
        ends = [last] if tail and last and (not start or (last[0] <= start if newest else last[0] >= start)) else []
        wanted = [name for name in only(names) if not start or (name <= start if newest else name >= start)]
        if newest:
            yield from ends
            wanted.reverse()
        for at in range(0, len(wanted), PACKS):
            check(at, len(wanted))
            some = wanted[at : at + PACKS]
            with self._wires.wire() as wire:
                packs, cipher = wire.call("HMGET", keys.changelog(owner), *some), cipher_of(wire, keys, owner)
            for name, raw in zip(some, packs, strict=True):
                if raw is None:
                    raise StoreUnavailable(
                        f"the change log of {owner} was replaced meanwhile; come again", retry_after=1
                    )
                yield name, open_pack(cipher, owner, raw)
        if not newest:
            yield from ends


def read_names(wire: Wire, keys: BuildKeys, owner: str) -> tuple[tuple[int, bytes] | None, list[int]]:
    """The tail with its name, if there is one, and the names of the packs, ascending. Raises DamagedState, StoreError."""
    tail, found = wire.answers([["GET", keys.tail(owner)], ["HKEYS", keys.changelog(owner)]])
    names = sorted(map(int, found))
    if not tail:
        return None, names
    tail = open_pack(cipher_of(wire, keys, owner), owner, tail)
    (name,) = _readable(owner, tail, lambda raw: [first_in(raw)])
    return (None if name in names else (name, tail)), names  # by now it may be a pack


def read_packs(wire: Wire, keys: BuildKeys, owner: str, check: Check = unchecked) -> bytes:
    """A whole change log, its packs laid end to end; as of one moment only where nothing of the owner is folded meanwhile."""
    tail, names = read_names(wire, keys, owner)
    found, cipher = list[bytes](), cipher_of(wire, keys, owner)
    for at in range(0, len(names), PACKS):
        check(at, len(names))
        packs = wire.call("HMGET", keys.changelog(owner), *names[at : at + PACKS])
        found += (open_pack(cipher, owner, raw or b"") for raw in packs)
    return b"".join(found) + (tail[1] if tail else b"")


def _both(owner: str, raw: bytes) -> tuple[list[int], list[Entry]]:
    (found,) = _readable(owner, raw, lambda raw: [unpack(raw)])
    return found


def _entries(raw: bytes) -> list[Entry]:
    return unpack(raw)[1]


def _readable(owner: str, raw: bytes, read: Callable[[bytes], list[_T]]) -> list[_T]:
    """What a pack holds; raises DamagedState where it cannot be read."""
    try:
        return read(raw)
    except UNREADABLE as error:
        raise DamagedState(
            f"the change log of owner {owner} cannot be read ({error}); `engramlog rebuild` makes it again from the log",
            owner=owner,
        ) from error


EVENTS = "events"
"""The field with how far the blocks of columns reach; a block's is `events:` and its number from 0."""
EVENTS_WORTH = 512
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
        self.worth = EVENTS_WORTH

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
            if not write_made(self._wires, keys, owner, key, (MOMENTS, b""), (MOMENTS, stored_head(head)), token=token):
                return None

        def write(before: MomentsHead, added: Added) -> bool:
            part = seal_moment(cipher, owner, added.number, added.part)
            values = (MOMENTS, stored_head(added.head), added.number, part)
            told = (MOMENTS, stored_head(before))
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
    raw = wire.call("HGET", keys.moments(owner), MOMENTS)
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
