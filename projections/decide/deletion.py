"""Deleting memories with what was made of them, and restoring what a deletion took along, not what went by itself. Pure.

Which go or come back, which do not and why, and the events of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from engramlog_server.events.catalogue import EventData, MemoryDeleted, MemoryRestored, MemoryUnmerged
from engramlog_server.events.envelope import derived_id, from_micros, utc_text
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS
from engramlog_server.projections.decide.commands import EVENT, Made, is_double, readmission, rejection, values_said
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.deletion import DeletionCascade, Taken, turns_behind
from engramlog_server.projections.memory.kind import is_turn
from engramlog_server.projections.memory.record import Memory


@dataclass(frozen=True, slots=True)
class ManyCommand:
    """Something is to be done with memories that are named."""

    owner: str
    wanted: tuple[str, ...]
    reason: str = ""

    @property
    def call(self) -> str:
        """What tells this call from another one under its key."""
        raise NotImplementedError

    @property
    def names(self) -> dict[str, str]:
        """What its events are to the call, by memory; the first is known by the key alone, as that of any call is."""
        return {one: f"{EVENT} of {one}" if number else EVENT for number, one in enumerate(self.wanted)}

    def data(self, memory_id: str) -> EventData:
        """What happens to one memory, named or gone along."""
        raise NotImplementedError


class Sized(Protocol):
    """What is written together."""

    @property
    def size(self) -> int:
        """How many events it takes."""
        ...


class Planned(Sized, Protocol):
    """One memory, and what goes with it: never parted between two requests."""

    @property
    def root(self) -> str:
        """The memory that is named."""
        ...

    @property
    def values(self) -> tuple[str, ...]:
        """What it says, where that is rejected with it, or is no more."""
        ...

    @property
    def reasons(self) -> dict[str, str]:
        """What goes along: id -> why."""
        ...

    def events(self, command: Any) -> list[Made]:
        """Its event, and those of what goes along, which name it as their cause."""
        ...


C = TypeVar("C", bound=ManyCommand)
P = TypeVar("P", bound=Planned)
S = TypeVar("S", bound=Sized)


@dataclass(slots=True)
class ManyPlan(Generic[P]):
    """What a command comes to, before anything is written."""

    planned: list[P] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    """Id -> why nothing is done with it."""
    also: dict[str, str] = field(default_factory=dict)
    """Id -> why it goes along."""
    left: dict[str, str] = field(default_factory=dict)
    """What might have gone along -> why it does not."""

    def put(self, one: P, too_many: str) -> bool:
        """Plan it; whether it has room in one request. `too_many`: what is told where so many memories go along that it has not."""
        if one.size > MAX_REQUEST_EVENTS:
            self.skipped[one.root] = f"{len(one.reasons):,} memories would {too_many}"
            return False
        self.planned.append(one)
        self.also |= one.reasons
        return True


def requests_of(plan: Sequence[S]) -> list[list[S]]:
    """Plans in requests of at most 1,000 events, none of them parted."""
    requests: list[list[S]] = []
    room = 0
    for planned in plan:
        if planned.size > room:
            requests.append([])
            room = MAX_REQUEST_EVENTS
        requests[-1].append(planned)
        room -= planned.size
    return requests


SPARED = ("core", "system")
"""Tiers that are deleted only where they are asked for by name and it is said that they are meant."""


@dataclass(frozen=True, slots=True)
class Delete(ManyCommand):
    """Memories are to be deleted, each with what was made of it."""

    with_sources: bool = False
    """Turns that say it are retracted too."""
    core: bool = False
    """Core and system memories are meant where they are named."""
    never: bool = False
    """What they say is rejected too, also where several are named, or another memory says the same."""
    by_name: bool = False
    """A person deletes just this one, which is named: what it says is rejected, unless another says it too."""

    @property
    def call(self) -> str:
        """What tells this call from another one under its key."""
        never = " never" if self.never else ""
        return f"delete {self.with_sources:d} {self.core:d} {' '.join(self.wanted)}{never}"

    def rejects(self, memory: Memory, going: Iterable[str], columns: Columns) -> bool:
        """Whether what a memory says is rejected with it."""
        return self.never or (self.by_name and len(self.wanted) == 1 and not is_double(columns, memory, going))

    def data(self, memory_id: str) -> MemoryDeleted:
        """The deletion of one memory, named or taken along."""
        return MemoryDeleted(memory_id=memory_id, reason=self.reason)


class PlannedDeletion(NamedTuple):
    """One memory that is to be deleted, and what goes with it: never parted between two requests."""

    root: str
    event_id: str
    also: tuple[Taken, ...]
    values: tuple[str, ...] = ()
    """What it says, to be rejected with it."""
    turns: tuple[str, ...] = ()
    """The turns that say it, where they are retracted too."""

    @property
    def size(self) -> int:
        """How many events it takes."""
        return 1 + len(self.also) + sum(one.apart for one in self.also) + bool(self.values)

    @property
    def reasons(self) -> dict[str, str]:
        """What goes with it: id -> why."""
        return {one.id: one.reason for one in self.also}

    def events(self, command: Delete, *, root: bool = True) -> list[Made]:
        """The deletion (`root`) and what it takes along, which names it as its cause."""
        events = [Made(command.data(self.root), self.event_id)] if root else []
        if root and self.values:
            value = rejection(self.root, self.values, command.reason, self.turns)
            rejected = derived_id("reject along", command.owner, self.event_id, self.root)
            events.append(Made(value, rejected, causation_id=self.event_id))
        for one in self.also:
            parts: list[EventData] = [MemoryUnmerged(into=one.id, reason=command.reason)] if one.apart else []
            for data in [*parts, command.data(one.id)]:
                name = derived_id("delete along", command.owner, self.event_id, type(data).__name__, one.id)
                events.append(Made(data, name, causation_id=self.event_id))
        return events


@dataclass(slots=True)
class DeletionPlan(ManyPlan[PlannedDeletion]):
    """What a deletion comes to, before anything is written. What is made of it and stays is `left`."""

    still_said_in: list[str] = field(default_factory=list)
    """Turns' memories that stand and say what is deleted."""
    hidden: list[str] = field(default_factory=list)
    """What was merged into what is deleted."""
    spares: bool = False
    """Whether a core or system memory is left alone."""


