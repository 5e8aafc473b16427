"""`/v1/owners/{owner}/memories`: one memory, what is known of it, and what people do to it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from starlette.responses import Response

from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import (
    Asked,
    AsOfAsked,
    DeletionOfOne,
    GetAsked,
    HistoryAsked,
    Judging,
    ListAsked,
    MemoryId,
    Negation,
    Once,
    Owner,
    Reasoned,
    Revealing,
    Told,
    WhyAsked,
)
from api.operations.answers import DeletedOne, Detail, Effects, History, Listing, Provenance, Restored, Revealed, Why

router = APIRouter(prefix="/v1/owners/{owner}/memories", tags=["memories"], route_class=AdmittedRoute)
_NOW: dict[str, Any] = {"now": {"summary": "By the user, now", "value": {}}}
Said = Annotated[Told | None, Body(openapi_examples=_NOW)]


@router.get("", summary="List", responses=documented(Listing, "A page of memories.", 404, 409, 504))
def list_(application: Asked, owner: Owner, asked: Annotated[ListAsked, Query()]) -> Response:
    """An owner's memories, newest activation first. Leaves no trace."""
    return Json(application.reader.list(owner, **asked.model_dump()))


@router.get("/{memory_id}", summary="Get", responses=documented(Detail, "The memory.", 404, 409, 504))
def get(application: Asked, owner: Owner, memory_id: MemoryId, asked: Annotated[GetAsked, Query()]) -> Response:
    """Everything about one memory; of a secret no text, which POST `.../reveal` alone shows."""
    return Json(application.reader.get(owner, memory_id, **asked.model_dump(exclude={"reveal"})))


_WHY: dict[str, Any] = {"why": {"summary": "With the reason", "value": {"reason": "asked at the desk"}}}


@router.post("/{memory_id}/reveal", summary="Reveal", responses=documented(Revealed, "The memory.", 404, 409, 504, 507))
def reveal(
    application: Asked,
    owner: Owner,
    memory_id: MemoryId,
    asked: Annotated[Revealing | None, Body(openapi_examples=_WHY)] = None,
) -> Response:
    """Everything about one memory with its text, also of a secret. That it was shown is recorded first (`MemoriesRevealed`)."""
    asked = asked or Revealing()
    place = asked.model_dump(exclude={"actor", "reason"})
    return Json(application.revealer.get(owner, memory_id, asked.by, **place))


@router.get("/{memory_id}/why", summary="Why", responses=documented(Why, "The reasons.", 404, 409, 504))
def why(application: Asked, owner: Owner, memory_id: MemoryId, asked: Annotated[WhyAsked, Query()]) -> Response:
    """Why it weighs what it weighs: every factor, a page of its changes, where it comes from. Leaves no trace."""
    return Json(application.reader.why(owner, memory_id, **asked.model_dump()))


@router.get(
    "/{memory_id}/history", summary="History", responses=documented(History, "A page of its change log.", 404, 409, 504)
)
def history(application: Asked, owner: Owner, memory_id: MemoryId, asked: Annotated[HistoryAsked, Query()]) -> Response:
    """The memory's change log, page by page: every event, what it decided, the weight before and after."""
    return Json(application.reader.history(owner, memory_id, **asked.model_dump()))


@router.get(
    "/{memory_id}/provenance", summary="Provenance", responses=documented(Provenance, "Its origins.", 404, 409, 504)
)
def provenance(application: Asked, owner: Owner, memory_id: MemoryId, asked: Annotated[AsOfAsked, Query()]) -> Response:
    """Where it comes from: turns, memories it was merged or corrected from, events; a tree of any depth."""
    return Json(application.reader.provenance(owner, memory_id, bounded=True, **asked.model_dump()))


_CORRECTED = {"corrected": {"summary": "With what holds instead", "value": {"correction": "I drink tea now"}}}


@router.post("/{memory_id}/negate", summary="Negate", responses=documented(Effects, "What it did.", 404, 409, 504, 507))
def negate(
    application: Asked,
    owner: Owner,
    memory_id: MemoryId,
    told: Annotated[Negation | None, Body(openapi_examples=_CORRECTED)] = None,
) -> Response:
    """It is no longer so: demote it, keep its history, and optionally say what holds instead."""
    return Json(application.writer.negate(owner, memory_id, **(told or Negation()).model_dump()))


@router.post(
    "/{memory_id}/confirm", summary="Confirm", responses=documented(Effects, "What it did.", 404, 409, 504, 507)
)
def confirm(application: Asked, owner: Owner, memory_id: MemoryId, told: Said = None) -> Response:
    """It holds, as if the user had just said it again: undoes a negation. What had replaced it stays, and both are flagged."""
    return Json(application.writer.confirm(owner, memory_id, **(told or Told()).model_dump()))


_PUBLIC = {"public": {"summary": "It is no secret", "value": {"level": 0, "reason": "an example out of a book"}}}


@router.post(
    "/{memory_id}/sensitivity",
    summary="Set the sensitivity",
    responses=documented(Effects, "What it did.", 404, 409, 504, 507),
)
def sensitivity(
    application: Asked, owner: Owner, memory_id: MemoryId, told: Annotated[Judging, Body(openapi_examples=_PUBLIC)]
) -> Response:
    """A person says how sensitive it is, up or down: the one way down from what rules found. `user` only; agents are refused."""
    return Json(application.writer.set_sensitivity(owner, memory_id, **told.model_dump()))


_SHOWN_FIRST = {"first": {"summary": "With the turns that say it; told before it is done", "value": {"dry_run": True}}}


@router.post(
    "/{memory_id}/delete", summary="Delete", responses=documented(DeletedOne, "What it did.", 404, 409, 504, 507)
)
def delete(
    application: Asked,
    owner: Owner,
    memory_id: MemoryId,
    told: Annotated[DeletionOfOne | None, Body(openapi_examples=_SHOWN_FIRST)] = None,
) -> Response:
    """Soft delete: hidden at once, kept 30 days, restorable. The text stays in the log until contents are sealed.

    What was made only of it goes with it: `also`; `still_said_in` names turns that still say it. A core or system memory is
    left alone unless `core` is true, and one that is deleted already: 207, with the reason under `skipped`.
    """
    answer = application.deleter.delete_many(owner, [memory_id], **(told or DeletionOfOne()).model_dump())
    if answer.refusal is not None:
        raise answer.refusal
    return Json(answer.as_effects(), 207 if answer.exit_code else 200)


@router.post(
    "/{memory_id}/restore", summary="Restore", responses=documented(Restored, "What it did.", 404, 409, 504, 507)
)
def restore(
    application: Asked,
    owner: Owner,
    memory_id: MemoryId,
    told: Annotated[Once | None, Body(openapi_examples=_NOW)] = None,
) -> Response:
    """Undo a soft delete, and that of what went with it."""
    return Json(application.restorer.restore(owner, memory_id, **(told or Once()).model_dump()))


@router.post(
    "/{memory_id}/unmerge", summary="Un-merge", responses=documented(Effects, "What it did.", 404, 409, 504, 507)
)
def unmerge(
    application: Asked,
    owner: Owner,
    memory_id: MemoryId,
    told: Annotated[Reasoned | None, Body(openapi_examples=_NOW)] = None,
) -> Response:
    """Undo a merge: its sources come back as they were."""
    return Json(application.writer.unmerge(owner, memory_id, **(told or Reasoned()).model_dump()))
