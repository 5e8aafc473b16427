"""How workers share partitions, as decisions alone: what is given up, what is tried next, when leases are due. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from engramlog_server.events.partitions import crc16

ASIDE_SECONDS, MOST_ASIDE_SECONDS = 0.25, 2.0
"""How long a partition is left alone that a Cluster cannot serve now: at first, and at most."""


def surplus(held: Collection[int], share: int) -> list[int]:
    """The partitions that a worker gives up, of those it holds, where its share is smaller."""
    return sorted(held)[share:]


def order_of_tries(worker_id: str, partitions: int) -> Iterator[int]:
    """All partitions in the order in which a worker tries to take them: each begins elsewhere, so that few meet."""
    offset = crc16(worker_id) % partitions  # ids of one host are much alike, and their places must not be
    yield from range(offset, partitions)
    yield from range(offset)


LONGEST = 4
"""A lease that would last longer than so many times one's own was taken before the clock went back: it has ended."""


def is_free(holder: str | None, ends: float, me: str, now: float, lasts: float) -> bool:
    """Whether a lease can be taken; times in one unit. As the script `projections.redis.scripts.LEASE` has it, which decides."""
    left = ends - now
    return holder is None or holder == me or not 0 < left <= LONGEST * lasts


def renewal_seconds(lease_ms: int) -> float:
    """How long after a renewal of its leases a worker renews them again: a third of a lease."""
    return lease_ms / 3_000


def next_aside(before: float | None) -> float:
    """How long a partition is left alone that cannot be served; `before`: how long the last time, None where that is long ago."""
    return ASIDE_SECONDS if before is None else min(2 * before, MOST_ASIDE_SECONDS)


def even_most(kept: Collection[int], most: int) -> int:
    """How much each of some may keep so that all together keep `most` at the most: who keeps less has all of it, the others the
    same."""
    left = max(most, 0)
    for number, one in enumerate(sorted(kept)):
        share = left // (len(kept) - number)
        if one > share:
            return share
        left -= one
    return max(kept, default=0)
