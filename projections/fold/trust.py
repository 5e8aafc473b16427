"""How far a memory can be trusted, and what waits for a person: a lower source never overrides a higher one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engramlog_server.events.catalogue import MemoryCreated, ReviewSettled
from engramlog_server.events.envelope import Event
from engramlog_server.events.standing import PERSONS
from engramlog_server.events.trust import ASSERTED, IMPORTED, INFERRED, ORDER, TRUSTS, lowest, overrides
from engramlog_server.events.vocabulary import Trust
from engramlog_server.projections.fold.values import raw_id, settled_again
from engramlog_server.projections.fold.working_set import WorkingSet
from engramlog_server.projections.memory.record import MAX_WAITING, Memory

FULL_QUEUE = f"{MAX_WAITING} changes of it wait for a person already, the most"
_MOST = ORDER[ASSERTED]
_BY_SOURCE: Mapping[str, Trust] = {
    "user": ASSERTED, "assistant": INFERRED, "judge": INFERRED, "system": INFERRED, "import": IMPORTED,
}  # fmt: skip


def trust_of(working: WorkingSet, data: MemoryCreated) -> int:
    """How far a new memory can be trusted: what its path and actor reach, and no further than its source and payload say."""
    if data.source == "user" and data.imported is None and working.trust == ASSERTED and working.actor in PERSONS:
        return _MOST  # nearly all
    brought = None if data.imported is None else IMPORTED
    return min(_reaches(working), ORDER[lowest(_BY_SOURCE[data.source], brought)])


def known_by(memory: Memory) -> Trust:
    """How far a memory can be trusted, by what was folded into it."""
    return TRUSTS[memory.trust]


def waits(working: WorkingSet, memory: Memory, event: Event[Any]) -> bool:
    """Whether what the event does to a memory has to wait for a person, since it comes from a lower source; then that is noted."""
    if overrides(working.trust, known_by(memory)):
        return False
    queue = queued(memory, event)
    if queue is None:
        working.ignore(memory.id, FULL_QUEUE)
    else:
        reason = f"waits for a person: {working.trust}, and it is {known_by(memory)}"
        working.change(memory, "wait", reason, waiting=queue)
    return True


def queued(memory: Memory, event: Event[Any]) -> tuple[bytes, ...] | None:
    """What waits on a memory with this event; None where there is no room."""
    return (*memory.waiting, raw_id(event.event_id)) if len(memory.waiting) < MAX_WAITING else None


def settle(working: WorkingSet, data: ReviewSettled, _event: Event[Any]) -> None:
    """A person has answered: it waits no longer. What was accepted a person said himself, in an event of its own."""
    answered = raw_id(data.waiting)
    if working.trust != ASSERTED:
        working.ignore(data.memory_id, f"{working.trust}: what waits for a person, a person answers")
        return
    if settled_again(working, answered, data.verdict):
        return
    memory = working.live(data.memory_id)
    if memory is None:
        return
    left = tuple(one for one in memory.waiting if one != answered)
    if left == memory.waiting:
        working.ignore(memory.id, "nothing of that id waits")
        return
    working.change(memory, "settle", data.verdict, waiting=left)


def stood_for(working: WorkingSet, memory: Memory) -> dict[str, int]:
    """What changes where somebody says a memory's words again: a person's own word lifts it, nobody else's does."""
    own = working.actor in PERSONS and working.trust == ASSERTED
    return {"trust": ORDER[ASSERTED]} if own and memory.trust < ORDER[ASSERTED] else {}


def of_words(working: WorkingSet, memory: Memory) -> int:
    """How far other words of a memory can be trusted: as far as whoever puts them there, where that is a person's own word."""
    return stood_for(working, memory).get("trust", min(memory.trust, _reaches(working)))


def _reaches(working: WorkingSet) -> int:
    return ORDER[lowest(working.trust, ASSERTED if working.actor in PERSONS else INFERRED)]
