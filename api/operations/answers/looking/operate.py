"""Shapes of what operators look at beside the status: jobs, capacity, and what models took."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from api.operations.answers.log import Example, exampled

_AT = "2026-11-22T09:30:00Z"
_KIND: Example = {
    "kind": "upkeep",
    "what": "levels, deletions that fell due and reviews, of every owner",
    "every_minutes": 60,
    "last_tick": "2026-11-22T09:00:00Z",
    "next_tick": "2026-11-22T10:00:00Z",
    "last_done": "2026-11-22T09:00:04Z",
    "oldest_done": "2026-11-22T09:00:02Z",
    "waiting_since": "2026-11-22T09:00:02Z",
    "seconds": 0.4,
    "done_partitions": 16,
    "queued": 0,
    "running": 1,
    "again": 0,
    "failed": 1,
    "stopped": [{"partitions": [0, 3], "reason": "the model endpoint 127.0.0.1:11434 did not answer in time"}],
}
_JOB: Example = {
    "id": "upkeep-6d0f3b1c-p3-20261122T0800",
    "kind": "upkeep",
    "partition": 3,
    "tick": "2026-11-22T08:00:00Z",
    "state": "failed",
    "enqueued": "2026-11-22T08:00:01Z",
    "started": "2026-11-22T08:12:31Z",
    "ended": "2026-11-22T08:12:41Z",
    "next_try": None,
    "tries_left": 0,
    "error": "StoreUnavailable: Redis did not answer in time",
}
JobState = Literal["running", "again", "failed", "queued"]


class JobStopped(BaseModel):
    """Why a kind of job stopped when it last ran."""

    partitions: list[int]
    reason: str


class JobKind(BaseModel):
    """One kind of job: how often it is due, how it last went, and how its jobs stand."""

    kind: str
    what: str = Field(description="What it does, in a few words.")
    every_minutes: float | None = Field(description="Null where it is not scheduled.")
    last_tick: str | None
    next_tick: str | None = Field(description="Null where no job worker runs.")
    last_done: str | None = Field(description="When a partition last had it done; null where none ever had.")
    oldest_done: str | None = Field(
        description="Of the partition that had it done longest ago, among those that ever had."
    )
    waiting_since: str | None = Field(
        description="Since when the partition waits that waits longest: where it never had it done, from when it is scheduled."
    )
    seconds: float | None = Field(description="What the slowest partition's last run took.")
    done_partitions: int = Field(description="Partitions that ever had it done.")
    queued: int
    running: int
    again: int
    failed: int
    stopped: list[JobStopped] = Field(
        description="Until it runs through: a model that is down, a setting that is missing."
    )


class JobTold(BaseModel):
    """One job: a kind, for one partition, of one tick."""

    id: str
    kind: str
    partition: int
    tick: str
    state: JobState = Field(
        description="`running`; `again`: it failed or was given up, and is tried at `next_try`; `failed` for good; `queued`."
    )
    enqueued: str | None
    started: str | None
    ended: str | None
    next_try: str | None
    tries_left: int | None = Field(description="How often it is tried again where it fails; null where nothing tells.")
    error: str | None = Field(
        description="Of its last run, at most 300 characters; the kind of error alone where its words may hold what somebody said."
    )


class JobBoard(BaseModel):
    """The lifecycle jobs, and their queue."""

    model_config = exampled(
        {
            "at": _AT,
            "leader": "host-4712-5be3d0",
            "problem": None,
            "partitions": 16,
            "queued": 0,
            "running": 1,
            "again": 0,
            "failed": 1,
            "refused": 0,
            "kinds": [_KIND],
            "jobs": [_JOB],
            "left_out": 0,
        }
    )

    at: str | None = Field(description="The clock of the queue's Redis; null where that does not answer.")
    leader: str | None = Field(description="The job worker that schedules; null where none runs.")
    problem: str | None = Field(description="Why nothing is known, where nothing is.")
    partitions: int = Field(description="Of the store.")
    queued: int | None
    running: int | None
    again: int | None = Field(description="Jobs that failed and will be tried again.")
    failed: int | None = Field(description="Jobs that failed for good in the last seven days.")
    refused: int | None = Field(description="What lay in the queue and was no job of this store, ever.")
    kinds: list[JobKind] = Field(description="Kinds that are scheduled, or of which a job is there.")
    jobs: list[JobTold] = Field(
        description="Running ones, those to be tried again, failed ones, waiting ones: at most 200."
    )
    left_out: int = Field(description="Jobs beyond those.")


class Growth(BaseModel):
    """How fast the log grows, measured."""

    days: float = Field(description="Over so many days until now: those asked for, or as old as the log is.")
    since: str
    events: int = Field(description="Recorded in that time.")
    events_a_day: float | None = Field(description="Null where the time is shorter than an hour.")
    basis: str = Field(description="What was measured, in a sentence.")


class MemoryCapacity(BaseModel):
    """Redis's memory, and how long it lasts."""

    used_bytes: int | None
    max_bytes: int | None = Field(description="Redis's maxmemory; null where it has none.")
    refused_from_bytes: int | None = Field(description="From so many on appends are refused.")
    unfolded_bytes: int = Field(description="About what folding will still take.")
    used_share: float | None
    bytes_an_event: float | None = Field(description="Memory used, by all events of the log.")
    events_until_full: int | None
    bytes_a_day: int | None
    days_until_full: float | None = Field(description="Until appends are refused, at this growth.")
    full_at: str | None
    basis: str | None = Field(description="How that was estimated.")
    unknown: str | None = Field(description="Why there is no estimate, where there is none.")
    unknown_code: str | None = Field(None, description="The same by name, where that sentence has one.")
    node: str | None = Field(None, description="Of which node of a Redis Cluster that is; null of one server.")


