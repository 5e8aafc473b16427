"""How memories live on: health, fading, reviews, reinforcing, the owner's profile, and the laws there are."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import KEY, Asked, AsOfAsked, MemoryId, Offset, Owner, Speaker, TimeAsked, Told
from api.laws import laws as all_laws
from api.operations.answers import Fading, Graded, Laws, MemoryHealth, OwnerProfile, Reinforced, ReviewsDue
from api.operations.answers.profiles import EXAMPLE_CHOSEN

router = APIRouter(prefix="/v1", route_class=AdmittedRoute)


class PageAsked(TimeAsked):
    """A page of an owner's live memories."""

    limit: int = Field(default=50, description="How many, 1 to 1000.", examples=[50])
    offset: Offset = 0


class DueAsked(TimeAsked):
    """What is due for review."""

    min_importance: float = Field(default=0.5, description="Least importance, 0 to 1.", examples=[0.3])
    limit: int = Field(default=10, description="How many, 1 to 100.", examples=[10])
    kind: str | None = Field(default=None, description="Only memories of this kind.", examples=["lesson"])


class Reinforcing(Told):
    """It was put to use, or looked at again."""

    outcome: str = Field(
        default="manual_review",
        description="used, task_success, task_failure or manual_review.",
        examples=["used"],
    )
    from_memory: str | None = Field(
        default=None,
        description="The memory that led there: with used and manual_review their association grows.",
        examples=["tea"],
    )


class Grading(Told):
    """It was reviewed."""

    grade: int = Field(strict=True, description="How well it was known, 0 (forgotten) to 5 (at once).", examples=[4])


class Choosing(BaseModel):
    """A law to live by, parameters, or both."""

    model_config = ConfigDict(extra="forbid")

    profile: str | None = Field(default=None, description="A law's name.", examples=["ebbinghaus"])
    parameters: dict[str, float | int | str | bool] = Field(
        default_factory=dict,
        description="Parameters by name; to undo one, set its default again.",
        examples=[{"initial_stability": 48}],
    )
    actor: Speaker = Field(default="user", description="Who says so: user, assistant or judge.", examples=["user"])
    occurred_at: str | None = Field(
        default=None,
        description="When it happened, if not now: RFC 3339 with a zone.",
        examples=["2026-11-22T09:30:00Z"],
    )
    key: str | None = KEY


@router.get(
    "/owners/{owner}/health",
    tags=["owners"],
    summary="Health",
    responses=documented(MemoryHealth, "A page of live memories, strongest first.", 409, 504),
)
def health(application: Asked, owner: Owner, asked: Annotated[PageAsked, Query()]) -> Response:
    """Live memories by Ebbinghaus strength, whatever the profile, with counts by colour. Leaves no trace."""
    return Json(application.living.health(owner, **asked.model_dump()))


@router.get(
    "/owners/{owner}/fading",
    tags=["owners"],
    summary="Fading",
    responses=documented(Fading, "A page of them, weakest first.", 409, 504),
)
def fading(application: Asked, owner: Owner, asked: Annotated[PageAsked, Query()]) -> Response:
    """Live memories of an Ebbinghaus strength under 30. Leaves no trace."""
    return Json(application.living.fading(owner, **asked.model_dump()))


@router.get(
    "/owners/{owner}/review",
    tags=["owners"],
    summary="Due for review",
    responses=documented(ReviewsDue, "The most pressing.", 409, 504),
)
def review(application: Asked, owner: Owner, asked: Annotated[DueAsked, Query()]) -> Response:
    """What is due for review, most pressing first, and how much the least importance left out. Leaves no trace."""
    return Json(application.living.review(owner, **asked.model_dump()))


_USED = {"used": {"summary": "A memory led to it", "value": {"outcome": "used", "from_memory": "tea"}}}


@router.post(
    "/owners/{owner}/memories/{memory_id}/reinforce",
    tags=["memories"],
    summary="Reinforce",
    responses=documented(Reinforced, "What each law reads before and after.", 404, 409, 504, 507),
)
def reinforce(
    application: Asked,
    owner: Owner,
    memory_id: MemoryId,
    told: Annotated[Reinforcing | None, Body(openapi_examples=_USED)] = None,
) -> Response:
    """It was put to use, or looked at again by hand: hold it better."""
    return Json(application.living.reinforce(owner, memory_id, **(told or Reinforcing()).model_dump()))


_KNOWN = {"known": {"summary": "Known after a moment", "value": {"grade": 4}}}


@router.post(
    "/owners/{owner}/memories/{memory_id}/grade",
    tags=["memories"],
    summary="Grade",
    responses=documented(Graded, "The next review by each scheduler.", 404, 409, 504, 507),
)
def grade(
    application: Asked, owner: Owner, memory_id: MemoryId, told: Annotated[Grading, Body(openapi_examples=_KNOWN)]
) -> Response:
    """It was reviewed: when it is due again by SM-2 and by FSRS, and which of them decides. Counts as an access."""
    return Json(application.living.grade(owner, memory_id, **told.model_dump()))


@router.get(
    "/owners/{owner}/profile",
    tags=["owners"],
    summary="Profile",
    responses=documented(OwnerProfile, "The law, its thresholds, and what is not at its default.", 409, 504),
)
def profile(application: Asked, owner: Owner, asked: Annotated[AsOfAsked, Query()]) -> Response:
    """The law that the owner's recall and lifecycle go by, with its parameters."""
    return Json(application.living.profile(owner, **asked.model_dump()))


_CHOSEN = {
    "law": {"summary": "Another law", "value": {"profile": "ebbinghaus"}},
    "parameters": {"summary": "Another parameter", "value": {"parameters": {"initial_stability": 48}}},
}


@router.post(
    "/owners/{owner}/profile",
    tags=["owners"],
    summary="Choose a profile",
    responses=documented(OwnerProfile, "What holds from here on.", 409, 504, 507, example=EXAMPLE_CHOSEN),
)
def choose(application: Asked, owner: Owner, told: Annotated[Choosing, Body(openapi_examples=_CHOSEN)]) -> Response:
    """Choose the law, change parameters, or both. It changes the owner, not its memories: nothing is lost by it."""
    return Json(application.living.choose(owner, **told.model_dump()))


@router.get("/laws", tags=["store"], summary="Laws", responses=documented(Laws, "All of them."))
def laws() -> Response:
    """Every law by which memories can be weighed: formula, factors, thresholds at the defaults, source."""
    return Json(all_laws())
