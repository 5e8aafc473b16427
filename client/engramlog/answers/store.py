"""The whole store: status, owners, statistics, dead letters, alarms, health, keys and grants, reads, console sessions."""

from __future__ import annotations

from typing import Any, Literal

from engramlog.answers.base import Result
from engramlog.answers.knowing import HistoryFigures
from engramlog.answers.operating import Schedule


class AlarmStanding(Result):
    """One alarm."""

    name: str
    severity: Literal["stopped", "warning"]
    """`stopped`: `/ready` says 503 while it stands."""
    subject: str
    """Subject of the alarm; empty for the whole store."""
    text: str
    meaning: str
    """Cause and remedy."""
    ends: Literal["itself", "operator"]
    """Who clears it."""
    first: str
    last: str
    count: int
    """How often it was raised since it was last cleared."""
    by: str
    """The process that raised it last."""


class AlarmsStanding(Result):
    """Every alarm that stands."""

    alarms: list[AlarmStanding]


class AlarmCleared(AlarmsStanding):
    """Result of clearing, with the alarms that remain."""

    name: str
    subject: str | None
    cleared: bool


class RebuildBeside(Result):
    """How far a rebuild of a partition is."""

    build: str
    seq: int
    """The last event that it has folded."""
    holder: str | None
    """The worker that goes on with it; null if none does."""


class RoomLeft(Result):
    """Redis's memory, and for how many events it lasts."""

    used_bytes: int | None
    max_bytes: int | None
    """Redis's maxmemory; null if it has none."""
    unfolded_bytes: int
    """About what folding will still take."""
    node: str | None = None
    """The fullest node of a Redis Cluster."""
    bytes_an_event: float | None = None
    used_share: float | None = None
    """Used share of maxmemory, from 0 to 1."""
    events_until_full: int | None = None
    warning: str | None = None
    """A sentence from 70 % on."""


class PartitionStatus(Result):
    """Where one partition stands."""

    partition: int
    head: int
    checkpoint: int
    lag: int
    checkpoint_age: float | None
    """How long the oldest event that is not folded has waited, seconds by Redis's clock; 0 where all is folded,
    null where the log does not tell."""
    holder: str | None
    """Worker that folds it; null if no lease is valid."""
    lease_until: str | None = None
    """When the lease ends unless it is renewed, as each second it is."""
    lease_seconds: float | None = None
    """Seconds until then; null without a holder."""
    epoch: int
    quarantined: list[str]
    memories: int
    waiting: int
    """Things that wait for a person, of all its owners."""
    full_inboxes: int
    """Owners of whom as much waits as may."""
    refused: int
    """Events that say what a person rejected, and so changed nothing."""
    build: str
    chain: str | None
    digest: str | None
    rebuild: RebuildBeside | None = None
    """Progress of a rebuild next to the live build."""


class NodeReplica(Result):
    """A replica of a server, as its primary and the cluster tell of it."""

    name: str
    """host:port."""
    state: str
    """`online`; `not linked` where the cluster knows it and its primary does not; `unknown` where the primary does
    not answer; or another word of Redis."""
    behind_bytes: int | None = None
    """Bytes that it has not confirmed."""
    seen_seconds: int | None = None
    """Since it was last heard of."""


class NodeStanding(Result):
    """A server that holds a store, or a primary of the Redis Cluster that does."""

    name: str
    """host:port; `socket` of one that is reached by a socket of its machine."""
    role: Literal["primary", "replica"] | None
    """Null where it does not tell."""
    reachable: bool
    problem: str | None = None
    """Why nothing could be asked of it."""
    slots: int | None = None
    """Slots of the cluster that it holds; null of one server."""
    partitions: list[int]
    """Partitions that it holds."""
    used_bytes: int | None
    """Memory in use."""
    max_bytes: int | None
    """Its maxmemory; null where it has none."""
    used_share: float | None
    replicas: list[NodeReplica]
    fsynced: bool | None
    """Whether its settings promise that every answered write is on disk and stays; null where it does not tell."""


class PartitionsAway(Result):
    """Partitions of which nothing can be read now, and why."""

    node: str | None = None
    """The node of the cluster that holds them; null where none does."""
    partitions: list[int]
    problem: str


class Inboxes(Result):
    """Items in all inboxes."""

    waiting: int
    """Things that wait, what is withheld meanwhile too."""
    full: int
    """Owners of whom as much waits as may: nothing more of what has to wait is taken of them."""


class AccessFigures(Result):
    """Recorded accesses."""

    recorded: int = 0
    """Accesses that this server appended since it began."""
    blocks: int = 0
    """Blocks for prompts among them."""
    waiting: int = 0
    """Accesses that wait here for the next append, within a second."""
    dropped: int = 0
    """Accesses that this server lost since it began."""
    lost: int
    """Accesses that any process lost since the alarm `accesses_lost` was last cleared."""


