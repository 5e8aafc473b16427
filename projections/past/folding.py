"""Folding what counts of an owner's past from a kept moment on, and keeping moments on the way.

If a past was imported behind what was recorded before, the events before it are folded by themselves, and those behind it too, from
a moment of their own. One is put behind the other if neither could have met: no event behind asked for a record of those before,
and nothing that an owner has besides records is set by either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from engramlog_server.events.envelope import AnyEvent, Stored, decode
from engramlog_server.events.parameters import DEFAULTS, Parameters, ParameterValue
from engramlog_server.projections.checks import EVERY, Check, unchecked
from engramlog_server.projections.fold.owner import FoldStep, OwnerHistory, OwnerState, ReadTurns, evolve, fold_on
from engramlog_server.projections.fold.trust import facts_of
from engramlog_server.projections.fold.working_set import OwnerSettings
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.past.events import Integers, OwnerEvents
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
)

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
