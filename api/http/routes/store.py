"""The event types; and what supervisors ask: health, readiness, metrics."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import Field
from starlette.responses import PlainTextResponse, Response

from engramlog_server.api.http.problem import Responses, problems
from engramlog_server.api.http.routing import Asked, AskedParts, Json, Question, documented, new_router
from engramlog_server.api.work import Work, takes
from engramlog_server.events.errors import refused
from engramlog_server.events.schema import json_schemas
from engramlog_server.events.text import AUTO
from engramlog_server.projections.embedding.names import embedder_kind
from engramlog_server.projections.shapes import EmbedderStanding, ListeningTold

router = new_router("store")


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


@router.get("/v1/schema", summary="Event types", responses=_SCHEMA | problems())
@takes(Work.LIGHT)
def schema(asked: Annotated[SchemaAsked, Query()]) -> Response:
    """JSON Schema of every event's envelope, by type, or of one."""
    schemas = json_schemas()
    if asked.event is None:
        return Json(schemas)
    if asked.event not in schemas:
        raise refused("event", asked.event, ", ".join(schemas))
    return Json(schemas[asked.event])


@router.head("/health", include_in_schema=False)
@router.get("/health", summary="Alive?", tags=["supervision"], responses=documented("Health", "The process lives."))
async def health() -> Response:
    """Whether this process answers; asks nothing of Redis."""
    return Json({"status": "alive"})


@router.head("/ready", include_in_schema=False)
@router.get("/ready", summary="Ready?", tags=["supervision"], responses=documented("Ready", "Redis answers."))
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


@router.get("/metrics", summary="Metrics", tags=["supervision"], responses=_METRICS, response_class=PlainTextResponse)
@takes(Work.WATCH)
def metrics(parts: AskedParts) -> Response:
    """Events, lag, quarantined owners, memories, memory used, search latency, appends by status."""
    parts.check("operate", None, "metrics")
    return Response(parts.metrics.text(), headers={"content-type": CONTENT_TYPE_LATEST, "cache-control": "no-store"})
