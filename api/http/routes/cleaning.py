"""`/v1/owners/{owner}/cleanup`: lifecycle jobs when asked."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import Asked, Owner
from api.operations.answers import Cleaned
from api.services.cleaning import BY_HAND

router = APIRouter(prefix="/v1/owners/{owner}", tags=["owners"], route_class=AdmittedRoute)


class Cleaning(BaseModel):
    """Which jobs, and whether only to tell."""

    model_config = ConfigDict(extra="forbid")

    dry_run: bool = Field(
        default=False, description="Tell what a run would do right now, and change nothing.", examples=[True]
    )
    jobs: list[str] = Field(
        default=list(BY_HAND),
        description="sweep, review, merge, link, replay or levels; sweep and review if not given.",
        examples=[["sweep", "review"]],
    )


_PREVIEW: dict[str, Any] = {"preview": {"summary": "What would be done?", "value": {"dry_run": True}}}


@router.post(
    "/cleanup", summary="Clean up", responses=documented(Cleaned, "What was decided, or would be.", 409, 504, 507)
)
def cleanup(
    application: Asked,
    owner: Owner,
    told: Annotated[Cleaning | None, Body(openapi_examples=_PREVIEW)] = None,
) -> Response:
    """Do now what the lifecycle jobs do by themselves: record levels, delete what its law lets go, purge.

    Deletions can be restored for 30 days. What is purged is gone from every projection; the log still holds its text.
    """
    return Json(application.cleaner.clean(owner, **(told or Cleaning()).model_dump()))
