"""A partition folded anew in memory, and what its stored state must be: the side of a verification that needs no store.

Of each change-log entry eight bytes of a hash over all its fields are kept, and the seq of each event: sixteen bytes an event
beside the records, so that every number can be compared without holding the log.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import Any

import msgspec

from events.envelope import Stored
from events.parameters import Parameters
from projections.fold.changelog import Entry
from projections.fold.partition import Checkpoint, Outcome, WorkingOwner, decode_all, fold_batch, seal

MARK_BYTES = 8
_ENCODE = msgspec.msgpack.Encoder()


def mark(entry: Entry) -> bytes:
    """Eight bytes that change with any field of a change-log entry."""
    return blake2b(_ENCODE.encode(entry), digest_size=MARK_BYTES).digest()


@dataclass(slots=True)
class ExpectedKeys:
    """What must be stored of an owner, beside its state and records."""

    applied: array[int] = field(default_factory=lambda: array("Q"))
    """Seqs of its events, as they were applied."""
    marks: bytearray = field(default_factory=bytearray)
    """Of each change-log entry, end to end."""
    changed: dict[str, int] = field(default_factory=dict)
    """Memory id -> version of the owner at its last change."""
    parked: list[int] = field(default_factory=list)


class Oracle:
    """The partition folded anew."""

    def __init__(self, base: Parameters, number: int | None = None) -> None:
        self._number = number
        self.checkpoint = Checkpoint()
        self.owners: dict[str, WorkingOwner] = {}
        self.kept: dict[str, ExpectedKeys] = {}
        self._waiting: dict[str, dict[int, Stored]] = {}
        """Events of owners that stand still: a discard folds them."""
        self.base = base

    def feed(self, batch: Sequence[Stored], secrets: Mapping[str, bytes]) -> None:
        """Fold what follows on the checkpoint. `secrets`: of the owners in the batch that have one."""
        decoded = decode_all(batch)
        for name in {one.owner for one in batch}:
            self.owners.setdefault(name, WorkingOwner()).secret = secrets.get(name, b"")
        while decoded:
            outcome = fold_batch(self.checkpoint, self.owners, decoded, base=self.base)
            if outcome.events == 0:
                outcome = self._discard(decoded[:1])
            self._keep(outcome, decoded)
            decoded = decoded[outcome.events :]

    def _discard(self, first: list[Any]) -> Outcome:
        owner = first[0][0].owner
        parked = decode_all(self._waiting[owner][seq] for seq in self.kept[owner].parked)
        return fold_batch(
            self.checkpoint, self.owners, first, base=self.base, number=self._number, released={owner: parked}
        )

    def _keep(self, outcome: Outcome, decoded: list[Any]) -> None:
        self.checkpoint = seal(self.checkpoint, outcome, self.owners).checkpoint
        for name, part in outcome.owners.items():
            kept = self.kept.setdefault(name, ExpectedKeys())
            kept.applied.extend(part.seqs)
            for entry in part.entries:
                kept.marks += mark(entry)
            kept.changed.update(part.touched)
            if part.parked_now is not None:
                kept.parked = list(part.parked_now)
            kept.parked.extend(part.park)
            if not kept.parked:
                self._waiting.pop(name, None)
        for stored, _ in islice(decoded, outcome.events):
            kept_of = self.kept.get(stored.owner)
            if kept_of is not None and kept_of.parked:
                self._waiting.setdefault(stored.owner, {})[stored.seq] = stored
