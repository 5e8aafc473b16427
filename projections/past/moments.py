"""An owner's past: its events in columns, the moments that are kept of it, and the fold that begins at one. Pure.

A kept moment is the state after those of an owner's first so many events that had happened by an instant (all, where there is
none). A question about what had happened by another instant may begin there if and only if no event below that number happened
between the two: then both are the same list of events. That covers positions, events that came late, and what was imported last.
Each is told by the records that changed since the moment before it; which those are follows from `before`, back to the first.

Events are numbered from 0 in the order in which they were applied, and stored in blocks of 4,096, about ten bytes an event without
contents. There are two time lines: an event happened when its producer says (`occurred_at`), and was recorded when the log says.

If a past was imported behind what was recorded before, the events before it are folded by themselves, and those behind it too, from
a moment of their own. One is put behind the other if neither could have met: no event behind asked for a record of those before,
and nothing that an owner has besides records is set by either.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, MutableMapping
from typing import NamedTuple, TypeVar

import msgspec

from engramlog_server.events.errors import DamagedState
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.fold.owner import (
    OwnerState,
    decode_owner,
    encode_owner,
)
from engramlog_server.projections.memory.record import (
    Memory,
    decode_memory,
    encode_memory,
    with_changes,
    without_content,
    without_words,
)

EVERY_EVENTS = 512
"""Events from one moment to the next at least, and a 256th of all of the owner's: so many are folded for any answer, and as many
again where nobody made the last ones yet."""
_PARTS = 256
MOST_MOMENTS = 1_024
_LEVEL = 1
_SUM_BYTES = 4


def with_sum(raw: bytes) -> bytes:
    """The bytes behind their sum."""
    return zlib.crc32(raw).to_bytes(_SUM_BYTES, "big") + raw


def without_sum(raw: bytes) -> bytes:
    """The bytes. Raises ValueError where the sum is another one."""
    told = raw[_SUM_BYTES:]
    if len(raw) < _SUM_BYTES or with_sum(told) != raw:
        raise ValueError("its sum is another")
    return told


H = TypeVar("H", bound=msgspec.Struct)


def read_head(kind: type[H], raw: bytes | None) -> H:
    """What is kept, in its stored bytes; nothing stored is before the first. Raises MsgspecError, ValueError for damaged ones."""
    return kind() if raw is None else msgspec.msgpack.decode(without_sum(raw), type=kind)


def stored_head(head: msgspec.Struct) -> bytes:
    """The same as it is stored: nothing before the first."""
    return b"" if head == type(head)() else with_sum(msgspec.msgpack.encode(head))


class KeptMoment(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The place of a kept moment."""

    number: int
    """From 1, as they were made."""
    before: int
    """The moment whose records it changes; 0 for none."""
    upto: int
    """How many of the owner's first events may count."""
    happened: int | None
    """By when those that count had happened, microseconds since 1970; None: all count."""
    size: int
    """Bytes as it is stored."""
    first: int = 0
    """The number of the first event that may count: those before are folded by themselves (`projections.past.moments`)."""


