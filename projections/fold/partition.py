"""Folding one partition: from stored events to what one commit writes. No store, no clock.

`fold_batch` works on a working set of owners that its caller has loaded. It stops early at the limits of a commit, and
before a discard whose parked events have to be read first.

A rebuild folds by windows of the log (`Window`): read first, then folded and written owner by owner, so that each owner is met
once. What is written of one lets owners run ahead of the checkpoint; an event that an owner's state has already, or that is
parked already, is passed over. So a window of which only some pieces were written is read again from its start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple

import msgspec

from engramlog_server.events.catalogue import EventDiscarded
from engramlog_server.events.cipher import BODY_MARK, ValueCipher
from engramlog_server.events.envelope import Stored, decode, keyed
from engramlog_server.events.errors import KeyUnavailable, OwnerErased, UndecodableEvent
from engramlog_server.events.partitions import parse_position
from engramlog_server.projections.fold.changelog import FIRST_LINK, Entry, event_link
from engramlog_server.projections.fold.owner import AnyEvent, OwnerState, fold_event
from engramlog_server.projections.fold.trust import MOST_WAITING
from engramlog_server.projections.fold.working_set import names
from engramlog_server.projections.memory.record import Memory, encode_memory
from engramlog_server.projections.memory.rejection import REJECTED_BY

COMMIT_EVENTS = 2_000
COMMIT_BYTES = 1024 * 1024
COMMIT_RECORDS = 4_000
OWNER_EVENTS = 500
"""Of one owner in a commit: what it is told by there is read as a whole by each history."""
DIGEST_MODULUS = 1 << 128
HASH_BYTES = 16
_PURPOSE = b"record"


class Checkpoint(NamedTuple):
    """How far a partition is folded, and what proves it."""

    seq: int = 0
    head: bytes = FIRST_LINK
    """Chain over the stored events up to `seq`: what an auditor writes down."""
    digest: int = 0
    """Sum mod 2^128 of the keyed hashes of all records: independent of order and batches."""
    memories: int = 0
    waiting: int = 0
    """Things of all owners that wait for a person."""
    full: int = 0
    """Owners of whom as much waits as may."""
    refused: int = 0
    """Events that say what a person rejected, and so changed nothing."""
    pieces: int = 0
    """How many pieces of what follows are written: some owners are further than `seq`, and the sums are theirs."""
    reach: int = 0
    """Up to where they may be; 0 without pieces."""
    reached: bytes = b""
    """Chain over the stored events up to `reach`."""


LOCKED_REASON = f"{KeyUnavailable.__name__}: "
"""What the reason of an owner begins with whose key cannot be had: its events fold by themselves once it can."""


UNREAD_REASON = f"{UndecodableEvent.__name__}: "
"""The same of an owner with an event that the worker could not read: one of a release that can folds it by itself."""


class Quarantine(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Why an owner's fold stands still: the first event that could not be folded."""

    seq: int
    kind: str
    reason: str

    @property
    def is_locked(self) -> bool:
        """Whether it stands still for want of its key alone, which may come back."""
        return self.reason.startswith(LOCKED_REASON)

    @property
    def is_unread(self) -> bool:
        """Whether it stands still for an event that whoever parked it could not read, which another release may."""
        return self.reason.startswith(UNREAD_REASON)


@dataclass(slots=True)
class WorkingOwner:
    """One owner in a worker's memory. `memories` may hold a part; `complete` says that it holds all."""

    state: OwnerState = field(default_factory=OwnerState)
    memories: dict[str, Memory] = field(default_factory=dict)
    hashes: dict[str, int] = field(default_factory=dict)
    quarantine: Quarantine | None = None
    parked_to: int = 0
    """The seq of the last event that was parked when it was loaded; 0 where it did not stand still."""
    tail: int = 0
    """Bytes of its change log that are no pack yet."""
    complete: bool = True
    secret: bytes = b""
    """What keys the hashes of its contents and records; empty where the store has none of it, and then there are none."""
    cipher: ValueCipher | None = None
    """What seals its records; None where the store lies open."""
    locked: KeyUnavailable | None = None
    """Why its key cannot be had, so that nothing of it is read: its events are parked until it can. OwnerErased where it was
    destroyed: then they are passed over."""
    erased_to: int = 0
    """The seq up to which its events are passed over: it was erased, and readmitted after."""
    counted: int = 0
    """How many of its memories whoever keeps working sets small has counted."""


