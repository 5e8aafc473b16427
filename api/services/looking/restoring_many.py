"""Restoring many deleted memories with what their deletions took along: what undoes a deletion of many with one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from api.requests.checks import check_memory_id, check_owner
from api.requests.refusals import checked_key, taken
from api.services.carried import LogEvent, carried_before
from api.services.deleting import Cause
from api.services.looking.restoration import RestorationReport
from api.services.reading import Reader
from api.services.restoring import causes, steps, weigh_log
from api.services.writing import Writer
from events.catalogue import MemoryRestored, ValueReadmitted
from events.envelope import AnyEvent, new_event_id
from events.errors import ConcurrencyError, EngramlogError, InputError, NotFound, refused
from events.log import AppendReceipt, EventLog
from events.partitions import parse_position, partition_of, position_text
from events.standing import OWN, is_persons_word
from projections.decide.command import Made
from projections.decide.deleting import requests_of
from projections.decide.rejecting import rejected_values
from projections.decide.restoring import MayReturn, gone_now
from projections.decide.restoring_many import (
    PlannedRestoration,
    Restore,
    TakenAlong,
    asked_about,
    plan_restoration,
)
from projections.fold.working_set import trouble_with
from projections.memory.record import Memory
from projections.redis.view import RedisViews

Progress = Callable[[int, int], None]


class ManyRestorer:
    """Restores memories of one store. Safe for threads."""

    def __init__(self, log: EventLog, reader: Reader, writer: Writer, views: RedisViews) -> None:
        self._log = log
        self._reader = reader
        self._writer = writer
        self._views = views

    def restore_many(
        self,
        owner: str,
        ids: Sequence[str],
        *,
        actor: str = "user",
        occurred_at: str | None = None,
        dry_run: bool = False,
        key: str | None = None,
        reason: str = "",
        on_progress: Progress = lambda _done, _total: None,
    ) -> RestorationReport:
        """Undo soft deletes, and those of what went with these memories and may stand now; in requests of at most 1,000 events.

        `dry_run`: tells what would be done. `key`: of the call; made again under it, it goes on where it was stopped, and answers
        as it did. `on_progress` is told (done, total) of the events.
        Raises InputError for an owner, an id, a key, an actor or a time that cannot be: then nothing is written.
        """
        check_owner(owner)
        wanted = [check_memory_id(memory_id) for memory_id in dict.fromkeys(ids)]
        if not wanted:
            raise refused("ids", "none", "the ids of memories to restore")
        if key is not None:
            checked_key(key)
        command, cause = Restore(owner, tuple(wanted), reason), Cause(actor, self._writer.when(occurred_at))
        named, before = dict[str, str](), dict[str, list[LogEvent]]()
        if key is not None and not dry_run:
            id_of = self._writer.ids_of(owner, key)
            named = {memory_id: id_of(name) for memory_id, name in command.names.items()}
            cause = cause._replace(call=id_of(command.call))
            before = self._before(command, key, named, cause)
        answer, plan = self._judged(command, named, before, cause)
        if answer.skipped and key is not None and not dry_run:  # an equal call may have been carried out since the look
            before = self._before(command, key, named, cause)
            answer, plan = self._judged(command, named, before, cause)
        answer.dry_run, answer.ids = dry_run, wanted
        if answer.refusal is not None:
            return answer
        if dry_run:
            answer.restored = [planned.root for planned in plan]
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
            self._tell(answer, written, receipts)
        return answer if not before else self._told_again(answer, before, new=bool(receipts))

    def _judged(
        self, command: Restore, named: Mapping[str, str], before: Mapping[str, list[LogEvent]], cause: Cause
    ) -> tuple[RestorationReport, list[PlannedRestoration]]:
        """What stays deleted and why, and what comes back with what; nothing of what came back `before`."""
        owner, wanted = command.owner, [memory_id for memory_id in command.wanted if memory_id not in before]
        self._writer.await_told(owner, wanted)
        with self._reader.snapshot(owner) as snapshot:
            answer = RestorationReport(owner, list(command.wanted), snapshot.position, warning=snapshot.told)
            memories: dict[str, Memory] = {}
            for memory_id in wanted:
                try:
                    memories[memory_id] = self._reader.memory(snapshot, owner, memory_id)
                except NotFound as problem:
                    answer.beyond_change[memory_id] = problem
            if any(one.deleted_at is not None for one in memories.values()):
                weigh_log(snapshot)
            view, partition = snapshot.view, snapshot.partition
            columns, rejections = view.columns, view.state.rejections
            said = {one.id: rejected_values(rejections, view.as_folded(one), view.get) for one in memories.values()}
        for memory_id, memory in list(memories.items()):
            if trouble_with(memory) is not None and (trouble := self._trouble_of(owner, memory_id)) is not None:
                answer.beyond_change[memory_id] = trouble
                del memories[memory_id]
        lifts = owner[0] != OWN and is_persons_word(cause.actor, self._writer.by)
        deletions = steps(self._views, owner, partition) if memories else {}
        asked = asked_about(columns, deletions, memories.values())
        plan = plan_restoration(
            memories,
            columns,
            TakenAlong(deletions, causes(self._views, owner, asked)),
            MayReturn(columns, gone_now(columns, deletions)),
            lambda memory_id: named.get(memory_id) or new_event_id(),
            lambda memory: said[memory.id] if lifts else (),
        )
        answer.readmitted = [one.root for one in plan.planned if one.values]
        answer.skipped = plan.skipped | {one: refusal.message for one, refusal in answer.beyond_change.items()}
        answer.also, answer.stays = plan.also, plan.stays
        return answer, plan.planned

    def _trouble_of(self, owner: str, memory_id: str) -> InputError | None:
        """Why no verb can change this memory, in the words of all verbs."""
        try:
            self._writer.standing(owner, memory_id)
        except InputError as problem:
            return problem
        return None

    def _write(
        self,
        command: Restore,
        answer: RestorationReport,
        plan: list[PlannedRestoration],
        cause: Cause,
        on_progress: Progress,
    ) -> tuple[list[PlannedRestoration], list[AppendReceipt]]:
        """Append what is planned; what the store did not take is named in the answer."""
        receipts: list[AppendReceipt] = []
        written: list[PlannedRestoration] = []
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
                came = {one for planned in written for one in planned.also}
                answer.also = {one: reason for one, reason in answer.also.items() if one in came}
                break
            written += request
            on_progress(len(receipts), total)
        return written, receipts

    def _event(self, command: Restore, made: Made, cause: Cause) -> AnyEvent:
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
        self, answer: RestorationReport, written: list[PlannedRestoration], receipts: list[AppendReceipt]
    ) -> None:
        """Wait for the fold, and read from the change log what each restoration did."""
        self._writer.settle(receipts)
        answer.position = receipts[-1].position or answer.position
        with self._reader.snapshot(answer.owner) as snapshot:
            answer.warning = snapshot.told
        changes = self._writer.effects_of(answer.owner, receipts)
        did = {one["memory"]: one for one in changes if one["event"] == MemoryRestored.__name__}
        for one in written:
            if one.root not in did:
                answer.waiting.append(one.root)
            elif did[one.root]["decision"] == "ignored":
                answer.skipped[one.root] = did[one.root]["reason"]
            else:
                answer.restored.append(one.root)

    def _before(self, command: Restore, key: str, named: Mapping[str, str], cause: Cause) -> dict[str, list[LogEvent]]:
        """What the same call brought back before, by memory. Raises KeyTaken where something else was said under its key."""
        owner = command.owner
        carried = carried_before(self._log, owner, list(named.values()))
        before = {memory_id: carried[event_id] for memory_id, event_id in named.items() if event_id in carried}
        for memory_id, (first, *_) in before.items():
            event = first.event
            said = (event.data, event.actor, event.correlation_id)
            if said != (command.data(memory_id), cause.actor, cause.call):
                raise taken(key, position_text(partition_of(owner, self._log.partitions), first.seq))
        return before

    def _told_again(
        self, answer: RestorationReport, before: Mapping[str, list[LogEvent]], *, new: bool
    ) -> RestorationReport:
        """An answer with what came back before under the same key. `new`: something else came back now."""
        partition = partition_of(answer.owner, self._log.partitions)
        last = max(one.seq for told in before.values() for one in told)
        self._writer.settle_positions({partition: last})
        with self._reader.snapshot(answer.owner) as snapshot:
            answer.warning = snapshot.told
        answer.restored = [one for one in answer.ids if one in before or one in answer.restored]
        for root, (_, *along) in before.items():
            came = [one.event.data.memory_id for one in along if isinstance(one.event.data, MemoryRestored)]
            answer.also |= dict.fromkeys(came, f"it went with {root}, or was made of it")
            if root not in answer.readmitted and any(isinstance(one.event.data, ValueReadmitted) for one in along):
                answer.readmitted.append(root)
        answer.position = position_text(partition, max(last, parse_position(answer.position)[1]) if new else last)
        return answer
