"""Jobs, capacity, models."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from engramlog.answers.base import Result


class Decided(Result):
    """Something that fell due by itself."""

    job: str
    action: str
    """compress, delete, purge, promote, keep, merge, link, replay, raise, abstract or suggest."""
    ids: list[str]
    """The memories that it is about."""
    due_at: datetime
    """When it fell due: the same whenever the jobs run."""
    reason: str
    event: str
    """The type of the event that carries it out."""


class AskedOf(Result):
    """A question to a reviewer that is no rule."""

    id: str
    """The memory that it is about."""
    review: str
    """promotion or decay."""
    due_at: str
    """When the memory crossed the threshold."""


class AskedForPatterns(Result):
    """Requests to a model about patterns; in a dry run, those that would be made."""

    model: str
    questions: int
    requests: int
    """Requests to the model, repeated ones too."""
    input_tokens: int
    output_tokens: int
    failure: str | None
    """Why it could not be asked, or an answer of it not be used."""


class LookedAt(Result):
    """How many of a kind were compared by their vectors, and how many were not, by reason."""

    compared: int
    without_vector: int
    """They have no vector under the model yet: `embed` computes it."""
    unread: int
    """The model does not read their letters: nothing is compared by noise."""
    older: int
    """They came before the newest that are looked at."""


class ComparedByVectors(Result):
    """Memories that the job `suggest` read, and those it left out."""

    model: str
    statements: LookedAt
    """For merges and links: the newest 10,000."""
    turns: LookedAt
    """For questions that are asked again: the newest 10,000."""
    full: bool
    """There was no room for all that was found, or for anything: it is suggested once some that wait are answered."""


class Cleaned(Result):
    """Decisions of the lifecycle jobs for one owner; in a dry run, those that would be made."""

    owner: str
    counts: dict[str, int]
    """How many decisions, by action."""
    decisions: list[Decided]
    appended: int
    """How many of them are in the log now; none after a dry run."""
    position: str
    """The position that was decided at, or of the last decision."""
    dry_run: bool
    jobs: list[str]
    kept_days: float
    """For how many days what is deleted can be restored."""
    reviewer: str
    """The reviewer: `rule`, or the name of a model."""
    asked: list[AskedOf]
    """Requests to a model; in a dry run, those that would be made."""
    left_open: int
    """Questions without an answer that was followed: asked again at the next run."""
    held_back: int
    """Number of these beyond the deletions that a model may make in one run."""
    requests: int
    """Requests to the model."""
    input_tokens: int
    output_tokens: int
    failure: str | None
    """Why the model could not be asked, or an answer of it not be used."""
    abstraction: AskedForPatterns | None
    """Requests of the jobs `merge` and `abstract` if ENGRAMLOG_REVIEWER is `model`; else null."""
    compared: ComparedByVectors | None
    """Work of the job `suggest`; null for other jobs."""


class Ticks(Result):
    """When a kind of job was and is scheduled."""

    last_tick: str
    next_tick: str | None
    """Null where no job worker runs."""
    every_minutes: float


class JobsDone(Result):
    """When a kind of job last ran through, over the partitions; null where it never did."""

    every_minutes: float
    oldest: str | None
    """Last run of the partition that has waited longest, among those that had one."""
    newest: str | None
    waiting_since: str | None = None
    """Since when the partition waits that waits longest: where it never had it done, from when it is scheduled."""
    seconds: float | None
    """Seconds of the slowest partition's last run."""
    partitions: int
    """Partitions that ever had it done."""


class Schedule(Result):
    """Scheduler of the lifecycle jobs, and their queue."""

    leader: str | None
    """The job worker that schedules; null where none runs."""
    last_tick: str | None
    """The newest tick whose jobs were enqueued."""
    next_tick: str | None
    queued: int | None
    """Jobs that wait; all fields are null where the queue does not answer."""
    running: int | None
    failed: int | None
    """Jobs that failed for good in the last seven days."""
    refused: int | None = None
    """Number of queue entries so far that were no job of this store."""
    beside: dict[str, Ticks] | None = None
    """Other scheduled jobs, by kind: `embed`, `extract`."""
    stopped: dict[str, str] | None = None
    """Why a kind of job stopped when it last ran, such as a language model that is down."""
    done: dict[str, JobsDone] | None = None
    """When each kind of job that is scheduled last ran through, by kind."""
    problem: str | None = None
    """Why nothing is known, where nothing is."""