@dataclass(slots=True)
class OwnerWrites:
    """What one commit writes for one owner."""

    seqs: list[int] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    touched: dict[str, int] = field(default_factory=dict)
    """Memory id -> the owner's version (events applied) at its last change in this commit."""
    park: list[int] = field(default_factory=list)
    parked_now: list[int] | None = None
    """After a discard or a retry: all that stays parked; None leaves the list but for `park`."""
    quarantine_changed: bool = False


@dataclass(slots=True)
class Outcome:
    """A commit in the making: everything up to `seq` was applied or parked."""

    start: int
    seq: int
    raw_id: bytes
    head: bytes
    owners: dict[str, OwnerWrites] = field(default_factory=dict)
    events: int = 0
    records: int = 0
    """Records changed so far, each once."""
    waits_for_discard: bool = False
    waiting: int = 0
    """How many more things wait for a person than before."""
    full: int = 0
    """How many more owners there are of whom as much waits as may."""
    refused: int = 0
    """How many more events say what a person rejected."""
    filled: list[str] = field(default_factory=list)
    """Owners of whom as much waits as may, and did not before."""
    recorded: Sequence[int] = ()
    """When its events were appended, microseconds since 1970, as far as the log tells and somebody counts."""
    read: Sequence[tuple[str, AnyEvent]] = ()
    """Its events with their owners, where somebody counts."""

    def count(self, owner: str, before: int, now: int) -> None:
        """What waits of an owner, before and after an event."""
        self.waiting += now - before
        full = (now >= MOST_WAITING) - (before >= MOST_WAITING)
        self.full += full
        if full > 0:
            self.filled.append(owner)

    def writes(self, owner: str) -> OwnerWrites:
        """The owner's part, made at first use."""
        part = self.owners.get(owner)
        if part is None:
            part = self.owners[owner] = OwnerWrites()
        return part


Decoded = tuple[Stored, AnyEvent | UndecodableEvent]


def decode_all(stored: Iterable[Stored]) -> list[Decoded]:
    """Each entry with its event, or with why it cannot be read."""
    decoded: list[Decoded] = []
    for one in stored:
        try:
            decoded.append((one, decode(one.kind, one.body)))
        except UndecodableEvent as error:
            decoded.append((one, error))
    return decoded


def named_memories(decoded: Iterable[Decoded]) -> dict[str, set[str]]:
    """Owner -> ids of the memories its events name."""
    wanted: dict[str, set[str]] = {}
    for stored, event in decoded:
        ids = wanted.get(stored.owner)
        if ids is None:
            ids = wanted[stored.owner] = set()
        if not isinstance(event, UndecodableEvent):
            ids.update(names(event.data))
    return wanted


