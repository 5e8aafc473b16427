"""Folding what counts of an owner's past from a kept moment on. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from events.envelope import Stored
from projections.checks import Check, unchecked
from projections.fold.owner import OwnerHistory, fold_on
from projections.past.event_times import DROPPED, EventTimes, Integers
from projections.past.keeping import Keeping
from projections.past.moments import Start


def to_fold(start: Start, times: EventTimes, happened: int | None, upto: int) -> Integers:
    """Numbers of the events that are to be folded behind a start, of the first so many that had happened by an instant."""
    numbers = times.counting(happened, upto)
    return numbers[numbers.searchsorted(start.upto) :]


def fold_from(
    start: Start,
    times: EventTimes,
    numbers: Integers,
    read: Callable[[Sequence[int]], Iterator[Stored]],
    *,
    secret: bytes,
    keeping: Keeping | None = None,
    check: Check = unchecked,
) -> OwnerHistory:
    """The owner after these events, without a change log; `newest` is of them alone.

    Raises NotKept where one is about what is purged today, as `fold_owner` does else.
    """
    seqs = times.seqs[numbers].tolist()
    dropping = set(times.seqs[numbers[times.kinds[numbers] == DROPPED]].tolist())
    stored, owner = read(seqs), start.owner
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
        if keeping is not None:
            keeping.took(step)
    start.memories.folds = False
    return OwnerHistory(owner, start.memories, [], int(times.happened[numbers].max()) if len(numbers) else 0)
