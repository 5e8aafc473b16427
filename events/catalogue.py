"""Every event there is, one frozen struct each: the data of the event, without its envelope.

The docstring of a class is its entry in the catalogue; `engramlog schema` prints them as JSON Schema.
What folding each does to a memory is told in docs/events.md.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from events.parameters import ParameterValue, Profile
from events.shape import Shape
from events.vocabulary import (
    MAX_GROUNDS,
    Category,
    Count,
    DeletionPolicy,
    Digest,
    Emotion,
    Evidence,
    Face,
    Id,
    Importance,
    InOrder,
    Keyword,
    Keywords,
    Level,
    MemoryIds,
    Metadata,
    Modality,
    Name,
    Outcome,
    Position,
    Raised,
    Reading,
    Reason,
    Resolution,
    Revealing,
    Role,
    Rules,
    Sensitivity,
    Share,
    Shown,
    Source,
    Sources,
    Tags,
    Text,
    Tier,
    Time,
    Tokens,
    Turns,
    Uri,
    Via,
    Word,
)


class TurnRecorded(Shape, frozen=True, kw_only=True):
    """Somebody said something in a conversation. Changes no memory by itself; extraction reads it."""

    turn_id: Id
    role: Role
    text: Text
    speaker: Name | None = None
    reply_to: Id | None = None


class ToolResultRecorded(Shape, frozen=True, kw_only=True):
    """A tool answered an agent. Changes no memory; it is context for the next turn."""

    tool: Name
    text: Text
    turn_id: Id | None = None


class ImportedEdge(Shape, frozen=True, kw_only=True):
    """An association that an older record brought along."""

    memory_id: Id
    weight: Share
    link: Word = "semantic"


class Imported(Shape, frozen=True, kw_only=True):
    """Counters of an older record. `stability` in hours, `strength` in percent, `decay_rate` as a factor."""

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


class Ground(Shape, frozen=True, kw_only=True):
    """Something outside that a memory rests on, as it was then: a page, a file, a record."""

    uri: Uri
    digest: Digest


def _one_a_uri(grounds: tuple[Ground, ...]) -> tuple[Ground, ...]:
    if len({one.uri for one in grounds}) != len(grounds):
        raise PydanticCustomError("repeated", "each uri once")
    return grounds


Grounds = Annotated[tuple[Ground, ...], Field(max_length=MAX_GROUNDS), AfterValidator(_one_a_uri)]


class MemoryCreated(Shape, frozen=True, kw_only=True):
    """A memory begins. `corrects` is a link to an older memory and changes nothing on it."""

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
    because: Reason = ""
    grounds: Grounds = ()
    metadata: Metadata | None = None


class MemoryMentioned(Shape, frozen=True, kw_only=True):
    """Somebody came back to it: the memory is active again, and may be reaffirmed after a negation."""

    memory_id: Id
    similarity: Share | None = None
    turn_id: Id | None = None
    modality: Modality | None = None


class MemoryNegated(Shape, frozen=True, kw_only=True):
    """It is no longer so. The only event that demotes a memory; `correction` is text and creates nothing."""

    memory_id: Id
    resolution: Resolution | None = None
    correction: Text | None = None
    replaced_by: Id | None = None
    reason: Reason = ""
    turn_id: Id | None = None


class Hit(Shape, frozen=True, kw_only=True):
    """A sum: how often a memory was shown since the last flush, and how high it stood (1 is the first)."""

    memory_id: Id
    count: Annotated[int, Field(ge=1, le=1_000_000)]
    best_rank: Annotated[int, Field(ge=1, le=1_000_000)]
    last_at: Time


class Access(Shape, frozen=True, kw_only=True):
    """One answer that showed memories: when, and which in order of rank, of which the first is `first`."""

    at: Time
    shown: InOrder
    first: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    position: Position | None = None
    mode: Reading = "normal"
    query: Annotated[str, Field(max_length=2_000)] | None = None
    read_at: Time | None = None


class MemoriesAccessed(Shape, frozen=True, kw_only=True):
    """Memories were shown. Counts accesses; never moves `last_activated_at` and writes no change-log entry."""

    hits: Annotated[tuple[Hit, ...], Field(min_length=1, max_length=500)] = ()
    via: Via
    query: Annotated[str, Field(max_length=2_000)] | None = None
    turn_id: Id | None = None
    together: Annotated[
        tuple[Annotated[tuple[Id, ...], Field(min_length=2, max_length=3)], ...], Field(max_length=500)
    ] = ()
    accesses: Annotated[tuple[Access, ...], Field(min_length=1, max_length=500)] = ()


class MemoryReinforced(Shape, frozen=True, kw_only=True):
    """It was put to use, and how that went."""

    memory_id: Id
    outcome: Outcome
    from_memory: Id | None = None


class MemoryMerged(Shape, frozen=True, kw_only=True):
    """Several memories became one new one, `into`; the sources stay readable."""

    sources: Sources
    into: Id
    summary: Text
    reason: Reason = ""


class MemoryUnmerged(Shape, frozen=True, kw_only=True):
    """A merge was wrong: the sources come back as they were and `into` retires."""

    into: Id
    reason: Reason = ""


class MemoryRevised(Shape, frozen=True, kw_only=True):
    """A new version of the content; older versions stay readable."""

    memory_id: Id
    content: Text
    summary: Text | None = None
    keywords: Keywords | None = None
    tags: Tags | None = None
    because: Reason | None = None
    grounds: Grounds | None = None
    metadata: Metadata | None = None


class MemoryCompressed(Shape, frozen=True, kw_only=True):
    """A sweep recorded a level. Passive: no time stamp of activity moves."""

    memory_id: Id
    level: Level
    content: Text | None = None
    due_at: Time | None = None


class MemoryPromoted(Shape, frozen=True, kw_only=True):
    """A reviewer moved it up a tier."""

    memory_id: Id
    from_: Annotated[Tier | None, Field(alias="from")] = msgspec.field(default=None, name="from")
    to: Tier
    due_at: Time | None = None
    reason: Reason = ""


class MemoryKept(Shape, frozen=True, kw_only=True):
    """A reviewer looked and kept it."""

    memory_id: Id
    reason: Reason = ""
    due_at: Time | None = None


class MemoryDeleted(Shape, frozen=True, kw_only=True):
    """Soft delete: hidden, kept for 30 days, can be restored."""

    memory_id: Id
    policy: DeletionPolicy = "user_delete"
    due_at: Time | None = None
    reason: Reason = ""


class MemoryRestored(Shape, frozen=True, kw_only=True):
    """A soft delete was undone."""

    memory_id: Id
    reason: Reason = ""


class MemoryPurged(Shape, frozen=True, kw_only=True):
    """30 days after a deletion the content goes from every projection; a tombstone stays."""

    memory_id: Id
    due_at: Time


class MemoryErased(Shape, frozen=True, kw_only=True):
    """The content is destroyed for good. Refused until contents are sealed with a key per owner."""

    memory_id: Id
    reason: Reason


class MemoriesLinked(Shape, frozen=True, kw_only=True):
    """Two memories belong together; `possible_conflict` is no edge but flags both."""

    a: Id
    b: Id
    weight: Share
    link: Word


class FactAsserted(Shape, frozen=True, kw_only=True):
    """A triple, with the memories that back it."""

    subject: Name
    predicate: Name
    object: Name
    evidence: Evidence
    negation: bool = False
    degree: Share | None = None
    condition: Reason | None = None


class FactRetracted(Shape, frozen=True, kw_only=True):
    """These memories no longer back that triple."""

    subject: Name
    predicate: Name
    object: Name
    evidence: Evidence
    negation: bool = False
    degree: Share | None = None
    condition: Reason | None = None


class SynonymDefined(Shape, frozen=True, kw_only=True):
    """Two words mean the same in this owner's searches."""

    keyword: Keyword
    synonym: Keyword
    similarity: Share = 0.8