def fold_batch(
    checkpoint: Checkpoint,
    owners: Mapping[str, WorkingOwner],
    decoded: Sequence[Decoded],
    *,
    number: int | None = None,
    released: Mapping[str, Sequence[Decoded]] | None = None,
    on_failure: Callable[[Stored, Exception], None] = lambda _stored, _error: None,
) -> Outcome:
    """Fold the next entries of a partition into `owners`, as far as one commit goes.

    `released`: parked events of an owner whose discard stands first in `decoded`. `number`: the partition's, by which a position
    of another one is known; None where every position is of this one.
    """
    outcome = Outcome(checkpoint.seq, checkpoint.seq, b"", checkpoint.head)
    size, head = 0, checkpoint.head
    for stored, event in decoded:
        owner = owners[stored.owner]
        dropped = None if owner.quarantine is None else discarded_position(event)
        if dropped is not None and not isinstance(event, UndecodableEvent):
            if released is None or stored.owner not in released or outcome.events:
                outcome.waits_for_discard = True
                break
            parked, (partition, wanted) = released[stored.owner], parse_position(dropped)
            here = number is None or partition == number
            kept = [one for one in parked if not here or one[0].seq != wanted]
            release(outcome, stored.owner, owner, kept, on_failure=on_failure)
            _apply(outcome, owner, stored, event, drops=len(kept) < len(parked))
        else:
            apply_or_park(outcome, owner, stored, event, on_failure)
        head = event_link(head, stored)
        outcome.seq = stored.seq
        outcome.events += 1
        size += len(stored.body)
        if size >= COMMIT_BYTES or outcome.records >= COMMIT_RECORDS or _holds_enough(outcome, stored.owner):
            break
    outcome.head = head
    if outcome.events:
        outcome.raw_id = decoded[outcome.events - 1][0].raw_id
    return outcome


def _holds_enough(outcome: Outcome, owner: str) -> bool:
    """Whether a commit has as many events as it may, in all or of the owner of the last one."""
    if outcome.events < OWNER_EVENTS:
        return False
    return outcome.events >= COMMIT_EVENTS or len(outcome.writes(owner).seqs) >= OWNER_EVENTS


def discarded_position(event: AnyEvent | UndecodableEvent) -> str | None:
    """The position that an EventDiscarded names; None for any other event."""
    if isinstance(event, UndecodableEvent) or not isinstance(event.data, EventDiscarded):
        return None
    return event.data.position


def release(
    outcome: Outcome,
    name: str,
    owner: WorkingOwner,
    parked: Sequence[Decoded],
    *,
    on_failure: Callable[[Stored, Exception], None] = lambda _stored, _error: None,
) -> None:
    """Fold an owner's parked events in order; the first that fails again keeps it and the rest parked."""
    part = outcome.writes(name)
    part.parked_now = []
    part.quarantine_changed = True
    owner.quarantine = None
    for stored, event in parked:
        apply_or_park(outcome, owner, stored, event, on_failure)


def apply_or_park(
    outcome: Outcome,
    owner: WorkingOwner,
    stored: Stored,
    event: AnyEvent | UndecodableEvent,
    on_failure: Callable[[Stored, Exception], None],
) -> None:
    """Fold one event; one that cannot be folded, and all of its owner after it, is parked. One of an owner who was erased is passed
    over: nothing is kept of it."""
    if isinstance(owner.locked, OwnerErased) or stored.seq <= owner.erased_to:
        return
    if owner.quarantine is None:
        try:
            _refuse_locked(owner)
            _apply(outcome, owner, stored, event)
            return
        except Exception as error:  # noqa: BLE001 - whatever evolve raises stops this owner, and nobody else
            on_failure(stored, error)
            owner.quarantine = Quarantine(stored.seq, stored.kind, f"{type(error).__name__}: {error}"[:500])
            outcome.writes(stored.owner).quarantine_changed = True
    part = outcome.writes(stored.owner)
    (part.park if part.parked_now is None else part.parked_now).append(stored.seq)


def _refuse_locked(owner: WorkingOwner) -> None:
    """Raise KeyUnavailable where an owner's key cannot be had."""
    if owner.locked is not None:
        raise type(owner.locked)(owner.locked.message)


