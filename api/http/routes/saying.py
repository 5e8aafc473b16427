"""`/v1/owners/{owner}/memories`: one memory is told, told better, or come back to."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import Asked, MemoryId, Owner, Told
from api.operations.answers import Edited, Effects, Remembered

router = APIRouter(prefix="/v1/owners/{owner}/memories", tags=["memories"], route_class=AdmittedRoute)
Plain = str | int | float | bool
_PLAIN: dict[str, Plain] = {"page": 4, "checked": True}


class GroundTold(BaseModel):
    """Something outside that a memory rests on."""

    model_config = ConfigDict(extra="forbid")

    uri: str = Field(description="What it is.", examples=["https://wiki.example.org/flats"])
    digest: str = Field(description="Its digest then.", examples=["sha256:9f86d081884c7d65"])


class InSession(Told):
    """What may be told in a session."""

    session: str | None = Field(default=None, description="Id of the conversation.", examples=["s1"])


class Remembering(InSession):
    """One memory; what is not told has the defaults that it has at every face."""

    content: str = Field(description="What to remember: one statement that stands by itself.", examples=["I drink tea"])
    memory_id: str | None = Field(default=None, description="Its id; made up if not given.", examples=["tea"])
    category: str = Field(
        default="fact",
        description="identity, stable_preference, short_term_preference, fact, skill or temporary: how fast it fades.",
        examples=["stable_preference"],
    )
    kind: str = Field(default="fact", description="A word for what it is.", examples=["preference"])
    source: str | None = Field(
        default=None,
        description="user, assistant, judge, system or import; who says so if not given.",
        examples=["user"],
    )
    importance: float | None = Field(default=None, description="0 to 10; by its category if not given.", examples=[5])
    confidence: float | None = Field(default=None, description="0 to 1; 0.6 if not given.", examples=[0.9])
    summary: str | None = Field(default=None, description="What it says, shorter.", examples=["tea"])
    speaker: str | None = Field(default=None, description="Who said it, by name.", examples=["Lin"])
    keywords: list[str] = Field(default=[], description="Words to find it by, at most 50.", examples=[["tea"]])
    tags: list[str] = Field(default=[], description="Tags of your own, at most 50.", examples=[["morning"]])
    emotion: float | None = Field(default=None, description="-1 to 1.", examples=[0.5])
    project: str | None = Field(default=None, description="The project that it belongs to.", examples=["engram"])
    task: str | None = Field(default=None, description="The task that it belongs to.", examples=["release"])
    sensitivity: int | None = Field(
        default=None,
        strict=True,
        description="At least so sensitive, 0 to 3; rules look at its words too.",
        examples=[1],
    )
    source_turns: list[str] = Field(default=[], description="Turns that say it, at most 100.", examples=[["D4:7"]])
    corrects: str | None = Field(
        default=None, description="The memory that it corrects: a link, which changes nothing on that.", examples=["m1"]
    )
    because: str = Field(default="", description="Why it is kept.", examples=["asked for at breakfast"])
    grounds: list[GroundTold] = Field(
        default=[],
        description="What it rests on, at most 16.",
        examples=[[{"uri": "https://wiki.example.org/flats", "digest": "sha256:9f86d081884c7d65"}]],
    )
    metadata: dict[str, Plain] | None = Field(
        default=None, description="Plain values by name, at most 32 and 4 KiB.", examples=[_PLAIN]
    )


class Editing(Told):
    """What a memory says from here on; what is not told stays."""

    content: str = Field(description="The whole new text.", examples=["I drink green tea"])
    summary: str | None = Field(default=None, description="What it says, shorter.", examples=["green tea"])
    keywords: list[str] | None = Field(default=None, description="In place of those before.", examples=[["tea"]])
    tags: list[str] | None = Field(default=None, description="In place of those before.", examples=[["morning"]])
    because: str | None = Field(default=None, description="Why it is kept.", examples=["asked for at breakfast"])
    grounds: list[GroundTold] | None = Field(
        default=None,
        description="In place of those before.",
        examples=[[{"uri": "https://wiki.example.org/flats", "digest": "sha256:9f86d081884c7d65"}]],
    )
    metadata: dict[str, Plain] | None = Field(default=None, description="In place of what was.", examples=[_PLAIN])


class Mentioning(InSession):
    """Somebody came back to it."""

    similarity: float | None = Field(
        default=None, description="How alike what was said is to it, 0 to 1.", examples=[0.9]
    )
    turn_id: str | None = Field(default=None, description="The turn in which it was said.", examples=["D4:7"])


_TEA: dict[str, Any] = {"tea": {"summary": "By the user, now", "value": {"content": "I drink tea"}}}
_GREEN: dict[str, Any] = {"more": {"summary": "More exact", "value": {"content": "I drink green tea"}}}
_NOW: dict[str, Any] = {"now": {"summary": "By the user, now", "value": {}}}


@router.post("", summary="Remember", responses=documented(Remembered, "The memory.", 409, 504, 507))
def remember(application: Asked, owner: Owner, told: Annotated[Remembering, Body(openapi_examples=_TEA)]) -> Response:
    """Remember one thing: a memory of kind and category `fact`, from who says so, unless told otherwise.

    It can be found once this answers. Where it is no longer so, negate it; to say it better, edit it.
    """
    return Json(application.rememberer.add(owner, **told.model_dump()))


@router.post("/{memory_id}/edit", summary="Edit", responses=documented(Edited, "What it did.", 404, 409, 504, 507))
def edit(
    application: Asked, owner: Owner, memory_id: MemoryId, told: Annotated[Editing, Body(openapi_examples=_GREEN)]
) -> Response:
    """Say the same thing better: a new version, the older ones stay readable. Saying what it says already writes nothing."""
    return Json(application.rememberer.edit(owner, memory_id, **told.model_dump()))


@router.post(
    "/{memory_id}/mention", summary="Mention", responses=documented(Effects, "What it did.", 404, 409, 504, 507)
)
def mention(
    application: Asked,
    owner: Owner,
    memory_id: MemoryId,
    told: Annotated[Mentioning | None, Body(openapi_examples=_NOW)] = None,
) -> Response:
    """Somebody came back to it: active from here on. Where the user did, a negation is undone, as by confirming it."""
    return Json(application.writer.mention(owner, memory_id, **(told or Mentioning()).model_dump()))
