"""The results of a verification, and what must be stored of a partition, computed in memory from its log alone. Pure.

`Oracle` folds owners again. It keeps eight bytes of a hash over all fields of each change-log entry, and the seq of each event:
sixteen bytes an event besides the records, so that every number can be compared without holding the log.

`Ledger` holds everything besides folding: the chain at each position that somebody wrote down, dedupe, heads. Dedupe is compared by
one number a bucket (the sum of hashes of its entries, as the digest of records is), so that millions of ids need no memory; only
buckets that differ are read again, id by id.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import msgspec

from engramlog_server.events.catalogue import SIDE_EVENTS
from engramlog_server.events.envelope import Stored, commitment, dedupe_field, fingerprint, is_left, read
from engramlog_server.events.partitions import DEDUPE_BUCKETS, dedupe_bucket, partition_of, position_text
from engramlog_server.events.text import UNREADABLE
from engramlog_server.events.trust import parted
from engramlog_server.projections.fold.changelog import FIRST_LINK, Entry, event_link
from engramlog_server.projections.fold.partition import (
    LIMITS,
    Checkpoint,
    Decoded,
    Outcome,
    WindowLimits,
    WorkingOwner,
    apply_or_park,
    decode_all,
    discarded_position,
    encode_outcome,
    fold_batch,
    slim,
)
from engramlog_server.projections.lifecycle.extraction import is_outdated
from engramlog_server.projections.redis.store import slices

MOST_DIFFERENCES = 100
LIES_OPEN = "lies open in a sealed store"
MOST_UNOPENED_NAMED = 10
"""Reported positions of entries that could not be opened, at most."""


@dataclass(slots=True)
class Findings:
    """Results of one partition's verification. Partition -1: data of no partition."""

    partition: int
    events: int = 0
    memories: int = 0
    digest: int = 0
    head: str = ""
    chains: dict[int, str] = field(default_factory=dict)
    """The log's chain at the seqs that were asked for."""
    differences: list[dict[str, Any]] = field(default_factory=list)
    unopened: int = 0
    """Entries whose body could not be compared with its commitment: the salt is missing."""
    unopened_at: list[str] = field(default_factory=list)
    """Positions of the first of them."""
    erased: int = 0
    """Entries of owners who were erased: nobody can read them, and their commitments are valid."""
    wordless: int = 0
    """Entries whose words were erased: what folds need of them is left, and their commitments are valid."""
    untold: int = 0
    """Differences beyond the first hundred."""

    def differs(self, what: str, **where: Any) -> None:
        """Report one difference; the first hundred of a partition are kept."""
        if len(self.differences) < MOST_DIFFERENCES:
            place = {} if self.partition < 0 else {"partition": self.partition}
            self.differences.append({**place, "what": what, **where})
        else:
            self.untold += 1


def shown(raw: bytes) -> str:
    """Bytes that anybody may have written, as text."""
    return raw.decode("utf-8", "backslashreplace")


def is_number(raw: bytes) -> bool:
    """Whether this is a whole number as we write one. Longer than 20 digits is planted, and Python may refuse to read it."""
    return len(raw) <= 20 and raw.isdigit() and b"%d" % int(raw) == raw


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
    """What must be stored of an owner, besides its state and records."""

    applied: array[int] = field(default_factory=lambda: array("Q"))
    """Seqs of its events, as they were applied."""
    marks: bytearray = field(default_factory=bytearray)
    """Of each change-log entry, end to end."""
    changed: dict[str, int] = field(default_factory=dict)
    """Memory id -> version of the owner at its last change."""
    parked: list[int] = field(default_factory=list)


class Oracle:
    """The partition folded again: read in windows, each folded owner by owner, as a rebuild does."""

    def __init__(self, number: int | None = None, limits: WindowLimits = LIMITS) -> None:
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
        """Events of quarantined owners: a discard folds them."""
        self._of: dict[str, list[Stored]] = {}
        """What was fed and is not folded, by owner."""
        self._events = self._bytes = 0
        self._seq, self._head = self.checkpoint.seq, self.checkpoint.head

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
            apply_or_park(outcome, owner, stored, event, _untold)
            outcome.events += 1
            if owner.quarantine is not None:
                self._waiting.setdefault(stored.owner, {})[stored.seq] = stored
        return outcome

    def _discarded(self, first: Decoded) -> Outcome:
        owner = first[0].owner
        parked = decode_all(self._waiting[owner][seq] for seq in self.kept[owner].parked)
        outcome = fold_batch(self.checkpoint, self.owners, [first], number=self._number, released={owner: parked})
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
    """The reason of a quarantine is compared, not logged."""


_MODULUS = 1 << 128


class _Said(msgspec.Struct, frozen=True):
    """Fields of a body that repeat its entry."""

    type: str
    schema_version: int
    event_id: str
    owner: str


_SAID = msgspec.json.Decoder(_Said)


def dedupe_value(one: Stored, secret: bytes) -> bytes:
    """What the dedupe bucket holds for an entry, under its owner's secret."""
    return fingerprint(secret, one.body) + b"%d" % one.seq


def share(raw_id: bytes, value: bytes) -> int:
    """An entry's part of its bucket's number."""
    return int.from_bytes(blake2b(len(raw_id).to_bytes(4, "big") + raw_id + value, digest_size=16).digest(), "big")


