"""`/v1/owners/{owner}/episodes`: what sessions leave behind, when asked."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import Asked, Owner
from api.operations.answers import Left

router = APIRouter(prefix="/v1/owners/{owner}", tags=["owners"], route_class=AdmittedRoute)


class Making(BaseModel):
    """Whether only to tell."""

    model_config = ConfigDict(extra="forbid")

    dry_run: bool = Field(
        default=False,
        description="Tell what would be made and noted, and change nothing; asks no model.",
        examples=[True],
    )


_PREVIEW: dict[str, Any] = {"preview": {"summary": "What would be made?", "value": {"dry_run": True}}}


@router.post(
    "/episodes",
    summary="Make episodes",
    responses=documented(Left, "What was made and noted, or would be.", 409, 503, 504, 507),
)
def episodes(
    application: Asked, owner: Owner, told: Annotated[Making | None, Body(openapi_examples=_PREVIEW)] = None
) -> Response:
    """Make episodes of what left working memory or of sessions that ended, and note which memories replies rested on.

    `up` does it by itself every ten minutes. Asked again it does nothing twice.
    """
    return Json(application.episodes.make(owner, **(told or Making()).model_dump()))
