"""Restoring many memories at once: the undoing of a deletion of many, each with what went along with it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from engramlog_server.events.catalogue import MemoryRestored
from engramlog_server.projections.decide.command import Made
from engramlog_server.projections.decide.many import ManyCommand, ManyPlan
from engramlog_server.projections.decide.restoring import TakenAlong, restoration
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.deletion_cascade import DeletionCascade
from engramlog_server.projections.memory.record import Memory


@dataclass(frozen=True, slots=True)
class Restore(ManyCommand):
    """Memories are to be restored, each with what its deletion took along."""

    @property
    def call(self) -> str:
        """What tells this call from another one under its key."""
        return f"restore {' '.join(self.wanted)}"

    def data(self, memory_id: str) -> MemoryRestored:
        """The restoration of one memory, named or brought back along."""
        return MemoryRestored(memory_id=memory_id, reason=self.reason)


class PlannedRestoration(NamedTuple):
    """One memory that is to come back, and what comes with it: never parted between two requests."""

    root: str
    event_id: str
    reasons: dict[str, str]
    """What comes back with it: id -> why."""
    values: tuple[str, ...] = ()
    """What it says that is rejected, and then is no more."""

    @property
    def size(self) -> int:
        """How many events it takes."""
        return 1 + len(self.reasons) + bool(self.values)

    def events(self, command: Restore) -> list[Made]:
        """The restoration, and what it brings back, which names it as its cause."""
        return restoration(command.owner, self.root, self.reasons, self.event_id, command.reason, self.values)


def plan_restoration(
    memories: Mapping[str, Memory],
    columns: Columns,
    taken: TakenAlong,
    event_id: Callable[[str], str],
    values: Callable[[Memory], tuple[str, ...]],
) -> ManyPlan[PlannedRestoration]:
    """One plan a memory that is named and deleted; what is named comes back by itself, whatever it went with.

    What went with them and stays deleted is `left`. `columns`: of all of the owner's memories, of which `memories` are those
    named. `values`: what one says that is rejected.
    """
    plan, cascade = ManyPlan[PlannedRestoration](), DeletionCascade(columns)
    for memory_id, memory in memories.items():
        if memory.deleted_at is None:
            plan.skipped[memory_id] = f"memory {memory_id} is not deleted"
    roots = [memory for memory_id, memory in memories.items() if memory_id not in plan.skipped]
    named = {memory.id for memory in roots}
    back_already = set(named)
    for memory in roots:
        along = [one for one in taken.along(memory) if one not in back_already]
        back, left = cascade.returning(memory.id, along)
        reasons = {one: _why_back(columns, one, memory.id) for one in back}
        planned = PlannedRestoration(memory.id, event_id(memory.id), reasons, values(memory))
        if plan.put(planned, "come back with it, more than one request holds: restore it by itself"):
            back_already |= reasons.keys()
            with_it = set(taken.by(memory.id))
            plan.left |= {one.id: one.reason for one in left if one.id in with_it}
    for one in (*plan.also, *named):
        plan.left.pop(one, None)
    return plan


def _why_back(columns: Columns, memory_id: str, root: str) -> str:
    row = columns.row(memory_id)
    memory = None if row is None else columns.memories[row]
    if memory is not None and memory.retired_at is not None:
        return f"it went with {root}; what it was merged from stands by itself, and stays so"
    return f"it went with {root}, or was made of it"
