"""Shapes of what operators ask: status, statistics, dead letters, supervision."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from api.operations.answers.alarms import AlarmStanding
from api.operations.answers.cleaning import EXAMPLE_SCHEDULE, Schedule
from api.operations.answers.log import Example, exampled
from api.operations.answers.profiles import EXAMPLE_FIGURES, HistoryFigures

EXAMPLE_MEMORY: Example = {
    "used_bytes": 4_200_000,
    "max_bytes": 4_294_967_296,
    "unfolded_bytes": 0,
    "bytes_an_event": 1_050.0,
    "used_share": 0.001,
    "events_until_full": 3_400_000,
}
EXAMPLE_NODE: Example = {
    "name": "redis-1:6379",
    "role": "primary",
    "reachable": True,
    "problem": None,
    "slots": 16_384,
    "partitions": [0, 1, 2, 3],
    "used_bytes": 4_200_000,
    "max_bytes": 4_294_967_296,
    "used_share": 0.001,
    "replicas": [{"name": "redis-2:6379", "state": "online", "behind_bytes": 0, "seen_seconds": 1}],
    "fsynced": True,
}
EXAMPLE_STUCK: Example = {
    "owner": "alice",
    "position": "3:128",
    "kind": "MemoryCreated.2",
    "reason": "UndecodableEvent: MemoryCreated.2 is of a newer release",
    "parked": 2,
}
EXAMPLE_PARKED: Example = {
    "owner": "alice",
    "position": "3:128",
    "reason": "UndecodableEvent: MemoryCreated.2 is of a newer release",
    "parked": [
        {
            "position": "3:128",
            "kind": "MemoryCreated.2",
            "bytes": 310,
            "problem": "unknown version MemoryCreated.2",
        }
    ],
}


class PartitionStatus(BaseModel):
    """Where one partition stands."""

    model_config = exampled({})

    partition: int
    head: int
    checkpoint: int
    lag: int
    checkpoint_age: float | None = Field(
        description="How long the oldest event that is not folded has waited, seconds by Redis's clock; 0 where all is folded,"
        " null where the log does not tell."
    )
    holder: str | None = Field(description="Who folds it; null where nobody has a lease that lasts.")
    lease_until: str | None = Field(
        default=None, description="When the lease ends unless it is renewed, as each second it is."
    )
    lease_seconds: float | None = Field(default=None, description="Seconds until then; null without a holder.")
    epoch: int
    quarantined: list[str]
    memories: int
    waiting: int = Field(description="Things that wait for a person, of all its owners.")
    full_inboxes: int = Field(description="Owners of whom as much waits as may.")
    refused: int = Field(description="Events that say what a person rejected, and so changed nothing.")
    build: str
    chain: str | None
    digest: str | None
    rebuild: dict[str, Any] | None = None
    """What a rebuild has folded beside the live build: `build`, `seq`, `holder`."""


class NodeReplica(BaseModel):
    """A replica of a server, as its primary and the cluster tell of it."""

    name: str = Field(description="host:port.")
    state: str = Field(
        description="`online`; `not linked` where the cluster knows it and its primary does not; `unknown` where the primary does"
        " not answer; or another word of Redis."
    )
    behind_bytes: int | None = Field(default=None, description="Bytes that it has not told to have.")
    seen_seconds: int | None = Field(default=None, description="Since it was last heard of.")


class NodeStanding(BaseModel):
    """A server that holds a store, or a primary of the Redis Cluster that does."""

    name: str = Field(description="host:port; `socket` of one that is reached by a socket of its machine.")
    role: Literal["primary", "replica"] | None = Field(description="Null where it does not tell.")
    reachable: bool
    problem: str | None = Field(default=None, description="Why nothing could be asked of it.")
    slots: int | None = Field(default=None, description="Slots of the cluster that it holds; null of one server.")
    partitions: list[int] = Field(description="Partitions that it holds.")
    used_bytes: int | None = Field(description="Memory in use.")
    max_bytes: int | None = Field(description="Its maxmemory; null where it has none.")
    used_share: float | None
    replicas: list[NodeReplica]
    fsynced: bool | None = Field(
        description="Whether its settings promise that every answered write is on disk and stays; null where it does not tell."
    )


class PartitionsAway(BaseModel):
    """Partitions of which nothing can be read now, and why."""

    node: str | None = Field(default=None, description="The node of the cluster that holds them; null where none does.")
    partitions: list[int]
    problem: str


class Inboxes(BaseModel):
    """What waits for a person in all inboxes together."""

    waiting: int = Field(description="Things that wait, what is withheld meanwhile too.")
    full: int = Field(
        description="Owners of whom as much waits as may: nothing more of what has to wait is taken of them."
    )


class AccessFigures(BaseModel):
    """What was recorded of what was shown."""

    recorded: int = Field(default=0, description="Accesses that this server appended since it began.")
    waiting: int = Field(default=0, description="Accesses that wait here for the next append, within a second.")
    dropped: int = Field(default=0, description="Accesses that this server lost since it began.")
    lost: int = Field(description="Accesses that any process lost since the alarm `accesses_lost` was last cleared.")


class EmbedderStanding(BaseModel):
    """What compares meanings for owners who chose nothing, in the process that answers."""

    name: str = Field(description="`auto`, or an embedder's name.")
    chosen_by: Literal["setting", "store"] = Field(description="Where that stands.")
    missing: list[str] = Field(description="What of it this process lacks, or may not use: there it goes by words.")
    loaded: list[str] = Field(description="Models in memory, or an endpoint that answered: vectors were made here.")


class ListeningReady(BaseModel):
    """How the process that answers is asked."""

    by: Literal["loopback", "tls", "proxy"] = Field(
        description="`loopback`: on its own machine alone; `tls`: by its own certificate; `proxy`: through a declared one."
    )
    certificate_ends: str | None = Field(default=None, description="When its certificate ends; null where it has none.")


class ListeningTold(ListeningReady):
    """How the process that answers is asked, and where one operates."""

    operating: Literal["here", "socket", "port"] = Field(
        description="Where routes about the whole store are answered: `here`, on the `socket` in the data folder alone, or on a"
        " `port` of their own too."
    )


class SealingTold(BaseModel):
    """Whether contents are sealed, under what, and whether that can be had."""

    on: bool
    key: str | None = Field(description="The master key that is set, by its name; null where none is.")
    owners_locked: int = Field(
        description="Owners whose fold stands still for want of their keys; it goes on by itself once they can be had."
    )
    reachable: bool | None = Field(
        description="Whether the master key can be had, as this process found it within the last 15 seconds; null where"
        " contents are not sealed."
    )
    problem: str | None = Field(default=None, description="Why not.")


class RestoredTold(BaseModel):
    """What a store was restored from."""

    backup: str = Field(description="The backup's id.")
    moment: str = Field(description="Up to when it tells.")
    at: str = Field(description="When it was brought into the store.")
    events: int = Field(description="How many events came with it.")
    taken_over: str | None = Field(
        default=None, description="When the store took the original's place; null while it takes nothing new."
    )
    reason: str | None = Field(default=None, description="Why, as was said then.")


class StoreStatus(BaseModel):
    """The store as it stands."""

    model_config = exampled(
        {
            "store_id": "6d0f3b1c-2f7e-4a52-9a3e-0d8c3c8b7f11",
            "at": "2026-11-22T09:30:00Z",
            "events": 4_000,
            "memories": 900,
            "lag": 0,
            "inboxes": {"waiting": 3, "full": 0},
            "refused": 0,
            "partitions": [
                {
                    "partition": 3,
                    "head": 131,
                    "checkpoint": 131,
                    "lag": 0,
                    "checkpoint_age": 0.0,
                    "holder": "host-4711-9c01ab",
                    "lease_until": "2026-11-22T09:30:02Z",
                    "lease_seconds": 2.4,
                    "epoch": 2,
                    "quarantined": [],
                    "memories": 40,
                    "waiting": 3,
                    "full_inboxes": 0,
                    "refused": 0,
                    "build": "v1",
                    "chain": "5f0c…",
                    "digest": "a71e…",
                }
            ],
            "workers": [
                {
                    "worker": "host-4711-9c01ab",
                    "host": "host",
                    "pid": 4711,
                    "partitions": [0, 1, 3],
                    "folded": 4_000,
                    "rate": 120.5,
                    "seen": "2026-11-22T09:29:59Z",
                    "seen_seconds": 0.4,
                }
            ],
            "silent": [],
            "nodes": [EXAMPLE_NODE],
            "unreachable": [],
            "unread": [],
            "memory": EXAMPLE_MEMORY,
            "lifecycle": EXAMPLE_SCHEDULE,
            "alarms": [],
            "accesses": {"recorded": 1_204, "waiting": 3, "dropped": 0, "lost": 0},
            "embedder": {"name": "auto", "chosen_by": "store", "missing": [], "loaded": ["all-MiniLM-L6-v2"]},
            "listening": {"by": "tls", "certificate_ends": "2027-02-20T09:30:00+00:00", "operating": "socket"},
            "restored": None,
            "backed_up": "2026-11-22T03:00:04.120000Z",
            "sealed": True,
            "sealing": {
                "on": True,
                "key": "32db8ea4ba0e86f1 (/etc/engramlog/master-key)",
                "owners_locked": 0,
                "reachable": True,
                "problem": None,
            },
            "notice": "contents are sealed under the master key 32db8ea4ba0e86f1 (/etc/engramlog/master-key): without it nobody can"
            " read them",
        }
    )

    store_id: str
    at: str | None = Field(default=None, description="Redis's clock when this was read.")
    events: int
    memories: int
    lag: int = Field(description="Events appended but not yet folded.")
    inboxes: Inboxes
    refused: int = Field(description="Events that say what a person rejected, and so changed nothing.")
    partitions: list[PartitionStatus]
    workers: list[dict[str, Any]] = Field(
        description="Fold workers that live: `seen`, their last sign of life; `folded` since they began; `rate`, events folded a"
        " second over the last ten seconds or so, null of one that has just begun."
    )
    silent: list[dict[str, Any]] | None = Field(
        default=None,
        description="Workers that gave no sign of life for 3 seconds and did not take leave; after a minute they are forgotten.",
    )
    nodes: list[NodeStanding] | None = Field(
        default=None, description="The servers that hold the store: one Redis, or every primary of a Cluster."
    )
    unreachable: list[PartitionsAway] | None = Field(
        default=None,
        description="Partitions of which nothing could be read now: they are not among `partitions`, nor in any sum.",
    )
    unread: list[Literal["alarms", "workers", "restored", "backed_up"]] | None = Field(
        default=None,
        description="What could not be read, since the node that keeps it is away: what is told of it is empty.",
    )
    memory: dict[str, Any] = Field(
        description="Of a Cluster that of its fullest node, by its name as `node`; `events_until_full` of the whole store."
    )
    lifecycle: Schedule
    alarms: list[AlarmStanding]
    accesses: AccessFigures
    embedder: EmbedderStanding | None = Field(
        default=None,
        description="What compares meanings in this process; null where nothing does for owners who chose nothing.",
    )
    listening: ListeningTold | None = Field(
        default=None, description="How this process is asked; null of a command, which serves nobody."
    )
    restored: RestoredTold | None = Field(
        default=None, description="From which backup the store was restored; null where it never was."
    )
    backed_up: str | None = Field(
        default=None, description="The moment of the last `engramlog backup` of this store; null where none was made."
    )
    sealed: bool
    sealing: SealingTold | None = Field(
        default=None, description="Under what contents are sealed, and whether it can be had."
    )
    notice: str


class SummedOver(BaseModel):
    """Whose figures a sum is of."""

    owners: int = Field(
        description="Those whose whole history was counted: of the 1,000 largest, as far as 200,000 events reach."
    )
    left_out: int = Field(description="All others.")


class StoreStats(BaseModel):
    """Counts of the whole store."""

    model_config = exampled(
        {
            "owners": 1,
            "events": 4_000,
            "memories": 900,
            "lag": 0,
            "memory": EXAMPLE_MEMORY,
            "largest_owners": [{"owner": "alice", "partition": 3, "memories": 900}],
            "figures": EXAMPLE_FIGURES,
            "figures_of": {"owners": 1, "left_out": 0},
        }
    )

    owners: int
    events: int
    memories: int
    lag: int
    memory: dict[str, Any]
    largest_owners: list[dict[str, Any]]
    figures: HistoryFigures | None = Field(default=None, description="What happened to the memories of owners, in sum.")
    figures_of: SummedOver | None = None


class OwnerCount(BaseModel):
    """One owner of the store."""

    model_config = exampled({"owner": "alice", "partition": 3, "memories": 900})

    owner: str
    partition: int
    memories: int


class OwnerPage(BaseModel):
    """A page of owners, in the order of their names."""

    model_config = exampled(
        {"owners": [{"owner": "alice", "partition": 3, "memories": 900}], "matching": 1, "next": None}
    )

    owners: list[OwnerCount]
    matching: int = Field(
        description="How many owners of the store begin with the prefix, and hold what was searched for."
    )
    next: str | None = Field(description="What to give as `after` for the next page; null on the last.")


class Stuck(BaseModel):
    """One quarantined owner."""

    model_config = exampled(EXAMPLE_STUCK)

    owner: str
    position: str
    kind: str
    reason: str
    parked: int


class DeadOwners(BaseModel):
    """Every quarantined owner."""

    model_config = exampled({"quarantined": [EXAMPLE_STUCK]})

    quarantined: list[Stuck]


class DeadOwner(BaseModel):
    """One owner's parked events, without contents."""

    model_config = exampled(EXAMPLE_PARKED)

    owner: str
    position: str
    reason: str
    parked: list[dict[str, Any]]