class EmbedderStanding(Result):
    """Default embedder of the answering process, for owners that chose none."""

    name: str
    """`auto`, or an embedder's name."""
    chosen_by: Literal["setting", "store"]
    """Where that stands."""
    missing: list[str]
    """Parts that this process lacks or may not use; it then compares words only."""
    loaded: list[str]
    """Models in memory, or an endpoint that answered: vectors were made here."""


class ListeningReady(Result):
    """How the process that answers is asked."""

    by: Literal["loopback", "tls", "proxy"]
    """`loopback`: on its own machine alone; `tls`: by its own certificate; `proxy`: through a declared one."""
    certificate_ends: str | None = None
    """When its certificate ends; null where it has none."""


class ListeningTold(ListeningReady):
    """How the process that answers is asked, and where one operates."""

    operating: Literal["here", "socket", "port"]
    """Place of routes about the whole store: `here`, only the `socket` in the data folder, or a
    `port` of their own too."""


class SealingTold(Result):
    """Whether contents are sealed, under what, and whether that can be had."""

    on: bool
    key: str | None
    """The master key that is set, by its name; null where none is."""
    owners_locked: int
    """Owners whose fold stands still for want of their keys; it goes on by itself once they can be had."""
    reachable: bool | None
    """Whether the master key can be had, as this process found it within the last 15 seconds; null where contents
    are not sealed."""
    problem: str | None = None
    """Why not."""


class RestoredTold(Result):
    """Backup from which a store was restored."""

    backup: str
    """The backup's id."""
    moment: str
    """Up to when it tells."""
    at: str
    """When it was brought into the store."""
    events: int
    """How many events came with it."""
    taken_over: str | None = None
    """When the store took the original's place; null while it takes nothing new."""
    reason: str | None = None
    """Why, as was said then."""


class StoreStatus(Result):
    """The store as it stands."""

    store_id: str
    at: str | None = None
    """Redis's clock when this was read."""
    events: int
    memories: int
    lag: int
    """Events appended but not yet folded."""
    inboxes: Inboxes
    refused: int
    """Events that say what a person rejected, and so changed nothing."""
    partitions: list[PartitionStatus]
    workers: list[dict[str, Any]]
    """Fold workers that live: `seen`, their last sign of life; `folded` since they began; `rate`, events folded a
    second over the last ten seconds or so, null of one that has just begun."""
    silent: list[dict[str, Any]] | None = None
    """Workers that gave no sign of life for 3 seconds and did not take leave; after a minute they are forgotten."""
    nodes: list[NodeStanding] | None = None
    """The servers that hold the store: one Redis, or every primary of a Cluster."""
    unreachable: list[PartitionsAway] | None = None
    """Partitions of which nothing could be read now: they are not among `partitions`, nor in any sum."""
    unread: list[Literal["alarms", "workers", "restored", "backed_up"]] | None = None
    """Parts that could not be read because their node is away; their fields are empty."""
    memory: RoomLeft
    """In a Cluster, of its fullest node, named by `node`; `events_until_full` is for the whole store."""
    lifecycle: Schedule
    alarms: list[AlarmStanding]
    accesses: AccessFigures
    embedder: EmbedderStanding | None = None
    """Embedder of this process; null if owners that chose none have none."""
    listening: ListeningTold | None = None
    """How this process is asked; null of a command, which serves nobody."""
    restored: RestoredTold | None = None
    """From which backup the store was restored; null where it never was."""
    backed_up: str | None = None
    """The moment of the last `engramlog backup` of this store; null where none was made."""
    sealed: bool
    sealing: SealingTold | None = None
    """Under what contents are sealed, and whether it can be had."""
    notice: str


class SummedOver(Result):
    """Whose figures a sum is of."""

    owners: int
    """Those whose whole history was counted: of the 1,000 largest, as far as 200,000 events reach."""
    left_out: int
    """All others."""


class StoreStats(Result):
    """Counts of the whole store."""

    owners: int
    events: int
    memories: int
    lag: int
    memory: RoomLeft
    largest_owners: list[OwnerCount]
    """At most 50."""
    figures: HistoryFigures | None = None
    """Sum of the changes to memories of owners."""
    figures_of: SummedOver | None = None


class OwnerCount(Result):
    """One owner of the store."""

    owner: str
    partition: int
    memories: int


class OwnerPage(Result):
    """A page of owners, in the order of their names."""

    owners: list[OwnerCount]
    matching: int
    """How many owners of the store begin with the prefix, and hold what was searched for."""
    next: str | None
    """Value of `after` for the next page; null on the last."""


class Stuck(Result):
    """One quarantined owner."""

    owner: str
    position: str
    kind: str
    reason: str
    parked: int


class DeadOwners(Result):
    """Every quarantined owner."""

    quarantined: list[Stuck]


class ParkedEvent(Result):
    """An event that waits behind one that cannot be folded; its contents are not shown."""

    position: str
    kind: str
    bytes: int
    event_id: str | None = None
    problem: str | None = None
    """Why it cannot be read; it has no `event_id` then."""


