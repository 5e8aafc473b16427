"""Deleting and restoring memories, with what was made of them. What stays is named with the reason.

Seed 003, "批量删除": ids separated in any way, core memories skipped. Deletions are soft and can be undone for 30 days.
Many memories are judged, then written in requests of at most 1,000 events, and each is answered for. Under a key a call is
carried out once: sent again it goes on where it stopped, and answers as it did. A restoration brings back what a deletion took
along, and not what somebody deleted by itself; one restoration undoes a deletion of many.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Generic, NamedTuple, TypeVar

from engramlog_server.api.checks import Progress, check_memory_id, check_owner
from engramlog_server.api.services.histories import SCANNED
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.writing import LogEvent, Writer, carried_before, checked_key, taken
from engramlog_server.api.snapshots import PIECE, Snapshot
from engramlog_server.api.work import current_check, weigh
from engramlog_server.events.catalogue import MemoryDeleted, MemoryRestored, ValueReadmitted, ValueRejected
from engramlog_server.events.envelope import AnyEvent, decode, micros, new_event_id
from engramlog_server.events.errors import (
    ConcurrencyError,
    EngramlogError,
    EventIdTaken,
    InputError,
    NotFound,
    UnderReplicated,
    refused,
)
from engramlog_server.events.log import AppendReceipt, EventLog
from engramlog_server.events.partitions import parse_position, partition_of, position_text
from engramlog_server.events.standing import OWN, is_persons_word
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS
from engramlog_server.projections.decide.commands import Made, rejected_values
from engramlog_server.projections.decide.deletion import (
    C,
    Delete,
    DeletionPlan,
    LastDeletion,
    ManyPlan,
    P,
    PlannedDeletion,
    PlannedRestoration,
    Restore,
    TakenAlong,
    plan_deletion,
    plan_restoration,
    requests_of,
    still_said,
)
from engramlog_server.projections.fold.changelog import DECISIONS, id_text, reason_told
from engramlog_server.projections.fold.working_set import trouble_with
from engramlog_server.projections.memory.deletion import DeletionCascade
from engramlog_server.projections.memory.record import DAY, Memory
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.shapes import Change, Deleted, Removed, Restored, RestoredMany, Skipped, Warned
from engramlog_server.projections.views.query import moment


@dataclass(slots=True)
class ManyReport:
    """What became of a request about memories that are named."""

    WORD: ClassVar[str] = "done"
    """What is done with them."""

    owner: str
    ids: list[str]
    """As asked for, each once."""
    position: str
    """Where the last of it stands, or the position at which it was found that there is nothing to write."""
    done: list[str] = field(default_factory=list)
    also: dict[str, str] = field(default_factory=dict)
    """What went along: id -> reason."""
    left: dict[str, str] = field(default_factory=dict)
    """What might have gone along, and did not: id -> why."""
    values: list[str] = field(default_factory=list)
    """Those of which what they say is rejected too, or is rejected no more."""
    dry_run: bool = False
    """Whether this only tells what would be done: nothing was written."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Id -> why nothing was done with it."""
    waiting: list[str] = field(default_factory=list)
    """Written, and parked behind an event of the owner that cannot be folded."""
    changes: list[Change] = field(default_factory=list)
    """Change-log entries of it."""
    error: EngramlogError | None = None
    """What stopped it between two requests."""
    warning: Warned = field(default_factory=Warned)
    """`behind`, and `quarantined` where the owner is."""
    spared: bool = False
    """Whether a core or system memory was left alone."""
    beyond_change: dict[str, InputError] = field(default_factory=dict)
    """Those of the skipped that no event can change: unknown, purged or merged away."""

    @property
    def exit_code(self) -> int:
        """0 all of it is done; 3 partly, or something was left; else 1 nothing, 2 no id with which it could ever be done."""
        if self.done or self.waiting or self.spared:
            return 3 if self.skipped or self.waiting or self.left else 0
        return 2 if len(self.beyond_change) == len(self.ids) else 1

    @property
    def refusal(self) -> InputError | None:
        """Why nothing at all could be done, where no id names a memory that any event can change."""
        if self.exit_code != 2:
            return None
        found = list(self.beyond_change.values())
        if len(found) == 1:
            return found[0]
        kind = NotFound if all(isinstance(one, NotFound) for one in found) else InputError
        told = f"nothing was {self.WORD}: {found[0].message} (and {len(found) - 1:,} more)"
        return kind(told, owner=self.owner, skipped=self.skipped_in_order)

    @property
    def skipped_in_order(self) -> list[Skipped]:
        """With what nothing was done and why, in the order asked for."""
        return listed({one: self.skipped[one] for one in self.ids if one in self.skipped})

    @property
    def values_done(self) -> list[str]:
        """Of what was done, that of which what it says is rejected too, or is no more."""
        done = set(self.done)
        return [one for one in self.values if one in done]


