"""What a memory is, decided once: a turn, a summary, a merge of either, or a statement. Pure.

A turn is one message as it was said. A summary tells what several turns or memories said; an *episode* is the summary of a
stretch of a session, and nothing else is called so. A merge joins turns or summaries, and comes apart again. Everything else
states something by itself. Its `kind` does not tell which: `episode` was written on turns and on episodes alike since 0.1, and
still is, so that what is imported again is the same event; and a turn may be imported under any word.
"""

from __future__ import annotations

from typing import Final, Literal

from engramlog_server.events.catalogue import MemoryCreated
from engramlog_server.projections.memory.record import Memory

Form = Literal["turn", "summary", "merge", "statement"]
PUBLISHED_KIND: Final = "episode"
"""The `kind` that is written on turns and on episodes alike. What a memory is, `form_of` says."""
MADE_BY_JOBS = frozenset({"system", "judge"})
"""Sources of what no person and no assistant said."""


def form_of(memory: Memory) -> Form:
    """What a memory is."""
    if memory.merged_from:
        return "merge" if _joins_turns(memory) else "statement"
    if memory.summarises:
        return "summary"
    if not memory.source_turns:
        return "statement"
    if memory.source_turns == (memory.id,):
        return "turn"
    of_a_stretch = memory.tier == "episode"
    if memory.kind != PUBLISHED_KIND:
        return "summary" if of_a_stretch else "statement"
    made = of_a_stretch and memory.source in MADE_BY_JOBS
    return "turn" if len(memory.source_turns) == 1 and not made else "summary"


def is_told_by_itself(data: MemoryCreated) -> bool:
    """Whether what is created states something by itself: turns and summaries are read by whoever extracts."""
    of_turns = bool(data.source_turns) and (data.source_turns == (data.memory_id,) or data.kind == PUBLISHED_KIND)
    return not data.summarises and not of_turns


def turn_told(data: MemoryCreated) -> str | None:
    """The turn that is created as a memory, by its id; None where something else is: `form_of` of what is told alone."""
    if data.summarises or not data.source_turns:
        return None
    if data.source_turns == (data.memory_id,):
        return data.memory_id
    made = (data.tier or data.kind) == "episode" and data.source in MADE_BY_JOBS
    if data.kind != PUBLISHED_KIND or len(data.source_turns) != 1 or made:
        return None
    return data.source_turns[0]


def tells_all(data: MemoryCreated) -> bool:
    """Whether what is created tells what several turns or memories said: it has words of each."""
    if data.summarises:
        return True
    of_turns = bool(data.source_turns) and turn_told(data) is None
    return of_turns and "episode" in (data.tier, data.kind)


def is_drawn(told: Memory | MemoryCreated) -> bool:
    """Whether a job read it in what was said."""
    return told.source == "judge" and bool(told.source_turns)


def is_turn(memory: Memory) -> bool:
    """Whether a memory is one turn as it was said."""
    return form_of(memory) == "turn"


def is_summary(memory: Memory) -> bool:
    """Whether a memory tells what several turns or memories said."""
    return form_of(memory) == "summary"


def has_words_of_others(memory: Memory) -> bool:
    """Whether a memory shares words with others: it summarises or joins them, or was joined with them."""
    joined = memory.merged_from or memory.merged_into or memory.unmerged_from
    return bool(memory.summarises or joined) or is_summary(memory)


def is_statement(memory: Memory) -> bool:
    """Whether a memory states something by itself, and is no turn and no account of turns."""
    return form_of(memory) == "statement"


def _joins_turns(memory: Memory) -> bool:
    """Whether a merge is of turns or summaries: by their word, or by ids, for a turn's memory has the turn's id."""
    if not memory.source_turns:
        return False
    return memory.kind == PUBLISHED_KIND or set(memory.merged_from) <= set(memory.source_turns)
