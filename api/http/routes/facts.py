"""`/v1/owners/{owner}/facts`: what is known as triples."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import Asked, AsOfAsked, Offset, Owner
from api.operations.answers import FactsKnown

router = APIRouter(prefix="/v1/owners/{owner}", tags=["owners"], route_class=AdmittedRoute)


class FactsAsked(AsOfAsked):
    """A page of an owner's triples."""

    about: str | None = Field(
        default=None, description="Only triples of which this is subject or object.", examples=["coffee", "拉面"]
    )
    limit: int = Field(default=50, description="How many, 1 to 1000.", examples=[50])
    offset: Offset = 0


@router.get("/facts", summary="Facts", responses=documented(FactsKnown, "Triples with their evidence.", 409, 504))
def facts(application: Asked, owner: Owner, asked: Annotated[FactsAsked, Query()]) -> Response:
    """Triples that hold, with the memories that are their evidence. Leaves no trace."""
    return Json(application.facts.facts(owner, **asked.model_dump()))
