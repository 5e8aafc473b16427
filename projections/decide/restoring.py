"""Restoring a deleted memory with what its deletion took along, not with what somebody deleted by itself (ADR 0021). Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from events.catalogue import MemoryRestored
from events.envelope import derived_id
from projections.decide.command import Made
from projections.decide.rejecting import readmission
from projections.fold.changelog import Entry, describe, id_text
from projections.memory.columns import Columns
from projections.memory.deletion_cascade import DeletionCascade, LeftMemory
from projections.memory.deletion_view import turns_behind
from projections.memory.record import Memory
from projections.shapes import Change


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


class Return(NamedTuple):
    """What a restoration may bring back: whom to ask the log about, and who is of the same turns or made of it."""

    near: dict[str, LastDeletion]
    related: frozenset[str]


def may_return(columns: Columns, memory: Memory, deletions: Mapping[str, LastDeletion]) -> Return:
    """Deleted memories that a deletion may have taken along: of the same instant, of the same turns, or made of the memory."""
    gone = gone_now(columns, deletions)
    return MayReturn(columns, gone).near(memory, deletions[memory.id])


def gone_now(columns: Columns, deletions: Mapping[str, LastDeletion]) -> dict[str, LastDeletion]:
    """Those of the deletions of memories that are deleted now, by somebody."""
    return {name: one for name, one in deletions.items() if _is_deleted(columns, name)}


class MayReturn:
    """Deleted memories by what they were made of, to ask about one after the other."""

    def __init__(self, columns: Columns, gone: Mapping[str, LastDeletion]) -> None:
        self._gone = gone
        self._of_turn: dict[str, list[str]] = defaultdict(list)
        self._made_of: dict[str, list[str]] = defaultdict(list)
        for one in (columns.memories[row] for row in map(columns.row, gone) if row is not None):
            for turn in turns_behind(one):
                self._of_turn[turn].append(one.id)
            for origin in (*one.summarises, *one.merged_from):
                self._made_of[origin].append(one.id)

    def related(self, memory: Memory) -> frozenset[str]:
        """Those that share a turn with a memory, or were made of it or of another of them."""
        waiting = [memory.id, *(name for turn in turns_behind(memory) for name in self._of_turn.get(turn, ()))]
        names = set(waiting)
        while waiting:
            more = [name for name in self._made_of.get(waiting.pop(), ()) if name not in names]
            names.update(more)
            waiting += more
        return frozenset(names)

    def near(self, memory: Memory, root: LastDeletion) -> Return:
        """Those that the deletion `root` of a memory may have taken along: of the same instant, or related."""
        related = self.related(memory)
        told = {name: one for name, one in self._gone.items() if name in related or one.at == root.at}
        return Return({name: one for name, one in told.items() if name != memory.id}, related)


def returning(
    cascade: DeletionCascade,
    memory: Memory,
    deletions: Mapping[str, LastDeletion],
    possible: Return,
    causes: Mapping[str, str | None],
) -> tuple[list[str], list[LeftMemory]]:
    """What comes back with a memory, and what stays deleted and why. `causes`: of each that may, the event that led to it."""
    root, roots = deletions[memory.id].event_id, {one.event_id for one in deletions.values()}
    along = [
        name
        for name in sorted(possible.near, key=lambda name: possible.near[name].seq)
        if causes[name] == root or (name in possible.related and causes[name] in roots)
    ]
    return cascade.returning(memory.id, along)


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
