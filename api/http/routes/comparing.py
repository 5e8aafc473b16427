"""`/v1/owners/{owner}/compare`: the same history under every law."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import Asked, AsOfAsked, MemoryId, Offset, Owner, TimeAsked
from api.operations.answers.comparing import Compared, Curves

router = APIRouter(prefix="/v1/owners/{owner}", route_class=AdmittedRoute)


class CompareAsked(TimeAsked):
    """All memories at an instant."""

    limit: int = Field(default=20, description="How many memories, 1 to 1000.", examples=[20])
    offset: Offset = 0


class CurvesAsked(AsOfAsked):
    """One memory between two instants."""

    since: str | None = Field(
        default=None,
        alias="from",
        description="Begin at this instant; at its creation if not given.",
        examples=["2026-01-01T00:00:00Z"],
    )
    until: str | None = Field(
        default=None,
        alias="to",
        description="End at this instant, past or future; now if not given.",
        examples=["2026-11-22T09:30:00Z"],
    )
    points: int = Field(default=200, description="Evenly spaced instants, 2 to 2000.", examples=[200])


@router.get(
    "/compare", summary="Compare laws", tags=["owners"], responses=documented(Compared, "The readings.", 409, 504)
)
def compare(application: Asked, owner: Owner, asked: Annotated[CompareAsked, Query()]) -> Response:
    """Every law's weights of the owner's memories, what each shows, and where they disagree most. Leaves no trace."""
    return Json(application.comparer.compare(owner, **asked.model_dump()))


@router.get(
    "/memories/{memory_id}/compare",
    summary="Compare laws over time",
    tags=["memories"],
    responses=documented(Curves, "The curves.", 404, 409, 504),
)
def curves(application: Asked, owner: Owner, memory_id: MemoryId, asked: Annotated[CurvesAsked, Query()]) -> Response:
    """One memory's weights under every law, each instant on the record as it was then, with what touched it. Leaves no trace."""
    return Json(application.comparer.curves(owner, memory_id, **asked.model_dump()))
