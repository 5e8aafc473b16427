"""Keeping moments while a fold passes, for whoever asks next. Pure but for how they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from events.envelope import Stored
from projections.fold.owner import FoldStep, OwnerState
from projections.past.event_times import EventTimes
from projections.past.moments import (
    EVERY_EVENTS,
    KeptMoment,
    MomentsHead,
    Start,
    interval,
    is_alone,
    made_part,
    stored_part,
)
from projections.past.stepped import Integers


class Passage(NamedTuple):
    """What a fold passes."""

    times: EventTimes
    happened: int | None
    numbers: Integers
    """Of the events that it folds."""
    known: OwnerState
    """The owner as whoever asks knows it."""
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
        """`write`: whether it was, onto what is kept so far; where it was not, somebody else keeps them, or nobody may."""
        self._head, self._before, self._memories, self._passage = head, start.moment, start.memories, passage
        self._write, self._every = write, interval(len(passage.times), every)
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
        with_it = head.with_one(kept, passage.times.size)
        if with_it is None or not self._write(head, Added(with_it[0], kept.number, part, with_it[1])):
            self._ended, self._changed = True, {}
            return
        self._head, self._before, self._changed = with_it[0], kept.number, {}
        self._since = self._bytes = self._least = 0
