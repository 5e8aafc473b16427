"""`/v1/alarms`: what stopped or was lost, and an operator's word that it was looked at."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import Asked
from api.operations.answers import AlarmCleared, AlarmsStanding

router = APIRouter(prefix="/v1/alarms", tags=["store"], route_class=AdmittedRoute)


class ClearingAlarm(BaseModel):
    """An alarm that somebody has looked at."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=60, description="The alarm's name.", examples=["state_damaged"])
    subject: str | None = Field(
        default=None,
        max_length=120,
        description="What it is about; all of that name without.",
        examples=["partition 3"],
    )


_ONE = {"one": {"summary": "One partition's", "value": {"name": "state_damaged", "subject": "partition 3"}}}


@router.get("", summary="Alarms", responses=documented(AlarmsStanding, "What stands, the worst and newest first."))
def standing(application: Asked) -> Response:
    """Every alarm that stands: what happened, since when, how often, and what to do."""
    return Json(application.operator.alarms())


@router.post("/clear", summary="Clear an alarm", responses=documented(AlarmCleared, "Whether there was one."))
def clear(application: Asked, told: Annotated[ClearingAlarm, Body(openapi_examples=_ONE)]) -> Response:
    """Acknowledge an alarm, or with no subject all of that name. What still holds is raised again."""
    return Json(application.operator.clear_alarm(told.name, told.subject, face="http"))
