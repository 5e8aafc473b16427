"""A memory from its beginning to its end: created, used, changed, compressed, deleted, purged."""

from __future__ import annotations

from typing import Annotated

import msgspec
from pydantic import Field

from engramlog_server.events.catalogue.origins import Grounds, Imported
from engramlog_server.events.shape import Shape
from engramlog_server.events.vocabulary import (
    Category,
    DeletionPolicy,
    Emotion,
    EventId,
    Id,
    Importance,
    Keywords,
    Level,
    MemoryIds,
    Metadata,
    Modality,
    Name,
    Outcome,
    Reason,
    Resolution,
    Sensitivity,
    Share,
    Source,
    Sources,
    Tags,
    Text,
    Tier,
    Time,
    Turns,
    Word,
)


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


class MemoryReinforced(Shape, frozen=True, kw_only=True):
    """It was put to use, and how that went."""

    memory_id: Id
    outcome: Outcome
    from_memory: Id | None = None
    turn_id: Id | None = None


class ReviewGraded(Shape, frozen=True, kw_only=True):
    """The memory was reviewed and graded, 0 (forgotten) to 5 (at once)."""

    memory_id: Id
    grade: Annotated[int, Field(ge=0, le=5)]


class MemoryNegated(Shape, frozen=True, kw_only=True):
    """It is no longer so. No other event ends a memory's truth; `correction` is text and creates nothing."""

    memory_id: Id
    resolution: Resolution | None = None
    correction: Text | None = None
    replaced_by: Id | None = None
    reason: Reason = ""
    turn_id: Id | None = None


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
    """Its words are destroyed for good, in the log too. Said by `engramlog erase` alone."""

    memory_id: Id
    reason: Reason
    erasure: EventId | None = None
    """By which erasure."""