@dataclass(slots=True)
class DeletionReport(ManyReport):
    """What became of a request to delete. What was made of them and is still there is `left`."""

    WORD: ClassVar[str] = "deleted"

    still_said_in: list[str] = field(default_factory=list)
    """Turns' memories that stand and say what was deleted."""
    hidden: list[str] = field(default_factory=list)
    """What was merged into what was deleted."""
    restorable_until: int | None = None
    """When what was deleted now is purged, by the owner's parameter; microseconds since 1970."""

    def as_dict(self) -> Deleted:
        """JSON-ready: what was deleted, what was skipped and why, in the order asked for."""
        answer: Deleted = {
            "owner": self.owner,
            "deleted": self.done,
            "skipped": self.skipped_in_order,
            "also": listed(self.also),
            "left_alone": listed(self.left),
            "still_said_in": self.still_said_in,
            "hidden_with": self.hidden,
            "rejected": self.values_done,
            "dry_run": self.dry_run,
            "position": self.position,
            "restorable_until": moment(self.restorable_until),
        }
        if self.waiting:
            answer["waiting"] = self.waiting
        if self.error is not None:
            answer["error"] = self.error.as_dict()
        return {**answer, **self.warning}

    def as_effects(self) -> Removed:
        """The same of a single id, as any verb answers: with `id` and `changes`."""
        return {"id": self.ids[0], "changes": self.changes, **self.as_dict()}


@dataclass(slots=True)
class RestorationReport(ManyReport):
    """What became of a request to restore. What went with them and stays deleted is `left`."""

    WORD: ClassVar[str] = "restored"

    def as_dict(self) -> RestoredMany:
        """JSON-ready: what was restored, what was skipped and why, in the order asked for."""
        answer: RestoredMany = {
            "owner": self.owner,
            "restored": self.done,
            "skipped": self.skipped_in_order,
            "also": listed(self.also),
            "not_restored": listed(self.left),
            "readmitted": self.values_done,
            "dry_run": self.dry_run,
            "position": self.position,
        }
        if self.waiting:
            answer["waiting"] = self.waiting
        if self.error is not None:
            answer["error"] = self.error.as_dict()
        return {**answer, **self.warning}

    def as_effects(self) -> Restored:
        """The same of a single id, as any verb answers: with `id` and `changes`."""
        return {"id": self.ids[0], "changes": self.changes, **self.as_dict()}


def listed(told: dict[str, str]) -> list[Skipped]:
    """Ids with their reasons, as JSON tells them."""
    return [told_of(one, reason) for one, reason in told.items()]


def told_of(memory_id: str, reason: str) -> Skipped:
    """A memory that is left as it is, or goes along, and why."""
    told = reason_told(reason)
    return {"id": memory_id, "reason": reason, "reason_code": told.code, "reason_values": told.told()}


_DELETE = DECISIONS.index("delete")


def last_deletions(views: RedisViews, owner: str) -> dict[str, LastDeletion]:
    """The newest deletion of each memory: the change log is read pack by pack, the newest first.

    Whoever asks weighs the owner's change log first (`weigh_log`): it may be long.
    """
    found = dict[str, LastDeletion]()
    for _, entry in views.changelogs.entries(owner, newest=True, check=current_check()):
        if entry.decision == _DELETE and entry.memory_id and entry.memory_id not in found:
            found[entry.memory_id] = LastDeletion(id_text(entry.raw_id), entry.seq, entry.at)
    return found


