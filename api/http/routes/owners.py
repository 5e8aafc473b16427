"""`/v1/owners/{owner}`: questions about all of an owner's memories, and what touches several."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from starlette.responses import Response

from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import Asked, AskedParts, HistoryAsked, Merging, Owner, Replaying, SearchAsked, TimeAsked
from api.operations.answers import EXAMPLE_EFFECT_OF_MERGE, Effects, Found, History, OwnerStats, Replayed
from api.requests.checks import check_mode
from events.errors import refused
from events.parameters import problem_with

router = APIRouter(prefix="/v1/owners/{owner}", tags=["owners"], route_class=AdmittedRoute)


@router.get(
    "/search", summary="Search", responses=documented(Found, "The best matches, each with its reasons.", 409, 504)
)
def search(parts: AskedParts, owner: Owner, asked: Annotated[SearchAsked, Query()]) -> Response:
    """Find memories; each tells why it stands where it stands, and the answer tells what was withheld."""
    question: dict[str, Any] = asked.model_dump()
    with parts.metrics.search_seconds.time():
        answer = parts.application.reader.search(owner, question.pop("q"), **question)
    return Json(answer)


@router.get("/history", summary="History", responses=documented(History, "A page of the owner's change log.", 409, 504))
def history(application: Asked, owner: Owner, asked: Annotated[HistoryAsked, Query()]) -> Response:
    """Changes to any of the owner's memories, in the order of folding, page by page; the head of the owner's hash chain."""
    return Json(application.reader.history(owner, **asked.model_dump()))


@router.get("/stats", summary="Statistics", responses=documented(OwnerStats, "Counts.", 409, 504))
def stats(application: Asked, owner: Owner, asked: Annotated[TimeAsked, Query()]) -> Response:
    """Counts of the owner's memories by category, level and state."""
    return Json(application.operator.stats(owner, **asked.model_dump()))


_PAIR = {"two": {"summary": "Two memories into one", "value": {"sources": ["m1", "m2"], "summary": "Drinks coffee"}}}


@router.post(
    "/merge",
    summary="Merge",
    responses=documented(Effects, "What it did.", 404, 409, 504, 507, example=EXAMPLE_EFFECT_OF_MERGE),
)
def merge(application: Asked, owner: Owner, told: Annotated[Merging, Body(openapi_examples=_PAIR)]) -> Response:
    """Several memories become a new one; the sources stay readable, and un-merging brings them back."""
    return Json(application.writer.merge(owner, **told.model_dump()))


_FASTER = {
    "faster": {"summary": "What if they forgot faster?", "value": {"set": {"user_factor": 1.3}, "query": "coffee"}}
}


@router.post(
    "/replay",
    summary="Replay",
    responses=documented(Replayed, "What differs.", 409, 504),
)
def replay(application: Asked, owner: Owner, told: Annotated[Replaying, Body(openapi_examples=_FASTER)]) -> Response:
    """Fold the owner's events under other parameters, or without some of them. Writes nothing."""
    for name, value in told.set.items():
        if rule := problem_with(name, value):
            raise refused(f"set {name}", str(value), rule)
    check_mode(told.mode)
    asked = told.model_dump()
    return Json(application.replayer.replay(owner, parameters=asked.pop("set"), **asked))