class Retried(BaseModel):
    """What a retry came to."""

    model_config = exampled({"owner": "alice", "freed": True})

    owner: str
    freed: bool
    dead: DeadOwner | None = None


class Discarded(BaseModel):
    """What a discard came to."""

    model_config = exampled({"owner": "alice", "discarded": "3:128", "position": "3:140", "freed": True, "still": []})

    owner: str
    discarded: str
    position: str
    freed: bool
    still: list[Stuck]


class Health(BaseModel):
    """The process lives."""

    model_config = exampled({"status": "alive"})

    status: str


class ReadyAlarm(BaseModel):
    """An alarm as supervisors see it: `/v1/alarms` tells the rest."""

    name: str
    severity: str
    since: str


class ReadyEmbedder(BaseModel):
    """What compares meanings, as anybody may know it: no name of a model, address or package."""

    kind: str = Field(description="`auto`, `minilm`, `use`, `openai` or `imported`.")
    loaded: int = Field(description="Models that are loaded.")
    missing: int = Field(description="Models that count and that this process lacks.")


class Ready(BaseModel):
    """Redis answers."""

    model_config = exampled(
        {
            "status": "ready",
            "lag": 0,
            "partitions": {"0": 0, "1": 0},
            "unreachable": [],
            "workers": 1,
            "inboxes": {"waiting": 3, "full": 0},
            "alarms": [],
            "embedder": {"kind": "auto", "loaded": 1, "missing": 0},
            "listening": {"by": "loopback", "certificate_ends": None},
        }
    )

    status: str
    lag: int
    partitions: dict[str, int] = Field(description="Lag by partition, of those that can be reached.")
    unreachable: list[int] | None = Field(
        default=None, description="Partitions that cannot be reached; with any of them the answer is 503."
    )
    workers: int
    inboxes: Inboxes
    alarms: list[ReadyAlarm] = Field(description="What stands; with a `stopped` one among them the answer is 503.")
    embedder: ReadyEmbedder | None = Field(default=None, description="Null where meanings are not compared.")
    listening: ListeningReady | None = Field(default=None, description="How this process is asked.")
