"""What is known: assess a topic, map it, follow associations."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import Asked, AssessAsked, AssociationsAsked, MapAsked, MemoryId, Owner
from api.operations.answers import Assessment, AssociationTree, KnowledgeMap

router = APIRouter(prefix="/v1/owners/{owner}", route_class=AdmittedRoute)


@router.get(
    "/assess",
    summary="Assess",
    tags=["owners"],
    responses=documented(Assessment, "How sure we are.", 404, 409, 504),
)
def assess(application: Asked, owner: Owner, asked: Annotated[AssessAsked, Query()]) -> Response:
    """How sure are we about a topic? Score, level, advice, evidence and the numbers. Leaves no trace."""
    return Json(application.knower.assess(owner, **asked.model_dump()))


@router.get(
    "/map",
    summary="Map",
    tags=["owners"],
    responses=documented(KnowledgeMap, "Nodes, edges, clusters.", 404, 409, 504),
)
def map_(application: Asked, owner: Owner, asked: Annotated[MapAsked, Query()]) -> Response:
    """What is known about a topic, as a graph with clusters. Leaves no trace."""
    return Json(application.knower.map(owner, **asked.model_dump()))


@router.get(
    "/memories/{memory_id}/associations",
    summary="Associations",
    tags=["memories"],
    responses=documented(AssociationTree, "A tree.", 404, 409, 504),
)
def associations(
    application: Asked, owner: Owner, memory_id: MemoryId, asked: Annotated[AssociationsAsked, Query()]
) -> Response:
    """What a memory is associated with, the strongest first, each memory once. Leaves no trace."""
    return Json(application.knower.associations(owner, memory_id, **asked.model_dump()))
