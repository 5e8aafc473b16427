"""The event log: what every adapter (in memory, Redis) promises. One contract suite tests them all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

import msgspec

from engramlog_server.events.envelope import (
    NOTHING,
    AnyEvent,
    Marker,
    Marks,
    Naming,
    Prepared,
    Stored,
    decode,
    prepare,
    principal_of,
    told_beside,
)
from engramlog_server.events.errors import RequestTooLarge, UndecodableEvent
from engramlog_server.events.partitions import parse_position, partition_of
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS, Trust

Status = Literal["appended", "already_appended", "conflict", "head_mismatch", "not_written", "failed"]
Appendable = Prepared | AnyEvent
"""What can be appended: an event that validation read, or one that it made (`events.validation`)."""
WRITTEN: frozenset[Status] = frozenset({"appended", "already_appended"})


class AppendReceipt(msgspec.Struct, frozen=True, gc=False):
    """What became of one event of a request.

    `appended` and `already_appended` are in the log at `position`. `conflict`: the id is taken by an event of other
    content, at `position`. `head_mismatch`: the owner's head is `position`, not the expected one. `not_written`: another
    event of the same partition stood in the way. `failed`: the partition could not be written, `error` says why; sending
    the whole request again is always right.
    """

    event_id: str
    status: Status
    position: str | None = None
    fsynced: bool | None = None
    """True: on disk before the answer; False: not yet; None: cannot be known."""
    replicas: int = 0
    """How many replicas are known to have it."""
    error: str | None = None
    occurred_at: str | None = None
    """Of a conflict, where it is told: when the event occurred that has the id, if it is of the same owner; RFC 3339."""
    rejected: str | None = None
    """Position at which a person rejected what the event says, where that is known: it is in the log, and changes nothing."""

    @property
    def written(self) -> bool:
        """Whether the event is in the log."""
        return self.status in WRITTEN

    def as_dict(self) -> dict[str, object]:
        """JSON-ready."""
        fields: dict[str, object] = {
            "event_id": self.event_id,
            "status": self.status,
            "position": self.position,
            "fsynced": self.fsynced,
            "replicas": self.replicas,
        }
        more = {"error": self.error, "occurred_at": self.occurred_at, "rejected": self.rejected}
        return fields | {name: value for name, value in more.items() if value}


class Behalf(NamedTuple):
    """On whose behalf a process appends what is in hand."""

    principal: str
    highest: Trust
    """The most that his word reaches."""


def for_itself() -> Behalf | None:
    """On nobody's but its own."""
    return None


class EventLog(Protocol):
    """Partitioned, gapless, idempotent, append-only."""

    @property
    def partitions(self) -> int:
        """How many partitions, fixed when the store is created."""
        ...

    @property
    def principal(self) -> str:
        """Who brings those events for which nobody else is named."""
        ...

    @property
    def highest(self) -> Trust:
        """The most that an operator lets what comes to this side over HTTP reach."""
        ...

    @property
    def marker(self) -> Marker:
        """Who looks at each event once, when it is appended."""
        ...

    def append(
        self,
        events: Sequence[Appendable],
        *,
        expected_heads: Mapping[str, int] | None = None,
        principal: str | None = None,
    ) -> list[AppendReceipt]:
        """Append a request; one receipt per event, in input order. `principal`: who brings it, where not the log's own.

        All or nothing per partition: an id reused with other content, or an owner whose head is not the expected one
        when anything of it is new, leaves the partition's part unwritten. Redelivery gives the first position again.
        Raises RequestTooLarge above 1,000 events.
        """
        ...

    def read(self, partition: int, after: int, limit: int = 500) -> list[Stored]:
        """The next entries of a partition with seq > `after`, in order."""
        ...

    def read_at(self, partition: int, seqs: Sequence[int]) -> list[Stored]:
        """The entries at these seqs, those that exist, in the order asked for."""
        ...

    def head(self, partition: int) -> int:
        """Seq of the newest event of a partition; 0 when empty."""
        ...

    def wait_beyond(self, heads: Mapping[int, int], seconds: float) -> list[int]:
        """Those partitions that hold an event with a seq beyond these, as soon as one does; none after so many seconds."""
        ...

    def owner_head(self, owner: str) -> int:
        """Seq of the owner's last event that moves its head; 0 for none. What `expected_heads` is compared with."""
        ...

    def secrets_of(self, owners: Iterable[str]) -> dict[str, bytes]:
        """The secrets of those of these owners that have one; what is derived from their words is keyed by it."""
        ...

    def adopt_secret(self, owner: str, secret: bytes) -> bytes:
        """Give an owner without a secret the one that it had, or has elsewhere, so that digests keyed by it hold.

        Gives the one that stands.
        """
        ...

    def naming(self, owner: str, *, make: bool = False) -> Naming:
        """By what ids are made of an owner's words; without a secret where the owner has none.

        `make`: give it one then, so that it stands before anything is derived: whoever asks at the same time has the same.
        """
        ...

    def seqs_of(self, owner: str, event_ids: Sequence[str]) -> dict[str, int]:
        """The seqs of those of these ids under which the owner has an event. Any number; asked for in pieces."""
        ...

    def alarm_of(self, partition: int) -> str | None:
        """The alarm by which a partition's log is not the one that was written; None while none stands."""
        ...

    def prove(self, owner: str, seqs: Mapping[str, int]) -> None:
        """Have an owner's events (id -> seq), which were written before, proved as appending them again would.

        Raises UnderReplicated where fewer replicas have them than the operator asks for.
        """
        ...

    def now(self) -> int:
        """The store's clock, microseconds since 1970."""
        ...

    def behind(self) -> int:
        """Microseconds by which that clock is behind this machine's, where that is more than five minutes; else 0."""
        ...


