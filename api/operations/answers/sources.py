"""Shapes of what is set aside, and of reports about what memories rest on."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from api.operations.answers.log import (
    EXAMPLE_ASIDE,
    EXAMPLE_CHANGE,
    KNOWN,
    AsideTold,
    Change,
    Example,
    LinesTold,
    Placed,
    exampled,
)

_NAMED: Example = {"session": "s1", "principal": None, "of_actor": None}
_ASIDE: Example = EXAMPLE_ASIDE | {"memories": 12}
EXAMPLE_NAMED: Example = {
    "by": "session",
    "name": "s1",
    "masked": False,
    "events": 40,
    "memories": 12,
    "late": 3,
    "first_happened": "2026-11-20T08:00:00Z",
    "last_happened": "2026-11-22T09:30:00Z",
    "first_recorded": "2026-11-20T08:00:01Z",
    "last_recorded": "2026-11-22T09:30:01Z",
    "set_aside": EXAMPLE_ASIDE,
    "partly_aside": 0,
}
_NONE: Example = {"total": 0, "ids": []}


class SourceAside(AsideTold):
    """A source that is set aside, and what that withholds."""

    model_config = exampled(_ASIDE)

    memories: int = Field(description="Withheld by it; what several withhold counts for the first of them.")


class SourcesAside(Placed):
    """What is set aside now."""

    model_config = exampled(
        {
            "owner": "alice",
            "sources": [_ASIDE],
            "total": 1,
            "most": 256,
            "as_of": None,
            "known_by": None,
            "position": "3:131",
        }
    )

    owner: str
    sources: list[SourceAside] = Field(description="The newest first.")
    total: int
    most: int = Field(description="How many different ones an owner may ever have set aside.")
    as_of: str | None
    known_by: str | None = KNOWN


class NamedSourceTold(BaseModel):
    """A session, a principal, an actor, a language model or a source, by the name under which `replay` strikes it."""

    model_config = exampled(EXAMPLE_NAMED)

    by: Literal["session", "principal", "actor", "model", "source"] = Field(description="What the name is.")
    name: str
    masked: bool = Field(description="Whether the name is withheld: it looks like a secret.")
    events: int = Field(description="That tell it.")
    memories: int = Field(description="That these events were the first to tell.")
    late: int = Field(description="Events recorded more than five minutes after they happened.")
    first_happened: str
    last_happened: str
    first_recorded: str | None = Field(description="When the log took in the oldest of them.")
    last_recorded: str | None
    set_aside: AsideTold | None = Field(description="That it is set aside today.")
    partly_aside: int = Field(
        description="How many sources set aside today are a part of it: it together with something else, or a model's principal."
    )


class SourcesNamed(LinesTold, Placed):
    """Who spoke to an owner, by what happened last, the newest first; then by name."""

    model_config = exampled(
        {
            "owner": "alice",
            "sources": [EXAMPLE_NAMED],
            "total": 1,
            "offset": 0,
            "by": ["session"],
            "search": None,
            "since": None,
            "until": None,
            "recorded_since": None,
            "recorded_until": None,
            "events": 131,
            "left_out": {},
            "withheld": 0,
            "hint": None,
            "as_of": None,
            "known": None,
            "position": "3:131",
        }
    )

    owner: str
    sources: list[NamedSourceTold]
    total: int
    offset: int
    by: list[str] = Field(description="What was asked for.")
    search: str | None
    since: str | None
    until: str | None
    recorded_since: str | None
    recorded_until: str | None
    events: int = Field(description="That were counted, each once.")
    left_out: dict[str, int] = Field(
        description="By what a name is, events that tell one beyond the first 10,000: `search` and the spans find them."
    )
    withheld: int = Field(
        description="Events that name a URI that may not be told: what rests on it is secret, deleted or purged."
    )
    hint: str | None = Field(description="That nothing of the owner is recorded.")


class SomeMemories(BaseModel):
    """Memories, the first hundred by id."""

    model_config = exampled({"total": 1, "ids": ["m-coffee"]})

    total: int
    ids: list[str]


class SourceSaid(Placed):
    """What setting a source aside withholds, or bringing it back shows again, and what it did to memories of others."""

    model_config = exampled(
        {
            "owner": "alice",
            **_NAMED,
            "memories": 12,
            "negated": {"total": 1, "ids": ["m-coffee"]},
            "revised": _NONE,
            "merged": _NONE,
            "deleted": _NONE,
            "dry_run": False,
            "position": "3:131",
            "changes": [
                EXAMPLE_CHANGE
                | {
                    "event": "SourceSetAside",
                    "memory": None,
                    "decision": "set_aside",
                    "reason": "what a source says is withheld",
                    "old_weight": None,
                    "new_weight": None,
                    "delta": None,
                    "factors": None,
                    "fields": ["asides"],
                    "version": None,
                    "content_hash": None,
                }
            ],
        }
    )

    owner: str
    session: str | None
    principal: str | None
    of_actor: str | None
    memories: int = Field(description="Of the source, by now: withheld while it is set aside.")
    negated: SomeMemories = Field(description="Negated by it: they stand meanwhile as if it had not.")
    revised: SomeMemories = Field(description="Put in other words by it: they tell their former ones meanwhile.")
    merged: SomeMemories = Field(description="Merged with words of it: they stand by themselves meanwhile.")
    deleted: SomeMemories = Field(description="Deleted by it: they stay so; `restore` brings each back.")
    dry_run: bool = Field(default=False, description="Whether nothing was written.")
    changes: list[Change]


class GroundReported(Placed):
    """What a report of a digest did."""

    model_config = exampled(
        {
            "owner": "alice",
            "uri": "https://wiki.example.org/flats",
            "digest": "sha256:9f86d081884c7d65",
            "withheld": ["flat"],
            "back": [],
            "left": 0,
            "newer": 0,
            "position": "3:131",
            "behind": 0,
            "changes": [
                EXAMPLE_CHANGE
                | {
                    "event": "GroundChanged",
                    "memory": "flat",
                    "decision": "ground",
                    "reason": "what it rests on has changed",
                    "fields": ["basis"],
                }
            ],
        }
    )

    owner: str
    uri: str
    digest: str
    withheld: list[str] = Field(
        description="Memories that rest on another digest: normal mode withholds them from here on."
    )
    back: list[str] = Field(description="Memories that rest on this one and were withheld for another.")
    left: int = Field(description="How many more there are: report again.")
    newer: int = Field(description="Of how many something newer is known already: the report changes nothing of them.")
    changes: list[Change]
