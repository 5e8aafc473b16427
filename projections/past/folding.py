"""Folding what counts of an owner's past from a kept moment on. Pure.

Where a past was imported behind what was told before, those before are folded by themselves, and what is behind them too, from a
moment of its own. One is put behind the other where neither could have met: no event behind asked for a record of those before,
and nothing that an owner has beside records is set by either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from events.envelope import Stored
from projections.checks import Check, unchecked
from projections.fold.owner import FoldStep, OwnerState, ReadTurns, fold_on
from projections.past.event_times import DROPPED, EventTimes
from projections.past.keeping import MomentKeeper
from projections.past.moments import KeptMemories, Start, is_alone, started
from projections.past.stepped import Integers


class FoldedPast(NamedTuple):
    """An owner's state and records after some events."""

    owner: OwnerState
    memories: KeptMemories
    alone: bool
    """As `KeptPart.alone`."""


Read = Callable[[Sequence[int]], Iterator[Stored]]


def to_fold(start: Start, times: EventTimes, happened: int | None, upto: int, first: int = 0) -> Integers:
    """Numbers of the events to be folded behind a start, of those from one to another that had happened by an instant."""
    return times.counting(happened, upto, max(first, start.upto))


def fold_from(
    start: Start,
    times: EventTimes,
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
    seqs = times.seqs[numbers].tolist()
    dropping = set(times.seqs[numbers[times.kinds[numbers] == DROPPED]].tolist())
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
    """What was folded by itself, behind other events that were; None where they have to be folded one after the other.

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
