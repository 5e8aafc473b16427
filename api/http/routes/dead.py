"""`/v1/dead`: quarantined owners and the events that wait behind the one that cannot be folded."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body
from starlette.responses import Response

from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import Asked, Discarding, Owner
from api.operations.answers import DeadOwner, DeadOwners, Discarded, Retried

router = APIRouter(prefix="/v1/dead", tags=["dead letters"], route_class=AdmittedRoute)


@router.get("", summary="Quarantined owners", responses=documented(DeadOwners, "Who, why, and how many events wait."))
def list_(application: Asked) -> Response:
    """Every quarantined owner, why, and how many of its events wait."""
    return Json(application.operator.dead())


@router.get("/{owner}", summary="Parked events", responses=documented(DeadOwner, "What waits.", 404))
def show(application: Asked, owner: Owner) -> Response:
    """An owner's parked events. Contents are not shown."""
    return Json(application.operator.dead_show(owner))


@router.post("/{owner}/retry", summary="Retry", responses=documented(Retried, "Whether it is freed.", 404))
def retry(application: Asked, owner: Owner) -> Response:
    """Fold the parked events again, after an upgrade say. Carried out by the worker that holds the partition."""
    return Json(application.operator.dead_retry(owner))


_ONE = {"one": {"summary": "Drop one", "value": {"position": "3:128", "reason": "written by a broken producer"}}}


@router.post(
    "/{owner}/discard", summary="Discard", responses=documented(Discarded, "What became of it.", 404, 409, 504)
)
def discard(application: Asked, owner: Owner, told: Annotated[Discarding, Body(openapi_examples=_ONE)]) -> Response:
    """Drop one parked event for good, by an event of its own; the rest of the owner's parked events fold then.

    The event tells who said so, and that is not an operator: over HTTP nobody speaks as one.
    """
    return Json(application.operator.dead_discard(owner, told.position, told.reason, actor=told.actor))
