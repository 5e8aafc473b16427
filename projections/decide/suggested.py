"""What a person answers to a suggestion about two memories: accepted, it is done; in his words, it is merged so. Pure."""

from __future__ import annotations

from collections.abc import Callable

from engramlog_server.events.catalogue import EventData, MemoriesLinked, MemoryDeleted, MemoryMentioned, MemoryMerged
from engramlog_server.events.errors import NotFound, refused
from engramlog_server.projections.decide.merging import merged_text
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.memory.suggestion import LINKED, merged_id, suggested_by

Get = Callable[[str], Memory | None]


def suggestion_of(get: Get, memory_id: str) -> Memory | None:
    """The suggestion of this id; None where it is none."""
    memory = get(memory_id)
    return memory if memory is not None and suggested_by(memory) is not None else None


def merge_suggested(get: Get, memory_id: str) -> str | None:
    """What the two would say as one; None where no merge is suggested, or one of them no longer stands."""
    suggestion = suggestion_of(get, memory_id)
    if suggestion is None or suggested_by(suggestion) != "merge":
        return None
    of = _standing(get, suggestion)
    return merged_text(of) if len(of) > 1 else None


def done_as_suggested(get: Get, memory_id: str, reason: str, summary: str | None = None) -> tuple[EventData, ...]:
    """What a person says who accepts a suggestion: it is so, that is done, and the suggestion goes; nothing where it is none.

    `summary`: what a merge says, in his words. Raises InputError of a link in words, NotFound where one of the two is gone.
    """
    suggestion = suggestion_of(get, memory_id)
    if suggestion is None:
        return ()
    of = _standing(get, suggestion)
    if len(of) < 2:
        raise NotFound(f"one of the two that {memory_id} is about no longer stands: it can be rejected")
    done: EventData
    if suggested_by(suggestion) == "merge":
        text = summary or merged_text(of)
        done = MemoryMerged(sources=suggestion.summarises, into=merged_id(suggestion.id), summary=text, reason=reason)
    elif summary is None:
        a, b = suggestion.summarises
        done = MemoriesLinked(a=a, b=b, weight=suggestion.confidence, link=LINKED)
    else:
        raise refused("content", summary, "none: a link has no words; accept or reject it")
    gone = MemoryDeleted(memory_id=suggestion.id, policy="auto_cleanup", reason=reason)
    return (MemoryMentioned(memory_id=suggestion.id), done, gone)


def _standing(get: Get, suggestion: Memory) -> list[Memory]:
    """Those of the two that stand and may be told: what became secret is in no merge's words."""
    pieces = (get(one) for one in suggestion.summarises)
    return [one for one in pieces if one is not None and state_of(one) == Columns.LIVE and one.sensitivity < SECRET]
