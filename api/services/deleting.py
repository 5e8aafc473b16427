"""Deleting memories, with what was made of them: ADR 0021. Whatever stays is named with the reason.

Seed 003, "批量删除": ids separated in any way, core memories skipped. Deletions are soft and can be undone for 30 days.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from api.requests.checks import check_memory_id, check_owner
from api.requests.refusals import checked_key, taken
from api.services.carried import LogEvent, carried_before
from api.services.deletion import DeletionReport
from api.services.reading import Reader
from api.services.restoring import steps, taken_by, weigh_log, with_value
from api.services.writing import Writer
from events.catalogue import MemoryDeleted, ValueRejected
from events.envelope import AnyEvent, micros, new_event_id
from events.errors import ConcurrencyError, EngramlogError, InputError, NotFound, refused
from events.log import AppendReceipt, EventLog
from events.partitions import parse_position, partition_of, position_text
from events.standing import OWN, is_persons_word
from events.vocabulary import MAX_REQUEST_EVENTS
from projections.decide.command import Made
from projections.decide.deleting import Delete, PlannedDeletion, plan_deletion, requests_of, still_said
from projections.fold.working_set import trouble_with
from projections.memory.deletion_cascade import DeletionCascade
from projections.memory.record import DAY, Memory
from projections.redis.view import RedisViews

ROUNDS = 3
"""How often at most what was made meanwhile is looked for: a job that began before may end after."""
_BETWEEN = re.compile(r"[\s,;，、；]+")
"""What may stand between ids; none of it can stand inside one."""
Progress = Callable[[int, int], None]


def split_ids(texts: Iterable[str]) -> list[str]:
    """Ids separated by commas, semicolons, spaces or newlines in any mixture, Chinese ones too; each once, in order."""
    return list(dict.fromkeys(memory_id for text in texts for memory_id in _BETWEEN.split(text) if memory_id))


class Cause(NamedTuple):
    """Who deletes, and when (microseconds since 1970)."""

    actor: str
    when: int
    call: str | None = None
    """What was asked for under a key, as an id that its events carry: another call under the key has another one."""


class Deleter:
    """Deletes memories of one store. Safe for threads."""

    def __init__(self, log: EventLog, reader: Reader, writer: Writer, views: RedisViews) -> None:
        self._log = log
        self._reader = reader
        self._writer = writer
        self._views = views

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
        check_owner(owner)
        wanted = [check_memory_id(memory_id) for memory_id in dict.fromkeys(ids)]
        _check_names(wanted, event_id, key)
        if event_id is not None and (known := self._known(owner, wanted[0], event_id.lower())) is not None:
            return known
        rejects = by_name and owner[0] != OWN and is_persons_word(actor, self._writer.by)
        command = Delete(owner, tuple(wanted), with_sources, core, reason, never, rejects)
        cause = Cause(actor, self._writer.when(occurred_at))
        named = {} if event_id is None else {wanted[0]: event_id}
        before: dict[str, list[LogEvent]] = {}
        if key is not None and not dry_run:
            id_of = self._writer.ids_of(owner, key)
            named = {memory_id: id_of(name) for memory_id, name in command.names.items()}
            cause = cause._replace(call=id_of(command.call))
            before = self._before(command, key, named, cause)
        answer, plan = self._judged(command, wanted, cause.when, named, before)
        if answer.skipped and key is not None and not dry_run:  # an equal call may have been carried out since the look
            before = self._before(command, key, named, cause)
            answer, plan = self._judged(command, wanted, cause.when, named, before)
        answer.dry_run, answer.ids = dry_run, wanted
        if answer.refusal is not None:
            return answer
        if dry_run:
            answer.deleted = [planned.root for planned in plan]
            return answer
        try:
            written, receipts = self._write(command, answer, plan, cause, on_progress)
        except ConcurrencyError:
            if key is None or before:
                raise
            before = self._before(command, key, named, cause)  # whoever sent the same at the same time was first
            if len(before) < len(plan):
                raise
            written, receipts, answer.also = [], [], {}
        if receipts:
            receipts += self._follow(command, answer, written, receipts, cause)
            self._tell(answer, written, receipts, cause.when)
        return answer if not before else self._told_again(answer, before)

    def _judged(
        self, command: Delete, asked: list[str], when: int, named: Mapping[str, str], before: Container[str]
    ) -> tuple[DeletionReport, list[PlannedDeletion]]:
        """What stays and why, and what is to be deleted with what goes along; nothing of what was deleted `before`."""
        owner, wanted = command.owner, [memory_id for memory_id in asked if memory_id not in before]
        self._writer.await_told(owner, wanted)
        with self._reader.snapshot(owner) as snapshot:
            answer = DeletionReport(owner, wanted, snapshot.position, warning=snapshot.told)
            kept = int(snapshot.view.parameters.deleted_kept_days * DAY)
            columns = snapshot.view.columns
            cascade = DeletionCascade(columns)
            memories: dict[str, Memory] = {}
            for memory_id in wanted:
                try:
                    memories[memory_id] = self._reader.memory(snapshot, owner, memory_id)
                except NotFound as problem:
                    answer.beyond_change[memory_id] = problem
        answer.restorable_until = when + kept
        for memory_id, memory in list(memories.items()):
            if trouble_with(memory) is not None and (trouble := self._trouble_of(owner, memory_id)) is not None:
                answer.beyond_change[memory_id] = trouble
                del memories[memory_id]
        plan = plan_deletion(
            command, memories, cascade, lambda memory_id: named.get(memory_id) or new_event_id(), columns
        )
        answer.rejected = [one.root for one in plan.planned if one.values]
        answer.skipped = plan.skipped | {
            memory_id: refusal.message for memory_id, refusal in answer.beyond_change.items()
        }
        answer.also, answer.left_alone, answer.still_said_in = plan.also, plan.left_alone, plan.still_said_in
        answer.spared = plan.spares
        return answer, plan.planned

    def _trouble_of(self, owner: str, memory_id: str) -> InputError | None:
        """Why no verb can change this memory, in the words of all verbs."""
        try:
            self._writer.standing(owner, memory_id)
        except InputError as problem:
            return problem
        return None

    def _write(
        self, command: Delete, answer: DeletionReport, plan: list[PlannedDeletion], cause: Cause, on_progress: Progress
    ) -> tuple[list[PlannedDeletion], list[AppendReceipt]]:
        """Append what is planned; what the store did not take is named in the answer."""
        receipts: list[AppendReceipt] = []
        written: list[PlannedDeletion] = []
        total = sum(planned.size for planned in plan)
        for request in requests_of(plan):
            events = [self._event(command, made, cause) for planned in request for made in planned.events(command)]
            try:
                receipts += self._writer.append_all(self._writer.ready(events))
            except EngramlogError as problem:
                if not receipts:
                    raise
                answer.error = problem
                left = [planned for planned in plan if planned not in written]
                answer.skipped |= {planned.root: f"not written: {problem.message}" for planned in left}
                answer.also = {along.id: along.reason for planned in written for along in planned.also}
                break
            written += request
            on_progress(len(receipts), total)
        return written, receipts

    def _event(self, command: Delete, made: Made, cause: Cause) -> AnyEvent:
        return self._writer.event(
            made.data,
            command.owner,
            cause.when,
            cause.actor,
            event_id=made.event_id,
            causation_id=made.causation_id,
            correlation_id=cause.call,
        )

    def _before(self, command: Delete, key: str, named: Mapping[str, str], cause: Cause) -> dict[str, list[LogEvent]]:
        """What the same call deleted before, by memory. Raises KeyTaken where something else was said under its key."""
        owner = command.owner
        carried = carried_before(self._log, owner, list(named.values()))
        before = {memory_id: carried[event_id] for memory_id, event_id in named.items() if event_id in carried}
        for memory_id, (first, *_) in before.items():
            event = first.event
            said = (event.data, event.actor, event.correlation_id)
            if said != (command.data(memory_id), cause.actor, cause.call):
                raise taken(key, position_text(partition_of(owner, self._log.partitions), first.seq))
        return before

    def _told_again(self, answer: DeletionReport, before: dict[str, list[LogEvent]]) -> DeletionReport:
        """An answer with what was deleted before under the same key."""
        partition = partition_of(answer.owner, self._log.partitions)
        seqs = [one.seq for told in before.values() for one in told]
        self._writer.settle_positions({partition: max(seqs)})
        with self._reader.snapshot(answer.owner) as snapshot:
            cascade = DeletionCascade(snapshot.view.columns)
            kept = int(snapshot.view.parameters.deleted_kept_days * DAY)
            answer.warning = snapshot.told
        answer.deleted = [one for one in answer.ids if one in before or one in answer.deleted]
        for root, (first, *along) in before.items():
            went = [one.event.data.memory_id for one in along if isinstance(one.event.data, MemoryDeleted)]
            answer.also |= dict.fromkeys(went, f"it went with {root}")
            if root not in answer.rejected and any(isinstance(one.event.data, ValueRejected) for one in along):
                answer.rejected.append(root)
            answer.restorable_until = micros(first.event.occurred_at) + kept
        answer.still_said_in = still_said(cascade, answer.deleted)
        answer.changes = self._writer.effects(answer.owner, partition, seqs) + answer.changes
        answer.position = position_text(
            partition, max(seqs + [parse_position(one["position"])[1] for one in answer.changes])
        )
        return answer

    def _follow(
        self,
        command: Delete,
        answer: DeletionReport,
        written: list[PlannedDeletion],
        receipts: list[AppendReceipt],
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
            answer.also |= {along.id: along.reason for planned in missed for along in planned.also}
        return receipts_along

    def _tell(
        self, answer: DeletionReport, written: list[PlannedDeletion], receipts: list[AppendReceipt], when: int
    ) -> None:
        """Wait for the fold, and read from the change log what each deletion did."""
        self._writer.settle(receipts)
        answer.position = receipts[-1].position or answer.position
        answer.changes = self._writer.effects_of(answer.owner, receipts)
        with self._reader.snapshot(answer.owner) as snapshot:
            answer.warning = snapshot.told
        did = {one["memory"]: one for one in answer.changes if one["event"] == MemoryDeleted.__name__}
        for one in written:
            if one.root not in did:
                answer.waiting.append(one.root)
            elif did[one.root]["decision"] == "ignored":
                answer.skipped[one.root] = did[one.root]["reason"]
            else:
                answer.deleted.append(one.root)
        known = dict.fromkeys([*answer.deleted, *answer.also], when)
        self._views.deletions.add(answer.owner, known, self._writer.when(None))

    def _known(self, owner: str, memory_id: str, event_id: str) -> DeletionReport | None:
        """What became of the same deletion where it was asked for before, else None."""
        with self._reader.snapshot(owner) as snapshot:
            row = snapshot.view.columns.row(memory_id)
            deleted_at = None if row is None else snapshot.view.columns.memories[row].deleted_at
            if deleted_at is None:
                return None
            still_said_in = DeletionCascade(snapshot.view.columns).still_said_in(memory_id)
            kept = int(snapshot.view.parameters.deleted_kept_days * DAY)
            warning, partition = snapshot.told, snapshot.partition
            weigh_log(snapshot)
        deletions = steps(self._views, owner, partition)
        if memory_id not in deletions or deletions[memory_id].event_id != event_id:
            return None
        along = taken_by(self._views, owner, deletions, deletions[memory_id])
        went = [deletions[each].change for each in (memory_id, *along)]
        changes = with_value(self._views, owner, partition, "reject", deletions[memory_id], went)
        return DeletionReport(
            owner,
            [memory_id],
            changes[-1]["position"],
            deleted=[memory_id],
            also=dict.fromkeys(along, f"it went with {memory_id}"),
            still_said_in=still_said_in,
            rejected=[memory_id] if len(changes) > len(went) else [],
            changes=changes,
            restorable_until=deleted_at + kept,
            warning=warning,
        )


def _check_names(wanted: Sequence[str], event_id: str | None, key: str | None) -> None:
    """Raises InputError where nothing is named, or the call is named in two ways."""
    if not wanted:
        raise refused("ids", "none", "the ids of memories to delete")
    if event_id is not None and len(wanted) > 1:
        raise refused("event_id", event_id, "nothing beside several ids: each deletion has an id of its own")
    if key is not None:
        if event_id is not None:
            raise refused("event_id", event_id, "nothing beside a key: its id is made of that")
        checked_key(key)
