"""Shapes of memories: cards, search results, one memory, reasons, origins, replays."""

from __future__ import annotations

from typing import cast

from pydantic import BaseModel, Field

from api.operations.answers.log import (
    ASIDE,
    EXAMPLE_CHANGE,
    EXAMPLE_FACTORS,
    AsideTold,
    Change,
    Example,
    LinesTold,
    Placed,
    TimesTold,
    exampled,
)
from api.operations.answers.saying import CorrectedBy, PossibleConflict

EXAMPLE_CARD: Example = {
    "id": "coffee",
    "memory": "I drink coffee every morning",
    "level": "full",
    "category": "stable_preference",
    "kind": "preference",
    "speaker": None,
    "source_turns": [],
    "created_at": "2026-11-22T09:30:00Z",
    "last_activated_at": "2026-11-22T09:30:00Z",
    "mention_count": 1,
    "is_negated": False,
    "status": "live",
    "trust": "asserted",
}
EXAMPLE_PLACE: Example = {"as_of": None, "known": None, "at": None, "position": "3:131"}
EXAMPLE_WITHHELD: Example = {"reason": "superseded", "count": 1, "shown_by": "review"}
EXAMPLE_PROVENANCE: Example = {
    "memory": "coffee",
    "nodes": [
        {
            "id": "coffee",
            "parent": None,
            "relation": "root",
            "depth": 0,
            "events": [
                {
                    "position": "3:129",
                    "event_id": "018f3c1e-7b2a-7000-8000-000000000001",
                    "event": "MemoryCreated",
                }
            ],
            "source_turns": ["D4:7"],
            "created_at": "2026-11-22T09:30:00Z",
        }
    ],
}


class ToldBeside(BaseModel):
    """What may contradict a memory, and what it says that no longer holds; left out where nothing does."""

    possible_conflicts: list[str] | None = None
    conflicting: list[PossibleConflict] | None = None
    corrected: list[CorrectedBy] | None = Field(
        default=None, description="What it says that no longer holds, the last corrected first, at most 5."
    )
    until: str | None = Field(
        default=None,
        description="Until when it says that it holds (until Friday, 周五之前), as the first instant after that.",
    )


class Card(ToldBeside):
    """What every answer tells of a memory."""

    model_config = exampled(EXAMPLE_CARD)

    id: str
    memory: str = Field(description="Its text; `[withheld: ...]` for a secret.")
    level: str
    category: str
    kind: str
    speaker: str | None
    source_turns: list[str]
    created_at: str
    last_activated_at: str
    mention_count: int
    is_negated: bool
    status: str
    trust: str = Field(
        description="How far to trust it: `asserted` (by the user), `inferred`, `imported`, `proposed`, `disputed`, `rejected`."
    )
    valid_from: str | None = None
    valid_to: str | None = None
    successor: str | None = None
    ground_changed: bool | None = Field(
        default=None, description="True: something that it rests on has another digest now; normal mode withholds it."
    )
    long_ago: bool | None = Field(
        default=None,
        description="True: so old that normal mode would withhold it, and shown as it matches the question.",
    )


class RestsOn(BaseModel):
    """Something outside that a memory rests on."""

    uri: str | None = Field(description="Null of a secret memory.")
    digest: str = Field(description="As it was when the memory was told.")
    reported: str | None = Field(default=None, description="As it was last reported; null where nobody did.")
    changed: bool = False


class Withheld(BaseModel):
    """How many matches the mode withheld for one reason, and which mode shows them."""

    model_config = exampled(EXAMPLE_WITHHELD)

    reason: str
    count: int
    shown_by: str


class Place(TimesTold, Placed):
    """As of when an answer is, and the position it was computed at."""

    model_config = exampled(EXAMPLE_PLACE)