def _apply(
    outcome: Outcome,
    owner: WorkingOwner,
    stored: Stored,
    event: AnyEvent | UndecodableEvent,
    drops: bool = False,
) -> None:
    """Raises what `evolve` raises, and the event itself where it is unreadable: nothing is changed then.

    A discard comes here by itself only where nothing is parked.
    """
    if isinstance(event, UndecodableEvent):
        raise event
    before, memories, name = owner.state, owner.memories, stored.owner
    step = fold_event(before, memories, event, stored, drops=drops, secret=owner.secret)
    after, changed, entries = step.owner, step.changed, step.entries
    part = outcome.owners.get(name) or outcome.writes(name)
    if after.waiting != before.waiting:
        outcome.count(name, before.waiting, after.waiting)
    if after.rejections and any(one.reason.startswith(REJECTED_BY) for one in entries):
        outcome.refused += 1
    owner.state = after
    part.seqs.append(after.seq)
    if changed:
        memories.update(changed)
        touched, applied = part.touched, after.applied
        known = len(touched)
        for memory_id in changed:
            touched[memory_id] = applied
        outcome.records += len(touched) - known
    part.entries += entries


def record_hash(secret: bytes, owner: str, memory_id: str, record: bytes) -> int:
    """A record's share of the digest, keyed with its owner's secret.

    0 without one: whoever had two digests, and all of a record but its text, could confirm a guess of the text.
    """
    if not secret:
        return 0
    return int.from_bytes(keyed(secret, _PURPOSE, f"{owner}\x00{memory_id}\x00".encode() + record, HASH_BYTES), "big")


class EncodedOutcome(NamedTuple):
    """The records of an outcome, encoded, and the checkpoint that they lead to."""

    checkpoint: Checkpoint
    records: dict[str, dict[str, bytes]]
    """Owner -> memory id -> canonical record."""


def encode_outcome(checkpoint: Checkpoint, outcome: Outcome, owners: Mapping[str, WorkingOwner]) -> EncodedOutcome:
    """Encode what changed and bring digest and count forward."""
    digest, count = checkpoint.digest, checkpoint.memories
    records: dict[str, dict[str, bytes]] = {}
    for name, part in outcome.owners.items():
        owner, mine = owners[name], {}
        hashes = owner.hashes
        for memory_id in part.touched:
            record = mine[memory_id] = encode_memory(owner.memories[memory_id])
            value = record_hash(owner.secret, name, memory_id, record)
            known = hashes.get(memory_id)
            if known is None:
                count += 1
                digest += value
            else:
                digest += value - known
            hashes[memory_id] = value
        records[name] = mine
    counts = (
        checkpoint.waiting + outcome.waiting,
        checkpoint.full + outcome.full,
        checkpoint.refused + outcome.refused,
    )
    return EncodedOutcome(Checkpoint(outcome.seq, outcome.head, digest % DIGEST_MODULUS, count, *counts), records)


PIECE_EVENTS = 500
PIECE_BYTES = 256 * 1024
PIECE_RECORDS = 1_000
GROUP_EVENTS = 1_000
"""Decoded and loaded together: some pieces of them."""
_DISCARD = f"{EventDiscarded.__name__}."


class WindowLimits(NamedTuple):
    """How much is read before it is written, and how much of that one script writes."""

    events: int = 50_000
    size: int = 32 * 1024 * 1024
    """Bytes of events' bodies."""
    piece_events: int = PIECE_EVENTS
    group_events: int = GROUP_EVENTS


LIMITS = WindowLimits()


