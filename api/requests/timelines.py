"""The times that a question takes, by one definition for all of them, and what they mean for one owner.

Happened (`as_of`) and recorded (`known`) are two lines; `at` is when weights are computed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypedDict

from api.requests.checks import PRESENT, AsOf, parse_as_of, parse_instant, position_of
from api.shapes import LinesTold, TimesTold
from events.envelope import Stored, from_micros, utc_text
from events.errors import InputError, refused
from projections.memory.timelines import Lines, recorded_by
from projections.ranking.conversation_dates import parse_range

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


KNOWN, HAPPENED = "known", "happened"
LINE_NAMES = (KNOWN, HAPPENED)


def other_line(line: str) -> str:
    """The one that two moments do not stand on."""
    return HAPPENED if line == KNOWN else KNOWN


class SideAsked(NamedTuple):
    """One of the two: the times that it is read at, and which of them is its moment."""

    times: TimesAsked
    moves: str
    """`known` or `as_of`: the field that the moment stands in."""
    name: str
    """`from` or `to`: how it was asked."""

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """A refusal of the moment within is told by the name that it was asked under."""
        try:
            yield
        except InputError as error:
            if error.context.get("field") != self.moves:
                raise
            got, allowed = self.times.get("known" if self.moves == "known" else "as_of"), error.context.get("allowed")
            raise refused(self.name, got, str(allowed)) from None


class TwoMoments(NamedTuple):
    """What is asked about: from one moment to another, along one line, with the other line held where it is told."""

    line: str
    first: SideAsked
    second: SideAsked
    since: str
    until: str | None
    """None: now."""

    def check_order(self, owner: str, partitions: int, zone: str, now: int) -> None:
        """Raises InputError where it ends before it begins, as far as its words tell: of two positions, or two times."""
        begins = parse_as_of(self.since, owner, partitions, "from").by_the_clocks_of(zone)
        ends = AsOf(instant=now)
        if self.until is not None:
            ends = parse_as_of(self.until, owner, partitions, "to").by_the_clocks_of(zone)
        later = begins.instant is not None and ends.instant is not None and begins.instant > ends.instant
        if later or (begins.seq is not None and ends.seq is not None and begins.seq > ends.seq):
            raise self.reversed()

    def reversed(self) -> InputError:
        """That it ends before it begins."""
        ends = f"`to`, {self.until}" if self.until is not None else "`to`, which is now where it is not told"
        return refused("from", self.since, f"a moment that is not after {ends}; a day is its end")


def moments_of(
    line: str, since: str, until: str | None, as_of: str | None, known: str | None, now: Callable[[], int]
) -> TwoMoments:
    """The two sides of a question. Raises InputError for an unknown line, and for a time that the line moves itself.

    `now`: microseconds since 1970, asked where the span ends now and what was known is held: then what had happened by now counts.
    """
    if line not in LINE_NAMES:
        raise refused("line", line, " or ".join(LINE_NAMES))
    moved, told = ("known", known) if line == KNOWN else ("as_of", as_of)
    if told is not None:
        other = "as_of" if line == KNOWN else "known"
        raise refused(
            moved, told, f"nothing on the line `{line}`, which `from` and `to` move along; {other} holds the other"
        )
    if line == KNOWN:
        sides = TimesAsked(as_of=as_of, known=since), TimesAsked(as_of=as_of, known=until)
    else:
        ends = until
        if until is None and known is not None:
            ends = utc_text(from_micros(now()))
        sides = TimesAsked(as_of=since, known=known), TimesAsked(as_of=ends, known=known)
    return TwoMoments(line, SideAsked(sides[0], moved, "from"), SideAsked(sides[1], moved, "to"), since, until)