class Ledger:
    """What must be stored besides a partition's log, from its entries in order."""

    def __init__(self, verdict: Findings, partitions: int, wanted: Iterable[int] = (), *, sealed: bool = False) -> None:
        """`verdict`: gets contradictions, counts, and the chain at the seqs `wanted`. `sealed`: whether the store is. In an open
        store no words are erased, and a missing salt proves nothing."""
        self._verdict, self._sealed = verdict, sealed
        self.seq = 0
        self.chain = FIRST_LINK
        self.buckets = [0] * DEDUPE_BUCKETS
        self.heads: dict[str, int] = {}
        self.recorded = 0
        """Recorded time of the newest entry; 0 before the first."""
        self.owners: set[str] = set()
        self.outdated: dict[str, int] = {}
        """Owner -> seq of its newest entry of which older rules of sensitivity than today's judged the words."""
        self.left_out: dict[bytes, int] = {}
        """Field in dedupe -> seq, of entries of owners whose keys cannot be had, and of those whose words were erased: what stands
        there cannot be proven."""
        self._nameless: set[str] = set()
        self._wanted = frozenset(wanted)
        self._partitions = partitions

    def feed(
        self,
        batch: Iterable[Stored],
        secrets: Mapping[str, bytes],
        locked: Collection[str] = (),
        is_gone: Callable[[Stored], bool] = lambda _one: False,
    ) -> None:
        """Take the next entries. `secrets`: of the owners in the batch; `locked`:
        owners whose keys cannot be had, which was told, or were destroyed; `is_gone`: whether an entry is
        of an owner who was erased after it."""
        for one in batch:
            self.chain = event_link(self.chain, one)
            self.seq = one.seq
            self.owners.add(one.owner)
            if one.seq in self._wanted:
                self._verdict.chains[one.seq] = self.chain.hex()
            secret, gone, left = secrets.get(one.owner), is_gone(one), self._sealed and is_left(one)
            if gone or left or (secret is None and one.owner in locked):
                self.left_out[dedupe_field(one.owner, one.raw_id)] = one.seq
            elif secret is None:
                if one.owner not in self._nameless:  # once: of a long log it would leave no place for other differences
                    self._nameless.add(one.owner)
                    self._differs(one, "an owner without a secret", fields=["o"], owner=one.owner)
            else:
                field = dedupe_field(one.owner, one.raw_id)
                bucket = dedupe_bucket(field)
                self.buckets[bucket] = (self.buckets[bucket] + share(field, dedupe_value(one, secret))) % _MODULUS
            if is_outdated(one):
                self.outdated[one.owner] = one.seq
            if moves_head(one):
                self.heads[one.owner] = one.seq
            if problem := self._contradicts(one) + self._beside(one, gone, left):
                self._differs(one, "an entry of the log that contradicts its own body", fields=sorted(set(problem)))

    def _differs(self, one: Stored, what: str, **more: Any) -> None:
        self._verdict.differs(what, position=position_text(self._verdict.partition, one.seq), **more)

    def _beside(self, one: Stored, gone: bool, left: bool) -> list[str]:
        """Fields besides the body that no append could have written after the earlier entries."""
        recorded, principal, level, digests, committed = one.beside[:5]
        wrong = list[str]()
        clock = one.beside[5:]
        if not is_number(recorded) or (int(recorded) < self.recorded):
            wrong.append("r")
        else:
            self.recorded = int(recorded)
            if clock and not (is_number(clock[0]) and int(clock[0]) < self.recorded):
                wrong.append("w")
        if not principal:
            wrong.append("p")
        try:
            rules, colon, figure = parted(level)[0].partition(b":")
        except ValueError:
            rules, colon, figure = b"", b"", b""
        if not (colon and is_number(rules) and is_number(figure) and int(figure) <= 3):
            wrong.append("l")
        try:
            read(digests)
        except ValueError:
            wrong.append("d")
        if not one.salt:
            self._count_shut(one, gone, left)
        elif committed != commitment(one.salt, one.body):
            wrong.append("c")
        return wrong

    def _count_shut(self, one: Stored, gone: bool, left: bool) -> None:
        """An entry that cannot be held against its commitment."""
        verdict = self._verdict
        if gone:
            verdict.erased += 1
        elif left:
            verdict.wordless += 1
        else:
            verdict.unopened += 1
            if len(verdict.unopened_at) < MOST_UNOPENED_NAMED:
                verdict.unopened_at.append(position_text(verdict.partition, one.seq))

    def _contradicts(self, one: Stored) -> list[str]:
        """The entry's fields that its body does not bear out; nothing of a body that cannot be read."""
        wrong = [] if len(one.raw_id) == 16 else ["i"]
        if partition_of(one.owner, self._partitions) != self._verdict.partition:
            wrong.append("o")
        try:
            said = _SAID.decode(one.body)
        except UNREADABLE:
            return wrong
        if one.kind != f"{said.type}.{said.schema_version}":
            wrong.append("t")
        if one.raw_id.hex() != said.event_id.replace("-", ""):
            wrong.append("i")
        if one.owner != said.owner:
            wrong.append("o")
        return sorted(set(wrong))


def moves_head(one: Stored) -> bool:
    """Whether `expected_head` counts this entry."""
    return one.kind.partition(".")[0] not in SIDE_EVENTS


def bucket_number(held: Mapping[bytes, bytes]) -> int:
    """The number of a bucket, from what it holds."""
    return sum(share(raw_id, value) for raw_id, value in held.items()) % _MODULUS