def plan_deletion(
    command: Delete,
    memories: Mapping[str, Memory],
    cascade: DeletionCascade,
    event_id: Callable[[str], str],
    columns: Columns,
) -> DeletionPlan:
    """One plan a memory that is named and can be changed; what an earlier one takes along is not named again.

    `columns`: of all of the owner's memories, of which `memories` are those that are named.
    """
    plan = DeletionPlan()
    for memory_id, memory in memories.items():
        if memory.deleted_at is not None:
            deleted = utc_text(from_micros(memory.deleted_at))
            plan.skipped[memory_id] = f"memory {memory_id} was deleted already, {deleted}"
        elif memory.tier in SPARED and not command.core:
            tier = f"of tier {memory.tier}: core and system memories are left alone"
            plan.skipped[memory_id], plan.spares = f"memory {memory_id} is {tier}", True
    standing = dict.fromkeys(memory_id for memory_id in memories if memory_id not in plan.skipped)
    for memory_id in standing:
        taking = cascade.take(memory_id, with_sources=command.with_sources)
        also = tuple(one for one in taking.also if one.id not in standing)
        values = _rejected(command, memories[memory_id], (*standing, *(one.id for one in also)), columns)
        named = memories[memory_id]
        turns = named.source_turns if command.with_sources or is_turn(named) else ()
        planned = PlannedDeletion(memory_id, event_id(memory_id), also, values, turns)
        if plan.put(planned, "go with it, more than one request holds: delete some of them first"):
            plan.left |= {one.id: one.reason for one in taking.left}
    plan.still_said_in = still_said(cascade, (one.root for one in plan.planned))
    plan.hidden = cascade.hidden_with(one.root for one in plan.planned)
    return plan


def _rejected(command: Delete, memory: Memory, going: Iterable[str], columns: Columns) -> tuple[str, ...]:
    if not command.rejects(memory, going, columns):
        return ()

    def get(memory_id: str) -> Memory | None:
        row = columns.row(memory_id)
        return None if row is None else columns.memories[row]

    return values_said(memory, get)


def still_said(cascade: DeletionCascade, roots: Iterable[str]) -> list[str]:
    """Turns' memories that stand and say what these say, each once."""
    return list(dict.fromkeys(memory_id for root in roots for memory_id in cascade.still_said_in(root)))


class LastDeletion(NamedTuple):
    """The newest deletion of a memory."""

    event_id: str
    """Of the event that did it."""
    seq: int
    """Where that stands in the log."""
    at: int
    """When it happened, microseconds since 1970."""


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