def ready(event: Appendable) -> Prepared:
    """The event as it is written."""
    return event if isinstance(event, Prepared) else prepare(event)


def marked(event: Appendable, marker: Marker) -> tuple[Prepared, Marks | None]:
    """The event as it is written, and what `marker` finds in it; None where it cannot be read, which the fold will tell."""
    if not isinstance(event, Prepared):
        return prepare(event), marker.of(event)
    if event.marks is not None:
        return event, event.marks.by(marker)
    if event.kind in marker.wordless:
        return event, NOTHING
    try:
        told = decode(event.kind, event.body)
    except UndecodableEvent:
        return event, None
    marks = marker.of(told)
    return event, marks._replace(doubtful=marker.doubts(told)) if event.doubted else marks


def foreseen(log: EventLog, owner: str, events: Sequence[Appendable]) -> list[Stored]:
    """The entries that an owner's events would be, were they appended now and nothing before them. Nothing is written.

    They are of use to a fold, and prove nothing: nobody committed to their bodies.
    """
    partition = partition_of(owner, log.partitions)
    head, recorded = log.head(partition), b"%d" % log.now()
    secret, found = log.secrets_of([owner]).get(owner, b""), list[Stored]()
    for seq, event in enumerate(events, head + 1):
        one, marks = marked(event, log.marker)
        level, digests = told_beside(secret, log.marker, marks if secret else None, one.trust)
        by = principal_of(log.principal, one.model).encode()
        found.append(Stored(seq, one.kind, one.raw_id, owner, one.body, (recorded, by, level, digests, b"")))
    return found


def is_access(event: Appendable) -> bool:
    """Whether it tells only that memories were shown."""
    return event.is_access if isinstance(event, Prepared) else event.type == "MemoriesAccessed"


def check_request_size(events: int) -> None:
    """Raise RequestTooLarge where a request holds more than 1,000 events."""
    if events > MAX_REQUEST_EVENTS:
        raise RequestTooLarge(
            f"a request of {events} events; at most {MAX_REQUEST_EVENTS} are allowed: split it",
            got=events,
            allowed=MAX_REQUEST_EVENTS,
        )


def positions_by_partition(texts: Iterable[str]) -> dict[int, int]:
    """The newest seq named for each partition; raises ValueError for what is no position."""
    newest: dict[int, int] = {}
    for partition, seq in map(parse_position, texts):
        newest[partition] = max(seq, newest.get(partition, 0))
    return newest


def written_to(receipts: Iterable[AppendReceipt]) -> dict[int, int]:
    """The newest seq of each partition that these receipts say was written; empty where none was."""
    return positions_by_partition(receipt.position for receipt in receipts if receipt.position and receipt.written)
