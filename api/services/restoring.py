"""Restoring a deleted memory with what its deletion took along, not with what somebody deleted by itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from engramlog_server.api.requests.checks import check_memory_id, check_owner
from engramlog_server.api.requests.snapshots import PIECE, Snapshot
from engramlog_server.api.services.carrier import carried_before, taken
from engramlog_server.api.services.deletion_report import told_of
from engramlog_server.api.services.histories import SCANNED
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.writing import Writer
from engramlog_server.api.shapes import Change, Restored, Skipped
from engramlog_server.api.work.patience import current_check, weigh
from engramlog_server.events.catalogue import MemoryRestored
from engramlog_server.events.envelope import decode, derived_id, new_event_id
from engramlog_server.events.errors import ConcurrencyError, EventIdTaken, InputError, refused
from engramlog_server.events.log import AppendReceipt, EventLog
from engramlog_server.events.partitions import parse_position, partition_of, position_text
from engramlog_server.events.standing import OWN, is_persons_word
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS
from engramlog_server.projections.decide.command import EVENT
from engramlog_server.projections.decide.restoring import LastDeletion, TakenAlong, restoration
from engramlog_server.projections.fold.changelog import DECISIONS
from engramlog_server.projections.memory.deletion_cascade import DeletionCascade
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.redis.view import RedisViews


def steps(views: RedisViews, owner: str, partition: int, decision: str = "delete") -> dict[str, LastDeletion]:
    """The newest deletion of each memory, or its newest `restore`: the change log is read pack by pack, the newest first.

    Whoever asks weighs the owner's change log first (`weigh_log`): it may be long.
    """
    wanted, found = DECISIONS.index(decision), dict[str, LastDeletion]()
    for _, entry in views.changelogs.entries(owner, newest=True, check=current_check()):
        if entry.decision == wanted and entry.memory_id and entry.memory_id not in found:
            found[entry.memory_id] = LastDeletion(entry, partition)
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


def taken_by(views: RedisViews, owner: str, found: Mapping[str, LastDeletion], root: LastDeletion) -> list[str]:
    """Ids of the memories that a deletion took along, or a restoration brought back, in the order of the log."""
    near = {name: one for name, one in found.items() if one.at == root.at and one.seq > root.seq}
    cause = causes(views, owner, near)
    return sorted((name for name in near if cause[name] == root.event_id), key=lambda name: near[name].seq)


def with_value(
    views: RedisViews, owner: str, partition: int, decision: str, root: LastDeletion, changes: list[Change]
) -> list[Change]:
    """These changes with what the deletion `root` rejected (`reject`), or the restoration took up again (`readmit`)."""
    step = steps(views, owner, partition, decision).get(root.entry.memory_id)
    if step is None or step.event_id != derived_id(f"{decision} along", owner, root.event_id, root.entry.memory_id):
        return changes
    return sorted([*changes, step.change], key=lambda one: parse_position(one["position"]))


class Restorer:
    """Restores memories of one store. Safe for threads."""

    def __init__(self, log: EventLog, reader: Reader, writer: Writer, views: RedisViews) -> None:
        self._log = log
        self._reader = reader
        self._writer = writer
        self._views = views

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
        """Undo a soft delete, and that of what went with it and may stand now.

        `also` names what came back too, `not_restored` what went with it and stays deleted, each with the reason.
        `event_id`: of the restoration, or `key`, of the call; sent again, it changes nothing.
        Raises NotFound, or InputError where the memory was purged or another stands for it.
        """
        check_memory_id(memory_id)
        if key is not None:
            if event_id is not None:
                raise refused("event_id", event_id, "nothing beside a key: its id is made of that")
            check_owner(owner)
            event_id = self._writer.ids_of(owner, key)(EVENT)
        found: Memory | InputError
        try:
            found = self._writer.standing(owner, memory_id)
        except InputError as problem:
            found = problem
        # Only now, with the memory read: what an equal call did until here is found.
        if key is not None and event_id is not None:
            before = self._before(owner, memory_id, event_id, key, actor, reason)
            if before is not None:
                return before
        if isinstance(found, InputError):
            raise found
        if event_id is not None and (known := self._known(owner, found, event_id.lower())) is not None:
            return known
        when = self._writer.when(occurred_at)
        back, left = self._judged(owner, found)
        lifts = owner[0] != OWN and is_persons_word(actor, self._writer.by)
        values = self._writer.rejected_of(owner, memory_id) if lifts else ()
        root = event_id or new_event_id()
        events = [
            self._writer.event(made.data, owner, when, actor, event_id=made.event_id, causation_id=made.causation_id)
            for made in restoration(owner, memory_id, back, root, reason, values)
        ]
        receipts: list[AppendReceipt] = []
        try:
            for start in range(0, len(events), MAX_REQUEST_EVENTS):
                receipts += self._writer.append_all(self._writer.ready(events[start : start + MAX_REQUEST_EVENTS]))
        except (ConcurrencyError, EventIdTaken):
            before = None if key is None else self._before(owner, memory_id, root, key, actor, reason)
            if before is None:
                raise
            return before
        self._writer.settle(receipts)
        with self._reader.snapshot(owner) as snapshot:
            warning = snapshot.told
        changes = self._writer.effects_of(owner, receipts)
        return {**_told(owner, memory_id, back, left, receipts[-1].position or "", changes), **warning}

    def _before(self, owner: str, memory_id: str, event_id: str, key: str, actor: str, reason: str) -> Restored | None:
        """What the same call did under this key before, else None. Raises KeyTaken where it did something else."""
        done = carried_before(self._log, owner, [event_id]).get(event_id)
        if not done:
            return None
        partition = partition_of(owner, self._log.partitions)
        root, *along = done
        if root.event.data != MemoryRestored(memory_id=memory_id, reason=reason) or root.event.actor != actor:
            raise taken(key, position_text(partition, root.seq))
        self._writer.settle_positions({partition: done[-1].seq})
        changes = self._writer.effects(owner, partition, [one.seq for one in done])
        back = [one.event.data.memory_id for one in along if isinstance(one.event.data, MemoryRestored)]
        with self._reader.snapshot(owner) as snapshot:
            position = position_text(partition, done[-1].seq)
            return {**_told(owner, memory_id, back, [], position, changes), **snapshot.told}

    def _known(self, owner: str, memory: Memory, event_id: str) -> Restored | None:
        """What the same restoration did where it was asked for before, else None."""
        if memory.restored_at is None:
            return None
        with self._reader.snapshot(owner) as snapshot:
            partition, warning = snapshot.partition, snapshot.told
            weigh_log(snapshot)
        found = steps(self._views, owner, partition, "restore")
        if memory.id not in found or found[memory.id].event_id != event_id:
            return None
        self._log.prove(owner, self._log.seqs_of(owner, [event_id]))
        back = taken_by(self._views, owner, found, found[memory.id])
        changes = [found[one].change for one in (memory.id, *back)]
        changes = with_value(self._views, owner, partition, "readmit", found[memory.id], changes)
        return {**_told(owner, memory.id, back, [], changes[-1]["position"], changes), **warning}

    def _judged(self, owner: str, memory: Memory) -> tuple[list[str], list[Skipped]]:
        """What comes back too, and what stays deleted and why."""
        if memory.deleted_at is None:
            return [], []
        with self._reader.snapshot(owner) as snapshot:
            weigh_log(snapshot)
            columns, partition = snapshot.view.columns, snapshot.partition
            cascade = DeletionCascade(columns)
        deletions = steps(self._views, owner, partition)
        if memory.id not in deletions:
            return [], []
        taken = TakenAlong(columns, deletions, [memory], partial(causes, self._views, owner))
        back, left = cascade.returning(memory.id, taken.along(memory))
        return back, [told_of(one.id, one.reason) for one in left]


def _told(
    owner: str,
    memory_id: str,
    back: list[str],
    left: list[Skipped],
    position: str,
    changes: list[Change],
) -> Restored:
    also = [told_of(one, f"it went with {memory_id}, or was made of it") for one in back]
    return {
        "id": memory_id,
        "also": also,
        "not_restored": left,
        "owner": owner,
        "position": position,
        "changes": changes,
    }