class Coverage(Result):
    """How many of an owner's memories have a vector."""

    model: str | None
    """The model whose vectors are counted; null where none is, or it is not there."""
    chosen: str
    """Embedder of the owner: `none`, `auto` (by the letters of its texts), or a name."""
    chosen_by: Literal["owner", "setting", "store"]
    """The source of this setting: the owner's parameter `embedder`, ENGRAMLOG_EMBEDDER, or the store's own setting."""
    embedded: int
    """Memories that have a vector: semantic search finds these, and no others."""
    of: int
    """Memories that hold text which is neither purged nor secret."""
    share: float
    """embedded / of, from 0 to 1; 1 where there is nothing to embed."""
    failed: str | None = None
    """Why the embedder cannot be made, where that is so."""


class JobStopped(Result):
    """Why a kind of job stopped when it last ran."""

    partitions: list[int]
    reason: str


class JobKind(Result):
    """One kind of job: how often it is due, its last run, and the states of its jobs."""

    kind: str
    what: str
    """Its effect, in a few words."""
    every_minutes: float | None
    """Null where it is not scheduled."""
    last_tick: str | None
    next_tick: str | None
    """Null where no job worker runs."""
    last_done: str | None
    """When a partition last had it done; null where none ever had."""
    oldest_done: str | None
    """Last run of the partition with the oldest one, among those that had one."""
    waiting_since: str | None
    """Since when the partition waits that waits longest: where it never had it done, from when it is scheduled."""
    seconds: float | None
    """Seconds of the slowest partition's last run."""
    done_partitions: int
    """Partitions that ever had it done."""
    queued: int
    running: int
    again: int
    failed: int
    stopped: list[JobStopped]
    """Until it runs through: a model that is down, a setting that is missing."""


class JobTold(Result):
    """One job: a kind, for one partition, of one tick."""

    id: str
    kind: str
    partition: int
    tick: str
    state: Literal["running", "again", "failed", "queued"]
    """`running`; `again`: it failed or was given up, and is tried at `next_try`; `failed` for good; `queued`."""
    enqueued: str | None
    started: str | None
    ended: str | None
    next_try: str | None
    tries_left: int | None
    """Number of retries if it fails; null if unknown."""
    error: str | None
    """Error of its last run, at most 300 characters; only its kind if the words may contain what somebody
    said."""


class JobBoard(Result):
    """The lifecycle jobs, and their queue."""

    at: str | None
    """The clock of the queue's Redis; null where that does not answer."""
    leader: str | None
    """The job worker that schedules; null where none runs."""
    problem: str | None
    """Why nothing is known, where nothing is."""
    partitions: int
    """Of the store."""
    queued: int | None
    running: int | None
    again: int | None
    """Jobs that failed and will be tried again."""
    failed: int | None
    """Jobs that failed for good in the last seven days."""
    refused: int | None
    """Number of queue entries so far that were no job of this store."""
    kinds: list[JobKind]
    """Kinds that are scheduled or have a job."""
    jobs: list[JobTold]
    """Running ones, those to be tried again, failed ones, waiting ones: at most 200."""
    left_out: int
    """Jobs beyond those."""


class Growth(Result):
    """How fast the log grows, measured."""

    days: float
    """Over so many days until now: those asked for, or as old as the log is."""
    since: str
    events: int
    """Recorded in that time."""
    events_a_day: float | None
    """Null where the time is shorter than an hour."""
    basis: str
    """The measurement, in a sentence."""


class MemoryCapacity(Result):
    """Redis's memory, and how long it lasts."""

    used_bytes: int | None
    max_bytes: int | None
    """Redis's maxmemory; null where it has none."""
    refused_from_bytes: int | None
    """From so many on appends are refused."""
    unfolded_bytes: int
    """About what folding will still take."""
    used_share: float | None
    bytes_an_event: float | None
    """Memory used, by all events of the log."""
    events_until_full: int | None
    bytes_a_day: int | None
    days_until_full: float | None
    """Until appends are refused, at this growth."""
    full_at: str | None
    basis: str | None
    """How that was estimated."""
    unknown: str | None
    """Why there is no estimate, where there is none."""
    unknown_code: str | None = None
    """The same by name, where that sentence has one."""
    node: str | None = None
    """The node of a Redis Cluster that this is about; null for one server."""


