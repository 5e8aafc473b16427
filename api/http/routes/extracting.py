"""`POST /v1/owners/{owner}/extract`: turns become typed memories."""

from __future__ import annotations

from time import monotonic
from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from api.choices import RULES
from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import Asked, Owner
from api.operations.answers import Extracted
from api.services.extracting import WAYS

router = APIRouter(prefix="/v1/owners/{owner}", tags=["owners"], route_class=AdmittedRoute)


RUN_SECONDS = 15.0
"""After so long a model is asked about no more turns in one request; what is `left` is for the next."""


class Extracting(BaseModel):
    """By what, and whether only to tell."""

    model_config = ConfigDict(extra="forbid")

    dry_run: bool = Field(
        default=False, description="Tell what every statement would become, and change nothing.", examples=[True]
    )
    by: str = Field(
        default=RULES, description="`rules`, or `model`: the configured language model is asked.", examples=list(WAYS)
    )


_PREVIEW: dict[str, Any] = {"preview": {"summary": "What would be kept?", "value": {"dry_run": True}}}


_ANSWERS = documented(Extracted, "What was kept, or would be.", 409, 504, 507)
_ANSWERS[207] = _ANSWERS[200] | {"description": "The model failed (`trouble`); what was read until then stays read."}


@router.post("/extract", summary="Extract", responses=_ANSWERS)
def extract(
    application: Asked,
    owner: Owner,
    told: Annotated[Extracting | None, Body(openapi_examples=_PREVIEW)] = None,
) -> Response:
    """Keep what the speakers of unread turns state as typed memories on top of the turns. Sending it again does nothing twice.

    Where turns are `left`, which a model may leave for want of time, send it again; a dry run by a model is about the next ten.
    """
    asked = told or Extracting()
    if asked.dry_run:
        return Json(application.extractor.rehearse(owner, asked.by))
    end = monotonic() + RUN_SECONDS
    answer = application.extractor.extract(owner, asked.by, stop=lambda: monotonic() > end)
    return Json(answer, 207 if answer["trouble"] else 200)