class Window:
    """What was read after a checkpoint and is not folded yet, by owner."""

    def __init__(self, checkpoint: Checkpoint, limits: WindowLimits = LIMITS) -> None:
        self._start, self._limits = checkpoint, limits
        self.seq, self.head, self.raw_id = checkpoint.seq, checkpoint.head, b""
        self._of: dict[str, list[Stored]] = {}
        self.events = self.size = 0

    @property
    def open(self) -> bool:
        """Whether anything was read."""
        return self.seq > self._start.seq

    @property
    def past_pieces(self) -> bool:
        """Whether it is past all that pieces of before may hold: only then a checkpoint can stand here."""
        return self.seq >= self._start.reach

    @property
    def full(self) -> bool:
        """Whether it holds as much as it may."""
        return (self.events >= self._limits.events or self.size >= self._limits.size) and self.past_pieces

    def read(self, stored: Sequence[Stored], *, passing: bool = False) -> int:
        """Take the next entries; how many. It ends when full, and before a discard: its owner may stand still.

        `passing`: the first is a discard that this is known of, and is taken as any other.
        """
        head, held, taken = self.head, self._of, 0
        events, size, (most, largest, *_), reach = self.events, self.size, self._limits, self._start.reach
        for one in stored:
            seq, kind, _, owner, body, _, _ = one
            if kind.startswith(_DISCARD) and (taken or not passing):
                break
            head = event_link(head, one)
            taken += 1
            events += 1
            size += len(body)
            mine = held.get(owner)
            if mine is None:
                mine = held[owner] = []
            mine.append(slim(one, mine[0].owner if mine else owner))
            if (events >= most or size >= largest) and seq >= reach:
                break
        if taken:
            self.seq, self.raw_id = stored[taken - 1].seq, stored[taken - 1].raw_id
        self.head, self.events, self.size = head, events, size
        return taken

    def groups(self, owner: str | None = None) -> Iterator[list[Stored]]:
        """What was read, owner by owner, or of one owner; it is held no more."""
        of, self._of = self._of, {}
        if owner is not None:
            self._of, of = of, {owner: of.pop(owner, [])}
        flat = chain.from_iterable(of.pop(name) for name in list(of))
        while group := list(islice(flat, self._limits.group_events)):
            yield group

    def pieces(
        self,
        owners: Mapping[str, WorkingOwner],
        decoded: Sequence[Decoded],
        *,
        on_failure: Callable[[Stored, Exception], None] = lambda _stored, _error: None,
    ) -> Iterator[Outcome]:
        """Fold a group into outcomes that a commit can hold; one is written before the next is asked for."""
        piece, size, most = self.outcome(), 0, self._limits.piece_events
        for name, start, end in _runs(decoded):
            owner = owners[name]
            if piece.events and piece.events + end - start > most:
                yield piece
                piece, size = self.outcome(), 0
            for stored, event in islice(decoded, start, end):
                if stored.seq <= owner.state.seq or stored.seq <= owner.parked_to:
                    continue
                apply_or_park(piece, owner, stored, event, on_failure)
                piece.events += 1
                size += len(stored.body)
                if piece.events >= most or size >= PIECE_BYTES or piece.records >= PIECE_RECORDS:
                    yield piece
                    piece, size = self.outcome(), 0
        if piece.events:
            yield piece

    def outcome(self) -> Outcome:
        """Nothing yet, up to where was read."""
        return Outcome(self._start.seq, self.seq, self.raw_id, self.head)


def is_discard(stored: Stored) -> bool:
    """Whether an operator drops what is parked by this, if it can be read."""
    return stored.kind.startswith(_DISCARD)


def slim(one: Stored, owner: str) -> Stored:
    """An entry as a fold needs it: the chain has been over what commits to its body, by which a sealed one opens."""
    seq, kind, raw_id, _, body, beside, _ = one
    if beside and body[:1] != BODY_MARK:
        beside = (*beside[:4], b"", *beside[5:])
    return _STORED(Stored, (seq, kind, raw_id, owner, body, beside, b""))  # as Stored(...), in half the time


_STORED = tuple.__new__


def _runs(decoded: Sequence[Decoded]) -> Iterable[tuple[str, int, int]]:
    """Owners as they follow on each other, each with where its events begin and end."""
    start, name = 0, decoded[0][0].owner if decoded else ""
    for at, (stored, _) in enumerate(decoded):
        if stored.owner is not name and stored.owner != name:
            yield name, start, at
            start, name = at, stored.owner
    if decoded:
        yield name, start, len(decoded)
