"""Reading what was said: an owner's turns, tool results and injections, back from the newest, bounded.

They change no memory, so the change log has no entry of them: of the owner's newest events only those without an entry are
read from the log.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.fold.changelog import Entry
from engramlog_server.projections.memory.working_memory import Said, read_said
from engramlog_server.projections.redis.view import RedisViews

REACHES = (128, 1_024)
"""How many of an owner's newest events are looked back over: the second where the first do not tell enough."""
PIECE = 500


class Recent(NamedTuple):
    """The newest turns, tool results and injections in log order."""

    said: list[Said]
    whole: bool
    """Whether there is none before them."""
    applied: int = -1
    """How many of the owner's events were applied when they were read; -1 where that moved meanwhile, or nobody looked."""


def recent(
    views: RedisViews, owner: str, partitions: int, enough: Callable[[list[Said]], bool] = lambda _: False
) -> Recent:
    """What was said among the owner's newest 128 applied events, or 1,024 where `enough` says that those do not do."""
    applied = views.applied(partition_of(owner, partitions), [owner])[0]
    found, lowest, whole, counts = list[Said](), None, True, set[int]()
    for reach in REACHES:
        tail = views.tail(owner, max(applied - reach, 0))
        counts.add(tail.start + len(tail.seqs))
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
    return Recent(found, whole, counts.pop() if len(counts) == 1 else -1)


def recent_among(
    views: RedisViews,
    owner: str,
    seqs: Sequence[int],
    silent: Sequence[int],
    enough: Callable[[list[Said]], bool] = lambda _: False,
) -> Recent:
    """The same of these events of the owner, of which the silent ones changed no memory; both ascending."""
    found, highest, whole = list[Said](), len(silent), True
    for reach in REACHES:
        whole = len(seqs) <= reach
        lowest = 0 if whole else bisect_left(silent, seqs[-reach])
        found[:0] = filter(None, map(read_said, views.stored(owner, silent[lowest:highest])))
        highest = lowest
        if whole or enough(found):
            break
    return Recent(found, whole)


def said_among(views: RedisViews, owner: str, silent: Sequence[int], check: Check = unchecked) -> Iterator[Said]:
    """Everything that was said in these events of the owner, ascending seqs; the newest first. `check` as in `all_said`."""
    for end in range(len(silent), 0, -PIECE):
        check(len(silent) - end, len(silent))
        yield from _said_at(views, owner, list(silent[max(end - PIECE, 0) : end][::-1]))
    check(len(silent), len(silent))


def all_said(views: RedisViews, owner: str, check: Check = unchecked) -> Iterator[Said]:
    """Everything that was said to an owner, the newest first: linear in the owner's events, as far as it is read.

    No more is held than a pack of the change log and a piece of the log. `check` is asked between pieces.
    """
    total = views.applied(partition_of(owner, views.partitions), [owner])[0]
    passed, silent = 0, list[int]()
    for seqs, entries in views.changelogs.newest(owner, check):
        told = {entry.seq for entry in entries}
        silent += [seq for seq in reversed(seqs) if seq not in told]
        while len(silent) >= PIECE:
            piece, silent = silent[:PIECE], silent[PIECE:]
            check(passed, total)
            yield from _said_at(views, owner, piece)
        passed += len(seqs)
    yield from _said_at(views, owner, silent)
    check(passed, total)


def _said_at(views: RedisViews, owner: str, seqs: list[int]) -> Iterator[Said]:
    """What was said at these seqs, which come newest first."""
    return filter(None, map(read_said, reversed(views.stored(owner, seqs[::-1]))))


def said_from(views: RedisViews, owner: str, seq: int, before: int = 0, check: Check = unchecked) -> list[Said]:
    """What was said from a position on, in log order, with about `before` of the owner's events before it.

    Reads no more of the owner's events than it must: twice as far back each time, until the position is reached.
    """
    reach = REACHES[0]
    applied = views.applied(partition_of(owner, views.partitions), [owner])[0]
    while True:
        tail = views.tail(owner, max(applied - reach, 0), check)
        first = bisect_left(tail.seqs, seq)
        if tail.start == 0 or first >= before:
            break
        reach *= 2
    told = {entry.seq for entry in tail.entries}
    silent = [one for one in tail.seqs[max(first - before, 0) :] if one not in told]
    found: list[Said] = []
    for start in range(0, len(silent), PIECE):
        check(start, len(silent))
        found += filter(None, map(read_said, views.stored(owner, silent[start : start + PIECE])))
    return found


BACK = 1_024
"""How many of the owner's events before the first unread one are read with it: as far as a context block looks back."""


class Since(NamedTuple):
    """What was said from some point on, in log order."""

    said: list[Said]
    appended: frozenset[bytes]
    """Raw ids of the events that changed memories meanwhile."""
    newest: int
    """Seq of the owner's newest applied event, 0 for none."""


def said_since(
    views: RedisViews, owner: str, partitions: int, oldest: int, read_to: int, check: Check = unchecked
) -> Since:
    """What was said from the seq `oldest` on, and at least over the 1,024 events before the first beyond the seq `read_to`.

    With `read_to` 0 everything: linear in the owner's events, some 12 µs each.
    """
    seqs, entries = _since(views, owner, partitions, oldest, read_to, check)
    start = min(oldest, seqs[max(bisect_right(seqs, read_to) - BACK, 0)]) if seqs else 0
    told = {entry.seq for entry in entries}
    silent = [seq for seq in seqs[bisect_left(seqs, start) :] if seq not in told]
    said: list[Said] = []
    for first in range(0, len(silent), PIECE):
        check(first, len(silent))
        said += filter(None, map(read_said, views.stored(owner, silent[first : first + PIECE])))
    return Since(said, frozenset(entry.raw_id for entry in entries), seqs[-1] if seqs else 0)


def _since(
    views: RedisViews, owner: str, partitions: int, oldest: int, read_to: int, check: Check
) -> tuple[list[int], list[Entry]]:
    """Seqs and entries that reach back far enough: the owner's newest packs, or all."""
    applied = views.applied(partition_of(owner, partitions), [owner])[0]
    reach = 2 * BACK
    while read_to and reach < applied:
        tail = views.tail(owner, applied - reach, check)
        if tail.start == 0 or (bisect_right(tail.seqs, read_to) >= BACK and tail.seqs[0] <= oldest):
            return tail.seqs, tail.entries
        reach *= 4
    return views.history(owner, check)