class DiskCapacity(BaseModel):
    """The disk of the data folder, and how long it lasts; of a Redis elsewhere nothing is known."""

    free_bytes: int | None
    total_bytes: int | None
    wanted_bytes: int | None = Field(
        description="Free bytes with which the next rewrite of the append-only file has room."
    )
    reserve_bytes: int | None = Field(description="Free bytes under which no writes are taken.")
    bytes_an_event: float | None = Field(description="Size of the append-only file, by all events of the log.")
    bytes_a_day: int | None
    days_until_low: float | None = Field(description="Until a rewrite may find no room.")
    low_at: str | None
    days_until_full: float | None = Field(description="Until no writes are taken.")
    full_at: str | None
    basis: str | None
    unknown: str | None
    unknown_code: str | None = None


class AofCapacity(BaseModel):
    """The append-only file as Redis tells of it."""

    enabled: bool
    bytes: int | None
    base_bytes: int | None = Field(description="After the last rewrite.")
    write_ok: bool
    rewrite_ok: bool
    rewriting: bool


class Capacity(BaseModel):
    """Memory and disk until they are full."""

    model_config = exampled(
        {
            "at": _AT,
            "events": 4_000,
            "growth": {
                "days": 7.0,
                "since": "2026-11-15T09:30:00Z",
                "events": 1_200,
                "events_a_day": 171.4,
                "basis": "1,200 events were recorded in the last 7.0 days",
            },
            "memory": {
                "used_bytes": 4_200_000,
                "max_bytes": 4_294_967_296,
                "refused_from_bytes": 3_435_973_836,
                "unfolded_bytes": 0,
                "used_share": 0.001,
                "bytes_an_event": 1_050.0,
                "events_until_full": 3_268_355,
                "bytes_a_day": 180_000,
                "days_until_full": 19_065.4,
                "full_at": "2079-02-01T18:00:00Z",
                "basis": "1,050 bytes an event (memory used by all events of the log), and 171.4 events a day",
                "unknown": None,
            },
            "disk": {
                "free_bytes": 80_000_000_000,
                "total_bytes": 120_000_000_000,
                "wanted_bytes": 70_000_000,
                "reserve_bytes": 33_554_432,
                "bytes_an_event": 900.0,
                "bytes_a_day": 154_286,
                "days_until_low": None,
                "low_at": None,
                "days_until_full": None,
                "full_at": None,
                "basis": None,
                "unknown": "more than a hundred years at this growth",
            },
            "aof": {
                "enabled": True,
                "bytes": 3_600_000,
                "base_bytes": 2_000_000,
                "write_ok": True,
                "rewrite_ok": True,
                "rewriting": False,
            },
        }
    )

    at: str
    events: int = Field(description="Of the log.")
    growth: Growth
    memory: MemoryCapacity = Field(
        description="Of a Cluster that of the fullest node, which decides for all; `events_until_full` is of the whole store."
    )
    nodes: list[MemoryCapacity] | None = Field(
        default=None, description="Of a Cluster every node's, for the events that it holds; null of one server."
    )
    disk: DiskCapacity
    aof: AofCapacity


