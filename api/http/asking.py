"""What routes are given: the application, ids from the path, and questions from the query, all with examples."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, cast
from urllib.parse import unquote

from fastapi import Depends, Path, Request
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError

from api.access.confined import Recorder, checked_call
from api.application import Application
from api.http.access.callers import CALLER, caller_in
from api.http.feed import Feeds
from api.http.metrics.registry import Metrics
from api.http.server.listener import listener_of
from api.http.waiting import Waits
from api.operations.needs import Need
from events.catalogue.access import Verb
from events.errors import AccessDenied
from events.standing import Speaker as Speaks
from events.standing import claimed
from projections.access.caller import AT_THE_FOLDER, Caller

NOBODY = Caller("nobody", ((),), "none")
EXAMPLES_OF_OWNERS = ["alice", "团队/α@x+1"]
EXAMPLES_OF_IDS = ["coffee", "D1:3", "a/b"]


class Parts(NamedTuple):
    """What the routes of one FastAPI application stand on, for whoever sent the request."""

    application: Application
    """As he may use it."""
    metrics: Metrics
    feeds: Feeds
    waits: Waits
    """Who waits for what comes."""
    caller: Caller = AT_THE_FOLDER
    whole: Any = None
    """The application without bounds: of open paths, and of what is recorded."""

    def check(self, verb: Verb, owner: str | None, call: str, least: int = 0) -> None:
        """What `api.access` does where a route asks no service; `least` as of a `Need`. Raises AccessDenied, which is recorded."""
        if not self.caller.is_unlimited:
            need = Need(verb, "store" if owner is None else "owner", least=least)
            checked_call(self.caller, call, need, {"owner": owner}, self.record)

    @property
    def record(self) -> Recorder:
        """Records who looked at what."""
        found: Recorder = self.whole.reads.record
        return found


async def parts_of(request: Request) -> Parts:
    """The parts of the application that was asked, as its caller may use them. Nobody known, on open paths, may nothing."""
    parts = cast("Parts", request.app.state.parts)
    caller = caller_in(cast("dict[str, object]", request.scope)) or NOBODY
    application = parts.application
    return parts._replace(application=application.for_(caller), caller=caller, whole=application)


async def renewed(request: Request) -> Parts:
    """The same, looked at anew, of a request that has waited: who was let in may be so no more. Raises AccessDenied then."""
    found = await request.app.state.callers.of(request.headers, listener_of(request.scope), attended=False)
    if found.caller is None:
        raise AccessDenied(f"Authorization: got {found.got}; allowed: a key that lives", field="Authorization")
    request.scope[CALLER] = found.caller
    return await parts_of(request)


async def application_of(request: Request) -> Application:
    """The application without bounds, for what is answered without a token."""
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
