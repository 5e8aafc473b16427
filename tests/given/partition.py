"""Folding a whole partition in memory, as the worker does it with Redis: batches, parked events, discards, restarts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat

from engramlog_server.events.envelope import Stored
from engramlog_server.projections.fold.changelog import Entry, pack, unpack
from engramlog_server.projections.fold.owner import decode_owner, encode_owner
from engramlog_server.projections.fold.partition import (
    Checkpoint,
    Decoded,
    Outcome,
    WorkingOwner,
    decode_all,
    encode_outcome,
    fold_batch,
    named_memories,
    record_hash,
)
from engramlog_server.projections.fold.working_set import neighbours
from engramlog_server.projections.memory.record import decode_memory
from tests.given.events import secret_of


@dataclass
class Partition:
    """What a store would hold of a partition after its commits."""

    log: Sequence[Stored]
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    owners: dict[str, WorkingOwner] = field(default_factory=dict)
    records: dict[str, dict[str, bytes]] = field(default_factory=dict)
    packed: dict[str, bytes] = field(default_factory=dict)
    parked: dict[str, list[int]] = field(default_factory=dict)
    commits: int = 0
    number: int | None = None

    def fold(self, sizes: Iterator[int] | None = None, *, restarts: bool = False) -> Partition:
        """Fold all of the log in batches of these sizes; with `restarts`, nothing is remembered between batches."""
        sizes = sizes or repeat(500)
        while self.checkpoint.seq < len(self.log):
            start = self.checkpoint.seq
            batch = decode_all(self.log[start : start + next(sizes)])
            if restarts:
                self._forget()
            self._load(batch)
            self._fold(batch)
        return self

    def _fold(self, batch: list[Decoded]) -> None:
        while batch:
            outcome = fold_batch(self.checkpoint, self.owners, batch)
            if outcome.waits_for_discard and outcome.events == 0:
                name = batch[0][0].owner
                released = decode_all(self.log[seq - 1] for seq in self.parked[name])
                self._load(released)
                outcome = fold_batch(
                    self.checkpoint, self.owners, batch[:1], number=self.number, released={name: released}
                )
            batch = batch[outcome.events :]
            self._commit(outcome)

    def _commit(self, outcome: Outcome) -> None:
        self.commits += 1
        encoded = encode_outcome(self.checkpoint, outcome, self.owners)
        self.checkpoint = encoded.checkpoint
        for name, part in outcome.owners.items():
            self.records.setdefault(name, {}).update(encoded.records[name])
            first = self.owners[name].state.applied - len(part.seqs) + 1
            self.packed[name] = self.packed.get(name, b"") + pack(first, part.seqs, part.entries)
            kept = self.parked.get(name, []) if part.parked_now is None else part.parked_now
            self.parked[name] = kept + part.park

    def _forget(self) -> None:
        """Another worker goes on: it knows the owners' states and why they stand still, and no memory yet."""
        self.owners = {
            name: WorkingOwner(
                state=decode_owner(encode_owner(owner.state)),
                quarantine=owner.quarantine,
                complete=False,
                secret=owner.secret,
            )
            for name, owner in self.owners.items()
        }

    def _load(self, batch: Sequence[Decoded]) -> None:
        for name, ids in named_memories(batch).items():
            owner = self.owners.setdefault(name, WorkingOwner(secret=secret_of(name)))
            waiting = [] if owner.complete else list(ids)
            while waiting:
                memory_id = waiting.pop()
                record = self.records.get(name, {}).get(memory_id)
                if record is not None and memory_id not in owner.memories:
                    owner.memories[memory_id] = memory = decode_memory(record)
                    owner.hashes[memory_id] = record_hash(owner.secret, name, memory_id, record)
                    waiting += neighbours(memory)

    def history(self, owner: str) -> tuple[list[int], list[Entry]]:
        """Seqs that were applied to an owner, in order, and its change log."""
        return unpack(self.packed.get(owner, b""))

    @property
    def chains(self) -> dict[str, bytes]:
        """The chain of every owner."""
        return {name: owner.state.chain for name, owner in self.owners.items()}

    @property
    def facts(self) -> tuple[object, ...]:
        """Everything that must not depend on batches."""
        states = {name: (owner.state, owner.quarantine) for name, owner in self.owners.items()}
        histories = {name: self.history(name) for name in self.owners}
        parked = {name: seqs for name, seqs in self.parked.items() if seqs}
        return self.checkpoint, states, self.records_present, histories, parked

    @property
    def records_present(self) -> dict[str, dict[str, bytes]]:
        """Records of the owners that have any."""
        return {name: records for name, records in self.records.items() if records}