class DeadOwner(Result):
    """One owner's parked events, without contents."""

    owner: str
    position: str
    reason: str
    parked: list[ParkedEvent]


class Retried(Result):
    """What a retry came to."""

    owner: str
    freed: bool
    dead: DeadOwner | None = None


class Discarded(Result):
    """What a discard came to."""

    owner: str
    discarded: str
    position: str
    freed: bool
    still: list[Stuck]


class Health(Result):
    """The process lives."""

    status: str


class ReadyAlarm(Result):
    """An alarm as supervisors see it: `/v1/alarms` tells the rest."""

    name: str
    severity: str
    since: str


class ReadyEmbedder(Result):
    """Public state of the embedder, without model, address or package."""

    kind: str
    """`auto`, `minilm`, `use`, `openai` or `imported`."""
    loaded: int
    """Models that are loaded."""
    missing: int
    """Models that count and that this process lacks."""


class Ready(Result):
    """Redis answers."""

    status: str
    lag: int
    partitions: dict[str, int]
    """Lag by partition, of those that can be reached."""
    unreachable: list[int] | None = None
    """Partitions that cannot be reached; with any of them the answer is 503."""
    workers: int
    inboxes: Inboxes
    alarms: list[ReadyAlarm]
    """Active alarms; if one is `stopped`, the answer is 503."""
    embedder: ReadyEmbedder | None = None
    """Null where meanings are not compared."""
    listening: ListeningReady | None = None
    """How this process is asked."""


class GrantHeld(Result):
    """A grant: verbs and the owners they apply to."""

    verbs: list[str]
    owners: list[str]
    modes: list[str]
    sensitivity: int
    actors: list[str]
    trust: str


class WhoAsks(Result):
    """The caller and its rights."""

    principal: str
    """Recorded with each event that the caller brings."""
    key: str | None
    """The key's id; null for the token of the folder."""
    token: str | None
    """The name that a token made from the key gives its bearer."""
    unlimited: bool
    """Whether the caller may do everything, as with the folder's token."""
    grants: list[GrantHeld]
    narrowed_to: list[GrantHeld] | None
    """Further limits of a token; key and token must both allow a request."""
    expires_at: str | None


class KeyKnown(Result):
    """A key, without what opens anything."""

    key_id: str
    state: Literal["live", "expired", "revoked"]
    issued_at: str
    expires_at: str | None
    revoked_at: str | None
    digest: str
    """SHA-256 of its text."""


class PrincipalKnown(Result):
    """Somebody with keys or grants."""

    principal: str
    keys: list[KeyKnown]
    grants: list[GrantHeld]


class AccessSaid(Result):
    """One event of access."""

    position: str
    recorded_at: str
    event: str
    principal: str | None
    key: str | None
    by: str | None
    """Who said so."""
    reason: str


class AccessTold(Result):
    """Keys and grants of every principal, and the events that set them."""

    at: str
    principals: list[PrincipalKnown]
    events: list[AccessSaid]
    """Events of access until then, oldest first."""


class KeyMade(Result):
    """A new key; it is shown only once."""

    key: str
    """Send it as `Authorization: Bearer`; it cannot be shown again."""
    key_id: str
    principal: str
    expires_at: str | None
    grants: list[GrantHeld]
    position: str


class KeyRevokedTold(Result):
    """A key that opens nothing."""

    key_id: str
    principal: str
    revoked: bool
    """false: it was revoked before."""
    position: str | None


class GrantsTold(Result):
    """Rights of a principal from now on."""

    principal: str
    grants: list[GrantHeld]
    position: str | None
    """null: it was so already."""


class ReadTold(Result):
    """Somebody looked, or was refused."""

    position: str
    recorded_at: str | None
    principal: str | None
    key_id: str | None
    token: str | None
    what: Literal["reveal", "export", "debug", "past", "denied"] | None
    call: str | None
    whose: str | None
    times: int
    """How often since the last such event; more than 1 only for refusals."""


class ReadsTold(Result):
    """A page of recorded reads and refusals."""

    reads: list[ReadTold]
    next: str | None
    position: str


class ConsoleCode(Result):
    """A code that opens the console once."""

    code: str
    ends_in: int
    """Seconds until it is over."""
    page: str | None
    """Address of the console for a browser; null if this service has no port."""


class ConsoleCodeState(Result):
    """What became of a code."""

    state: Literal["waits", "used", "over", "unknown"]


class ConsoleSession(Result):
    """A session, and how long it lasts."""

    token: str
    """To be shown as `Authorization: Bearer ...`. It is shown only once, and ends with this process."""
    ends_in: int
    """Seconds until it ends, however much it is used."""
    idle_seconds: int
    """It ends earlier if it is not used for so many seconds."""


class ConsoleSessionEnded(Result):
    """Whether a session was ended."""

    ended: bool
    """False where something else than a session was shown."""
