"""An owner's events in columns, and states of the past that are folded from a kept moment on. Pure."""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from engramlog_server.events.catalogue import EVENT_TYPES
from engramlog_server.events.envelope import AnyEvent, Stored, decode, micros
from engramlog_server.events.parameters import DEFAULTS, ParameterValue
from engramlog_server.events.partitions import parse_position
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.checks import EVERY, Check, unchecked
from engramlog_server.projections.fold.owner import (
    FoldStep,
    OwnerHistory,
    OwnerState,
    ReadTurns,
    evolve,
    fold_on,
)
from engramlog_server.projections.fold.trust import facts_of
from engramlog_server.projections.fold.working_set import OwnerSettings
from engramlog_server.projections.memory.record import (
    Memory,
)
from engramlog_server.projections.past.moments import (
    EVERY_EVENTS,
    KeptMemories,
    KeptMoment,
    MomentsHead,
    Start,
    interval,
    is_alone,
    made_part,
    started,
    stored_part,
    with_sum,
    without_sum,
)


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
    keep: Callable[[Stored, AnyEvent], bool] = lambda _stored, _event: True,
    check: Check = unchecked,
    total: int = 0,
    secret: bytes = b"",
) -> OwnerHistory:
    """`fold_owner` without a change log, and so without a chain and without what was read of turns: for questions that ask none
    of it, at half the time and a fraction of the memory.
    """
    fold = RecordsFold(secret=secret)
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
        forced: Mapping[str, ParameterValue] | None = None,
        law: str | None = None,
        secret: bytes = b"",
    ) -> None:
        self._forced, self._law, self._secret = forced, law, secret
        self._settings = _forced(_UNCHANGED, forced, law)
        self._memories: dict[str, Memory] = {}
        self._waiting = 0
        self._newest: int | None = None
        self.applied = 0
        """How many events were taken."""

    def take(self, one: Stored, event: AnyEvent) -> None:
        """The next event, decoded."""
        settings, told = self._settings, facts_of(one, event)
        change = evolve(settings, self._memories, event, one.seq, DEFAULTS, *told, self._waiting)
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
