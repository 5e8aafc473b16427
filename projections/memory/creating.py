"""The one place where a memory's creation is built, whoever makes it: a person, an import, the judge, a job. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engramlog_server.events.catalogue import MemoryCreated, TurnRecorded
from engramlog_server.events.standing import FIRM
from engramlog_server.projections.memory.defaults import CATEGORY, KIND
from engramlog_server.projections.memory.kind import PUBLISHED_KIND
from engramlog_server.projections.memory.record import Memory


def created(memory_id: str, content: str, **fields: Any) -> MemoryCreated:
    """A memory begins: by the user, of kind and category `fact`, unless the fields say otherwise. Not yet checked by validation."""
    told: dict[str, Any] = {"category": CATEGORY, "kind": KIND, "source": "user"} | fields
    return MemoryCreated(memory_id=memory_id, content=content, **told)


def recorded(turn_id: str, role: str, text: str, speaker: str | None) -> TurnRecorded:
    """Somebody said something."""
    return TurnRecorded(turn_id=turn_id, role=role, speaker=speaker, text=text)  # type: ignore[arg-type]


def memory_of_turn(
    turn_id: str,
    text: str,
    *,
    source: str,
    speaker: str | None,
    kind: str = PUBLISHED_KIND,
    tier: str = "fact",
    category: str = CATEGORY,
) -> MemoryCreated:
    """A turn as a memory that can be found: it has the turn's id, which makes it that turn under any kind."""
    return created(
        turn_id, text, category=category, kind=kind, tier=tier, source=source, speaker=speaker, source_turns=(turn_id,)
    )


def episode(memory_id: str, text: str, turns: Sequence[str]) -> MemoryCreated:
    """The summary of a stretch of a session."""
    return created(
        memory_id,
        text,
        category="temporary",
        kind=PUBLISHED_KIND,
        tier="episode",
        source="system",
        source_turns=tuple(turns),
    )


def pattern(memory_id: str, text: str, because: str, evidence: Sequence[str], **fields: Any) -> MemoryCreated:
    """What several memories have in common, with their ids as its evidence."""
    told: dict[str, Any] = {"kind": "pattern", "source": "system", "summarises": tuple(evidence), "because": because}
    return created(memory_id, text, **(told | fields))


def suggestion(memory_id: str, text: str, because: str, about: Sequence[str], **fields: Any) -> MemoryCreated:
    """What might be done with two memories, for a person to answer."""
    told: dict[str, Any] = {"kind": "suggestion", "source": "system", "summarises": tuple(about), "because": because}
    return created(memory_id, text, **(told | fields))


def correction(memory_id: str, content: str, of: Memory, *, source: str, turn_id: str | None = None) -> MemoryCreated:
    """What holds instead of a memory: like it in all but its words. What corrects a core memory is an ordinary one."""
    return created(
        memory_id,
        content,
        category=of.category,
        kind="fact" if of.kind in FIRM else of.kind,
        source=source,
        speaker=of.speaker,
        project=of.project,
        task=of.task,
        corrects=of.id,
        source_turns=(turn_id,) if turn_id else (),
    )
