"""`/v1/owners/{owner}/synonyms`: words that mean the same in an owner's searches."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query
from pydantic import Field
from starlette.responses import Response

from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import Asked, AsOfAsked, Owner, Told
from api.operations.answers.synonyms import SynonymSaid, SynonymsKnown

router = APIRouter(prefix="/v1/owners/{owner}", tags=["owners"], route_class=AdmittedRoute)


class SynonymsAsked(AsOfAsked):
    """An owner's synonyms."""

    of: str | None = Field(
        default=None, description="A word: what it is looked for by, known synonyms too.", examples=["coffee", "咖啡"]
    )


class Defining(Told):
    """Two words that mean the same."""

    word: str = Field(description="A word or phrase of at most 100 characters.", examples=["coffee"])
    synonym: str = Field(description="What it also means.", examples=["咖啡"])
    similarity: float = Field(
        default=0.8, description="How alike, 0 to 1; 0 says that they are no synonyms.", examples=[0.9]
    )


@router.get("/synonyms", summary="Synonyms", responses=documented(SynonymsKnown, "The owner's own pairs.", 409, 504))
def synonyms(application: Asked, owner: Owner, asked: Annotated[SynonymsAsked, Query()]) -> Response:
    """The pairs that the owner defined, and what searches for a word look for. Leaves no trace."""
    return Json(application.synonyms.synonyms(owner, **asked.model_dump()))


_PAIR = {"pair": {"summary": "In two languages", "value": {"word": "coffee", "synonym": "咖啡", "similarity": 0.9}}}


@router.post("/synonyms", summary="Define a synonym", responses=documented(SynonymSaid, "What it did.", 409, 504, 507))
def define(application: Asked, owner: Owner, told: Annotated[Defining, Body(openapi_examples=_PAIR)]) -> Response:
    """From here on searches for one of the words find the other. The same pair again takes the new similarity."""
    return Json(application.synonyms.define(owner, **told.model_dump()))
