"""Shapes of what the lifecycle jobs decide, and of their schedule."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.http.shapes.log import Example, exampled

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
}


class Decided(BaseModel):
    """Something that fell due by itself."""

    model_config = exampled(EXAMPLE_DECISION)

    job: str
    action: str = Field(description="compress, delete, purge, promote, keep, merge, link or replay.")
    ids: list[str] = Field(description="The memories that it is about.")
    due_at: str = Field(description="When it fell due: the same whenever the jobs run.")
    reason: str
    event: str = Field(description="The type of the event that carries it out.")


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


class Schedule(BaseModel):
    """Who schedules the lifecycle jobs, and their queue."""

    model_config = exampled(EXAMPLE_SCHEDULE)

    leader: str | None = Field(description="The job worker that schedules; null where none runs.")
    last_tick: str | None = Field(description="The newest tick whose jobs were enqueued.")
    next_tick: str | None
    queued: int | None = Field(description="Jobs that wait; all fields are null where the queue does not answer.")
    running: int | None
    failed: int | None = Field(description="Jobs that failed for good in the last seven days.")
    problem: str | None = Field(default=None, description="Why nothing is known, where nothing is.")
