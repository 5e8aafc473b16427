"""Shapes of what would be without some of a history, and of undoing it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from api.operations.answers.differences import EXAMPLE_QUESTION, EXAMPLE_SIDE, QuestionMoved, SideStanding
from api.operations.answers.log import Change, Example, Placed, exampled
from api.operations.answers.memories import EXAMPLE_PLACE, Place
from api.operations.answers.sources import SomeMemories

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
EXAMPLE_REPLAYED_DIFFER: Example = {"id": "tea", "memory": "Tea", "today": EXAMPLE_SIDE, "replayed": None, "fields": []}
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

    kind: str = Field(
        description="Their type; `reply` and `access` where others decided in the light of what is struck."
    )
    events: int
    first: list[str] = Field(description="Positions of the first three.")


class ReplayedDiffer(BaseModel):
    """A memory that stands otherwise in a replay, or on one side alone."""

    model_config = exampled(EXAMPLE_REPLAYED_DIFFER)

    id: str
    memory: str | None = Field(
        description="What it says, as answered, else as it would be; null of what is purged, or deleted (but in debug mode)."
    )
    today: SideStanding | None = Field(description="As it is answered; null where there is no such memory.")
    replayed: SideStanding | None = Field(description="As it would be; null where there would be no such memory.")
    fields: list[str] = Field(description="What it says that differs, by name.")


class StrikesTold(BaseModel):
    """What was named to be left out."""

    model_config = exampled(EXAMPLE_STRIKES)

    without: list[str]
    without_turns: list[str]
    without_sessions: list[str]
    without_sources: list[str]
    without_actors: list[str]
    without_principals: list[str]
    without_correlations: list[str]
    without_models: list[str]


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

    struck: list[StruckEvent] = Field(description="A page, in the order of the log.")
    struck_total: int
    struck_because: dict[str, int] = Field(description="How many of all for which reason.")
    stays: list[StaysTold] = Field(description="A page of what was drawn from what is struck, and stays.")
    stays_total: int
    without_effect: list[EventsCounted] = Field(
        description="Events that are folded and fall into nothing: about memories that are not made."
    )
    in_its_light: list[EventsCounted] = Field(
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
            "changed_fields": {"weight": 1},
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
    profile: str | None = Field(
        default=None, description="The law that was folded and read under; null for the owner's own."
    )
    alone: bool
    mode: str
    events: dict[str, int] = Field(description="How many were folded, `today` and `replayed`.")
    differences: list[ReplayedDiffer] = Field(description="A page; what is answered first, in its order.")
    changed_fields: dict[str, int] = Field(
        description="In what those differ that both sides have, and how many: weight, status, content ..."
    )
    total: int = Field(description="Of the differences.")
    offset: int
    questions: list[QuestionMoved] = Field(description="`before` as it is answered, `after` as it would be.")
    query: dict[str, Any] | None = Field(default=None, description="The first question, as `today` and `replayed`.")


EXAMPLE_UNDO: Example = {"event": "MemoryDeleted", "memory": "coffee"}
EXAMPLE_NOT_UNDONE: Example = {
    "kind": "MemoryNegated",
    "why": "cannot be undone by an event: a mention by the user takes a negation back, and counts as a mention",
    "events": 1,
    "first": ["3:129"],
}
EXAMPLE_OTHERWISE: Example = {
    "id": "tea",
    "fields": ["is_negated", "weight"],
    "retracted": EXAMPLE_SIDE | {"is_negated": True, "weight": 0.39},
    "replayed": EXAMPLE_SIDE,
}
EXAMPLE_SOME: Example = {"total": 1, "ids": ["coffee"]}


class UndoEvent(BaseModel):
    """An event that undoes, of a person."""

    model_config = exampled(EXAMPLE_UNDO)

    event: str
    memory: str | None = Field(description="The memory that it is about; null where it is about a source or the owner.")


class NotUndoneTold(BaseModel):
    """What is struck and no event undoes."""

    model_config = exampled(EXAMPLE_NOT_UNDONE)

    kind: str = Field(description="The type of the events.")
    why: str
    why_code: str | None = Field(None, description="Which of the service's sentences `why` is, where it has a name.")
    events: int
    first: list[str] = Field(description="Positions of the first three.")


class StandsOtherwise(BaseModel):
    """A memory that stands otherwise afterwards than a replay has it."""

    model_config = exampled(EXAMPLE_OTHERWISE)

    id: str
    fields: list[str] = Field(description="What differs, by name.")
    retracted: SideStanding | None
    replayed: SideStanding | None


class Retracted(StrikesTold, ClosureTold, Placed):
    """What undoing a part of a history reaches, or reached."""

    model_config = exampled(
        {
            "owner": "alice",
            "dry_run": True,
            "again": False,
            **EXAMPLE_STRIKES,
            "alone": False,
            "mode": "normal",
            "offset": 0,
            "reach": "5d41402abc4b2a76b9719d911017c592",
            "undoes": [EXAMPLE_UNDO],
            "undoes_total": 1,
            "goes": EXAMPLE_SOME,
            "comes_back": {"total": 0, "ids": []},
            "changed": {"total": 0, "ids": []},
            "changed_fields": {},
            "not_undone": [EXAMPLE_NOT_UNDONE],
            "remains": [EXAMPLE_OTHERWISE],
            "remains_total": 1,
            **EXAMPLE_CLOSURE,
            "questions": [EXAMPLE_QUESTION],
            "changes": [],
            "position": "3:131",
        }
    )

    owner: str
    dry_run: bool = Field(description="Whether this only tells what would be done: nothing was written.")
    again: bool = Field(description="Whether it was carried out before, under this reach or key.")
    alone: bool
    mode: str
    offset: int
    reach: str = Field(description="What it reaches, as a digest: carrying it out asks for it.")
    undoes: list[UndoEvent] = Field(description="A page of the events that undo.")
    undoes_total: int
    goes: SomeMemories = Field(description="Shown by normal mode, and no more then.")
    comes_back: SomeMemories = Field(description="Shown by normal mode then, and not before.")
    changed: SomeMemories = Field(description="Stand otherwise then.")
    changed_fields: dict[str, int] = Field(description="In what these do, and how many: weight, status, content ...")
    not_undone: list[NotUndoneTold] = Field(description="What is struck and no event undoes: it stays as it is.")
    remains: list[StandsOtherwise] = Field(
        description="A page of the memories that then stand otherwise than a replay without what is struck has them."
    )
    remains_total: int
    questions: list[QuestionMoved] = Field(description="`before` as it is answered, `after` as it would be then.")
    changes: list[Change] = Field(description="Entries of the change log, where it was carried out.")
