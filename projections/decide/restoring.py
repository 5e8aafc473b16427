"""Restoring deleted memories with what their deletion took along, not with what somebody deleted by itself. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from engramlog_server.events.catalogue import MemoryRestored
from engramlog_server.events.envelope import derived_id
from engramlog_server.projections.decide.command import Made
from engramlog_server.projections.decide.deleting import ManyCommand, ManyPlan
from engramlog_server.projections.decide.rejecting import readmission
from engramlog_server.projections.fold.changelog import Change, Entry, describe, id_text
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.deletion_cascade import DeletionCascade
from engramlog_server.projections.memory.deletion_view import turns_behind
from engramlog_server.projections.memory.record import Memory


class LastDeletion(NamedTuple):
    """The newest deletion, or restoration, of a memory."""

    entry: Entry
    """Its change-log entry."""
    partition: int

    @property
    def event_id(self) -> str:
        """Of the event that did it."""
        return id_text(self.entry.raw_id)

    @property
    def seq(self) -> int:
        """Where that stands in the log."""
        return self.entry.seq

    @property
    def at(self) -> int:
        """When it happened, microseconds since 1970."""
        return self.entry.at

    @property
    def change(self) -> Change:
        """The entry as it is told."""
        return describe(self.entry, self.partition)


class TakenAlong:
    """What deletions of some memories took along, as the log has it, of what is deleted now by somebody."""

    def __init__(
        self,
        columns: Columns,
        deletions: Mapping[str, LastDeletion],
        roots: Iterable[Memory],
        causes: Callable[[Mapping[str, LastDeletion]], Mapping[str, str | None]],
    ) -> None:
        """`columns`: of all of the owner's memories. `causes` tells of deletions which events led to them."""
        self._deletions = deletions
        self._acts = {one.event_id for one in deletions.values()}
        self._of_turn: dict[str, list[str]] = defaultdict(list)
        self._made_of: dict[str, list[str]] = defaultdict(list)
        gone = {name: one for name, one in deletions.items() if _is_deleted(columns, name)}
        for one in (columns.memories[row] for row in map(columns.row, gone) if row is not None):
            for turn in turns_behind(one):
                self._of_turn[turn].append(one.id)
            for origin in (*one.summarises, *one.merged_from):
                self._made_of[origin].append(one.id)
        known = [memory for memory in roots if memory.id in deletions]
        instants, near = {deletions[memory.id].at for memory in known}, set[str]().union(*map(self._related, known))
        self._causes = causes({name: one for name, one in gone.items() if name in near or one.at in instants})
        self._by_cause: dict[str, list[str]] = defaultdict(list)
        for name, cause in self._causes.items():
            if cause is not None:
                self._by_cause[cause].append(name)

    def by(self, root: str) -> list[str]:
        """Ids of what the deletion of a memory took along."""
        return self._by_cause.get(self._deletions[root].event_id, []) if root in self._deletions else []

    def along(self, memory: Memory) -> list[str]:
        """The same, and those related to it that another deletion took along; in the order of the log."""
        if memory.id not in self._deletions:
            return []
        others = (name for name in self._related(memory) if self._causes.get(name) in self._acts)
        return sorted({*self.by(memory.id), *others} - {memory.id}, key=lambda name: self._deletions[name].seq)

    def _related(self, memory: Memory) -> set[str]:
        """Those that share a turn with a memory, or were made of it or of another of them."""
        waiting = [memory.id, *(name for turn in turns_behind(memory) for name in self._of_turn.get(turn, ()))]
        names = set(waiting)
        while waiting:
            more = [name for name in self._made_of.get(waiting.pop(), ()) if name not in names]
            names.update(more)
            waiting += more
        return names


def restoration(
    owner: str, memory_id: str, also: Iterable[str], event_id: str, reason: str, values: tuple[str, ...] = ()
) -> list[Made]:
    """The events that bring a memory back, and these with it. `values`: what it says that is rejected, and then is no more."""
    root = Made(MemoryRestored(memory_id=memory_id, reason=reason), event_id)
    if values:
        readmitted = derived_id("readmit along", owner, event_id, memory_id)
        return [
            root,
            Made(readmission(memory_id, values, reason), readmitted, event_id),
            *_along(owner, also, root, reason),
        ]
    return [root, *_along(owner, also, root, reason)]


def _along(owner: str, also: Iterable[str], root: Made, reason: str) -> list[Made]:
    event_id = root.event_id
    return [
        Made(MemoryRestored(memory_id=one, reason=reason), derived_id("restore along", owner, event_id, one), event_id)
        for one in also
    ]


def _is_deleted(columns: Columns, memory_id: str) -> bool:
    row = columns.row(memory_id)
    memory = None if row is None else columns.memories[row]
    return memory is not None and memory.purged_at is None and memory.deletion == "user_delete"


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
