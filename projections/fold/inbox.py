"""How much of one owner waits for a person, and the most that may: beyond it a lower source changes nothing (ADR 0060). Pure.

The count follows from the records: it is brought forward where one is replaced, and nothing else ever moves it.
"""

from __future__ import annotations

from collections.abc import Mapping

from events.catalogue import EventData
from events.trust import ASSERTED
from projections.fold.named import names
from projections.fold.working_set import WorkingSet
from projections.memory.record import Memory
from projections.memory.rejection import Rejections

MOST_WAITING = 1_000
"""Things of one owner that may wait for a person at once."""
FULL = f"{MOST_WAITING:,} things wait for a person already, the most of one owner"


def things_waiting(memory: Memory) -> int:
    """How many things of a record wait for a person: itself, where it is proposed, and each change of it; none of what is gone.

    What is withheld meanwhile (its source is set aside, its value rejected) counts: it waits again once that is undone.
    """
    if memory.trust and not memory.waiting:
        return 0
    if memory.deleted_at is not None or memory.merged_into is not None or memory.purged_at is not None:
        return 0
    return len(memory.waiting) + (not memory.trust and memory.retired_at is None)


def any_waits(memories: Mapping[str, Memory]) -> bool:
    """Whether something of these records may wait: of nearly all owners nothing does, and nothing more is asked."""
    for memory in memories.values():  # noqa: SIM110 - `any` takes twice as long
        if memory.waiting or not memory.trust:
            return True
    return False


def counted(waiting: int, before: Mapping[str, Memory], changed: Mapping[str, Memory]) -> int:
    """How many things wait after these records changed, of `waiting` that did."""
    after = waiting
    for memory_id, memory in changed.items():
        known = before.get(memory_id)
        after += things_waiting(memory) - (0 if known is None else things_waiting(known))
    return after


def things_again(rejections: Rejections) -> int:
    """How many rejected values the user said again, which waits: one a value, and by these it is bounded (ADR 0052)."""
    return sum(1 for one in rejections if one.again and one.stands)


def has_room(working: WorkingSet, waiting: int) -> bool:
    """Whether so much may wait after what the event adds: what a person says himself always may."""
    return waiting <= MOST_WAITING or working.trust == ASSERTED


def undo(working: WorkingSet, data: EventData) -> None:
    """The event changes nothing, and says why of each memory that it names."""
    working.changed.clear()
    working.notes.clear()
    for memory_id in dict.fromkeys(names(data)):
        working.ignore(memory_id, FULL)
