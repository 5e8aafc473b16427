"""Every event there is, one frozen dataclass each: the data of the event, without its envelope.

The docstring of a class is its entry in the catalogue; `engramlog schema` prints them as JSON Schema.
What folding each does to a memory is told in docs/events.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from events.parameters import ParameterValue, Profile
from events.vocabulary import (
    Category,
    Count,
    DeletionPolicy,
    Emotion,
    Evidence,
    Id,
    Importance,
    Keyword,
    Keywords,
    Level,
    MemoryIds,
    Modality,
    Name,
    Outcome,
    Position,
    Reason,
    Resolution,
    Role,
    Sensitivity,
    Share,
    Source,
    Sources,
    Tags,
    Text,
    Tier,
    Time,
    Turns,
    Via,
    Word,
)

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecorded:
    """Somebody said something in a conversation. Changes no memory by itself; extraction reads it."""

    __pydantic_config__ = STRICT
    turn_id: Id
    role: Role
    text: Text
    speaker: Name | None = None
    reply_to: Id | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultRecorded:
    """A tool answered an agent. Changes no memory; it is context for the next turn."""

    __pydantic_config__ = STRICT
    tool: Name
    text: Text
    turn_id: Id | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedEdge:
    """An association that an older record brought along."""

    __pydantic_config__ = STRICT
    memory_id: Id
    weight: Share
    link: Word = "semantic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Counters of an older record. `stability` in hours, `strength` in percent, `decay_rate` as a factor."""

    __pydantic_config__ = STRICT
    access_count: Count | None = None
    last_accessed_at: Time | None = None
    updated_at: Time | None = None
    strength: Annotated[float, Field(ge=0, le=100)] | None = None
    stability: Annotated[float, Field(gt=0, le=8760)] | None = None
    last_reinforced_at: Time | None = None
    reinforce_count: Count | None = None
    decay_rate: Annotated[float, Field(ge=0.5, le=2.0)] | None = None
    mention_count: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    consolidation_score: Share | None = None
    associations: Annotated[tuple[ImportedEdge, ...], Field(max_length=32)] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCreated:
    """A memory begins. `corrects` is a link to an older memory and changes nothing on it."""

    __pydantic_config__ = STRICT
    memory_id: Id
    content: Text
    category: Category
    kind: Word
    source: Source
    modality: Modality = "text"
    summary: Text | None = None
    tier: Tier | None = None
    importance: Importance | None = None
    confidence: Share = 0.6
    speaker: Name | None = None
    keywords: Keywords = ()
    tags: Tags = ()
    emotion: Emotion | None = None
    project: Name | None = None
    task: Name | None = None
    sensitivity: Sensitivity | None = None
    verified: bool = False
    source_turns: Turns = ()
    corrects: Id | None = None
    summarises: MemoryIds = ()
    imported: Imported | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMentioned:
    """Somebody came back to it: the memory is active again, and may be reaffirmed after a negation."""

    __pydantic_config__ = STRICT
    memory_id: Id
    similarity: Share | None = None
    turn_id: Id | None = None
    modality: Modality | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryNegated:
    """It is no longer so. The only event that demotes a memory; `correction` is text and creates nothing."""

    __pydantic_config__ = STRICT
    memory_id: Id
    resolution: Resolution | None = None
    correction: Text | None = None
    replaced_by: Id | None = None
    reason: Reason = ""
    turn_id: Id | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """How often a memory was shown since the last flush, and how high it stood (1 is the first)."""

    __pydantic_config__ = STRICT
    memory_id: Id
    count: Annotated[int, Field(ge=1, le=1_000_000)]
    best_rank: Annotated[int, Field(ge=1, le=1_000_000)]
    last_at: Time


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoriesAccessed:
    """Memories were shown. Counts accesses; never moves `last_activated_at` and writes no change-log entry."""

    __pydantic_config__ = STRICT
    hits: Annotated[tuple[Hit, ...], Field(min_length=1, max_length=500)]
    via: Via
    query: Annotated[str, Field(max_length=2_000)] | None = None
    turn_id: Id | None = None
    together: Annotated[
        tuple[Annotated[tuple[Id, ...], Field(min_length=2, max_length=3)], ...], Field(max_length=500)
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReinforced:
    """It was put to use, and how that went."""

    __pydantic_config__ = STRICT
    memory_id: Id
    outcome: Outcome
    from_memory: Id | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMerged:
    """Several memories became one new one, `into`; the sources stay readable."""

    __pydantic_config__ = STRICT
    sources: Sources
    into: Id
    summary: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUnmerged:
    """A merge was wrong: the sources come back as they were and `into` retires."""

    __pydantic_config__ = STRICT
    into: Id


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRevised:
    """A new version of the content; older versions stay readable."""

    __pydantic_config__ = STRICT
    memory_id: Id
    content: Text
    summary: Text | None = None
    keywords: Keywords | None = None
    tags: Tags | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCompressed:
    """A sweep recorded a level. Passive: no time stamp of activity moves."""

    __pydantic_config__ = STRICT
    memory_id: Id
    level: Level
    content: Text | None = None
    due_at: Time | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPromoted:
    """A reviewer moved it up a tier."""

    __pydantic_config__ = STRICT
    memory_id: Id
    from_: Annotated[Tier | None, Field(alias="from")] = None
    to: Tier
    due_at: Time | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryKept:
    """A reviewer looked and kept it."""

    __pydantic_config__ = STRICT
    memory_id: Id
    reason: Reason = ""
    due_at: Time | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDeleted:
    """Soft delete: hidden, kept for 30 days, can be restored."""

    __pydantic_config__ = STRICT
    memory_id: Id
    policy: DeletionPolicy = "user_delete"
    due_at: Time | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRestored:
    """A soft delete was undone."""

    __pydantic_config__ = STRICT
    memory_id: Id


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPurged:
    """30 days after a deletion the content goes from every projection; a tombstone stays."""

    __pydantic_config__ = STRICT
    memory_id: Id
    due_at: Time


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryErased:
    """The content is destroyed for good. Refused until contents are sealed with a key per owner."""

    __pydantic_config__ = STRICT
    memory_id: Id
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoriesLinked:
    """Two memories belong together; `possible_conflict` is no edge but flags both."""

    __pydantic_config__ = STRICT
    a: Id
    b: Id
    weight: Share
    link: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class FactAsserted:
    """A triple, with the memories that back it."""

    __pydantic_config__ = STRICT
    subject: Name
    predicate: Name
    object: Name
    evidence: Evidence
    negation: bool = False
    degree: Share | None = None
    condition: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRetracted:
    """These memories no longer back that triple."""

    __pydantic_config__ = STRICT
    subject: Name
    predicate: Name
    object: Name
    evidence: Evidence
    negation: bool = False
    degree: Share | None = None
    condition: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SynonymDefined:
    """Two words mean the same in this owner's searches."""

    __pydantic_config__ = STRICT
    keyword: Keyword
    synonym: Keyword
    similarity: Share = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewGraded:
    """The memory was reviewed and graded, 0 (forgotten) to 5 (at once)."""

    __pydantic_config__ = STRICT
    memory_id: Id
    grade: Annotated[int, Field(ge=0, le=5)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileChosen:
    """From here on this law gates the owner's recall and lifecycle."""

    __pydantic_config__ = STRICT
    profile: Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class ParametersChanged:
    """From here on these parameters hold for the owner; names and bounds in events/parameters.py."""

    __pydantic_config__ = STRICT
    parameters: Annotated[dict[str, ParameterValue], Field(min_length=1, max_length=100)]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDiscarded:
    """An operator drops one parked event of this owner for good; the rest of its parked events fold now."""

    __pydantic_config__ = STRICT
    position: Position
    reason: Reason = ""


EventData = (
    TurnRecorded
    | ToolResultRecorded
    | MemoryCreated
    | MemoryMentioned
    | MemoryNegated
    | MemoriesAccessed
    | MemoryReinforced
    | MemoryMerged
    | MemoryUnmerged
    | MemoryRevised
    | MemoryCompressed
    | MemoryPromoted
    | MemoryKept
    | MemoryDeleted
    | MemoryRestored
    | MemoryPurged
    | MemoryErased
    | MemoriesLinked
    | FactAsserted
    | FactRetracted
    | SynonymDefined
    | ReviewGraded
    | ProfileChosen
    | ParametersChanged
    | EventDiscarded
)
EVENT_TYPES: dict[str, type] = {cls.__name__: cls for cls in EventData.__args__}
LATEST_VERSION: dict[str, int] = dict.fromkeys(EVENT_TYPES, 1)
"""The schema version that this release writes, by event type; older ones are upcast on read."""
SEALED_ONLY = frozenset({"MemoryErased"})
"""Refused at the door until contents are sealed."""
SIDE_EVENTS = frozenset({"MemoriesAccessed", "TurnRecorded", "ToolResultRecorded"})
"""Events that do not move an owner's head, the number that `expected_head` is compared with."""
DOMAIN_TAG: Literal["engramlog"] = "engramlog"
