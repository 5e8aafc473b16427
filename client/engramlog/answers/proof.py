"""Heads of hash chains."""

from __future__ import annotations

from typing import Literal

from engramlog.answers.base import Result
from engramlog.answers.past import LinesTold, Placed


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
