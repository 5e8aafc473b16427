"""What routes are given: the application, ids from the path, and questions from the query, all with examples."""

from __future__ import annotations

from typing import Annotated, NamedTuple, cast
from urllib.parse import unquote

from fastapi import Depends, Path, Request
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError

from api.application import Application
from api.http.feed import Feeds
from api.http.metrics.registry import Metrics
from api.http.waiting import Waits
from events.standing import Speaker as Speaks
from events.standing import claimed

EXAMPLES_OF_OWNERS = ["alice", "团队/α@x+1"]
EXAMPLES_OF_IDS = ["coffee", "D1:3", "a/b"]


class Parts(NamedTuple):
    """What the routes of one FastAPI application stand on."""

    application: Application
    metrics: Metrics
    feeds: Feeds
    waits: Waits
    """Who waits for what comes."""


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
TurnId = Annotated[
    str,
    BeforeValidator(_decoded),
    Path(
        description="A turn's id, a reply's, or the position of an injection. Percent-encoded; a `/` inside as `%2F`.",
        examples=["D4:7", "3:132"],
    ),
]

Partition = Annotated[int, Path(description="A partition's number, from 0.", examples=[3])]


class Question(BaseModel):
    """Query parameters; an unknown name is refused, since a misspelt `as_of` would answer about the present."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


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
