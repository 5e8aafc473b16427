"""Restoring many deleted memories with what their deletions took along: what undoes a deletion of many with one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from api.requests.snapshots import Snapshot
from api.services.many.acts import Cause, ManyActs, Planner, Progress, memories_named
from api.services.many.report import RestorationReport
from api.services.restoring import causes, steps, weigh_log
from events.catalogue import MemoryRestored, ValueReadmitted
from events.standing import OWN, is_persons_word
from projections.decide.many import ManyPlan
from projections.decide.rejecting import rejected_values
from projections.decide.restoring import TakenAlong
from projections.decide.restoring_many import PlannedRestoration, Restore, plan_restoration
from projections.memory.record import Memory


class ManyRestorer(ManyActs[Restore, PlannedRestoration, RestorationReport]):
    """Restores memories of one store. Safe for threads."""

    event, value = MemoryRestored, ValueReadmitted
    along = "it went with {root}, or was made of it"

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
        command = Restore(owner, memories_named(owner, ids, "restore"), reason)
        cause = Cause(actor, self._writer.when(occurred_at))
        return self._carry_out(command, cause, key=key, dry_run=dry_run, on_progress=on_progress)

    def _look(
        self, command: Restore, cause: Cause, snapshot: Snapshot, memories: Mapping[str, Memory]
    ) -> tuple[RestorationReport, Planner[PlannedRestoration]]:
        if any(one.deleted_at is not None for one in memories.values()):
            weigh_log(snapshot)
        view, partition, owner = snapshot.view, snapshot.partition, command.owner
        columns, rejections = view.columns, view.state.rejections
        said = {one.id: rejected_values(rejections, view.as_folded(one), view.get) for one in memories.values()}
        lifts = owner[0] != OWN and is_persons_word(cause.actor, self._writer.by)

        def planner(memories: Mapping[str, Memory], event_id: Callable[[str], str]) -> ManyPlan[PlannedRestoration]:
            deletions = steps(self._views, owner, partition) if memories else {}
            taken = TakenAlong(columns, deletions, memories.values(), partial(causes, self._views, owner))
            return plan_restoration(memories, columns, taken, event_id, lambda memory: said[memory.id] if lifts else ())

        return RestorationReport(owner, list(command.wanted), snapshot.position, warning=snapshot.told), planner
