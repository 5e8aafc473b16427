"""`/v1/owners/{owner}/grounds`: what memories rest on, as producers report it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body
from pydantic import Field
from starlette.responses import Response

from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import Asked, Owner, Told
from api.operations.answers import GroundReported
from events.vocabulary import DIGEST_RULE, MAX_REQUEST_EVENTS, URI_RULE

router = APIRouter(prefix="/v1/owners/{owner}", tags=["owners"], route_class=AdmittedRoute)


class Reporting(Told):
    """Something has this digest now."""

    uri: str = Field(description=URI_RULE, examples=["https://wiki.example.org/flats"])
    digest: str = Field(description=DIGEST_RULE, examples=["sha256:9f86d081884c7d65"])
    limit: int = Field(
        default=MAX_REQUEST_EVENTS,
        description="Memories at the most, 1 to 1000; `left` tells of more.",
        examples=[1000],
    )


_PAGE = {
    "page": {
        "summary": "A page was read again",
        "value": {"uri": "https://wiki.example.org/flats", "digest": "sha256:9f86d081884c7d65"},
    }
}


@router.post("/grounds", summary="Report a digest", responses=documented(GroundReported, "What it did.", 409, 504, 507))
def report(application: Asked, owner: Owner, told: Annotated[Reporting, Body(openapi_examples=_PAGE)]) -> Response:
    """Memories that rest on this uri with another digest are withheld from normal mode; those that rest on this one come back.

    Reported again it changes nothing.
    """
    return Json(application.grounds.report(owner, **told.model_dump()))
