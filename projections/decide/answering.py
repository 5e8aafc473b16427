"""What a person answers to what waits for him: accepted, he says it himself; edited, in his words; rejected, nothing is done.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from engramlog_server.events.catalogue import (
    EventData,
    MemoryCreated,
    MemoryDeleted,
    MemoryMentioned,
    MemoryMerged,
    MemoryNegated,
    MemoryRevised,
    ReviewSettled,
)
from engramlog_server.projections.decide.rejecting import readmission
from engramlog_server.projections.memory.creating import created
from engramlog_server.projections.memory.record import Memory

Verdict = Literal["accepted", "rejected"]
CHANGES: dict[type, str] = {
    MemoryNegated: "negation",
    MemoryRevised: "revision",
    MemoryMerged: "merge",
    MemoryDeleted: "deletion",
    MemoryMentioned: "reaffirmation",
    MemoryCreated: "readmission",
}
"""What may wait -> what it is called."""
PROPOSAL = "proposal"


def would_say(data: EventData) -> str | None:
    """What would be said then; None where nothing would."""
    if isinstance(data, MemoryNegated):
        return data.correction
    if isinstance(data, MemoryRevised):
        return data.content
    if isinstance(data, MemoryCreated):
        return data.content
    return data.summary if isinstance(data, MemoryMerged) else None


def accepted(
    data: EventData, waiting: str, on: Sequence[str], brings: Memory | None, reason: str
) -> tuple[EventData, ...]:
    """What a person says who accepts it: that it waits no longer, the same, and what it brings (a proposal, perhaps).

    `on`: the memories on which it waits.
    """
    if isinstance(data, MemoryMentioned):
        return (*_settled(on, waiting, "accepted", reason), MemoryMentioned(memory_id=data.memory_id))
    is_proposal = brings is not None and not brings.trust and brings.deleted_at is None
    brought = (MemoryMentioned(memory_id=brings.id),) if brings is not None and is_proposal else ()
    return (*_settled(on, waiting, "accepted", reason), data, *brought)


def accepted_again(
    data: MemoryCreated,
    waiting: str,
    values: Iterable[bytes],
    reason: str,
    *,
    memory_id: str,
    content: str | None = None,
) -> tuple[EventData, ...]:
    """What a person says who accepts what he said again after it was rejected; in other words, `content`, it is another value.

    `memory_id`: one that no memory has. Nothing else is taken over of the event that waited: anybody may have sent that.
    """
    told = _settled((data.memory_id,), waiting, "accepted", reason)
    says = data.content if content is None else content
    again = created(memory_id, says, kind=data.kind, category=data.category, speaker=data.speaker)
    if says != data.content:
        return (*told, again)
    return (*told, readmission(None, (one.hex() for one in values), reason), again)


def edited(memory: Memory, content: str, waiting: str, on: Sequence[str], reason: str) -> tuple[EventData, ...]:
    """What a person says who puts it in his own words: what he negated holds again in these; the same words he says himself."""
    settled = _settled(on, waiting, "accepted", reason)
    takes_back = (bool(on) and memory.is_negated) or content == memory.content
    again = (MemoryMentioned(memory_id=memory.id),) if takes_back else ()
    words = () if content == memory.content else (MemoryRevised(memory_id=memory.id, content=content),)
    return (*settled, *again, *words)


def rejected(waiting: str, on: Sequence[str], reason: str) -> tuple[EventData, ...]:
    """What a person says who will not have it."""
    return tuple(_settled(on, waiting, "rejected", reason))


def is_rejection(first: EventData) -> bool:
    """Whether an answer that begins so was a rejection."""
    return isinstance(first, MemoryDeleted) or (isinstance(first, ReviewSettled) and first.verdict == "rejected")


def _settled(on: Sequence[str], waiting: str, verdict: Verdict, reason: str) -> list[Any]:
    return [ReviewSettled(memory_id=one, waiting=waiting, verdict=verdict, reason=reason) for one in on]