class DiskCapacity(Result):
    """The disk of the data folder, and how long it lasts; of a Redis elsewhere nothing is known."""

    free_bytes: int | None
    total_bytes: int | None
    wanted_bytes: int | None
    """Free bytes with which the next rewrite of the append-only file has room."""
    reserve_bytes: int | None
    """Free bytes under which no writes are taken."""
    bytes_an_event: float | None
    """Size of the append-only file, by all events of the log."""
    bytes_a_day: int | None
    days_until_low: float | None
    """Until a rewrite may find no room."""
    low_at: str | None
    days_until_full: float | None
    """Until no writes are taken."""
    full_at: str | None
    basis: str | None
    unknown: str | None
    unknown_code: str | None = None


class AofCapacity(Result):
    """The append-only file, as Redis reports it."""

    enabled: bool
    bytes: int | None
    base_bytes: int | None
    """After the last rewrite."""
    write_ok: bool
    rewrite_ok: bool
    rewriting: bool


class MemoryPart(Result):
    """Bytes of one part of the store in Redis."""

    part: str
    """Events, memory records, change log, vectors ...; the last is memory outside keys."""
    bytes: int
    bytes_an_event: float | None


class Capacity(Result):
    """Memory and disk until they are full."""

    at: str
    events: int
    """Of the log."""
    growth: Growth
    memory: MemoryCapacity
    """In a Cluster, of the fullest node, which decides for all; `events_until_full` is for the whole store."""
    nodes: list[MemoryCapacity] | None = None
    """In a cluster, each node's, for its own events; null for a single server."""
    parts: list[MemoryPart]
    """Measured by Redis, the largest first; in a large store estimated from 64 partitions and 8 owners of each."""
    disk: DiskCapacity
    aof: AofCapacity


class ChatSet(Result):
    """The language model that the settings name."""

    model: str
    host: str | None
    """Host and port of the endpoint, without path or key."""
    extraction: str
    """How turns become memories by themselves: rules, model or off."""
    reviewer: str
    """Who reviews: rule or model."""
    summaries: str
    """How episodes are written: extractive, model or off."""
    expansion: str
    """Who rewords questions: model or off."""


class EmbedderSet(Result):
    """Default embedder, for owners that chose none."""

    name: str
    """`auto`, or an embedder's name."""
    chosen_by: Literal["setting", "store"]
    """What set it."""
    missing: list[str]
    """Parts that this process lacks or may not use; it then compares words only."""
    host: str | None
    """Its endpoint; null if it runs in this process."""
    loaded: bool
    """Whether a model of it is loaded in this process, and measured."""
    questions_computed: int
    """Questions that this process had embedded since it began."""
    questions_remembered: int
    """Questions whose vectors it still had."""


class TokensUsed(Result):
    """Cost of requests to a model, including refused answers and retries."""

    model: str
    use: str
    """`extract`, `review`, `summarise`, `patterns` or `expand`."""
    asked: int
    """Questions, each of one request or more."""
    failed: int
    """Questions without an answer that could be used."""
    requests: int
    input_tokens: int
    """As the endpoint reports; 0 if it reports none."""
    output_tokens: int


class TokensUsedInAll(TokensUsed):
    """The same since counting began."""

    first: str
    """The day of the first."""
    last: str
    """The day of the last."""


class TokensUsedADay(TokensUsed):
    """The same of one day."""

    day: str
    """By UTC."""


class ModelsUsed(Result):
    """Models as the settings name them, and what asking them took."""

    at: str
    since: str | None
    """The first day that is counted; null where nothing is yet."""
    chat: ChatSet | None
    """Null where none is set."""
    embedder: EmbedderSet | None
    """Null where none counts for owners who chose nothing."""
    used: list[TokensUsedInAll]
    """Since then, by model and use."""
    days: list[TokensUsedADay]
    """The days asked for, the newest first; days are kept for 400."""
    lost: int
    """Questions that this process could not count: the store did not take it."""
