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
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from engramlog_server.events.catalogue import EVENT_TYPES
from engramlog_server.events.envelope import AnyEvent, Stored, decode, micros
from engramlog_server.events.errors import DamagedState
from engramlog_server.events.parameters import DEFAULTS, Parameters, ParameterValue
from engramlog_server.events.partitions import parse_position
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.checks import EVERY, Check, unchecked
from engramlog_server.projections.fold.owner import (
    FoldStep,
    OwnerHistory,
    OwnerState,
    ReadTurns,
    decode_owner,
    encode_owner,
    evolve,
    fold_on,
)
from engramlog_server.projections.fold.trust import facts_of
from engramlog_server.projections.fold.working_set import OwnerSettings
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


class Lines(NamedTuple):
    """Up to where on either line events count; instants are microseconds since 1970, both ends count. None: all do."""

    happened: int | None = None
    seq: int | None = None
    """The last position that counts."""
    recorded: int | None = None

    def counts(self, stored: Stored, event: AnyEvent) -> bool:
        """Whether an event is part of the answer: what `fold_owner` and `fold_records` keep."""
        return (
            (self.happened is None or micros(event.occurred_at) <= self.happened)
            and (self.seq is None or stored.seq <= self.seq)
            and (self.recorded is None or stored.recorded <= self.recorded)
        )


def recorded_by(seqs: Sequence[int], instant: int, recorded: Callable[[int], int]) -> Sequence[int]:
    """Those of ascending seqs that were recorded by an instant: the first of them, since no partition's clock goes back.

    `recorded` is asked of as many as a bisection takes.
    """
    return seqs[: bisect_right(seqs, instant, key=recorded)]


Integers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]
BLOCK = 4_096
_NUMBER = {name: number for number, name in enumerate(EVENT_TYPES)}
"""The catalogue only grows at its end: a number stands for the same type in every release."""
_DROPPED = 0x80
"""In a mark: the event discarded a parked one."""
_DISCARD = _NUMBER["EventDiscarded"]
_SILENT = np.array([_NUMBER[name] for name in ("TurnRecorded", "ToolResultRecorded", "MemoriesAccessed")], np.uint8)
"""Types that leave nothing in the change log."""
_INTEGERS = ("seqs", "happened", "recorded")
_WIDTH = 8
_BLOCK_LEVEL = 6


@dataclass(frozen=True, slots=True)
class OwnerEvents:
    """An owner's events, by their numbers."""

    seqs: Integers
    happened: Integers
    """Microseconds since 1970."""
    recorded: Integers
    """Microseconds since 1970; 0 if the entry has no recorded time."""
    marks: Bytes
    """The number of each type, as `number_of` has it, and whether the event discarded a parked one."""
    size: int = 0
    """Bytes of their bodies."""

    def __len__(self) -> int:
        return len(self.seqs)

    @property
    def types(self) -> Bytes:
        """Numbers of their types."""
        return self.marks & np.uint8(_DROPPED - 1)

    @property
    def dropping(self) -> Flags:
        """Which discarded a parked event."""
        return self.marks >= _DROPPED

    @property
    def silent(self) -> Flags:
        """Which leave nothing in the change log: turns, tool results, accesses."""
        return np.isin(self.marks, _SILENT)

    @property
    def ascend(self) -> bool:
        """Whether seqs ascend: then the events up to a position are the first ones."""
        return bool((np.diff(self.seqs) > 0).all())

    def followed_by(self, more: OwnerEvents) -> OwnerEvents:
        """These and then those."""
        return joined([self, more], self.size + more.size)

    def first(self, events: int) -> OwnerEvents:
        """The first so many."""
        return self if events >= len(self) else self.of(slice(events))

    def of(self, some: slice | Flags) -> OwnerEvents:
        """Some of them, with the size of all."""
        return OwnerEvents(self.seqs[some], self.happened[some], self.recorded[some], self.marks[some], self.size)

    def known_by(self, lines: Lines) -> Flags:
        """Which were recorded by where `lines` end."""
        known = np.ones(len(self), np.bool_) if lines.seq is None else self.seqs <= lines.seq
        if lines.recorded is not None:
            known &= self.recorded <= lines.recorded
        return known

    def on_lines(self, lines: Lines) -> Flags:
        """Which count, as `Lines.counts` decides for one event."""
        known = self.known_by(lines)
        return known if lines.happened is None else known & (self.happened <= lines.happened)

    def counting(self, happened: int | None, upto: int, first: int = 0) -> Integers:
        """Numbers from `first` below `upto` of the events that had happened by an instant; None: of all."""
        if happened is None:
            return np.arange(first, upto)
        return np.flatnonzero(self.happened[first:upto] <= happened) + first

    def parting(self, one: int | None, other: int | None, upto: int, first: int = 0) -> int:
        """The first such number that had happened by only one of two instants; `upto` if there is none."""
        if one == other:
            return upto
        bounds, happened = [at for at in (one, other) if at is not None], self.happened[first:upto]
        between = happened > min(bounds)
        if len(bounds) > 1:
            between &= happened <= max(bounds)
        return int(between.argmax()) + first if between.any() else upto

    def split(self, most: int, least: int) -> int:
        """How many events were recorded before an older past was imported behind them; 0 if none was.

        Those before the first that is older than the very first: at most `most`, and behind them at least `least` are older.
        """
        older = self.happened < self.happened[0] if len(self) else np.zeros(0, np.bool_)
        first = int(older[: most + 1].argmax()) if older.any() else 0
        return first if int(older[first:].sum()) >= least else 0


