"""Shapes of alarms."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from api.operations.answers.log import Example, exampled

EXAMPLE_ALARM: Example = {
    "name": "state_damaged",
    "severity": "stopped",
    "subject": "partition 3",
    "text": "partition 3: the record of memory coffee of owner alice cannot be read",
    "meaning": "A stored record cannot be read: `engramlog verify`, then `engramlog rebuild`.",
    "ends": "itself",
    "first": "2026-11-22T09:30:00Z",
    "last": "2026-11-22T09:31:00Z",
    "count": 12,
    "by": "host-4711-9c01ab",
}


class AlarmStanding(BaseModel):
    """One alarm."""

    model_config = exampled(EXAMPLE_ALARM)

    name: str
    severity: Literal["stopped", "warning"] = Field(description="`stopped`: `/ready` says 503 while it stands.")
    subject: str = Field(description="What it is about; empty for the whole store.")
    text: str
    meaning: str = Field(description="What happened and what to do.")
    ends: Literal["itself", "operator"] = Field(description="Who clears it.")
    first: str
    last: str
    count: int = Field(description="How often it was raised since it was last cleared.")
    by: str = Field(description="The process that raised it last.")


class AlarmsStanding(BaseModel):
    """Every alarm that stands."""

    model_config = exampled({"alarms": [EXAMPLE_ALARM]})

    alarms: list[AlarmStanding]


class AlarmCleared(AlarmsStanding):
    """What clearing came to, and what still stands."""

    model_config = exampled({"name": "state_damaged", "subject": "partition 3", "cleared": True, "alarms": []})

    name: str
    subject: str | None
    cleared: bool
