"""Events of the log, and when they happened."""

from __future__ import annotations

from typing import Any

from engramlog.answers.base import Result
from engramlog.answers.past import LinesTold, Placed, Warned


class LoggedEvent(Result):
    """One event of the log. Withheld words are `[withheld: ...]`; ids, numbers and times are shown."""

    position: str
    event_id: str
    type: str
    schema_version: int | None
    owner: str
    occurred_at: str | None
    """When it happened, as its producer says; null where it cannot be read."""
    recorded_at: str | None
    """When the log took it in."""
    late_by: float | None
    """Seconds, where it was recorded more than five minutes after it happened."""
    actor: str | None
    principal: str | None
    """Principal that sent it, as the service knows it."""
    model: str | None
    """The language model that decided it, where that is known."""
    trust: str | None
    """Its trust: asserted, inferred, imported or proposed."""
    session_id: str | None
    causation_id: str | None
    correlation_id: str | None
    data: dict[str, Any] | None
    """As it is stored, but for words that are withheld."""
    withheld: str | None
    """Why words of it are: erased, purged, deleted, retracted, secret, set_aside, undecided, undecodable; null:
    none are."""
    folded: bool | None
    """Whether it is folded; false: it waits, or was dropped. Null for a whole partition."""
    problem: str | None
    """Why it cannot be read; null where it can."""
    bytes: int
    """Size of its body in the log, in bytes."""


class LogEvents(LinesTold, Warned):
    """A page of the log's events."""

    owner: str | None
    """Null for a whole partition."""
    partition: int
    events: list[LoggedEvent]
    next: str | None
    """The next page, as `cursor`; null where there is nothing further to look at. A page may be short, or empty,
    and have one: it looked at as many events as one page may."""
    follow: str
    """The cursor, oldest first, of later events: send it with `wait` to receive them as they come."""
    order: str
    looked: int
    """How many events were looked at for this page."""
    looked_to: str | None
    """The last position that was looked at; null where none was."""
    head: str
    """The newest position of the partition at that time; `p:0` where it is empty."""


class HappenedEnds(Result):
    """From when to when things happened, as their producers say."""

    first: str | None
    """Null where there is no event."""
    last: str | None
    """The latest event of all, even in the future."""
    ahead: str | None
    """The same, where it lies in the future of what is asked about: later than now, or than `known`; else null."""


class RecordedEnds(Result):
    """From when to when the log took them in."""

    first: str | None
    """Null where there is no event."""
    last: str | None


class GroupCounts(Result):
    """Number of events of each group in each bucket."""

    made: list[int]
    """Memories and facts that are new."""
    changed: list[int]
    """Whatever else alters what is there, or how it is read."""
    ended: list[int]
    """Negated, deleted, purged, retracted, rejected, or of a source that was set aside."""
    seen: list[int]
    """Shown, or revealed."""
    talk: list[int]
    """Turns, tool results, and turns that were read for what they say."""


class LineBuckets(Result):
    """One line in equal parts. Part number i, from 0, begins `i * seconds` after `since`; the last one ends with `until`."""

    since: str | None
    """Null if there is no event, and no bound was given."""
    until: str | None
    seconds: float
    """How long each part is."""
    events: int
    """Number of events: the sum of `counts`."""
    counts: list[int]
    """As many as there are parts."""
    groups: GroupCounts | None
    """Null unless asked for."""


class TimeBuckets(Result):
    """Both lines in parts."""

    count: int
    """How many parts each has."""
    happened: LineBuckets
    recorded: LineBuckets


class OwnerTimes(LinesTold, Placed):
    """Both time lines of an owner at a glance."""

    owner: str
    happened: HappenedEnds
    recorded: RecordedEnds
    events: int
    """Folded events that count, whatever the spans."""
    late: int
    """Number of these recorded more than five minutes after they happened."""
    buckets: TimeBuckets
    """Events in all requested spans; events without a recorded time are in no recorded span."""
    since: str | None
    until: str | None
    recorded_since: str | None
    recorded_until: str | None
    hint: str | None
    """Note if the owner has no events; else null."""
