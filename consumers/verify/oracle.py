"""A partition folded anew in memory, and what its stored state must be: the side of a verification that needs no store.

Of each change-log entry eight bytes of a hash over all its fields are kept, and the seq of each event: sixteen bytes an event
beside the records, so that every number can be compared without holding the log.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import msgspec

from events.envelope import Stored
from events.parameters import Parameters
from projections.fold.changelog import Entry
from projections.fold.partition import (
    Checkpoint,
    Decoded,
    Outcome,
    WorkingOwner,
    apply_or_park,
    decode_all,
    discarded_position,
    encode_outcome,
    fold_batch,
)
from projections.fold.window import LIMITS, WindowLimits, slim
from projections.redis.store import slices

MARK_BYTES = 8
_ENCODE = msgspec.msgpack.Encoder()


def mark(entry: Entry) -> bytes:
    """Eight bytes that change with any field of a change-log entry."""
    return mark_of(_ENCODE.encode(entry))


def mark_of(raw: bytes) -> bytes:
    """The mark of an entry in its bytes: of those that a commit writes, and of no others."""
    return blake2b(raw, digest_size=MARK_BYTES).digest()


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
    """The partition folded anew: read in windows, each folded owner by owner, as a rebuild does."""

    def __init__(self, base: Parameters, number: int | None = None, limits: WindowLimits = LIMITS) -> None:
        self._number, self._limits = number, limits
        self.checkpoint = Checkpoint()
        """Of what is folded: `settle` folds all that was fed."""
        self.owners: dict[str, WorkingOwner] = {}
        self.kept: dict[str, ExpectedKeys] = {}
        self.locked: set[str] = set()
        """Owners whose keys cannot be had, or were destroyed: nothing of them is folded."""
        self.is_gone: Callable[[Stored], bool] = lambda _one: False
        """Whether an entry is of an owner who was erased after it: it is passed over."""
        self._waiting: dict[str, dict[int, Stored]] = {}
        """Events of owners that stand still: a discard folds them."""
        self._of: dict[str, list[Stored]] = {}
        """What was fed and is not folded, by owner."""
        self._events = self._bytes = 0
        self._seq, self._head = self.checkpoint.seq, self.checkpoint.head
        self.base = base

    def feed(self, batch: Sequence[Stored], secrets: Mapping[str, bytes], head: bytes) -> None:
        """Take what follows on the last. `secrets`: of the owners in the batch that have one; `head`: the log's chain behind it."""
        for name in {one.owner for one in batch if not self.is_gone(one)} - self.locked:
            self.owners.setdefault(name, WorkingOwner()).secret = secrets.get(name, b"")
        of = self._of
        for one in batch:
            if one.owner in self.locked or self.is_gone(one):
                continue
            mine = of.get(one.owner)
            if mine is None:
                mine = of[one.owner] = []
            mine.append(slim(one, mine[0].owner if mine else one.owner))
            self._bytes += len(one.body)
        self._events += len(batch)
        self._seq, self._head = batch[-1].seq, head
        if self._events >= self._limits.events or self._bytes >= self._limits.size:
            self.settle()

    def settle(self) -> None:
        """Fold all that was fed."""
        of, self._of = self._of, {}
        self._events = self._bytes = 0
        outcome = self._outcome()
        for name in list(of):
            for some in slices(of.pop(name), self._limits.group_events):
                outcome = self._fold(outcome, self.owners[name], some)
            if outcome.events >= self._limits.piece_events:
                self._keep(outcome)
                outcome = self._outcome()
        self._keep(outcome)

    def _outcome(self) -> Outcome:
        return Outcome(self.checkpoint.seq, self._seq, b"", self._head)

    def _fold(self, outcome: Outcome, owner: WorkingOwner, entries: Sequence[Stored]) -> Outcome:
        """One owner's events, in order; gives the outcome to go on with."""
        for stored, event in decode_all(entries):
            if owner.quarantine is not None and discarded_position(event) is not None:
                self._keep(outcome)
                self._keep(self._discarded((stored, event)))
                outcome = self._outcome()
                continue
            apply_or_park(outcome, owner, stored, event, self.base, _untold)
            outcome.events += 1
            if owner.quarantine is not None:
                self._waiting.setdefault(stored.owner, {})[stored.seq] = stored
        return outcome

    def _discarded(self, first: Decoded) -> Outcome:
        owner = first[0].owner
        parked = decode_all(self._waiting[owner][seq] for seq in self.kept[owner].parked)
        outcome = fold_batch(
            self.checkpoint, self.owners, [first], base=self.base, number=self._number, released={owner: parked}
        )
        outcome.seq, outcome.head = self._seq, self._head
        return outcome

    def _keep(self, outcome: Outcome) -> None:
        self.checkpoint = encode_outcome(self.checkpoint, outcome, self.owners).checkpoint
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


def _untold(_stored: Stored, _error: Exception) -> None:
    """Why an owner stands still is compared, not told."""
