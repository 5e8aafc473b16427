"""Deleting memories, with what was made of them. Whatever stays is named with the reason.

Seed 003, "批量删除": ids separated in any way, core memories skipped. Deletions are soft and can be undone for 30 days.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from api.requests.snapshots import Snapshot
from api.services.carrying.carried import LogEvent
from api.services.many.acts import Cause, ManyActs, Planner, Progress, memories_named
from api.services.many.report import DeletionReport
from api.services.restoring import steps, taken_by, weigh_log, with_value
from events.catalogue import MemoryDeleted, ValueRejected
from events.envelope import micros
from events.errors import EngramlogError, refused
from events.log import AppendReceipt
from events.standing import OWN, is_persons_word
from events.vocabulary import MAX_REQUEST_EVENTS
from projections.decide.deleting import Delete, DeletionPlan, PlannedDeletion, plan_deletion, still_said
from projections.memory.deletion_cascade import DeletionCascade
from projections.memory.record import DAY, Memory

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
        if event_id is not None and len(wanted) > 1:
            raise refused("event_id", event_id, "nothing beside several ids: each deletion has an id of its own")
        if event_id is not None and key is not None:
            raise refused("event_id", event_id, "nothing beside a key: its id is made of that")
        if event_id is not None and (known := self._known(owner, wanted[0], event_id.lower())) is not None:
            return known
        rejects = by_name and owner[0] != OWN and is_persons_word(actor, self._writer.by)
        command = Delete(owner, wanted, reason, with_sources, core, never, rejects)
        named = {} if event_id is None else {wanted[0]: event_id}
        cause = Cause(actor, self._writer.when(occurred_at))
        return self._carry_out(command, cause, key=key, dry_run=dry_run, on_progress=on_progress, event_ids=named)

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

    def _tell_again(self, answer: DeletionReport, before: Mapping[str, list[LogEvent]], *, new: bool) -> None:
        super()._tell_again(answer, before, new=new)
        with self._reader.snapshot(answer.owner) as snapshot:
            cascade, kept, partition = DeletionCascade(snapshot.view.columns), _kept(snapshot), snapshot.partition
        answer.still_said_in, answer.hidden = still_said(cascade, answer.done), cascade.hidden_with(answer.done)
        *_, (first, *_along) = before.values()
        answer.restorable_until = micros(first.event.occurred_at) + kept
        seqs = [one.seq for told in before.values() for one in told]
        answer.changes = self._writer.effects(answer.owner, partition, seqs) + answer.changes

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

    def _known(self, owner: str, memory_id: str, event_id: str) -> DeletionReport | None:
        """What became of the same deletion where it was asked for before, else None."""
        with self._reader.snapshot(owner) as snapshot:
            row = snapshot.view.columns.row(memory_id)
            deleted_at = None if row is None else snapshot.view.columns.memories[row].deleted_at
            if deleted_at is None:
                return None
            cascade = DeletionCascade(snapshot.view.columns)
            still_said_in, hidden = cascade.still_said_in(memory_id), cascade.hidden_with([memory_id])
            kept = _kept(snapshot)
            warning, partition = snapshot.told, snapshot.partition
            weigh_log(snapshot)
        deletions = steps(self._views, owner, partition)
        if memory_id not in deletions or deletions[memory_id].event_id != event_id:
            return None
        self._log.prove(owner, self._log.seqs_of(owner, [event_id]))
        along = taken_by(self._views, owner, deletions, deletions[memory_id])
        went = [deletions[each].change for each in (memory_id, *along)]
        changes = with_value(self._views, owner, partition, "reject", deletions[memory_id], went)
        return DeletionReport(
            owner,
            [memory_id],
            changes[-1]["position"],
            done=[memory_id],
            also=dict.fromkeys(along, f"it went with {memory_id}"),
            still_said_in=still_said_in,
            hidden=hidden,
            values=[memory_id] if len(changes) > len(went) else [],
            changes=changes,
            restorable_until=deleted_at + kept,
            warning=warning,
        )


def _kept(snapshot: Snapshot) -> int:
    """For how long what is deleted can be restored, in microseconds."""
    return int(snapshot.view.parameters.deleted_kept_days * DAY)