class MomentsHead(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is kept of an owner's past."""

    since: int = 0
    """The owner's seq when it was begun, or when a purge last removed all: a process without that purge may not add to it."""
    made: int = 0
    """The highest number that was given."""
    kept: tuple[KeptMoment, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of all."""
        return sum(one.size for one in self.kept)

    def path(self, number: int) -> list[KeptMoment]:
        """A moment with all before it, the first one first. Raises ValueError where one is missing."""
        by_number, found = {one.number: one for one in self.kept}, list[KeptMoment]()
        while number:
            one = by_number.get(number)
            if one is None or one.before >= number:
                raise ValueError(f"moment {number} is not kept, and another depends on it")
            found.append(one)
            number = one.before
        return found[::-1]

    def with_one(self, added: KeptMoment, most_bytes: int) -> tuple[MomentsHead, list[int]] | None:
        """With one more, and the numbers of those removed for it: the oldest on which no other depends. None: no room."""
        kept, held, gone = list(self.kept), {one.number for one in self.path(added.before)}, list[int]()
        size = self.size + added.size
        while size > most_bytes or len(kept) >= MOST_MOMENTS:
            needed = held | {one.before for one in kept}
            first = next((one for one in kept if one.number not in needed), None)
            if first is None:
                return None
            kept.remove(first)
            gone.append(first.number)
            size -= first.size
        return MomentsHead(self.since, added.number, (*kept, added)), gone


class KeptPart(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stored part of a moment."""

    owner: bytes
    """The owner's state."""
    ids: tuple[str, ...]
    """Of the records that changed since the moment before, in the order in which they first did."""
    records: tuple[bytes, ...]
    bare: tuple[int, ...] = ()
    """Which of them are without purged content: they may be shown so, and not folded on."""
    missed: tuple[str, ...] = ()
    """Ids that events asked for since the first, and that are not there; ascending."""
    alone: bool = True
    """Whether the owner has only records, so that events before the first one would not change them."""


_PART = msgspec.msgpack.Decoder(KeptPart)


def made_part(
    owner: OwnerState, memories: KeptMemories, changed: Iterable[str], purged: Collection[str], alone: bool
) -> KeptPart:
    """A moment's part. `purged`: ids of what is purged today; of those no content is kept, nor what they corrected another to."""
    ids = tuple(changed)
    records = [memories[one] for one in ids]
    told = [_without(one, purged) for one in records]
    bare = tuple(
        at for at, (one, kept) in enumerate(zip(records, told, strict=True)) if one.id in purged or kept is not one
    )
    return KeptPart(encode_owner(owner), ids, tuple(map(encode_memory, told)), bare, memories.missing, alone)


def _without(memory: Memory, purged: Collection[str]) -> Memory:
    if memory.id in purged:
        return with_changes(memory, **without_content(memory))
    if any(one.replaced_by in purged and (one.reason or one.new_preference) for one in memory.negations):
        told = (without_words(one) if one.replaced_by in purged else one for one in memory.negations)
        return with_changes(memory, negations=tuple(told))
    return memory


def stored_part(part: KeptPart) -> bytes:
    """A part as it is stored."""
    return with_sum(zlib.compress(msgspec.msgpack.encode(part), _LEVEL))


def read_part(raw: bytes | None) -> KeptPart:
    """A part in its stored bytes. Raises ValueError or MsgspecError if it cannot be read."""
    try:
        part = _PART.decode(zlib.decompress(without_sum(raw or b"")))
    except zlib.error as error:
        raise ValueError(f"a moment that is damaged: {error}") from error
    if len(part.ids) != len(part.records) or any(at >= len(part.ids) for at in part.bare):
        raise ValueError("a moment whose parts do not fit each other")
    return part


class NotKept(Exception):
    """A fold would go on from a record whose content is not kept: it has to begin elsewhere."""


class KeptMemories(MutableMapping[str, Memory]):
    """An owner's records at a moment and after it, in the order in which they were made; each is decoded when somebody reads it."""

    def __init__(self, parts: Iterable[KeptPart] = ()) -> None:
        """`parts`: of a path; no two of them are held at once, since all of a large record's states may be in them."""
        raw = dict[str, bytes | None]()
        bare = set[str]()
        self.last = KeptPart(b"", (), ())
        for part in parts:
            self.last = part
            raw.update(zip(part.ids, part.records, strict=True))
            if bare or part.bare:
                bare.difference_update(part.ids)
                bare.update(part.ids[at] for at in part.bare)
        self._raw, self._missed = raw, set(self.last.missed)
        self._bare, self._read = bare, dict[str, Memory]()
        self.folds = True
        """While a fold reads it, which what is bare ends by NotKept."""

    @classmethod
    def of_records(cls, ids: Iterable[str], records: Iterable[bytes]) -> KeptMemories:
        """Those of these ids, in their canonical bytes."""
        return cls([KeptPart(b"", tuple(ids), tuple(records))])

    def copy(self) -> KeptMemories:
        """The same, which may be brought forward by itself."""
        found = KeptMemories()
        found._raw, found._read = self._raw.copy(), self._read.copy()
        found._bare, found._missed, found.last, found.folds = self._bare, self._missed.copy(), self.last, self.folds
        return found

    def __getitem__(self, memory_id: str) -> Memory:
        found = self._read.get(memory_id)
        if found is None:
            raw = self._raw[memory_id]
            assert raw is not None
            if self.folds and memory_id in self._bare:
                raise NotKept
            try:
                found = self._read[memory_id] = decode_memory(raw)
            except UNREADABLE as error:
                raise DamagedState(f"the kept record of memory {memory_id} cannot be read: {error}") from error
        return found

    def get(self, memory_id: str, default: Memory | None = None) -> Memory | None:  # type: ignore[override]
        """The record, if there is one: what a fold asks most."""
        found = self._read.get(memory_id)
        if found is not None:
            return found
        if memory_id in self._raw:
            return self[memory_id]
        self._missed.add(memory_id)
        return default

    @property
    def missing(self) -> tuple[str, ...]:
        """Ids that were asked for and are not there, ascending."""
        return tuple(sorted(self._missed - self._raw.keys()))

    def behind(self, before: KeptMemories) -> KeptMemories | None:
        """These behind others that were folded before them, each by themselves; None where one of these events asked for theirs."""
        if not (before.keys().isdisjoint(self._raw) and before.keys().isdisjoint(self._missed)):
            return None
        found = KeptMemories()
        found._raw, found._read = {**before._raw, **self._raw}, {**before._read, **self._read}
        found._bare, found._missed = before._bare | self._bare, before._missed | self._missed
        return found

    def __setitem__(self, memory_id: str, memory: Memory) -> None:
        self._raw[memory_id] = None
        self._read[memory_id] = memory

    def __delitem__(self, memory_id: str) -> None:
        del self._raw[memory_id]
        self._read.pop(memory_id, None)

    def __contains__(self, memory_id: object) -> bool:
        return memory_id in self._raw

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def raw(self, memory_id: str) -> bytes | None:
        """The bytes of a record unchanged since the moment; None for any other."""
        return self._raw.get(memory_id)


class Start(NamedTuple):
    """Where a fold begins."""

    moment: int
    """Number of the kept moment; 0 where it begins before the first event."""
    upto: int
    owner: OwnerState
    memories: KeptMemories
    alone: bool = True
    """As `KeptPart.alone`."""


def started(kept: KeptMoment | None, parts: Iterable[KeptPart]) -> Start:
    """At the beginning, or at a moment with the parts of its path. Raises MsgspecError where the state cannot be read."""
    memories = KeptMemories(parts)
    if kept is None:
        return Start(0, 0, OwnerState(), memories)
    return Start(kept.number, kept.upto, decode_owner(memories.last.owner), memories, memories.last.alone)


def is_alone(owner: OwnerState) -> bool:
    """Whether an owner has only records, so that later events fold the same without it."""
    return owner.settings == _NO_SETTINGS and not owner.waiting


_NO_SETTINGS = OwnerState().settings


def interval(events: int, least: int = EVERY_EVENTS) -> int:
    """Events from one moment to the next, of so many."""
    return max(least, events // _PARTS)
