"""Shapes of what would be without some of a history, and of undoing it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from api.operations.answers.differences import EXAMPLE_QUESTION, EXAMPLE_SIDE, QuestionMoved, SideStanding
from api.operations.answers.log import Example, exampled
from api.operations.answers.memories import EXAMPLE_PLACE, Place

EXAMPLE_STRUCK: Example = {
    "position": "3:129",
    "event_id": "018f3c1e-7b2a-7000-8000-000000000001",
    "event": "MemoryNegated",
    "memory": "coffee",
    "because": "caused",
    "of": "3:128",
}
EXAMPLE_STAYS: Example = {"memory": "tea", "position": "3:127", "because": "other_turns", "of": "D4:9"}
EXAMPLE_COUNTED: Example = {"kind": "MemoryMentioned", "events": 2, "first": ["3:130", "3:131"]}
EXAMPLE_REPLAYED_DIFFER: Example = {"id": "coffee", "today": EXAMPLE_SIDE, "replayed": None, "fields": []}
EXAMPLE_STRIKES: Example = {
    "without": ["3:128"],
    "without_turns": [],
    "without_sessions": [],
    "without_sources": [],
    "without_actors": [],
    "without_principals": [],
    "without_correlations": [],
    "without_models": [],
}


class StruckEvent(BaseModel):
    """An event that is struck."""

    model_config = exampled(EXAMPLE_STRUCK)

    position: str
    event_id: str
    event: str = Field(description="Its type.")
    memory: str | None = Field(description="The memory that it is about, the first that it names.")
    because: str = Field(
        description="`named`; `caused` (by what is struck); `same_turn` (it says a turn that is struck); `of_turn` (it was done"
        " for such a turn); `source_turns` (all turns that it was read in are struck); `merges`, `summarises` (what is struck)."
    )
    of: str = Field(description="What was named; or the position of its cause, the turn, the memory.")


class StaysTold(BaseModel):
    """A memory that was drawn from what is struck, and stays."""

    model_config = exampled(EXAMPLE_STAYS)

    memory: str
    position: str = Field(description="Of the event that made it.")
    because: str = Field(
        description="`other_turns`: a turn that stands says it too; `said_again`: the user said it again elsewhere."
    )
    of: str = Field(description="That turn, or the position of what he said.")


class EventsCounted(BaseModel):
    """Events of one kind."""

    model_config = exampled(EXAMPLE_COUNTED)

    kind: str = Field(description="Their type; `reply` and `access` where others decided in the light of what is struck.")
    events: int
    first: list[str] = Field(description="Positions of the first three.")


class ReplayedDiffer(BaseModel):
    """A memory that stands otherwise in a replay, or on one side alone."""

    model_config = exampled(EXAMPLE_REPLAYED_DIFFER)

    id: str
    today: SideStanding | None = Field(description="As it is answered; null where there is no such memory.")
    replayed: SideStanding | None = Field(description="As it would be; null where there would be no such memory.")
    fields: list[str] = Field(default=[], description="What it says that differs, by name.")


class StrikesTold(BaseModel):
    """What was named to be left out."""

    model_config = exampled(EXAMPLE_STRIKES)

    without: list[str]
    without_turns: list[str] = []
    without_sessions: list[str] = []
    without_sources: list[str] = []
    without_actors: list[str]
    without_principals: list[str] = []
    without_correlations: list[str] = []
    without_models: list[str] = []


EXAMPLE_CLOSURE: Example = {
    "struck": [EXAMPLE_STRUCK],
    "struck_total": 1,
    "struck_because": {"caused": 1},
    "stays": [EXAMPLE_STAYS],
    "stays_total": 1,
    "without_effect": [EXAMPLE_COUNTED],
    "in_its_light": [{"kind": "reply", "events": 1, "first": ["3:132"]}],
}


class ClosureTold(BaseModel):
    """What is struck with what was named, and what is not."""

    model_config = exampled(EXAMPLE_CLOSURE)

    struck: list[StruckEvent] = Field(default=[], description="A page, in the order of the log.")
    struck_total: int = 0
    struck_because: dict[str, int] = Field(default={}, description="How many of all for which reason.")
    stays: list[StaysTold] = Field(default=[], description="A page of what was drawn from what is struck, and stays.")
    stays_total: int = 0
    without_effect: list[EventsCounted] = Field(
        default=[], description="Events that are folded and fall into nothing: about memories that are not made."
    )
    in_its_light: list[EventsCounted] = Field(
        default=[],
        description="What others decided who saw what is struck, and what is folded all the same: replies, accesses, decisions of"
        " jobs and reviewers by type.",
    )


class Replayed(StrikesTold, ClosureTold, Place):
    """What a replay under other parameters, or without some events, makes different."""

    model_config = exampled(
        {
            "owner": "alice",
            "set": {"user_factor": 1.3},
            "profile": None,
            **EXAMPLE_STRIKES,
            "alone": False,
            "mode": "review",
            **EXAMPLE_PLACE,
            "events": {"today": 4, "replayed": 3},
            "differences": [EXAMPLE_REPLAYED_DIFFER],
            "total": 1,
            "offset": 0,
            **EXAMPLE_CLOSURE,
            "questions": [EXAMPLE_QUESTION],
            "query": {
                "text": "what does alice drink?",
                "mode": "review",
                "today": ["coffee", "tea"],
                "replayed": ["tea"],
                "moved": [
                    {"id": "coffee", "today": 1, "replayed": None},
                    {"id": "tea", "today": 2, "replayed": 1},
                ],
            },
        }
    )

    owner: str
    set: dict[str, float | int | str | bool]
    profile: str | None = Field(default=None, description="The law that was folded and read under; null for the owner's own.")
    alone: bool = False
    mode: str = "review"
    events: dict[str, int] = Field(description="How many were folded, `today` and `replayed`.")
    differences: list[ReplayedDiffer] = Field(description="A page; what is answered first, in its order.")
    total: int = Field(default=0, description="Of the differences.")
    offset: int = 0
    questions: list[QuestionMoved] = Field(
        default=[], description="`before` as it is answered, `after` as it would be."
    )
    query: dict[str, Any] | None = Field(default=None, description="The first question, as `today` and `replayed`.")