class BasisListed(BaseModel):
    """Why a memory is kept and what it rests on, as far as there is any."""

    because: str | None = Field(default=None, description="Why it is kept, where that was told and it is no secret.")
    grounds: list[RestsOn] | None = Field(default=None, description="What it rests on, as far.")
    metadata: dict[str, str | int | float | bool] | None = Field(default=None, description="As it was told, as far.")


class ExtractedKeyword(BaseModel):
    """A keyword that a memory is found by."""

    model_config = exampled({"word": "coffee", "weight": 1.0, "source": "user_tag"})

    word: str
    weight: float = Field(description="From 0.3 to 1.")
    source: str = Field(description="`user_tag`, `llm` (both given), or `system`: found in its text.")


class EarlierText(BaseModel):
    """What a memory said before."""

    version: int
    content: str
    until: str


class CorrectionTold(BaseModel):
    """That a memory was said to be wrong."""

    time: str
    reason: str | None
    new_preference: str | None
    resolution: str
    replaced_by: str | None
    turn_id: str | None


class EdgeTold(BaseModel):
    """What a memory is associated with."""

    to: str
    weight: float
    link: str


class BasisTold(BaseModel):
    """Why a memory is kept, and what it rests on."""

    because: str | None = Field(default=None, description="Why it is kept.")
    grounds: list[RestsOn] = Field(default=[], description="What it rests on.")
    metadata: dict[str, str | int | float | bool] = Field(default={}, description="As it was told; empty of a secret.")


class InPattern(BaseModel):
    """A pattern, or a memory that is evidence of one."""

    id: str
    memory: str | None = Field(description="What it says, at most 400 characters; null where it does not stand.")
    status: str
    created_at: str = Field(description="When it was said; of a pattern when the newest of its evidence was.")


class PatternTold(BaseModel):
    """What a pattern rests on, and which patterns rest on a memory."""

    evidence: list[InPattern] | None = Field(
        default=None, description="Of a pattern alone: the memories that it was made of, the oldest first."
    )
    patterns: list[InPattern] | None = Field(
        default=None, description="Patterns of which it is evidence, where there are any, at most 20."
    )


class ContextTold(BaseModel):
    """What was going on when a memory was made: its producer's word, else derived from its time and its words when it is read."""

    tags: list[str] = Field(
        description="The producer's first, then the derived ones; of a secret only those that its time tells."
    )
    emotion: float | None = Field(
        description="From -1 to 1; 0 where nothing tells, null of a secret whose producer told none."
    )


class Detail(PatternTold, BasisTold, Card, Place):
    """Everything about one memory."""

    model_config = exampled(
        EXAMPLE_CARD
        | EXAMPLE_PLACE
        | {
            "content": "I drink coffee every morning",
            "summary": None,
            "recorded_level": "full",
            "weight": 1.3,
            "tier": "fact",
            "ground": None,
            "source": "user",
            "waiting": [],
            "confidence": 0.6,
            "importance": 1.0,
            "keywords": ["coffee"],
            "extracted_keywords": [{"word": "coffee", "weight": 1.0, "source": "user_tag"}],
            "tags": [],
            "emotion": None,
            "context": {"tags": ["work_hours", "weekend"], "emotion": 0.0},
            "project": None,
            "task": None,
            "modalities": ["text"],
            "sensitivity": 0,
            "verified": False,
            "version": 1,
            "versions": [],
            "updated_at": "2026-11-22T09:30:00Z",
            "last_mentioned_at": None,
            "last_accessed_at": None,
            "access_count": 0,
            "correction_history": [],
            "corrects": None,
            "merged_from": [],
            "merged_into": None,
            "deleted_at": None,
            "purged_at": None,
            "edges": [{"to": "tea", "weight": 0.3, "link": "keyword"}],
        }
    )

    content: str
    summary: str | None
    recorded_level: str
    weight: float
    tier: str
    ground: str | None = Field(
        description="Why a memory of tier core or system stands in every prompt: operator (said so) or review (a reviewer"
        " promoted what use bore out); null: it does not stand there."
    )
    source: str
    waiting: list[str] = Field(
        description="Events by lower sources that would change it and wait for a person, by their ids."
    )
    confidence: float
    importance: float
    keywords: list[str]
    extracted_keywords: list[ExtractedKeyword] = Field(
        description="At most five, the given ones first; none of a secret memory."
    )
    tags: list[str] = Field(description="As its producer told them; `context` has those that are derived too.")
    emotion: float | None = Field(description="As its producer told it; null where he did not.")
    context: ContextTold
    project: str | None
    task: str | None
    modalities: list[str]
    sensitivity: int
    verified: bool
    version: int
    versions: list[EarlierText]
    updated_at: str
    last_mentioned_at: str | None
    last_accessed_at: str | None
    access_count: int
    correction_history: list[CorrectionTold]
    corrects: str | None
    merged_from: list[str]
    merged_into: str | None
    deleted_at: str | None
    purged_at: str | None
    edges: list[EdgeTold]


