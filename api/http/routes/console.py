"""The console's sessions (a code that works once becomes one), the event types, health, readiness and metrics."""

from __future__ import annotations

from typing import Annotated, Self, cast

from fastapi import Body, Query, Request
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from starlette.responses import PlainTextResponse, Response

from engramlog_server.api.http.callers import (
    OPEN_POST,
    SESSION_PREFIX,
    Admits,
    Callers,
    CodeRefused,
    SessionMade,
    Sessions,
    caller_in,
    is_known,
    shown_in,
    unauthorized,
)
from engramlog_server.api.http.problem import Responses, plain_problem, problems
from engramlog_server.api.http.routing import (
    Asked,
    AskedParts,
    Json,
    PostedBody,
    Question,
    documented,
    new_router,
    parts_of,
)
from engramlog_server.api.work import Work, takes
from engramlog_server.events.errors import refused
from engramlog_server.events.schema import json_schemas
from engramlog_server.events.text import AUTO
from engramlog_server.projections.access.keys import MOST_LETTERS
from engramlog_server.projections.embedding.names import embedder_kind
from engramlog_server.projections.shapes import EmbedderStanding, ListeningTold

router = new_router()
TAG = "console"
CODE = "egc1_3q2-7wAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBk"


class CodeShown(PostedBody):
    """A code."""

    code: str = Field(max_length=200, description="As it stands behind `#code=` in the link.", examples=[CODE])


class CodeOrKeyShown(PostedBody):
    """A code, or a key."""

    code: str | None = Field(
        default=None, max_length=200, description="As it stands behind `#code=` in the link.", examples=[CODE]
    )
    key: str | None = Field(
        default=None,
        max_length=MOST_LETTERS,
        description="A key of this store, or a token made from one. The session has its rights while it is valid.",
        examples=["egl_k7m2p9qa_..."],
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.code is None) == (self.key is None):
            raise PydanticCustomError("one", "{rule}", {"rule": "a code or a key, and not both"})
        return self


def sessions_of(request: Request) -> Sessions:
    """The sessions of the application that was asked."""
    return cast("Sessions", request.app.state.sessions)


@router.post(
    "/v1/console/codes",
    summary="A code for the console",
    tags=[TAG],
    responses=documented("ConsoleCode", "It works once, within ten minutes.", 403),
)
async def console_code(request: Request) -> Response:
    """A code by which a browser opens the console, for whoever shows the token itself: a session lets in no other."""
    sessions, admits = sessions_of(request), cast("Admits", request.app.state.admits)
    vouched = sessions.in_force()
    if not is_known(request.headers, admits):
        caller, got = caller_in(cast("dict[str, object]", request.scope)), "a key"
        if (shown_in(request.headers) or "").startswith(SESSION_PREFIX):
            got = "a session"
        elif caller is None or caller.is_unlimited:  # the token became another one meanwhile
            return unauthorized(request.headers)
        return plain_problem(
            403,
            f"Authorization: got {got}; allowed: the token itself, which `engramlog token` prints. Holders of a key sign"
            " in on the page",
        )
    if vouched is None:
        return unauthorized(request.headers)
    made = sessions.code(vouched)
    return Json({**made._asdict(), "page": sessions.page})


@router.post(
    "/v1/console/codes/state",
    summary="What became of a code",
    tags=[TAG],
    responses=documented("ConsoleCodeState", "Whether it waits, was used, or is over."),
)
async def console_code_state(
    request: Request,
    asked: Annotated[CodeShown, Body(openapi_examples={"a code": {"value": {"code": CODE}}})],
) -> Response:
    """Whether a code waits to be used; it is not used by being asked for."""
    return Json({"state": sessions_of(request).state(asked.code)})


@router.post(
    OPEN_POST,
    summary="Open a session",
    tags=[TAG],
    responses=documented("ConsoleSession", "The session of the page.", 403, 411),
)
async def console_session(
    request: Request,
    asked: Annotated[
        CodeOrKeyShown,
        Body(openapi_examples={"a code": {"value": {"code": CODE}}, "a key": {"value": {"key": "egl_k7m2p9qa_..."}}}),
    ],
) -> Response:
    """A session for a code, or for a key. It is asked without a token: at most 10,240 bytes, with their Content-Length.

    A session of a key may what the key may, at each request anew, and ends with it.
    """
    try:
        made = (
            sessions_of(request).redeem(asked.code) if asked.code is not None else await _signed_in(request, asked.key)
        )
        return Json(made._asdict())
    except CodeRefused as error:
        (await parts_of(request)).metrics.console_codes_refused.labels(error.reason).inc()
        raise


