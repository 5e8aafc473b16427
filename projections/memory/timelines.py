"""The two time lines of an owner's events: when each happened, and when it was recorded. Pure.

Happened is what its producer says (`occurred_at`), recorded what the log says (`Stored.recorded`). Late events come in the order
of the one and not of the other.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from engramlog_server.events.envelope import AnyEvent, Stored, micros


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


ALL = Lines()


def recorded_by(seqs: Sequence[int], instant: int, recorded: Callable[[int], int]) -> Sequence[int]:
    """Those of ascending seqs that were recorded by an instant: the first of them, since no partition's clock goes back.

    `recorded` is asked of as many as a bisection takes.
    """
    return seqs[: bisect_right(seqs, instant, key=recorded)]
