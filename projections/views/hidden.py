"""What is purged or secret today is not told of any past either. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from projections.memory.record import SECRET, Memory, with_changes, without_content


def hidden_in(memories: Iterable[Memory]) -> dict[str, Memory]:
    """Those of these records of which no past may show the content either: purged ones and secrets."""
    return {memory.id: memory for memory in memories if memory.purged_at is not None or memory.sensitivity >= SECRET}


def as_hidden_today(memory: Memory, today: Memory) -> Memory:
    """A record of the past, of which today's record hides the content: a secret, or a tombstone where it was purged."""
    if today.purged_at is None:
        return with_changes(memory, sensitivity=SECRET)
    gone = {"deleted_at": today.deleted_at, "purged_at": today.purged_at}
    return with_changes(memory, **without_content(memory), **gone)
