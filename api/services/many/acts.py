"""Carrying out what is asked of many memories at once: judged, appended in requests of at most 1,000 events, and told of each.

Under a key it is carried out once: made again, it goes on where it was stopped, and answers as it did.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from api.requests.checks import check_memory_id, check_owner
from api.requests.refusals import checked_key, taken
from api.requests.snapshots import Snapshot
from api.services.carrying.carried import LogEvent, carried_before
from api.services.many.report import ManyReport
from api.services.reading import Reader
from api.services.writing import Writer
from events.catalogue import MemoryDeleted, MemoryRestored, ValueReadmitted, ValueRejected
from events.envelope import AnyEvent, new_event_id
from events.errors import ConcurrencyError, EngramlogError, EventIdTaken, InputError, NotFound, UnderReplicated, refused
from events.log import AppendReceipt, EventLog
from events.partitions import parse_position, partition_of, position_text
from projections.decide.command import Made
from projections.decide.many import C, ManyPlan, P, requests_of
from projections.fold.working_set import trouble_with
from projections.memory.record import Memory
from projections.redis.view import RedisViews

R = TypeVar("R", bound=ManyReport)
Progress = Callable[[int, int], None]
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
        raise refused("ids", "none", f"the ids of memories to {what}")
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
        dry_run: bool,
        on_progress: Progress,
        event_ids: Mapping[str, str] | None = None,
    ) -> R:
        """Judge, append, wait for the fold, and tell. `event_ids`: of the events, by memory, where somebody told them."""
        if key is not None:
            checked_key(key)
        keyed, named, before = None if dry_run else key, event_ids or {}, dict[str, list[LogEvent]]()
        if keyed is not None:
            id_of = self._writer.ids_of(command.owner, keyed)
            named = {memory_id: id_of(name) for memory_id, name in command.names.items()}
            cause = cause._replace(call=id_of(command.call))
            before = self._before(command, keyed, named, cause)
        answer, planned = self._judged(command, named, before, cause)
        if answer.skipped and keyed is not None:  # an equal call may have been carried out since the look
            before = self._before(command, keyed, named, cause)
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
            if keyed is None or before:
                raise
            before = self._before(command, keyed, named, cause)  # whoever sent the same at the same time was first
            if len(before) < len(planned):
                raise
            written, receipts, answer.also = [], [], {}
        if receipts:
            self._tell(command, answer, written, receipts, cause)
        if before:
            self._tell_again(answer, before, new=bool(receipts))
        return answer

    def _judged(
        self, command: C, named: Mapping[str, str], before: Mapping[str, list[LogEvent]], cause: Cause
    ) -> tuple[R, list[P]]:
        """With what nothing is done and why, and what is done with what goes along; nothing of what was done `before`."""
        owner, wanted = command.owner, [memory_id for memory_id in command.wanted if memory_id not in before]
        memories, refused_ids = dict[str, Memory](), dict[str, InputError]()
        self._writer.await_told(owner, wanted)
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

    def _before(self, command: C, key: str, named: Mapping[str, str], cause: Cause) -> dict[str, list[LogEvent]]:
        """What the same call did before, by memory. Raises KeyTaken where something else was said under its key."""
        owner = command.owner
        carried = carried_before(self._log, owner, list(named.values()))
        before = {memory_id: carried[event_id] for memory_id, event_id in named.items() if event_id in carried}
        for memory_id, (first, *_) in before.items():
            event = first.event
            said = (event.data, event.actor, event.correlation_id)
            if said != (command.data(memory_id), cause.actor, cause.call):
                raise taken(key, position_text(partition_of(owner, self._log.partitions), first.seq))
        return before

    def _tell_again(self, answer: R, before: Mapping[str, list[LogEvent]], *, new: bool) -> None:
        """Put what was done before under the same key into an answer. `new`: something else was done now."""
        partition = partition_of(answer.owner, self._log.partitions)
        last = max(one.seq for told in before.values() for one in told)
        self._writer.settle_positions({partition: last})
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
