"""How much of one owner waits for a person, and the most that may: beyond it a lower source changes nothing. Pure.

The count follows from the records and from what is rejected: it is brought forward where one of these is replaced, and by nothing
else.
"""

from __future__ import annotations

from collections.abc import Mapping

from engramlog_server.events.catalogue import EventData
from engramlog_server.events.trust import ASSERTED
from engramlog_server.projections.fold.named import names
from engramlog_server.projections.fold.working_set import OwnerSettings, WorkingSet
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.rejection import Rejections

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


def things_again(rejections: Rejections) -> int:
    """How many rejected values the user said again, which waits: one a value, and by these it is bounded."""
    return sum(1 for one in rejections if one.again and one.stands)


def bounded(working: WorkingSet, before: OwnerSettings, data: EventData, waiting: int) -> int:
    """How many things wait after the event, of `waiting` that did; what would let too many wait is undone.

    What a person says himself is never too much, nor what is said again of a rejected value: that is bounded by those.
    """
    now = _counted(waiting, working.memories, working.changed)
    if now > waiting and now > MOST_WAITING and working.trust != ASSERTED:
        _undo(working, data)
        now = waiting
    after = working.settings.rejections
    return now if after is before.rejections else now + things_again(after) - things_again(before.rejections)


def _counted(waiting: int, before: Mapping[str, Memory], changed: Mapping[str, Memory]) -> int:
    for memory_id, memory in changed.items():
        known = before.get(memory_id)
        waiting += things_waiting(memory) - (0 if known is None else things_waiting(known))
    return waiting


def _undo(working: WorkingSet, data: EventData) -> None:
    """It changes nothing, and says why of each memory that it names."""
    working.changed.clear()
    working.notes.clear()
    for memory_id in dict.fromkeys(names(data)):
        working.ignore(memory_id, FULL)
