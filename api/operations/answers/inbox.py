"""Answers about what waits for a person."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import EXAMPLE_CHANGE, Effects, LinesTold, Placed, exampled

_ITEM = {
    "item": "018f3c1e-7b2a-7000-8000-000000000003",
    "kind": "negation",
    "memory_id": "kiln",
    "about": [],
    "memory": "The kiln fires at 1240 degrees",
    "would_say": "The kiln fires at 1180 degrees",
    "reason": "I think it is 1180",
    "actor": "assistant",
    "principal": "local",
    "at": "2026-11-22T21:30:00Z",
    "position": "3:131",
}


class InboxItem(BaseModel):
    """One thing that waits for a person."""

    model_config = exampled(_ITEM)

    item: str = Field(
        description="What it is answered by: the id of the event that waits, or of the memory that is proposed."
    )
    kind: str = Field(
        description="`negation`, `revision`, `merge`, `deletion`: what would be done to it; `reaffirmation`: it would hold again;"
        " `readmission`: the user said again what was rejected; `suggested_merge`, `suggested_link`: what might be done with two"
        " memories; or `proposal`."
    )
    memory_id: str
    about: list[str] = Field(description="Ids of the two that a suggestion is about; none of anything else.")
    memory: str | None = Field(description="What it says; null of a readmission: no memory says it now.")
    would_say: str | None = Field(description="What would be said then; null where nothing would, and of a proposal.")
    reason: str | None = Field(description="Why, as whoever wanted it says.")
    reason_code: str | None = Field(
        None, description="Which of the service's sentences `reason` is; null where it is somebody's own."
    )
    reason_values: dict[str, str] | None = Field(None, description="What stands in its places, by their names.")
    actor: str
    principal: str | None = Field(description="Who brought it, as the receiving side says.")
    at: str
    position: str


class InboxPage(LinesTold, Placed):
    """What waits for a person, newest first."""

    model_config = exampled(
        {
            "owner": "alice",
            "items": [_ITEM],
            "total": 1,
            "offset": 0,
            "taken": 1,
            "most": 1_000,
            "as_of": None,
            "known": None,
            "position": "3:131",
        }
    )

    owner: str
    items: list[InboxItem]
    total: int
    offset: int
    taken: int = Field(
        description="Places taken of `most`: a merge takes one for each memory on which it waits, and what is withheld meanwhile"
        " (its source is set aside, its value rejected) keeps its place."
    )
    most: int = Field(
        description="At most so many: what has to wait beyond it changes nothing, and its history says so."
    )


class Answered(Effects):
    """What a person answered, and what that did."""

    model_config = exampled(
        {
            "item": "018f3c1e-7b2a-7000-8000-000000000003",
            "verdict": "rejected",
            "done": "left as it is: kiln",
            "done_code": "stays",
            "id": "kiln",
            "owner": "alice",
            "position": "3:132",
            "changes": [EXAMPLE_CHANGE | {"memory": "kiln", "event": "ReviewSettled", "decision": "settle"}],
        }
    )

    item: str
    verdict: str = Field(description="`accepted`, `edited` or `rejected`.")
    done: str = Field(description="What was done, in words.")
    done_code: str = Field(
        description="The same in one: `linked`, `merged`, `counts`, `holds_again`, `negated`, `revised`, `deleted`, `kept_again`,"
        " `stays`, `refused`, `dismissed` or `nothing`."
    )
