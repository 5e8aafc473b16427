"""An owner's change log as it lies in the store, read pack by pack: whoever asks for a page, or for seqs, holds no more of it.

A pack has the number of its first event for a name, and never changes; the tail only grows, and becomes a pack of its name.
So a place (pack, number) holds for as long as the build does.

An owner's blocks of entries are made of packs when needed; a change log's tail is none. Each is
written only behind the one before, so two who make the same do no harm.

A block of about 4,096 entries says which packs have a memory: a sum of each memory id with the name of the pack. A sum that two
ids share costs a pack that is read for nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeVar
from zlib import crc32

import msgspec
import numpy as np

from engramlog_server.events.encryption.seals import erased, is_tombstone
from engramlog_server.events.errors import DamagedState, StoreUnavailable
from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.events.redis.wire import Wire, WirePool
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.fold.changelog import Entry, first_in, unpack, unpack_seqs
from engramlog_server.projections.past.moments import read_head, stored_head, with_sum, without_sum
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys, readable, write_made
from engramlog_server.projections.redis.sealed import cipher_of, open_pack
from engramlog_server.projections.redis.store import read_owner

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
HEAD = "entries"
"""The field with how far the blocks reach; a block's is `entries:` and its number from 1."""
WORTH = 2_048
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
    raw = wire.call("HGET", keys.index(owner), HEAD)
    return readable(INDEX, owner, lambda: read_head(EntryHead, raw))


def blocks(wire: Wire, keys: BuildKeys, owner: str, head: EntryHead) -> Iterator[EntryBlock]:
    """The blocks, some at a time."""
    for start in range(0, head.blocks, AT_ONCE):
        fields = [f"{HEAD}:{number + 1}" for number in range(start, min(start + AT_ONCE, head.blocks))]
        for raw in wire.call("HMGET", keys.index(owner), *fields):
            yield readable(INDEX, owner, partial(read_block, raw or b""))


def make_blocks(
    wires: WirePool,
    keys: BuildKeys,
    owner: str,
    entries: int,
    packs: Callable[[int], Iterable[tuple[int, list[Entry]]]],
    *,
    worth: int = WORTH,
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
        values = (HEAD, stored_head(made.head), f"{HEAD}:{made.head.blocks}", made.block)
        return write_made(wires, keys, owner, keys.index(owner), (HEAD, stored_head(before)), values)

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

    def index(self, owner: str, *, worth: int = WORTH, check: Check = unchecked) -> BuildKeys:
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
        last, told = told_of(self._wires, self._indexed(owner, build, WORTH, check), owner, ids)

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