class ChatSet(BaseModel):
    """The language model that the settings name."""

    model: str
    host: str | None = Field(description="Host and port that is asked; no path, and no key.")
    extraction: str = Field(description="How turns become memories by themselves: rules, model or off.")
    reviewer: str = Field(description="Who reviews: rule or model.")
    summaries: str = Field(description="How episodes are written: extractive, model or off.")


class EmbedderSet(BaseModel):
    """What compares meanings for owners who chose nothing."""

    name: str = Field(description="`auto`, or an embedder's name.")
    chosen_by: Literal["setting", "store"] = Field(description="Where that stands.")
    missing: list[str] = Field(description="What of it this process lacks, or may not use: there it goes by words.")
    host: str | None = Field(description="Where it is asked; null where it runs in this process.")
    loaded: bool = Field(description="Whether a model of it is loaded in this process, and measured.")
    questions_computed: int = Field(description="Questions that this process had embedded since it began.")
    questions_remembered: int = Field(description="Questions whose vectors it still had.")


class TokensUsed(BaseModel):
    """What asking a model took, refused answers and repeated requests included."""

    model: str
    use: str = Field(description="`extract`, `review`, `summarise` or `patterns`.")
    asked: int = Field(description="Questions, each of one request or more.")
    failed: int = Field(description="Questions without an answer that could be used.")
    requests: int
    input_tokens: int = Field(description="As the endpoint tells; one that tells none counts 0.")
    output_tokens: int


class TokensUsedInAll(TokensUsed):
    """The same since counting began."""

    first: str = Field(description="The day of the first.")
    last: str = Field(description="The day of the last.")


class TokensUsedADay(TokensUsed):
    """The same of one day."""

    day: str = Field(description="By UTC.")


class ModelsUsed(BaseModel):
    """Models as the settings name them, and what asking them took."""

    model_config = exampled(
        {
            "at": _AT,
            "since": "2026-11-20",
            "chat": {
                "model": "qwen3:8b",
                "host": "127.0.0.1:11434",
                "extraction": "model",
                "reviewer": "rule",
                "summaries": "extractive",
            },
            "embedder": {
                "name": "auto",
                "chosen_by": "store",
                "missing": [],
                "host": None,
                "loaded": True,
                "questions_computed": 5,
                "questions_remembered": 3,
            },
            "used": [
                {
                    "model": "qwen3:8b",
                    "use": "extract",
                    "asked": 10,
                    "failed": 1,
                    "requests": 13,
                    "input_tokens": 9_000,
                    "output_tokens": 800,
                    "first": "2026-11-20",
                    "last": "2026-11-22",
                }
            ],
            "days": [
                {
                    "day": "2026-11-22",
                    "model": "qwen3:8b",
                    "use": "extract",
                    "asked": 4,
                    "failed": 0,
                    "requests": 4,
                    "input_tokens": 3_000,
                    "output_tokens": 300,
                }
            ],
            "lost": 0,
        }
    )

    at: str
    since: str | None = Field(description="The first day that is counted; null where nothing is yet.")
    chat: ChatSet | None = Field(description="Null where none is set.")
    embedder: EmbedderSet | None = Field(description="Null where none counts for owners who chose nothing.")
    used: list[TokensUsedInAll] = Field(description="Since then, by model and use.")
    days: list[TokensUsedADay] = Field(description="The days asked for, the newest first; days are kept for 400.")
    lost: int = Field(description="Questions that this process could not count: the store did not take it.")
