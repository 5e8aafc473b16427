"""Spans on both time lines: from when to when things happened, and from when to when they were recorded.

Both ends count. A day begins and ends by the owner's clocks. What was recorded is a run of positions, since no partition's clock
goes back.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from api.requests.checks import parse_instant
from events.envelope import Stored
from events.errors import refused
from projections.ranking.conversation_dates import parse_range

_DAYS = re.compile(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?")
_RULE = "an RFC 3339 date-time with a time zone, e.g. 2023-10-22T12:00:00Z, or a day, a month or a year: 2023-10-22, 2023-10, 2023"


class TimeSpan(NamedTuple):
    """From one instant to another, microseconds since 1970; None: without an end there."""

    since: int | None = None
    until: int | None = None

    def holds(self, instant: int) -> bool:
        """Whether an instant lies in it."""
        return (self.since is None or instant >= self.since) and (self.until is None or instant <= self.until)


WHOLE = TimeSpan()


def span_of(since: str | None, until: str | None, zone: str, line: str = "") -> TimeSpan:
    """A span as it was asked for; `line`: what its names begin with. Raises InputError, also where it ends before it begins."""
    names = f"{line}since", f"{line}until"
    span = TimeSpan(_end(names[0], since, zone, last=False), _end(names[1], until, zone, last=True))
    if span.since is not None and span.until is not None and span.since > span.until:
        raise refused(names[1], until, f"a time not before {names[0]}, which is {since}")
    return span


def _end(field: str, text: str | None, zone: str, *, last: bool) -> int | None:
    if text is None:
        return None
    if not _DAYS.fullmatch(text):
        return parse_instant(text, field, _RULE)
    parse_instant(f"{text}{'-01-01'[len(text) - 4 :]}T00:00:00Z", field, _RULE)  # that there is such a day
    try:
        days = parse_range(text, 0, zone)
    except ValueError:
        raise refused(field, text, _RULE) from None
    return days.end - 1 if last else days.start


def recorded_positions(span: TimeSpan, head: int, read: Callable[[int], Stored]) -> range:
    """Seqs of a partition, from 1 to its head, that were recorded within a span; `read` is asked of as many as bisections take."""

    def first(instant: int) -> int:
        """The first seq that was recorded then or later."""
        low, high = 1, head + 1
        while low < high:
            middle = (low + high) // 2
            if (read(middle).recorded or 0) >= instant:
                high = middle
            else:
                low = middle + 1
        return low

    if span == WHOLE:
        return range(1, head + 1)
    since = 1 if span.since is None else max(span.since, 1)
    return range(first(since), head + 1 if span.until is None else first(span.until + 1))