class Revealed(Detail):
    """Everything about one memory, with its text."""

    model_config = exampled(
        {
            **cast("Example", Detail.model_config["json_schema_extra"])["examples"][0],
            "content": "my PIN is 4711",
            "memory": "my PIN is 4711",
            "sensitivity": 3,
            "revealed": "3:132",
        }
    )

    revealed: str = Field(description="Position of the event that records that it was shown.")


class OriginEvent(BaseModel):
    """An event that made or changed a memory among the origins."""

    position: str
    event_id: str
    event: str


class OriginNode(BaseModel):
    """A memory that another comes from, and which one that is."""

    id: str
    parent: str | None
    relation: str
    depth: int
    events: list[OriginEvent]
    events_left_out: int | None = None
    unknown: bool | None = Field(default=None, description="True: the owner has no such memory.")
    source_turns: list[str] | None = None
    created_at: str | None = None
    set_aside: bool | None = Field(default=None, description="True: its source is set aside.")
    source_erased: bool | None = Field(
        default=None, description="True: a turn that it was drawn from has lost its words for good; it stays."
    )


class OriginTree(BaseModel):
    """What a memory comes from: nodes that each name their parent."""

    memory: str
    nodes: list[OriginNode]
    nodes_left_out: int | None = None


class Why(BasisTold, ToldBeside, Place):
    """Why a memory weighs what it weighs."""

    model_config = exampled(
        {
            "id": "coffee",
            "memory": "I drink coffee every morning",
            "law": "weighted",
            "weight": 0.39,
            "unclipped_weight": 0.39,
            "factors": EXAMPLE_FACTORS | {"conflict_penalty": 0.3},
            "laws": {"weighted": 0.39},
            "changes": [EXAMPLE_CHANGE],
            "next": None,
            "order": "oldest",
            "provenance": EXAMPLE_PROVENANCE,
            "mention_count": 1,
            "is_negated": True,
            "level": "tag",
            "status": "kept_version",
            "trust": "asserted",
            "created_at": "2026-11-22T09:30:00Z",
            "last_activated_at": "2026-11-22T09:30:00Z",
            "aside": None,
            **EXAMPLE_PLACE,
        }
    )

    id: str
    memory: str
    law: str
    weight: float
    unclipped_weight: float
    factors: dict[str, float]
    laws: dict[str, float]
    changes: list[Change]
    provenance: OriginTree
    mention_count: int
    is_negated: bool
    level: str
    status: str
    trust: str = Field(description="How far to trust it, as of a card.")
    created_at: str
    last_activated_at: str
    next: str | None = Field(default=None, description="The next page of changes, as `cursor`; `history` takes it too.")
    order: str = "oldest"
    aside: AsideTold | None = ASIDE


class Provenance(LinesTold, Placed):
    """Where a memory comes from: nodes that each name their parent."""

    model_config = exampled(
        {"id": "coffee", "provenance": EXAMPLE_PROVENANCE, "as_of": None, "known": None, "position": "3:131"}
    )

    id: str
    provenance: OriginTree
