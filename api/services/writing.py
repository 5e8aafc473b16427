"""Writing: raw events, and the verbs that people use: negate, merge, un-merge; deleting and restoring build on it.

Every verb only appends; what it did is read from the change log once the events are folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import orjson
from msgspec import structs

from api.requests.checks import check_memory_id, check_owner, parse_instant
from api.requests.secrets import label_objection
from api.requests.speaking import speaker
from api.services.reading import Reader
from events.catalogue import (
    MemoryCreated,
    MemoryMentioned,
    MemoryMerged,
    MemoryNegated,
    MemoryPromoted,
    MemoryUnmerged,
    SensitivitySet,
)
from events.envelope import AnyEvent, from_micros, new_event_id, prepare
from events.errors import ConcurrencyError, EngramlogError, InputError, InvalidBatch, StoreUnavailable, refused
from events.log import EventLog, Receipt, positions_by_partition
from events.partitions import parse_position, partition_of
from events.standing import FIRM, Speaker
from events.validation import judged, make_event, read_events
from projections.fold.changelog import describe
from projections.lifecycle.merging import merged_text
from projections.memory.record import Memory
from projections.redis.view import RedisViews


class CatchUp(Protocol):
    """Waits for the fold, or folds where no worker does."""

    def __call__(self, until: Mapping[int, int]) -> None:
        """Returns once these positions (partition -> seq) are folded; raises NotYetFolded where nobody folds them."""

    def tend(self, partition: int) -> None:
        """Have what operators ask of a partition carried out, where no worker does."""


NEWEST = 64
"""How many events beside its own a verb looks back over at first."""


class Writer:
    """Appends events to one store. `catch_up` waits for the fold, or folds where no worker does."""

    def __init__(self, log: EventLog, views: RedisViews, reader: Reader, catch_up: CatchUp) -> None:
        self._log = log
        self._views = views
        self._reader = reader
        self._catch_up = catch_up

    def append(self, raws: Sequence[bytes | str], *, expected_heads: Mapping[str, int] | None = None) -> list[Receipt]:
        """Validate a request of JSON envelopes from outside whole, then append it; one receipt per event.

        Nobody outside speaks as operator or system (`events.standing`): those use the command line at the store.
        """
        try:
            events = read_events(
                raws, now=self._log.now(), by=Speaker("http", self._log.principal, raw=True), look=label_objection
            )
        except InvalidBatch as refused:
            raise judged(refused, self._log.behind()) from None
        receipts = self._log.append(events, expected_heads=expected_heads)
        return [self._dated(receipt, event.owner) for receipt, event in zip(receipts, events, strict=True)]

    def _dated(self, receipt: Receipt, owner: str) -> Receipt:
        """A conflict with the time of what has the id, so that its owner can tell an earlier try of his own by it."""
        if receipt.status != "conflict" or receipt.position is None:
            return receipt
        partition, seq = parse_position(receipt.position)
        there = (stored for stored in self._log.read_at(partition, [seq]) if stored.owner == owner)
        times = (orjson.loads(stored.body).get("occurred_at") for stored in there)
        return structs.replace(receipt, occurred_at=next(times, None))

    def settle(self, receipts: Sequence[Receipt]) -> None:
        """Wait until everything that was written is folded."""
        self.settle_positions(positions_by_partition(r.position for r in receipts if r.position and r.written))

    def settle_positions(self, until: Mapping[int, int]) -> None:
        """Wait until every partition named is folded up to its seq."""
        if until:
            self._catch_up(until)

    def nudge(self, owner: str) -> None:
        """Have the owner's partition tended once, where no worker does."""
        self._catch_up.tend(partition_of(owner, self._log.partitions))

    def negate(
        self,
        owner: str,
        memory_id: str,
        *,
        correction: str | None = None,
        replaced_by: str | None = None,
        resolution: str | None = None,
        reason: str = "",
        turn_id: str | None = None,
        actor: str = "user",
        occurred_at: str | None = None,
    ) -> dict[str, Any]:
        """It is no longer so. With a correction, a new memory is created that replaces it, in one batch."""
        if correction is not None and replaced_by is not None:
            raise InputError(
                "correction and replaced_by: give one of them, a new text or a memory that is there",
                field="replaced_by",
            )
        check_owner(owner)
        when = self.when(occurred_at)
        old = self.standing(owner, memory_id)
        if replaced_by is not None:
            self.standing(owner, replaced_by)
            if replaced_by == memory_id:
                raise refused("replaced_by", replaced_by, "another memory than the one that is negated")
        events: list[AnyEvent] = []
        negation_id = new_event_id()
        if correction is not None:
            replaced_by = f"m-{new_event_id()}"
            created: Any = MemoryCreated(
                memory_id=replaced_by,
                content=correction,
                category=old.category,  # type: ignore[arg-type]
                kind="fact" if old.kind in FIRM else old.kind,  # what corrects a core memory is an ordinary one
                source="user" if actor == "user" else "system",
                speaker=old.speaker,
                project=old.project,
                task=old.task,
                corrects=memory_id,
                source_turns=(turn_id,) if turn_id else (),
            )
            events.append(self.event(created, owner, when, actor, causation_id=negation_id))
        data: Any = MemoryNegated(
            memory_id=memory_id,
            resolution=resolution,  # type: ignore[arg-type]
            correction=correction,
            replaced_by=replaced_by,
            reason=reason,
            turn_id=turn_id,
        )
        events.append(self.event(data, owner, when, actor, event_id=negation_id))
        return self.done(owner, events, {"id": memory_id, "replaced_by": replaced_by})

    def confirm(
        self, owner: str, memory_id: str, *, actor: str = "user", occurred_at: str | None = None
    ) -> dict[str, Any]:
        """It holds: as if its owner had just said it again. Undoes a negation, whoever or whatever judged it.

        What had replaced it stays, and both are flagged as a possible conflict. Only a mention by the user reaffirms.
        """
        if self.standing(owner, check_memory_id(memory_id)).deleted_at is not None:
            raise InputError(
                f"memory {memory_id} is deleted: bring it back first (`engramlog restore {owner} {memory_id}`)",
                owner=owner,
                memory_id=memory_id,
            )
        return self._one(owner, memory_id, MemoryMentioned(memory_id=memory_id), actor, occurred_at)

    def unmerge(
        self, owner: str, into: str, *, reason: str = "", actor: str = "user", occurred_at: str | None = None
    ) -> dict[str, Any]:
        """Undo a merge: the sources come back as they were."""
        data = MemoryUnmerged(into=check_memory_id(into), reason=reason)
        return self._one(owner, into, data, actor, occurred_at)

    def merge(
        self,
        owner: str,
        sources: Sequence[str],
        *,
        summary: str | None = None,
        into: str | None = None,
        reason: str = "",
        actor: str = "user",
        occurred_at: str | None = None,
    ) -> dict[str, Any]:
        """Several memories become a new one; without a summary it says what the newest says, and what others add to that."""
        check_owner(owner)
        when = self.when(occurred_at)
        memories = [self.standing(owner, source) for source in sources]
        text = summary
        if text is None:
            if not memories:
                raise InputError("sources: got none; allowed: at least two memories", field="sources")
            text = merged_text(memories)
        new_id = into or f"m-{new_event_id()}"
        data = MemoryMerged(sources=tuple(sources), into=new_id, summary=text, reason=reason)
        return self.done(owner, [self.event(data, owner, when, actor)], {"into": new_id, "sources": list(sources)})

    def promote(
        self,
        owner: str,
        memory_id: str,
        *,
        to: str = "core",
        reason: str = "",
        actor: str = "operator",
        occurred_at: str | None = None,
    ) -> dict[str, Any]:
        """An operator moves it to another tier: in core or system it stands in every prompt; in fact or episode no longer."""
        tier = self.standing(owner, check_memory_id(memory_id)).tier
        data = MemoryPromoted(memory_id=memory_id, from_=tier, to=to, reason=reason)  # type: ignore[arg-type]
        return self._one(owner, memory_id, data, actor, occurred_at)

    def set_sensitivity(
        self,
        owner: str,
        memory_id: str,
        level: int,
        *,
        reason: str,
        actor: str = "user",
        occurred_at: str | None = None,
    ) -> dict[str, Any]:
        """A person says how sensitive a memory is, 0 (public) to 3 (secret): the one way down from what rules found."""
        if not reason.strip():
            raise refused("reason", "nothing", "why, in words: the log keeps it")
        data = SensitivitySet(memory_id=check_memory_id(memory_id), level=level, reason=reason)
        return self._one(owner, memory_id, data, actor, occurred_at)

    def _one(self, owner: str, memory_id: str, data: Any, actor: str, occurred_at: str | None) -> dict[str, Any]:
        self.standing(owner, memory_id)
        return self.done(owner, [self.event(data, owner, self.when(occurred_at), actor)], {"id": memory_id})

    def await_told(self, owner: str, memory_ids: Iterable[str]) -> None:
        """Where one of these memories is not there, and newer events of the owner may tell of it: wait for their fold.

        So a verb finds what was appended just before it. Raises NotYetFolded where nothing moves.
        """
        with self._reader.scene(owner) as scene:
            partition, known = parse_position(scene.position)
            late = scene.behind if scene.quarantine is None else 0  # what is parked waits for an operator
            missing = any(scene.view.get(check_memory_id(one)) is None for one in memory_ids) if late else False
        if missing:
            self.settle_positions({partition: known + late})

    def standing(self, owner: str, memory_id: str) -> Memory:
        """The memory, if events may still change it: or a delete would be written, ignored and believed.

        Raises NotFound, NotYetFolded where newer events may tell of it and nobody folds them, or InputError where the memory
        was purged or another stands for it.
        """
        self.await_told(owner, [memory_id])
        with self._reader.scene(owner) as scene:
            memory = self._reader.memory(scene, owner, memory_id)
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
        return memory

    def when(self, occurred_at: str | None) -> int:
        """Microseconds since 1970 of what was said, or of now."""
        return self._log.now() if occurred_at is None else parse_instant(occurred_at, "occurred_at")

    @property
    def by(self) -> Speaker:
        """By which path the verb in hand came in, and who brings it."""
        return speaker(self._log)

    def event(
        self,
        data: Any,
        owner: str,
        when: int,
        actor: str,
        *,
        event_id: str | None = None,
        causation_id: str | None = None,
    ) -> AnyEvent:
        """An event of these data, checked as at the door."""
        return make_event(
            data,
            owner=owner,
            occurred_at=from_micros(when),
            actor=actor,
            now=self._log.now(),
            event_id=event_id,
            causation_id=causation_id,
            by=self.by,
            look=label_objection,
        )

    def done(self, owner: str, events: Sequence[AnyEvent], answer: dict[str, Any]) -> dict[str, Any]:
        """Append, wait for the fold, and tell what each event did; `quarantined` where they are parked instead."""
        receipts = self.append_all([prepare(event) for event in events])
        self.settle(receipts)
        answer |= {"owner": owner, "position": receipts[-1].position, "changes": self.effects(owner, receipts)}
        with self._reader.scene(owner) as scene:
            return answer | scene.told

    def append_all(self, prepared: Sequence[Any]) -> list[Receipt]:
        """Append prepared events and raise where any of them was not written."""
        receipts = self._log.append(prepared)
        for receipt in receipts:
            if not receipt.written:
                raise refusal_of(receipt)
        return receipts

    def effects(self, owner: str, receipts: Sequence[Receipt]) -> list[dict[str, Any]]:
        """Change-log entries of what these receipts stand for: read from the newest back, no farther than it takes."""
        seqs = {parse_position(receipt.position)[1] for receipt in receipts if receipt.position}
        partition = parse_position(receipts[0].position or "0:0")[0]
        applied, reach = self._views.applied(partition, [owner])[0], len(seqs) + NEWEST
        while True:
            tail = self._views.tail(owner, max(applied - reach, 0))
            if reach >= applied or seqs <= set(tail.seqs):
                return [describe(entry, partition) for entry in tail.entries if entry.seq in seqs]
            reach *= 8


def refusal_of(receipt: Receipt) -> EngramlogError:
    """Why an event was not written."""
    if receipt.status == "head_mismatch":
        return ConcurrencyError(
            f"event {receipt.event_id}: the owner's head is {receipt.position}", event_id=receipt.event_id
        )
    if receipt.status == "conflict":
        return ConcurrencyError(
            f"event {receipt.event_id} is taken by other content at {receipt.position}", event_id=receipt.event_id
        )
    return StoreUnavailable(receipt.error or f"event {receipt.event_id} was not written", event_id=receipt.event_id)
