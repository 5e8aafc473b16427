"""The log: its events, when they happened, and the heads of its hash chains."""

from __future__ import annotations

from typing import Any, Literal

from engramlog.answers.base import LinesTold, Placed, Result, Warned


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


class HeadKept(Result):
    """A head as it was written down outside of the store."""

    seq: int
    chain: str
    at: str
    """When it was written down, by the clock of the machine that did."""
    line: int
    """Number of its line in the file."""


class ChainHead(Result):
    """Where a partition's chain stands."""

    partition: int
    seq: int
    chain: str
    """SHA-256 over all stored events up to this seq, 64 hexadecimal digits."""
    at: str | None
    """When the log took in the event at this seq."""
    appended: int
    """The newest seq of the log; what lies between is not folded yet."""
    kept: HeadKept | None
    """The farthest head that this server's file keeps of the partition."""


class LogAccepted(Result):
    """Somebody accepted that the log is another than was written down."""

    partition: int
    seq: int
    at: str
    reason: str


class HeadsKeeping(Result):
    """The file in which this server keeps heads."""

    lines: int
    last: str | None
    """When the last line was written."""
    problems: list[str]
    """Places at which the file contradicts itself; at most ten."""
    accepted: list[LogAccepted]
    """Changes of the log that somebody accepted; the last hundred."""


class ChainHeads(Result):
    """The heads of the log's chains."""

    store_id: str
    at: str
    """Redis's clock when they were read."""
    partitions: int
    """Number of partitions of the store, including empty ones."""
    heads: list[ChainHead]
    """Heads of partitions with events, in order."""
    line: str
    """The same as a line of a file of kept heads: keep it elsewhere, and compare it later."""
    keeping: HeadsKeeping | None
    """Null where this process keeps no file."""


class PartitionCompared(Result):
    """Comparison of one partition's log with the given heads."""

    partition: int
    state: Literal["agrees", "differs", "missing", "unread"]
    """`agrees`; `differs`: another chain; `missing`: the log ends before, or has a hole; `unread`: it agrees as
    far as was read, and that was not all."""
    heads: int
    agreed: int
    differing: int
    missing: int
    unread: int
    last_agreed: int | None
    """The highest seq at which the chain equals the given one."""
    read_to: int
    """The chain was computed from the first event up to this one."""
    appended: int
    """The newest seq of the log."""
    behind: int
    """Events after the highest given head, which no given head proves."""


class HeadUnmet(Result):
    """A head that the log does not meet, or that was not reached."""

    position: str
    partition: int
    seq: int
    state: Literal["agrees", "differs", "missing", "unread"]
    line: int
    """Line of the text, or of the file from which it was cut."""
    kept: str
    found: str | None
    """The log's chain there; null where it has no such event, or was not read."""


class HeadsCompared(Result):
    """How the log meets heads that somebody holds."""

    store_id: str
    agrees: bool
    """Every head was reached and is met, the text does not contradict itself and is about this store alone."""
    complete: bool
    """Every head was reached before `most` events were read."""
    lines: int
    heads: int
    """Heads that were compared; those before an acceptance are not."""
    agreed: int
    differing: int
    missing: int
    unread: int
    partitions: list[PartitionCompared]
    unmet: list[HeadUnmet]
    """The first hundred, by place."""
    problems: list[str]
    """Places at which the text contradicts itself; at most ten."""
    other_stores: list[str]
    """Stores that the text is about, and that are not this one."""
    accepted: list[LogAccepted]
    """Acceptances that the text tells; the last hundred."""
    uncovered: list[int]
    """Partitions with events of which the text tells no head."""
    events_read: int
    most: int


class OwnerHead(LinesTold, Placed):
    """The head of an owner's chain, and whether it equals the given one."""

    owner: str
    chain: str
    """Over the owner's change log, numbers of laws left out: 64 hexadecimal digits."""
    asked: str | None
    agrees: bool | None
    """Null if no chain was given."""
