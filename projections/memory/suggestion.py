"""Suggestions: that two memories may say the same, or belong together, as a proposal that a person answers. Pure.

A suggestion is an ordinary memory of kind `suggestion` that is proposed and never more: `summarises` names the two, so it goes
with each of them, as any account of several memories. Accepted, it is done, and the suggestion goes.
"""

from __future__ import annotations

from typing import Final, Literal

from engramlog_server.projections.memory.kind import is_summary
from engramlog_server.projections.memory.record import Memory

Suggested = Literal["merge", "link"]
KIND: Final = "suggestion"
PREFIX: Final = "suggestion-"
"""What ids of suggestions begin with; then what is suggested, a full stop, and a keyed name of the two."""
ASKED: Final = "asked-"
"""What ids of questions begin with that were asked again in other words."""
LINKED: Final = "semantic"
"""The link of two memories that belong together by their meaning."""


def suggestion_id(suggested: Suggested, name: str) -> str:
    """The id of a suggestion about what has this keyed name."""
    return f"{PREFIX}{suggested}.{name}"


def merged_id(suggestion: str) -> str:
    """The id of the memory that a suggested merge makes."""
    return f"m-{suggestion.partition('.')[2]}"


def suggested_by(memory: Memory) -> Suggested | None:
    """What a proposed memory suggests about two others; None where it is no suggestion."""
    if memory.kind != KIND or len(memory.summarises) != 2 or not is_summary(memory):
        return None
    return _suggested(memory.id)


def is_asked_again(memory: Memory) -> bool:
    """Whether a memory is a job's, of a question that was asked again in other words."""
    return (
        memory.id.startswith(ASKED) and memory.kind == "question" and memory.source == "system" and is_summary(memory)
    )


def suggested_kind(memory_id: str) -> str | None:
    """What a thing of this id that waits is called; None where it is no suggestion."""
    suggested = _suggested(memory_id)
    return None if suggested is None else f"suggested_{suggested}"


def _suggested(memory_id: str) -> Suggested | None:
    what = memory_id.removeprefix(PREFIX).partition(".")[0] if memory_id.startswith(PREFIX) else ""
    return "merge" if what == "merge" else "link" if what == "link" else None
