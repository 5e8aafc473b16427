"""The times that a question takes, by one definition for all of them, and what they mean for one owner.

Happened (`as_of`) and recorded (`known`) are two lines; `at` is when weights are computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypedDict

from api.requests.checks import PRESENT, AsOf, parse_as_of, parse_instant, position_of
from api.shapes import LinesTold, TimesTold
from events.envelope import Stored
from projections.memory.timelines import Lines, recorded_by

Progress = Callable[[int, int], None]


class LineTerms(TypedDict, total=False):
    """Which past a question is about, and what it waits for."""

    as_of: str | None
    """What had happened by an instant or a day, or stands at a position."""
    known: str | None
    """What was recorded by an instant or a day, or stands at a position: the answer as it was given then."""
    after: str | None
    """Wait until this position is folded."""
    on_progress: Progress | None


class TimesAsked(LineTerms, total=False):
    """The same, and the instant at which weights are computed."""

    at: str | None


class RequestedTimes(NamedTuple):
    """What was asked of time, checked."""

    as_of: AsOf
    known: AsOf
    at: int | None
    waits: int
    """Seq of the owner's partition that must be folded first; 0 for none."""

    @property
    def of_the_past(self) -> bool:
        """Whether the question is about less than all that is folded."""
        return self.as_of != PRESENT or self.known != PRESENT

    @property
    def seqs(self) -> list[int]:
        """Positions beyond which nothing counts."""
        return [place.seq for place in (self.as_of, self.known) if place.seq is not None]


def times_of(asked: TimesAsked, owner: str, partitions: int) -> RequestedTimes:
    """The times of a question about an owner. Raises InputError, which names the field."""
    at, after = asked.get("at"), asked.get("after")
    as_of = parse_as_of(asked.get("as_of"), owner, partitions)
    known = parse_as_of(asked.get("known"), owner, partitions, "known")
    instant = None if at is None else parse_instant(at)
    waits = position_of(after, owner, partitions) if after is not None else 0
    return RequestedTimes(as_of, known, instant, max([waits, *filter(None, (as_of.seq, known.seq))]))


def told_times(asked: TimesAsked) -> TimesTold:
    """What an answer says of the times that it was asked about."""
    return {**told_lines(asked), "at": asked.get("at")}


def told_lines(asked: LineTerms) -> LinesTold:
    """The same of an answer that computes no weights."""
    return {"as_of": asked.get("as_of"), "known": asked.get("known")}


class Counted(NamedTuple):
    """Which of an owner's events an answer is made of, and when its weights are computed."""

    lines: Lines
    seqs: list[int] | None
    """Those that can be: what is not among them need not be read. None: any that is applied."""
    now: int | None
    """None: the newest `occurred_at` among the events that count."""


class Owned(NamedTuple):
    """What an owner's log tells about it."""

    seqs: Callable[[], list[int]]
    """The owner's applied events, ascending: asked for where a question ends at one of them."""
    zone: str
    read: Callable[[int], Stored]


def lines_of(times: RequestedTimes, zone: str) -> Lines:
    """Up to where on either line events count."""
    as_of, known = times.as_of.by_the_clocks_of(zone), times.known.by_the_clocks_of(zone)
    return Lines(as_of.instant, min(times.seqs, default=None), known.instant)


def counted_of(times: RequestedTimes, owned: Owned) -> Counted:
    """What a question is answered from."""
    lines = lines_of(times, owned.zone)
    now, last = lines.happened, lines.seq
    if times.as_of == PRESENT:
        now = lines.recorded if times.known.seq is None else _recorded(owned, times.known.seq)
    if last is None and lines.recorded is None:
        return Counted(lines, None, now)
    seqs = [seq for seq in owned.seqs() if last is None or seq <= last]
    if lines.recorded is not None:
        seqs = list(recorded_by(seqs, lines.recorded, lambda seq: owned.read(seq).recorded))
    return Counted(lines, seqs, now)


def _recorded(owned: Owned, seq: int) -> int | None:
    """When the entry at a position was recorded; None at position 0."""
    return owned.read(seq).recorded if seq else None
