"""Events as people have them: a few owners say much and many say little; memories are mentioned again and shown in answers."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from random import Random

from events.envelope import AnyEvent, Prepared, prepare
from ops.bench.sample import SEED, told

EVENTS_AN_OWNER = 200
"""In the mean."""
SKEW = 0.8
"""An owner's share is its rank to the power of minus this: of 5,000 owners the largest has 4 % of all events."""
LOT = 1_000
"""Events that are appended at a time, and folded before the next."""


class Traffic:
    """Lots of events over so many owners, the same for the same seed."""

    def __init__(
        self, owners: int, texts: str, *, seed: int = SEED, ids: str = "m", at_once: int | None = None
    ) -> None:
        """`at_once`: among how many owners each event falls, who come and go one by one; among all when left out."""
        self.owners = owners
        at_once = min(at_once or owners, owners)
        shares = list(accumulate(rank**-SKEW for rank in range(1, at_once + 1)))
        self.largest = shares[0] / shares[-1]
        """The share of the owner who says most at a time."""

        def whose(number: int, chance: Random) -> int:
            gone = number // EVENTS_AN_OWNER if at_once < owners else 0
            return (gone + bisect(shares, chance.random() * shares[-1])) % owners

        self._events: Iterator[AnyEvent] = told(owners, whose, seed=seed, texts=texts, ids=ids, first=1)

    def lot(self, events: int) -> Sequence[Prepared]:
        """The next so many."""
        return [prepare(one) for one in islice(self._events, events)]


def owners_of(events: int) -> int:
    """How many owners so many events are of."""
    return max(events // EVENTS_AN_OWNER, 1)