@router.post(
    "/v1/console/session/end",
    summary="End a session",
    tags=[TAG],
    responses=documented("ConsoleSessionEnded", "Whether there was one."),
)
async def console_session_end(request: Request) -> Response:
    """End the session that is shown."""
    return Json({"ended": sessions_of(request).end(shown_in(request.headers) or "")})


async def _signed_in(request: Request, key: str | None) -> SessionMade:
    """A session of whoever has this key. Raises CodeRefused, and StoreUnavailable where it cannot be known."""
    callers = cast("Callers", request.app.state.callers)
    found = await callers.of_a_key((key or "").strip())
    if found.caller is None:
        got = "none of this store" if found.why == "unknown" else found.got
        raise sessions_of(request).refusal_of_key(found.why, got)
    ends = found.caller.ends
    now = (await parts_of(request)).whole.log.now()
    return sessions_of(request).begin(found.caller, None if ends is None else (ends - now) / 1_000_000)


store_router = new_router("store")


class SchemaAsked(Question):
    """Which schema."""

    event: str | None = Field(default=None, description="One event type; all without.", examples=["MemoryCreated"])


_SCHEMA: Responses = {
    200: {
        "description": "JSON Schemas (2020-12) by event type, or the one asked for.",
        "content": {
            "application/json": {
                "schema": {"type": "object"},
                "example": {"MemoryMentioned": {"title": "MemoryMentioned", "type": "object"}},
            }
        },
    }
}


@store_router.get("/v1/schema", summary="Event types", responses=_SCHEMA | problems())
@takes(Work.LIGHT)
def schema(asked: Annotated[SchemaAsked, Query()]) -> Response:
    """JSON Schema of every event's envelope, by type, or of one."""
    schemas = json_schemas()
    if asked.event is None:
        return Json(schemas)
    if asked.event not in schemas:
        raise refused("event", asked.event, ", ".join(schemas))
    return Json(schemas[asked.event])


@store_router.head("/health", include_in_schema=False)
@store_router.get(
    "/health", summary="Alive?", tags=["supervision"], responses=documented("Health", "The process lives.")
)
async def health() -> Response:
    """Whether this process answers; asks nothing of Redis."""
    return Json({"status": "alive"})


@store_router.head("/ready", include_in_schema=False)
@store_router.get("/ready", summary="Ready?", tags=["supervision"], responses=documented("Ready", "Redis answers."))
@takes(Work.WATCH)
def ready(application: Asked) -> Response:
    """Whether Redis answers, how far each partition's fold is behind, which alarms stand; 503 where something stands still, or
    partitions of a Cluster cannot be reached."""
    status = application.operator.status()
    unreachable = sorted(number for one in status["unreachable"] or () for number in one["partitions"])
    stopped = any(alarm["severity"] == "stopped" for alarm in status["alarms"])
    stopped = stopped or bool(unreachable or status["unread"])
    return Json(
        {
            "status": "stopped" if stopped else "ready",
            "lag": status["lag"],
            "partitions": {str(one["partition"]): one["lag"] for one in status["partitions"]},
            "unreachable": unreachable,
            "workers": len(status["workers"]),
            "inboxes": status["inboxes"],
            "alarms": [
                {"name": alarm["name"], "severity": alarm["severity"], "since": alarm["first"]}
                for alarm in status["alarms"]
            ],
            "embedder": _embedder(status["embedder"]),
            "listening": _listening(status["listening"]),
        },
        503 if stopped else 200,
    )


def _embedder(standing: EmbedderStanding | None) -> dict[str, str | int] | None:
    """What of it anybody may know: the route is open, and a name may be that of somebody's package."""
    if standing is None:
        return None
    kind = AUTO if standing["name"] == AUTO else (embedder_kind(standing["name"]) or ("imported",))[0]
    return {"kind": kind, "loaded": len(standing["loaded"]), "missing": len(standing["missing"])}


def _listening(told: ListeningTold | None) -> dict[str, str | None] | None:
    """What of it whoever comes sees anyway."""
    return None if told is None else {"by": told["by"], "certificate_ends": told["certificate_ends"]}


_METRICS: Responses = {
    200: {
        "description": "Prometheus text format.",
        "content": {
            "text/plain": {"schema": {"type": "string"}, "example": 'engramlog_lag_events{partition="3"} 0.0\n'}
        },
    }
}


@store_router.get(
    "/metrics", summary="Metrics", tags=["supervision"], responses=_METRICS, response_class=PlainTextResponse
)
@takes(Work.WATCH)
def metrics(parts: AskedParts) -> Response:
    """Events, lag, quarantined owners, memories, memory used, search latency, appends by status."""
    parts.check("operate", None, "metrics")
    return Response(parts.metrics.text(), headers={"content-type": CONTENT_TYPE_LATEST, "cache-control": "no-store"})