class ReviewGraded(Shape, frozen=True, kw_only=True):
    """The memory was reviewed and graded, 0 (forgotten) to 5 (at once)."""

    memory_id: Id
    grade: Annotated[int, Field(ge=0, le=5)]


class ProfileChosen(Shape, frozen=True, kw_only=True):
    """From here on this law gates the owner's recall and lifecycle."""

    profile: Profile


class ParametersChanged(Shape, frozen=True, kw_only=True):
    """From here on these parameters hold for the owner; names and bounds in events/parameters.py."""

    parameters: Annotated[dict[str, ParameterValue], Field(min_length=1, max_length=500)]


class EventDiscarded(Shape, frozen=True, kw_only=True):
    """Somebody drops one parked event of this owner for good; the rest of its parked events fold now."""

    position: Position
    reason: Reason = ""


class TurnsExtracted(Shape, frozen=True, kw_only=True):
    """Turns were read, and what follows from them was decided. Changes no memory; what was read is not read again."""

    up_to: Id
    turns: Annotated[int, Field(ge=1, le=1_000_000)]
    by: Name
    prompt: Word | None = None
    requests: Tokens = 0
    input_tokens: Tokens = 0
    output_tokens: Tokens = 0
    by_rules: Turns = ()


class SensitivitySet(Shape, frozen=True, kw_only=True):
    """A person says how sensitive a memory is: the only way down from what rules found in its words."""

    memory_id: Id
    level: Sensitivity
    reason: Reason


class MemoriesRevealed(Shape, frozen=True, kw_only=True):
    """Texts of secrets are shown to somebody. Written before they are; changes no memory, and holds none of their text."""

    memory_ids: Shown
    by: Revealing
    face: Face
    reason: Reason = ""


class GroundChanged(Shape, frozen=True, kw_only=True):
    """Something that a memory rests on has this digest now: another than it had withholds the memory."""

    memory_id: Id
    uri: Uri
    digest: Digest


class SensitivityRaised(Shape, frozen=True, kw_only=True):
    """Newer rules find more in a memory's words than was found when they were appended. Never lowers."""

    memory_id: Id
    level: Raised
    rules: Rules


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
    | TurnsExtracted
    | SensitivitySet
    | MemoriesRevealed
    | GroundChanged
    | SensitivityRaised
)
EVENT_TYPES: dict[str, type] = {cls.__name__: cls for cls in EventData.__args__}
LATEST_VERSION: dict[str, int] = dict.fromkeys(EVENT_TYPES, 1) | {"MemoriesAccessed": 2}
"""The schema version that this release writes, by event type; older ones are upcast on read."""
SEALED_ONLY = frozenset({"MemoryErased"})
"""Refused at the door until contents are sealed."""
SIDE_EVENTS = frozenset({"MemoriesAccessed", "TurnRecorded", "ToolResultRecorded", "MemoriesRevealed"})
"""Events that do not move an owner's head, the number that `expected_head` is compared with."""
DOMAIN_TAG: Literal["engramlog"] = "engramlog"
