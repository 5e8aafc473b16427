"""Shapes of what the lifecycle jobs decide, and of their schedule."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import Example, exampled

EXAMPLE_DECISION: Example = {
    "job": "sweep",
    "action": "compress",
    "ids": ["coffee"],
    "due_at": "2026-11-01T09:30:00Z",
    "reason": "level summary by time",
    "event": "MemoryCompressed",
}
EXAMPLE_SCHEDULE: Example = {
    "leader": "host-4712-5be3d0",
    "last_tick": "2026-11-22T09:00:00Z",
    "next_tick": "2026-11-22T10:00:00Z",
    "queued": 0,
    "running": 1,
    "failed": 0,
    "refused": 0,
    "beside": {
        "extract": {"last_tick": "2026-11-22T09:25:00Z", "next_tick": "2026-11-22T09:30:00Z", "every_minutes": 0.17}
    },
    "stopped": {},
    "done": {
        "upkeep": {
            "every_minutes": 60,
            "oldest": "2026-11-22T09:00:02Z",
            "newest": "2026-11-22T09:00:04Z",
            "waiting_since": "2026-11-22T09:00:02Z",
            "seconds": 0.4,
            "partitions": 16,
        }
    },
}


class Decided(BaseModel):
    """Something that fell due by itself."""

    model_config = exampled(EXAMPLE_DECISION)

    job: str
    action: str = Field(
        description="compress, delete, purge, promote, keep, merge, link, replay, raise, abstract or suggest."
    )
    ids: list[str] = Field(description="The memories that it is about.")
    due_at: str = Field(description="When it fell due: the same whenever the jobs run.")
    reason: str
    event: str = Field(description="The type of the event that carries it out.")


class AskedOf(BaseModel):
    """A question to a reviewer that is no rule."""

    id: str = Field(description="The memory that it is about.")
    review: str = Field(description="promotion or decay.")
    due_at: str = Field(description="When the memory crossed the threshold.")


class AskedForPatterns(BaseModel):
    """What a model was asked about patterns; in a dry run, what it would be asked."""

    model: str
    questions: int
    requests: int = Field(description="Requests to the model, repeated ones too.")
    input_tokens: int
    output_tokens: int
    failure: str | None = Field(description="Why it could not be asked, or an answer of it not be used.")


class LookedAt(BaseModel):
    """How many of a kind were compared by their vectors, and how many were not, by reason."""

    compared: int
    without_vector: int = Field(description="They have no vector under the model yet: `embed` computes it.")
    unread: int = Field(description="The model does not read their letters: nothing is compared by noise.")
    older: int = Field(description="They came before the newest that are looked at.")


class ComparedByVectors(BaseModel):
    """What the job `suggest` looked at, and what it left out."""

    model: str
    statements: LookedAt = Field(description="For merges and links: the newest 10,000.")
    turns: LookedAt = Field(description="For questions that are asked again: the newest 10,000.")
    full: bool = Field(
        description="There was no room for all that was found, or for anything: it is suggested once some that wait are answered."
    )


class Cleaned(BaseModel):
    """What the lifecycle jobs decided for one owner, or would decide."""

    model_config = exampled(
        {
            "owner": "alice",
            "counts": {"compress": 1},
            "decisions": [EXAMPLE_DECISION],
            "appended": 1,
            "position": "3:141",
            "dry_run": False,
            "jobs": ["sweep", "review"],
            "kept_days": 30.0,
            "reviewer": "rule",
            "asked": [],
            "left_open": 0,
            "held_back": 0,
            "requests": 0,
            "input_tokens": 0,
            "output_tokens": 0,
            "failure": None,
            "abstraction": None,
            "compared": None,
        }
    )

    owner: str
    counts: dict[str, int] = Field(description="How many decisions, by action.")
    decisions: list[Decided]
    appended: int = Field(description="How many of them are in the log now; none after a dry run.")
    position: str = Field(description="The position that was decided at, or of the last decision.")
    dry_run: bool
    jobs: list[str]
    kept_days: float = Field(description="For how many days what is deleted can be restored.")
    reviewer: str = Field(description="Who answers in a review: rule, or model and which.")
    asked: list[AskedOf] = Field(description="What a model was asked; in a dry run, what it would be asked.")
    left_open: int = Field(description="Questions without an answer that was followed: asked again at the next run.")
    held_back: int = Field(description="Of those, deletions beyond what a model may delete in one run.")
    requests: int = Field(description="Requests to the model.")
    input_tokens: int
    output_tokens: int
    failure: str | None = Field(description="Why the model could not be asked, or an answer of it not be used.")
    abstraction: AskedForPatterns | None = Field(
        description="Of the job `abstract` where ENGRAMLOG_REVIEWER is `model`; else null."
    )
    compared: ComparedByVectors | None = Field(description="Of the job `suggest`; else null.")


class Ticks(BaseModel):
    """When a kind of job was and is scheduled."""

    last_tick: str
    next_tick: str | None = Field(description="Null where no job worker runs.")
    every_minutes: float


class JobsDone(BaseModel):
    """When a kind of job last ran through, over the partitions; null where it never did."""

    every_minutes: float
    oldest: str | None = Field(description="Of the partition that waits longest, among those that ever had it done.")
    newest: str | None
    waiting_since: str | None = Field(
        default=None,
        description="Since when the partition waits that waits longest: where it never had it done, from when it is scheduled.",
    )
    seconds: float | None = Field(description="What the slowest partition's last run took.")
    partitions: int = Field(description="Partitions that ever had it done.")


class Schedule(BaseModel):
    """Who schedules the lifecycle jobs, and their queue."""

    model_config = exampled(EXAMPLE_SCHEDULE)

    leader: str | None = Field(description="The job worker that schedules; null where none runs.")
    last_tick: str | None = Field(description="The newest tick whose jobs were enqueued.")
    next_tick: str | None
    queued: int | None = Field(description="Jobs that wait; all fields are null where the queue does not answer.")
    running: int | None
    failed: int | None = Field(description="Jobs that failed for good in the last seven days.")
    refused: int | None = Field(default=None, description="What lay in the queue and was no job of this store, ever.")
    beside: dict[str, Ticks] | None = Field(
        default=None, description="What is scheduled beside the lifecycle, by kind: `embed`, `extract`."
    )
    stopped: dict[str, str] | None = Field(
        default=None, description="Why a kind of job stopped when it last ran, such as a language model that is down."
    )
    done: dict[str, JobsDone] | None = Field(
        default=None, description="When each kind of job that is scheduled last ran through, by kind."
    )
    problem: str | None = Field(default=None, description="Why nothing is known, where nothing is.")
