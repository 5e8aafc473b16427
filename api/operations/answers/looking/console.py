"""Shapes of what the console's page is let in by: codes, and sessions."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from api.operations.answers.log import exampled

CODE = "egc1_3q2-7wAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBk"
SESSION = "egs1_3q2-7wAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBk"


class ConsoleCode(BaseModel):
    """A code that opens the console once."""

    model_config = exampled({"code": CODE, "ends_in": 600, "page": "http://127.0.0.1:8733"})
    code: str
    ends_in: int = Field(description="Seconds until it is over.")
    page: str | None = Field(description="Where a browser finds the console; null where this service is on no port.")


class ConsoleCodeState(BaseModel):
    """What became of a code."""

    model_config = exampled({"state": "waits"})
    state: Literal["waits", "used", "over", "unknown"]


class ConsoleSession(BaseModel):
    """A session, and how long it lasts."""

    model_config = exampled({"token": SESSION, "ends_in": 604_800, "idle_seconds": 43_200})
    token: str = Field(
        description="To be shown as `Authorization: Bearer ...`. It is told once, and ends with this process."
    )
    ends_in: int = Field(description="Seconds until it ends, however much it is used.")
    idle_seconds: int = Field(description="It ends earlier where nothing is asked with it for so many seconds.")


class ConsoleSessionEnded(BaseModel):
    """Whether a session was ended."""

    model_config = exampled({"ended": True})
    ended: bool = Field(description="False where something else than a session was shown.")
