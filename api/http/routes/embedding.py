"""`/v1/owners/{owner}/embedding`: how many of an owner's memories have a vector."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import Asked, Owner
from api.operations.answers.embedding import Embedding

router = APIRouter(prefix="/v1/owners/{owner}", tags=["owners"], route_class=AdmittedRoute)


@router.get("/embedding", summary="Vectors", responses=documented(Embedding, "How many memories have a vector."))
def embedding(application: Asked, owner: Owner) -> Response:
    """How many of the memories that hold text have a vector under the configured model; a job computes the others."""
    return Json(application.embeddings.coverage(owner))
