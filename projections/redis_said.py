"""Reading what was said: an owner's turns, tool results and injections, back from the newest, bounded.

They change no memory, so the change log has no entry of them: of the owner's newest events only those without an entry are
read from the log.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import NamedTuple

from events.partitions import partition_of
from projections.redis_view import RedisViews
from projections.sessions import Said, read_said

REACHES = (128, 1_024)
"""How many of an owner's newest events are looked back over: the second where the first do not tell enough."""
PIECE = 500
Progress = Callable[[int, int], None]


class Recent(NamedTuple):
    """The newest turns, tool results and injections in log order."""

    said: list[Said]
    whole: bool
    """Whether there is none before them."""


def recent(
    views: RedisViews, owner: str, partitions: int, enough: Callable[[list[Said]], bool] = lambda _: False
) -> Recent:
    """What was said among the owner's newest 128 applied events, or 1,024 where `enough` says that those do not do."""
    applied = views.applied(partition_of(owner, partitions), [owner])[0]
    found, lowest, whole = list[Said](), None, True
    for reach in REACHES:
        tail = views.tail(owner, max(applied - reach, 0))
        seqs, whole = (
            tail.seqs[-reach:],
            tail.start == 0 and len(tail.seqs) <= reach,
        )  # packs hold more than was asked for
        told = {entry.seq for entry in tail.entries}
        silent = [seq for seq in seqs if seq not in told and (lowest is None or seq < lowest)]
        lowest = seqs[0] if seqs else lowest
        found[:0] = filter(None, map(read_said, views.stored(owner, silent)))
        if whole or enough(found):
            break
    return Recent(found, whole)


def all_said(views: RedisViews, owner: str, on_progress: Progress | None = None) -> Iterator[Said]:
    """Everything that was said to an owner, the newest first: linear in the owner's events, as far as it is read."""
    seqs, entries = views.history(owner)
    told = {entry.seq for entry in entries}
    silent = [seq for seq in seqs if seq not in told]
    for end in range(len(silent), 0, -PIECE):
        yield from filter(None, map(read_said, reversed(views.stored(owner, silent[max(end - PIECE, 0) : end]))))
        if on_progress is not None:
            on_progress(len(silent) - max(end - PIECE, 0), len(silent))


def said_from(views: RedisViews, owner: str, seq: int, before: int = 0) -> list[Said]:
    """What was said from a position on, in log order, with about `before` of the owner's events before it.

    Reads no more of the owner's events than it must: twice as far back each time, until the position is reached.
    """
    reach = REACHES[0]
    applied = views.applied(partition_of(owner, views.partitions), [owner])[0]
    while True:
        tail = views.tail(owner, max(applied - reach, 0))
        first = bisect_left(tail.seqs, seq)
        if tail.start == 0 or first >= before:
            break
        reach *= 2
    told = {entry.seq for entry in tail.entries}
    silent = [one for one in tail.seqs[max(first - before, 0) :] if one not in told]
    found: list[Said] = []
    for start in range(0, len(silent), PIECE):
        found += filter(None, map(read_said, views.stored(owner, silent[start : start + PIECE])))
    return found
