"""What a verb asks of an owner before it is carried out: whether memories stand, and what of what they say is rejected."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

from api.requests.checks import check_memory_id
from api.requests.refusals import refuse_rejected
from api.requests.snapshots import Snapshot
from api.services.carrying.appender import Appender
from events.errors import InputError, NotYetFolded, OwnerTooLarge
from events.partitions import parse_position
from events.statement_digests import digest
from projections.decide.rejecting import rejected_values
from projections.language.contradiction.change import Alike
from projections.language.statements import statement
from projections.memory.record import Memory


class BeforeVerbs(Appender):
    """Looks at one store's owners as verbs find them: by all that was told before."""

    @property
    def alike(self) -> Alike:
        """How near texts are in meaning, for the judge."""
        return self._reader.alike

    def await_told(self, owner: str, memory_ids: Iterable[str]) -> None:
        """Where one of these memories is not there, and newer events of the owner may tell of it: wait for their fold.

        So a verb finds what was appended just before it. Raises NotYetFolded where nothing moves.
        """
        with self._reader.snapshot(owner) as snapshot:
            partition, known = parse_position(snapshot.position)
            late = snapshot.behind if snapshot.quarantine is None else 0  # what is parked waits for an operator
            missing = any(snapshot.view.get(check_memory_id(one)) is None for one in memory_ids) if late else False
        if missing:
            self.settle_positions({partition: known + late})

    def standing(self, owner: str, memory_id: str, *, live: bool = False) -> Memory:
        """The memory, if events may still change it: or a delete would be written, ignored and believed.

        `live`: it must not be deleted, either.
        Raises NotFound, NotYetFolded where newer events may tell of it and nobody folds them, or InputError where the memory
        was purged or another stands for it.
        """
        self.await_told(owner, [memory_id])
        with self._reader.snapshot(owner) as snapshot:
            memory = self._reader.memory(snapshot, owner, memory_id)
        where = {"owner": owner, "memory_id": memory_id}
        if memory.purged_at is not None:
            raise InputError(
                f"memory {memory_id} was purged: only a tombstone is left, and nothing can change it", **where
            )
        if memory.merged_into is not None:
            raise InputError(
                f"memory {memory_id} was merged into {memory.merged_into}, which stands for it: name that one, or bring"
                f" the sources back first (`engramlog unmerge {owner} {memory.merged_into}`)",
                merged_into=memory.merged_into,
                **where,
            )
        if live and memory.deleted_at is not None:
            raise InputError(
                f"memory {memory_id} is deleted: bring it back first (`engramlog delete --undo {owner} {memory_id}`)",
                **where,
            )
        return memory

    def is_there(self, owner: str, memory_id: str) -> bool:
        """Whether the owner has, or had, a memory of this id, by all that was told before."""
        self.await_told(owner, [memory_id])
        with self._reader.snapshot(owner) as snapshot:
            return snapshot.view.get(memory_id) is not None

    def rejected_of(self, owner: str, memory_id: str) -> tuple[str, ...]:
        """What a memory says that is rejected now, as events name values; none where it is not there."""
        self.await_told(owner, [memory_id])
        with self._reader.snapshot(owner) as snapshot:
            view = snapshot.view
            memory = view.get(memory_id)
            return () if memory is None else rejected_values(view.state.rejections, view.as_folded(memory), view.get)

    def value_of(self, owner: str, text: str) -> bytes:
        """The digest by which what a text says is known again, 16 bytes; empty for an owner without a secret."""
        secret = self._log.secrets_of([owner]).get(owner, b"")
        return digest(secret, statement(text)) if secret else b""

    def value_in(self, snapshot: Snapshot, text: str) -> bytes:
        """`value_of` by a state that is held: an owner of whom anything is known has a secret, asked for once."""
        view = snapshot.view
        if not view.naming.secret and view.state.applied:
            view.naming = self._log.naming(view.owner)
        return digest(view.naming.secret, statement(text)) if view.naming.secret else b""

    def refuse_rejected(self, owner: str, text: str, when: int) -> None:
        """Raises InputError where a person rejected what a text says: the fold would pass it over, and here it is told sooner."""
        with self._reader.snapshot(owner) as snapshot:
            refuse_rejected(snapshot, self.value_in(snapshot, text), when)

    @contextmanager
    def newest(self, owner: str) -> Iterator[tuple[Snapshot, int | None]]:
        """The owner's newest state with its head; None where it stands still, or where nobody folds what was told before."""
        with self._reader.snapshot(owner) as snapshot:
            if snapshot.quarantine is not None or not snapshot.behind:
                yield snapshot, None if snapshot.quarantine is not None else snapshot.head
                return
            partition, known = parse_position(snapshot.position)
        try:
            self.settle_positions({partition: known + snapshot.behind})
        except NotYetFolded:
            with self._reader.snapshot(owner) as stale:
                yield stale, None
            return
        with self._reader.snapshot(owner) as level:
            # What came since is not in it: a head that is known to have moved has the look made anew.
            yield level, parse_position(level.position)[1] if level.behind else level.head

    def told_records(self, owner: str, ids: Collection[str]) -> Mapping[str, Memory]:
        """What was just written tells of these memories; as they were folded where the owner has too many to be loaded."""
        try:
            with self.newest(owner) as (snapshot, _):
                return {one: memory for one in ids if (memory := snapshot.view.get(one)) is not None}
        except OwnerTooLarge:
            return self._views.told_records(owner, ids)
