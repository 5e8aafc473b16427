"""What routes are given: the application, ids from the path, and questions from the query, all with examples."""

from __future__ import annotations

from typing import Annotated, NamedTuple, cast
from urllib.parse import unquote

from fastapi import Depends, Path, Request
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from api.application import Application
from api.http.feed import Feeds
from api.http.metrics import Metrics
from events.standing import Speaker as Speaks
from events.standing import claimed

EXAMPLES_OF_OWNERS = ["alice", "团队/α@x+1"]
EXAMPLES_OF_IDS = ["coffee", "D1:3", "a/b"]


class Parts(NamedTuple):
    """What the routes of one FastAPI application stand on."""

    application: Application
    metrics: Metrics
    feeds: Feeds


async def parts_of(request: Request) -> Parts:
    """The parts of the application that was asked."""
    return cast("Parts", request.app.state.parts)


async def application_of(request: Request) -> Application:
    """The application itself."""
    return cast("Parts", request.app.state.parts).application


def _decoded(segment: str) -> str:
    """A path segment as it was meant: the guard hands paths on percent-encoded, so that `%2F` separates nothing."""
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        raise ValueError("percent-encoded UTF-8") from None


Asked = Annotated[Application, Depends(application_of)]
AskedParts = Annotated[Parts, Depends(parts_of)]
Owner = Annotated[
    str,
    BeforeValidator(_decoded),
    Path(
        description="Whose memories: a user, an agent, a team. Percent-encoded; a `/` inside as `%2F`.",
        examples=EXAMPLES_OF_OWNERS,
    ),
]
MemoryId = Annotated[
    str,
    BeforeValidator(_decoded),
    Path(description="A memory's id. Percent-encoded; a `/` inside as `%2F`.", examples=EXAMPLES_OF_IDS),
]


MOST_OFFSET = 1_000_000_000
"""Largest number of rows to pass over."""
Offset = Annotated[int, Field(ge=0, le=MOST_OFFSET, description="How many to pass over.", examples=[0])]


class Question(BaseModel):
    """Query parameters; an unknown name is refused, since a misspelt `as_of` would answer about the present."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


AS_OF: str | None = Field(
    default=None,
    description="Answer as of an instant or the end of a day (what had happened by then), or a position.",
    examples=["2023-10-22T12:00:00Z", "2023-10-22", "3:128"],
)
KNOWN: str | None = Field(
    default=None,
    description="Answer from what was recorded by an instant, the end of a day or a position: as it was given then."
    " With `as_of` what had happened by that, as it was known by this.",
    examples=["2026-11-22T12:00:00Z", "2026-11-22", "3:128"],
)


class LinesAsked(Question):
    """Which past, on both time lines."""

    as_of: str | None = AS_OF
    known: str | None = KNOWN


class AsOfAsked(LinesAsked):
    """When, and after what."""

    after: str | None = Field(
        default=None,
        description="Wait until this position of the owner is folded (read your writes): 504 after two seconds,"
        " 409 where it is parked or does not exist.",
        examples=["3:128"],
    )


def _never_by_get(value: bool) -> bool:
    if value:
        raise ValueError(
            "false: secrets are shown by POST alone (.../memories/{memory_id}/reveal, .../export), which records it"
        )
    return value


Unrevealed = Annotated[bool, AfterValidator(_never_by_get)]
"""`reveal` of a question, which reveals nothing."""


def _speaker(actor: str) -> str:
    if problem := claimed(actor, Speaks("http")):
        raise PydanticCustomError("speaker", "{rule}", {"rule": problem.allowed})
    return actor


Speaker = Annotated[str, AfterValidator(_speaker)]
"""For whom a caller speaks: whoever holds a token is not the operator by that."""