def weigh_log(snapshot: Snapshot) -> None:
    """Say how long reading the owner's whole change log will be, before anything leaves a trace."""
    weigh(snapshot.view.state.entries // SCANNED)


def causes(views: RedisViews, owner: str, gone: Mapping[str, LastDeletion]) -> dict[str, str | None]:
    """Memory -> the event that led to each of these, read from the log in pieces."""
    seqs, check = sorted(one.seq for one in gone.values()), current_check()
    events: dict[int, str | None] = {}
    for start in range(0, len(seqs), PIECE):
        check(start, len(seqs))
        for one in views.stored(owner, seqs[start : start + PIECE]):
            events[one.seq] = decode(one.kind, one.body).causation_id
    return {memory_id: events.get(one.seq) for memory_id, one in gone.items()}


R = TypeVar("R", bound=ManyReport)
Planner = Callable[[Mapping[str, Memory], Callable[[str], str]], ManyPlan[P]]
"""From the memories that an event can change, and the ids of their events, to the plan."""


class Cause(NamedTuple):
    """Who asks for it, and when (microseconds since 1970)."""

    actor: str
    when: int
    call: str | None = None
    """What was asked for under a key, as an id that its events carry: another call under the key has another one."""


def memories_named(owner: str, ids: Sequence[str], what: str) -> tuple[str, ...]:
    """These ids, each once; `what` is to be done with them. Raises InputError for an owner or an id that cannot be, or for none."""
    check_owner(owner)
    wanted = tuple(check_memory_id(memory_id) for memory_id in dict.fromkeys(ids))
    if not wanted:
        raise refused("ids", None, f"the ids of memories to {what}")
    return wanted


class ManyActs(ABC, Generic[C, P, R]):
    """Carries out commands of one kind on one store. Safe for threads."""

    event: type[MemoryDeleted | MemoryRestored]
    """What happens to a memory."""
    value: type[ValueRejected | ValueReadmitted]
    """What is said with that of what it says."""
    along: str
    """Why a memory went along, told again; `{root}` names with what."""

    def __init__(self, log: EventLog, reader: Reader, writer: Writer, views: RedisViews) -> None:
        self._log = log
        self._reader = reader
        self._writer = writer
        self._views = views

    @abstractmethod
    def _look(
        self, command: C, cause: Cause, snapshot: Snapshot, memories: Mapping[str, Memory]
    ) -> tuple[R, Planner[P]]:
        """The report as it begins, and what plans once the view is held no more, and puts into the report what it finds."""

    def _carry_out(
        self,
        command: C,
        cause: Cause,
        *,
        key: str | None,
        event_id: str | None,
        dry_run: bool,
        on_progress: Progress,
    ) -> R:
        """Judge, append, wait for the fold, and tell. `event_id`: of the event about a single memory, in place of a key."""
        # a reason that cannot be is refused, even if no memory needs the event
        self._writer.event(command.data(command.wanted[0]), command.owner, cause.when, cause.actor)
        if key is not None:
            checked_key(key)
        if event_id is not None and (key is not None or len(command.wanted) > 1):
            raise refused(
                "event_id", event_id, "nothing together with a key or several ids, because each event has its own id"
            )
        named: dict[str, str] = {} if event_id is None else {command.wanted[0]: event_id.lower()}
        if key is not None and not dry_run:
            id_of = self._writer.ids_of(command.owner, key)
            named = {memory_id: id_of(name) for memory_id, name in command.names.items()}
            cause = cause._replace(call=id_of(command.call))
        repeatable = bool(named) and not dry_run
        before = self._before(command, key, named, cause) if repeatable else {}
        answer, planned = self._judged(command, named, before, cause)
        if answer.skipped and repeatable:  # an equal call may have been carried out since the look
            before = self._before(command, key, named, cause)
            answer, planned = self._judged(command, named, before, cause)
        answer.dry_run = dry_run
        if answer.refusal is not None:
            return answer
        if dry_run:
            answer.done = [one.root for one in planned]
            return answer
        try:
            written, receipts = self._write(command, answer, planned, cause, on_progress)
        except (ConcurrencyError, EventIdTaken):
            if before or not repeatable:
                raise
            before = self._before(command, key, named, cause)  # whoever sent the same at the same time was first
            if len(before) < len(planned):
                raise
            written, receipts, answer.also = [], [], {}
        if receipts:
            self._tell(command, answer, written, receipts, cause)
        if before:
            self._add_earlier(answer, before, new=bool(receipts))
        return answer

    def _judged(
        self, command: C, named: Mapping[str, str], before: Mapping[str, list[LogEvent]], cause: Cause
    ) -> tuple[R, list[P]]:
        """With what nothing is done and why, and what is done with what goes along; nothing of what was done `before`."""
        owner, wanted = command.owner, [memory_id for memory_id in command.wanted if memory_id not in before]
        memories, refused_ids = dict[str, Memory](), dict[str, InputError]()
        self._writer.await_folded(owner, wanted)
        with self._reader.snapshot(owner) as snapshot:
            for memory_id in wanted:
                try:
                    memories[memory_id] = self._reader.memory(snapshot, owner, memory_id)
                except NotFound as problem:
                    refused_ids[memory_id] = problem
            answer, planner = self._look(command, cause, snapshot, memories)
        for memory_id, memory in list(memories.items()):
            if trouble_with(memory) is not None and (trouble := self._trouble_of(owner, memory_id)) is not None:
                refused_ids[memory_id] = trouble
                del memories[memory_id]
        plan = planner(memories, lambda memory_id: named.get(memory_id) or new_event_id())
        answer.beyond_change = refused_ids
        answer.values = [one.root for one in plan.planned if one.values]
        answer.skipped = plan.skipped | {one: refusal.message for one, refusal in refused_ids.items()}
        answer.also, answer.left = plan.also, plan.left
        return answer, plan.planned

    def _trouble_of(self, owner: str, memory_id: str) -> InputError | None:
        """Why no verb can change this memory, in the words of all verbs."""
        try:
            self._writer.standing(owner, memory_id)
        except InputError as problem:
            return problem
        return None

    def _write(
        self, command: C, answer: R, plan: Sequence[P], cause: Cause, on_progress: Progress
    ) -> tuple[list[P], list[AppendReceipt]]:
        """Append what is planned; what the store did not take is named in the answer."""
        receipts: list[AppendReceipt] = []
        written: list[P] = []
        total = sum(planned.size for planned in plan)
        for request in requests_of(plan):
            events = [self._event(command, made, cause) for planned in request for made in planned.events(command)]
            try:
                receipts += self._writer.append_all(self._writer.ready(events))
            except EngramlogError as problem:
                if not receipts or isinstance(problem, UnderReplicated):  # the same call goes on with it
                    raise
                answer.error = problem
                answer.skipped |= {one.root: f"not written: {problem.message}" for one in plan[len(written) :]}
                answer.also = {memory_id: why for one in written for memory_id, why in one.reasons.items()}
                break
            written += request
            on_progress(len(receipts), total)
        return written, receipts

    def _event(self, command: C, made: Made, cause: Cause) -> AnyEvent:
        return self._writer.event(
            made.data,
            command.owner,
            cause.when,
            cause.actor,
            event_id=made.event_id,
            causation_id=made.causation_id,
            correlation_id=cause.call,
        )

    def _tell(
        self,
        command: C,
        answer: R,
        written: Sequence[P],
        receipts: list[AppendReceipt],
        cause: Cause,  # noqa: ARG002 - of whoever takes more along
    ) -> None:
        """Wait for the fold, and read from the change log what became of each memory."""
        self._writer.settle(receipts)
        answer.position = receipts[-1].position or answer.position
        answer.changes = self._writer.effects_of(command.owner, receipts)
        with self._reader.snapshot(command.owner) as snapshot:
            answer.warning = snapshot.told
        did = {one["memory"]: one for one in answer.changes if one["event"] == self.event.__name__}
        for planned in written:
            if planned.root not in did:
                answer.waiting.append(planned.root)
            elif did[planned.root]["decision"] == "ignored":
                answer.skipped[planned.root] = did[planned.root]["reason"]
            else:
                answer.done.append(planned.root)

    def _before(self, command: C, key: str | None, named: Mapping[str, str], cause: Cause) -> dict[str, list[LogEvent]]:
        """What the same call did before, by memory. Raises KeyTaken or EventIdTaken if its key or id stands for something else."""
        owner = command.owner
        carried = carried_before(self._log, owner, list(named.values()))
        before = {memory_id: carried[event_id] for memory_id, event_id in named.items() if event_id in carried}
        for memory_id, (first, *_) in before.items():
            event = first.event
            said = (event.data, event.actor, event.correlation_id)
            if said != (command.data(memory_id), cause.actor, cause.call):
                position = position_text(partition_of(owner, self._log.partitions), first.seq)
                raise taken(key, position) if key is not None else EventIdTaken(event.event_id, position)
        return before

    def _add_earlier(self, answer: R, before: Mapping[str, list[LogEvent]], *, new: bool) -> None:
        """Put what was done before under the same key into an answer. `new`: something else was done now."""
        partition = partition_of(answer.owner, self._log.partitions)
        seqs = [one.seq for told in before.values() for one in told]
        last = max(seqs)
        self._writer.settle_positions({partition: last})
        answer.changes = self._writer.effects(answer.owner, partition, seqs) + answer.changes
        with self._reader.snapshot(answer.owner) as snapshot:
            answer.warning = snapshot.told
        now = {*answer.done, *before}
        answer.done = [one for one in answer.ids if one in now]
        for root, (_, *along) in before.items():
            went = [one.event.data.memory_id for one in along if isinstance(one.event.data, self.event)]
            answer.also |= dict.fromkeys(went, self.along.format(root=root))
            if root not in answer.values and any(isinstance(one.event.data, self.value) for one in along):
                answer.values.append(root)
        answer.position = position_text(partition, max(last, parse_position(answer.position)[1]) if new else last)


class Restorer(ManyActs[Restore, PlannedRestoration, RestorationReport]):
    """Restores memories of one store, one or many. Safe for threads."""

    event, value = MemoryRestored, ValueReadmitted
    along = "it went with {root}, or was made of it"

    def restore(
        self,
        owner: str,
        memory_id: str,
        *,
        actor: str = "user",
        occurred_at: str | None = None,
        event_id: str | None = None,
        key: str | None = None,
        reason: str = "",
    ) -> Restored:
        """Undo one soft delete, as `restore_many` does. Raises NotFound, or InputError if no event can change the memory."""
        answer = self.restore_many(
            owner,
            [memory_id],
            actor=actor,
            occurred_at=occurred_at,
            event_id=event_id,
            key=key,
            reason=reason,
        )
        if answer.refusal is not None:
            raise answer.refusal
        return answer.as_effects()

    def restore_many(
        self,
        owner: str,
        ids: Sequence[str],
        *,
        actor: str = "user",
        occurred_at: str | None = None,
        dry_run: bool = False,
        event_id: str | None = None,
        key: str | None = None,
        reason: str = "",
        on_progress: Progress = lambda _done, _total: None,
    ) -> RestorationReport:
        """Undo soft deletes, and those of what went with these memories and may stand now; in requests of at most 1,000 events.

        `dry_run`: tells what would be done. `event_id`: of the restoration of a single id; sent again, it changes nothing.
        `key`: of the call; made again under it, it goes on where it was stopped, and answers as it did. `on_progress` is told
        (done, total) of the events.
        Raises InputError for an owner, an id, a key, an actor or a time that cannot be: then nothing is written.
        """
        command = Restore(owner, memories_named(owner, ids, "restore"), reason)
        cause = Cause(actor, self._writer.when(occurred_at))
        return self._carry_out(command, cause, key=key, event_id=event_id, dry_run=dry_run, on_progress=on_progress)

    def _look(
        self, command: Restore, cause: Cause, snapshot: Snapshot, memories: Mapping[str, Memory]
    ) -> tuple[RestorationReport, Planner[PlannedRestoration]]:
        if any(one.deleted_at is not None for one in memories.values()):
            weigh_log(snapshot)
        view, owner = snapshot.view, command.owner
        columns, rejections = view.columns, view.state.rejections
        said = {one.id: rejected_values(rejections, view.as_folded(one), view.get) for one in memories.values()}
        lifts = owner[0] != OWN and is_persons_word(cause.actor, self._writer.by)

        def planner(memories: Mapping[str, Memory], event_id: Callable[[str], str]) -> ManyPlan[PlannedRestoration]:
            deletions = last_deletions(self._views, owner) if memories else {}
            taken = TakenAlong(columns, deletions, memories.values(), partial(causes, self._views, owner))
            return plan_restoration(memories, columns, taken, event_id, lambda memory: said[memory.id] if lifts else ())

        return RestorationReport(owner, list(command.wanted), snapshot.position, warning=snapshot.told), planner


ROUNDS = 3
"""How often at most what was made meanwhile is looked for: a job that began before may end after."""
_BETWEEN = re.compile(r"[\s,;，、；]+")
"""What may stand between ids; none of it can stand inside one."""


def split_ids(texts: Iterable[str]) -> list[str]:
    """Ids separated by commas, semicolons, spaces or newlines in any mixture, Chinese ones too; each once, in order."""
    return list(dict.fromkeys(memory_id for text in texts for memory_id in _BETWEEN.split(text) if memory_id))


class Deleter(ManyActs[Delete, PlannedDeletion, DeletionReport]):
    """Deletes memories of one store. Safe for threads."""

    event, value = MemoryDeleted, ValueRejected
    along = "it went with {root}"

    def delete_many(
        self,
        owner: str,
        ids: Sequence[str],
        *,
        actor: str = "user",
        occurred_at: str | None = None,
        with_sources: bool = False,
        core: bool = False,
        never: bool = False,
        by_name: bool = False,
        dry_run: bool = False,
        event_id: str | None = None,
        key: str | None = None,
        reason: str = "",
        on_progress: Progress = lambda _done, _total: None,
    ) -> DeletionReport:
        """Soft delete, in requests of at most 1,000 events; `on_progress` is told (done, total) of them.

        `with_sources`: turns that say it are retracted too. `core`: core and system memories are meant where they are named.
        `never`: what they say is rejected too, so that it becomes no memory again; a person says so. `by_name`: a single one is
        meant by its name, and then a person rejects what it says, unless another memory says it too. `dry_run`: tells what would
        be done. `event_id`: of the deletion of a single id; sent again, it changes nothing.
        `key`: of the call; made again under it, it goes on where it was stopped, and answers as it did.
        `reason`: why, in words; what goes along has it too.
        Raises InputError for an owner, an id, a key, an actor or a time that cannot be: then nothing is written.
        """
        wanted = memories_named(owner, ids, "delete")
        rejects = by_name and owner[0] != OWN and is_persons_word(actor, self._writer.by)
        command = Delete(owner, wanted, reason, with_sources, core, never, rejects)
        cause = Cause(actor, self._writer.when(occurred_at))
        return self._carry_out(command, cause, key=key, event_id=event_id, dry_run=dry_run, on_progress=on_progress)

    def _look(
        self,
        command: Delete,
        cause: Cause,
        snapshot: Snapshot,
        memories: Mapping[str, Memory],  # noqa: ARG002 - its plan looks at them later
    ) -> tuple[DeletionReport, Planner[PlannedDeletion]]:
        columns = snapshot.view.columns
        cascade = DeletionCascade(columns)
        answer = DeletionReport(command.owner, list(command.wanted), snapshot.position, warning=snapshot.told)
        answer.restorable_until = cause.when + _kept(snapshot)

        def planner(memories: Mapping[str, Memory], event_id: Callable[[str], str]) -> DeletionPlan:
            plan = plan_deletion(command, memories, cascade, event_id, columns)
            answer.still_said_in, answer.spared, answer.hidden = plan.still_said_in, plan.spares, plan.hidden
            return plan

        return answer, planner

    def _add_earlier(self, answer: DeletionReport, before: Mapping[str, list[LogEvent]], *, new: bool) -> None:
        super()._add_earlier(answer, before, new=new)
        with self._reader.snapshot(answer.owner) as snapshot:
            cascade, kept = DeletionCascade(snapshot.view.columns), _kept(snapshot)
        answer.still_said_in, answer.hidden = still_said(cascade, answer.done), cascade.hidden_with(answer.done)
        *_, (first, *_along) = before.values()
        answer.restorable_until = micros(first.event.occurred_at) + kept

    def _tell(
        self,
        command: Delete,
        answer: DeletionReport,
        written: Sequence[PlannedDeletion],
        receipts: list[AppendReceipt],
        cause: Cause,
    ) -> None:
        receipts = receipts + self._follow(command, answer, written, receipts, cause)
        super()._tell(command, answer, written, receipts, cause)
        known = dict.fromkeys([*answer.done, *answer.also], cause.when)
        self._views.deletions.add(answer.owner, known, self._writer.when(None))

    def _follow(
        self,
        command: Delete,
        answer: DeletionReport,
        written: Sequence[PlannedDeletion],
        receipts: Sequence[AppendReceipt],
        cause: Cause,
    ) -> list[AppendReceipt]:
        """Take along what was made of it between the look and the append."""
        receipts_along: list[AppendReceipt] = []
        for _ in range(ROUNDS):
            self._writer.settle([*receipts, *receipts_along])
            with self._reader.snapshot(answer.owner) as snapshot:
                if snapshot.warning:
                    break
                cascade = DeletionCascade(snapshot.view.columns)
                missed = [planned._replace(also=cascade.missed(planned.root)) for planned in written]
            events = [
                self._event(command, made, cause) for planned in missed for made in planned.events(command, root=False)
            ]
            if not events:
                break
            try:
                receipts_along += self._writer.append_all(self._writer.ready(events[:MAX_REQUEST_EVENTS]))
            except EngramlogError as problem:
                answer.error = problem
                break
            answer.also |= {memory_id: why for planned in missed for memory_id, why in planned.reasons.items()}
        return receipts_along


def _kept(snapshot: Snapshot) -> int:
    """For how long what is deleted can be restored, in microseconds."""
    return int(snapshot.view.parameters.deleted_kept_days * DAY)