class EventsHead(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How far the blocks reach."""

    events: int = 0
    size: int = 0
    """Bytes of the bodies of those events."""


class _Head(msgspec.Struct, frozen=True):
    occurred_at: datetime


_HEAD = msgspec.json.Decoder(_Head)


def number_of(event_type: str) -> int:
    """The number that stands for a type of the catalogue."""
    return _NUMBER[event_type]


def _nothing_before() -> tuple[Iterable[int], Iterable[Stored]]:
    return (), ()


def events_of(
    stored: Iterable[Stored],
    held: Callable[[str], bool],
    before: Callable[[], tuple[Iterable[int], Iterable[Stored]]] = _nothing_before,
) -> OwnerEvents:
    """The columns of these events, which were applied in this order. Of a body only its time is read, unless it discards an event.

    `held`: as `fold_owner` asks it. `before`: seqs of all events before them, and those of these that discarded a parked one; asked
    only if something is discarded. Raises UndecodableEvent, ValueError for a recorded time that is no number.
    """
    columns = [list[int](), list[int](), list[int]()]
    marks, size, over = bytearray(), 0, set[int]()
    for one in stored:
        mark = _NUMBER[one.kind.rpartition(".")[0]]
        if mark == _DISCARD:
            if not over:
                all_before, discards = before()
                over = {*all_before, *columns[0], *(parse_position(_discarded(each))[1] for each in discards)}
            position = _discarded(one)
            seq = parse_position(position)[1]
            if seq < one.seq and seq not in over and held(position):
                mark |= _DROPPED
                over.add(seq)
            over.add(one.seq)
        if over:
            over.add(one.seq)
        for column, value in zip(columns, (one.seq, _happened(one), one.recorded), strict=True):
            column.append(value)
        marks.append(mark)
        size += len(one.body)
    seqs, happened, recorded = (np.array(each, np.int64) for each in columns)
    return OwnerEvents(seqs, happened, recorded, np.frombuffer(bytes(marks), np.uint8), size)


def _happened(one: Stored) -> int:
    try:
        return micros(_HEAD.decode(one.body).occurred_at)
    except UNREADABLE:
        return micros(decode(one.kind, one.body).occurred_at)  # raises what is wrong with it


def _discarded(one: Stored) -> str:
    position: str = decode(one.kind, one.body).data.position  # type: ignore[union-attr]
    return position


def no_events() -> OwnerEvents:
    """Before the first event."""
    return events_of((), lambda _position: False)


def joined(parts: Sequence[OwnerEvents], size: int) -> OwnerEvents:
    """Events as they follow on each other."""
    seqs, happened, recorded = (np.concatenate([getattr(one, name) for one in parts]) for name in _INTEGERS)
    return OwnerEvents(seqs, happened, recorded, np.concatenate([one.marks for one in parts]), size)


def blocks_of(events: int) -> int:
    """How many blocks so many events take."""
    return -(-events // BLOCK)


def stored_block(events: OwnerEvents, number: int) -> bytes:
    """A block by its number from 0, as it is stored: steps from one event to the next, like bytes side by side, behind a sum."""
    some = events.of(slice(number * BLOCK, (number + 1) * BLOCK))
    steps = [np.diff(getattr(some, name), prepend=np.int64(0)).astype("<i8") for name in _INTEGERS]
    planes = b"".join(one.view(np.uint8).reshape(-1, _WIDTH).T.tobytes() for one in steps)
    return with_sum(zlib.compress(planes + some.marks.tobytes(), _BLOCK_LEVEL))


def read_blocks(head: EventsHead, blocks: Sequence[bytes | None]) -> OwnerEvents:
    """The events of these blocks. Raises ValueError if they do not fit the head, or cannot be read."""
    parts = [_read_block(raw or b"", min(head.events - at * BLOCK, BLOCK)) for at, raw in enumerate(blocks)]
    return joined([no_events(), *parts], head.size)


def _read_block(raw: bytes, rows: int) -> OwnerEvents:
    try:
        plain = zlib.decompress(without_sum(raw))
    except zlib.error as error:
        raise ValueError(f"a block of events that is damaged: {error}") from error
    columns = len(_INTEGERS)
    there, rest = divmod(len(plain), _WIDTH * columns + 1)
    if rest or there < rows:  # there are more if another process went on after the head was read
        raise ValueError(f"a block of events of {len(plain)} bytes for {rows} events")
    planes = np.frombuffer(plain, np.uint8, _WIDTH * columns * there).reshape(columns, _WIDTH, there)
    seqs, happened, recorded = (np.ascontiguousarray(one.T).view("<i8").ravel().cumsum()[:rows] for one in planes)
    return OwnerEvents(seqs, happened, recorded, np.frombuffer(plain, np.uint8, rows, _WIDTH * columns * there))


def begin_at(
    head: MomentsHead, events: OwnerEvents, happened: int | None, upto: int, first: int = 0
) -> KeptMoment | None:
    """The furthest moment at which may begin what counts the first so many events, from one on, that had happened by an instant."""
    mine = [one for one in head.kept if one.first == first]
    partings = {one: events.parting(one, happened, upto, first) for one in {kept.happened for kept in mine}}
    fit = [one for one in mine if one.upto <= partings[one.happened]]
    return max(fit, key=lambda one: (one.upto, one.number), default=None)


_UNCHANGED = OwnerSettings()


def fold_records(
    stored: Iterable[Stored],
    *,
    base: Parameters = DEFAULTS,
    keep: Callable[[Stored, AnyEvent], bool] = lambda _stored, _event: True,
    check: Check = unchecked,
    total: int = 0,
    secret: bytes = b"",
) -> OwnerHistory:
    """`fold_owner` without a change log, and so without a chain and without what was read of turns: for questions that ask none
    of it, at half the time and a fraction of the memory.
    """
    fold = RecordsFold(base=base, secret=secret)
    for number, one in enumerate(stored):
        if not number % EVERY:
            check(number, total)
        event = decode(one.kind, one.body)
        if keep(one, event):
            fold.take(one, event)
    return fold.history


class RecordsFold:
    """What `fold_records` does, event by event."""

    def __init__(
        self,
        *,
        base: Parameters = DEFAULTS,
        forced: Mapping[str, ParameterValue] | None = None,
        law: str | None = None,
        secret: bytes = b"",
    ) -> None:
        self._base, self._forced, self._law, self._secret = base, forced, law, secret
        self._settings = _forced(_UNCHANGED, forced, law)
        self._memories: dict[str, Memory] = {}
        self._waiting = 0
        self._newest: int | None = None
        self.applied = 0
        """How many events were taken."""

    def take(self, one: Stored, event: AnyEvent) -> None:
        """The next event, decoded."""
        settings, told = self._settings, facts_of(one, event)
        change = evolve(settings, self._memories, event, one.seq, self._base, *told, self._waiting)
        self._waiting = change.waiting
        if change.settings is not settings:
            self._settings = _forced(change.settings, self._forced, self._law)
        self._memories.update(change.memories)
        self.applied += 1
        self._newest = change.at if self._newest is None else max(self._newest, change.at)

    @property
    def history(self) -> OwnerHistory:
        """The owner after what was taken."""
        settings = self._settings
        owner = OwnerState(
            applied=self.applied,
            profile=settings.profile,
            parameters=settings.parameters,
            synonyms=settings.synonyms,
            rejections=settings.rejections,
            asides=settings.asides,
            waiting=self._waiting,
        )
        return OwnerHistory(owner, self._memories, [], self._newest or 0)


def _forced(
    settings: OwnerSettings, forced: Mapping[str, ParameterValue] | None, law: str | None = None
) -> OwnerSettings:
    if law is not None and settings.profile != law:
        settings = settings._replace(profile=law)
    if not forced:
        return settings
    return settings._replace(parameters=tuple(sorted({**dict(settings.parameters), **forced}.items())))


class Passage(NamedTuple):
    """What a fold passes."""

    events: OwnerEvents
    happened: int | None
    numbers: Integers
    """Of the events that it folds."""
    known: OwnerState
    """The owner as the reader knows it."""
    purged: frozenset[str]
    """Ids of what is purged today."""
    keyed: bool
    """Whether the owner's secret is known: without it a state is another."""
    first: int = 0
    """As `KeptMoment.first`."""


class Added(NamedTuple):
    """A moment that is to be written."""

    head: MomentsHead
    """What is kept with it."""
    number: int
    part: bytes
    gone: list[int]
    """Numbers of those that go for it."""


class MomentKeeper:
    """Keeps a moment wherever enough was folded since the last: never of more bytes than the events that it spares."""

    def __init__(
        self,
        head: MomentsHead,
        start: Start,
        passage: Passage,
        write: Callable[[MomentsHead, Added], bool],
        every: int = EVERY_EVENTS,
    ) -> None:
        """`write`: gives whether it was written onto what is kept so far; if not, another process keeps moments, or none may."""
        self._head, self._before, self._memories, self._passage = head, start.moment, start.memories, passage
        self._write, self._every = write, interval(len(passage.events), every)
        self._changed = dict[str, None]()
        self._passed = self._since = self._bytes = self._least = 0
        self._ended, self._alone = False, start.alone

    def reading(self, stored: Iterable[Stored]) -> Iterator[Stored]:
        """The events, as they pass."""
        for one in stored:
            self._bytes += len(one.body)
            yield one

    def took(self, step: FoldStep) -> None:
        """After each event."""
        self._passed += 1
        self._alone = self._alone and is_alone(step.owner)
        if self._ended:
            return
        self._changed.update(dict.fromkeys(step.changed))
        self._since += 1
        if self._since >= self._every and self._bytes >= self._least:
            self._keep(step.owner)

    def _keep(self, state: OwnerState) -> None:
        passage, head = self._passage, self._head
        part = stored_part(made_part(state, self._memories, self._changed, passage.purged, self._alone))
        self._least = len(part)
        if len(part) > self._bytes:
            return
        upto = int(passage.numbers[self._passed - 1]) + 1
        kept = KeptMoment(head.made + 1, self._before, upto, passage.happened, len(part), passage.first)
        with_it = head.with_one(kept, passage.events.size)
        if with_it is None or not self._write(head, Added(with_it[0], kept.number, part, with_it[1])):
            self._ended, self._changed = True, {}
            return
        self._head, self._before, self._changed = with_it[0], kept.number, {}
        self._since = self._bytes = self._least = 0


class FoldedPast(NamedTuple):
    """An owner's state and records after some events."""

    owner: OwnerState
    memories: KeptMemories
    alone: bool
    """As `KeptPart.alone`."""


Read = Callable[[Sequence[int]], Iterator[Stored]]


def to_fold(start: Start, events: OwnerEvents, happened: int | None, upto: int, first: int = 0) -> Integers:
    """Numbers of the events to be folded behind a start, of those from one to another that had happened by an instant."""
    return events.counting(happened, upto, max(first, start.upto))


def fold_from(
    start: Start,
    events: OwnerEvents,
    numbers: Integers,
    read: Read,
    *,
    secret: bytes,
    keeping: MomentKeeper | None = None,
    took: Callable[[FoldStep], None] | None = None,
    check: Check = unchecked,
) -> FoldedPast:
    """The owner after these events; `took` hears of each.

    Raises NotKept where one is about what is purged today, else as `fold_owner` does.
    """
    seqs = events.seqs[numbers].tolist()
    dropping = set(events.seqs[numbers[events.dropping[numbers]]].tolist())
    stored, owner, alone = read(seqs), start.owner, start.alone
    for _, step in fold_on(
        start.owner,
        start.memories,
        stored if keeping is None else keeping.reading(stored),
        lambda one, _event: one.seq in dropping,
        check=check,
        total=len(seqs),
        secret=secret,
    ):
        owner = step.owner
        alone = alone and is_alone(owner)
        if keeping is not None:
            keeping.took(step)
        if took is not None:
            took(step)
    return FoldedPast(owner, start.memories, alone)


def behind(before: FoldedPast, after: FoldedPast) -> FoldedPast | None:
    """Events folded by themselves, put behind others folded by themselves; None if they have to be folded one after the other.

    The chain of both is not known: none is told.
    """
    if not before.owner.applied:
        return after
    if not after.owner.applied:
        return before
    memories = after.memories.behind(before.memories)
    if memories is None or not (before.alone and after.alone) or after.owner.read != ReadTurns():
        return None
    owner = msgspec.structs.replace(
        after.owner,
        applied=before.owner.applied + after.owner.applied,
        entries=before.owner.entries + after.owner.entries,
        chain=b"",
        read=before.owner.read,
    )
    return FoldedPast(owner, memories, True)


def nothing_folded() -> Start:
    """Before the first event."""
    return started(None, ())
