"""Folding one leased partition: working set and speculation, one commit in flight.

What is folded but not yet committed lives only here. On any refusal or reconnect the folder is dropped whole, and its
successor starts again from the checkpoint: no state outlives the lease under which it was made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import Any

from engramlog_server.consumers.fold.figures import FoldFigures
from engramlog_server.events.alarms import Tell, silent
from engramlog_server.events.cipher import BODY_MARK, ValueCipher
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import OwnerErased, StoreUnavailable, UndecodableEvent
from engramlog_server.events.partitions import STORE_KEY, partition_of
from engramlog_server.events.redis.durability import refuse_holes
from engramlog_server.events.redis.secrets import opened_where_it_can_be, read_ciphers
from engramlog_server.events.redis.wire import TOGETHER_BYTES, Script, Wire, packed
from engramlog_server.projections.fold.partition import (
    Decoded,
    EncodedOutcome,
    Outcome,
    WorkingOwner,
    decode_all,
    discarded_position,
    encode_outcome,
    fold_batch,
    named_memories,
    release,
)
from engramlog_server.projections.fold.trust import MOST_WAITING
from engramlog_server.projections.redis.store import (
    COMMIT,
    Lease,
    all_loaded,
    commit_command,
    load_owners,
    load_secrets,
    read_checkpoint,
    read_entries,
    read_parked,
    read_stuck,
    read_unread,
    receive_commit,
    slices,
)

LOOKED_AT = 500
"""Owners whose unread event is looked at together."""
Probe = Callable[[str], None]
_CACHED_MEMORIES = 200_000
"""Records a folder keeps at most; the least recently folded owners leave first."""
CACHED_BY_A_WORKER = 600_000
"""Records that all folders of a worker keep together, about 1.1 GB."""


def unprobed(_point: str) -> None:
    """The fault tests' named points, where no fault is tested."""


class CommitLane:
    """One wire down which commits go, small ones together. Folding goes on while Redis writes what was sent last."""

    def __init__(
        self, wire: Wire, script: Script = COMMIT, probe: Probe = unprobed, figures: FoldFigures | None = None
    ) -> None:
        self.wire = wire
        self.figures = figures
        self._script = script
        self._probe = probe
        self._waiting: list[tuple[Lease, Outcome, bytes]] = []
        """Commits that go with the next write, and their bytes."""
        self._bytes = 0
        self._sent: list[tuple[Lease, Outcome]] = []
        """Commits in flight."""
        self.events = 0
        """Events committed so far."""

    def connect(self, key: str) -> None:
        """Connect to where a key lies, before a lease is taken: later it may lead to a history where the epoch fits by chance."""
        self.wire.evalsha(self._script, (key,), ())

    def put(self, lease: Lease, outcome: Outcome, keys: Sequence[Any], arguments: Sequence[Any]) -> None:
        """Have a commit written: at once where it is large, else with those that follow, by `send` or `settle`."""
        command = packed(tuple(self.wire.evalsha(self._script, keys, arguments)))
        self._waiting.append((lease, outcome, command))
        self._bytes += len(command)
        if self._bytes >= TOGETHER_BYTES:
            self.send()

    def send(self) -> None:
        """Send what waits, once all before it is answered. Raises as `settle`."""
        if not self._waiting:
            return
        self._receive()
        self._probe("before a commit")
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        self.wire.send_together([command for _, _, command in waiting])
        self._sent = [(lease, outcome) for lease, outcome, _ in waiting]
        self._probe("commit sent")

    def settle(self) -> None:
        """Have all that was put answered. Raises FoldError or StoreError where a commit was refused."""
        self.send()
        self._receive()

    def _receive(self) -> None:
        sent, self._sent = self._sent, []
        for lease, outcome in sent:
            try:
                receive_commit(self.wire, lease, outcome)
            except StoreUnavailable as error:
                error.context.setdefault("partition", lease.keys.tag)
                raise
            self.events += outcome.events
            if self.figures is not None:
                self.figures.committed(outcome)
            self._probe("after a commit")

    def drop(self) -> None:
        """Forget what waits and what is in flight: whether that was written is asked of the checkpoint."""
        self._waiting, self._bytes, self._sent = [], 0, []
        self.wire.close()


class PartitionFolder:
    """Folds one partition under one lease. `load` and `lane` are the worker's, shared by its folders."""

    def __init__(
        self,
        lease: Lease,
        load: Wire,
        lane: CommitLane,
        *,
        tell: Tell = silent,
        probe: Probe = unprobed,
        cached_memories: int = _CACHED_MEMORIES,
    ) -> None:
        self.lease = lease
        self._load = load
        self._lane = lane
        self._tell = tell
        self._probe = probe
        self._most = cached_memories
        self._owners: dict[str, WorkingOwner] = {}
        self._cached = 0
        """Records of theirs, as far as `_trim` has counted them."""
        self._ready: Sequence[Decoded] = ()
        self.checkpoint = read_checkpoint(load, lease.keys)
        """Where the next batch starts; ahead of Redis while a commit is in flight."""
        self._whole = self.checkpoint.seq == self.checkpoint.pieces == 0
        """Whether the working set holds all there is: the build began empty under this lease, and nothing was trimmed."""
        self.stuck_changed = False
        """Whether owners came to stand still, or were freed, since that was last looked at."""
        self.may_read = True
        """Whether owners may be parked whom this release reads: at first, for an older worker may have held the partition."""

    @property
    def cached(self) -> int:
        """How many records it keeps, between two batches."""
        return self._cached

    @property
    def at(self) -> int:
        """The seq up to which is folded, written or not."""
        return self.checkpoint.seq

    def feed(self, stored: Sequence[Stored]) -> None:
        """`prepare` and `fold` in one."""
        self.prepare(stored)
        self.fold()

    def prepare(self, stored: Sequence[Stored]) -> None:
        """Take what follows on the checkpoint, and load whom it is about before Redis is busy with the next commit.

        Entries before the checkpoint (a stale prefetch) are passed over. Raises LogGap where seqs are missing, within or
        at the head; FoldError or StoreError: then the folder must be dropped.
        """
        stored = [one for one in stored if one.seq > self.at]
        if not stored:
            return
        refuse_holes(stored, self.at, self.lease.keys.tag)
        self._ready = decode_all(self._opened(stored))
        self._load_for(self._ready)
        if any(self._opens_now(one) for one, event in self._ready if isinstance(event, UndecodableEvent)):
            self._ready = decode_all(self._opened(stored))  # a key came back in between
            load_owners(self._load, self.lease.keys, named_memories(self._ready), self._owners)

    def _load_for(self, decoded: Sequence[Decoded]) -> dict[str, None]:
        """Load whom these events are about, and what they reach; gives their names."""
        names = dict.fromkeys(stored.owner for stored, _ in decoded)
        self._let_go_of_erased(names)
        if self._whole:
            for name in names:
                if name not in self._owners:
                    self._owners[name] = WorkingOwner()
        else:
            wanted = named_memories(decoded)
            if not all_loaded(wanted, self._owners):
                self._lane.settle()  # what is asked of Redis must not be on its way to it
                load_owners(self._load, self.lease.keys, wanted, self._owners)
        load_secrets(self._load, self.lease.keys, self._owners, names)
        return names

    def _let_go_of_erased(self, names: Iterable[str]) -> None:
        """Ask anew for owners whose keys were destroyed: they may have been readmitted, and what is said of them since counts."""
        for name in names:
            if (held := self._owners.get(name)) is not None and isinstance(held.locked, OwnerErased):
                del self._owners[name]

    def _opens_now(self, stored: Stored) -> bool:
        """Whether a body is still sealed although its owner's key is at hand."""
        return stored.body[:1] == BODY_MARK and self._owners[stored.owner].cipher is not None

    def _opened(self, stored: Sequence[Stored]) -> Sequence[Stored]:
        """The entries with their bodies open, as far as their owners' keys can be had. Raises StoreError."""
        if not self._load.seals.is_on:
            return stored
        known = {name: owner.cipher for name, owner in self._owners.items() if owner.cipher is not None}
        return opened_where_it_can_be(self._load, self.lease.keys.log, stored, known)

    def fold(self) -> None:
        """Fold and commit what was prepared. Raises as `prepare` does; one commit stays in flight."""
        if not self._ready:
            return
        decoded, self._ready = self._ready, ()
        fresh = {stored.owner for stored, _ in decoded}
        self._probe("between prefetch and commit")
        while decoded:
            outcome = fold_batch(self.checkpoint, self._owners, decoded, on_failure=self._told)
            if outcome.events == 0:
                outcome = self._discard(decoded)
            if self._lane.figures is not None:
                done = decoded[: outcome.events]
                outcome.recorded = [stored.recorded for stored, _ in done if stored.recorded is not None]
                outcome.read = [
                    (stored.owner, event) for stored, event in done if not isinstance(event, UndecodableEvent)
                ]
            decoded = decoded[outcome.events :]
            self._commit(outcome)
        self._trim(fresh)

    def _discard(self, decoded: Sequence[Decoded]) -> Outcome:
        """The first event discards a parked one: the owner's parked events fold now."""
        self.stuck_changed = True
        stored, event = decoded[0]
        self._lane.settle()
        released = {stored.owner: self._parked(stored.owner)}
        outcome = fold_batch(
            self.checkpoint,
            self._owners,
            decoded[:1],
            number=self._number(stored.owner),
            released=released,
            on_failure=self._told,
        )
        self._tell(
            "event discarded",
            owner=stored.owner,
            position=discarded_position(event),
            still_parked=outcome.owners[stored.owner].parked_now,
        )
        return outcome

    def _number(self, owner: str) -> int | None:
        """The partition's number, which positions begin with; None where there is no store beside it."""
        partitions = self._load.call("HGET", STORE_KEY, "partitions")
        return None if partitions is None else partition_of(owner, int(partitions))

    def _parked(self, owner: str) -> list[Decoded]:
        keys = self.lease.keys
        stored = read_entries(self._load, keys, read_parked(self._load, keys, owner), sealed=True)
        parked = decode_all(self._opened(stored))
        load_owners(self._load, keys, {owner: (), **named_memories(parked)}, self._owners)
        return parked

    def locked(self, most: int) -> list[tuple[str, str]]:
        """Owners that stand still for want of their keys alone, and why; at most so many."""
        if not self._load.seals.is_on or not self._load.call("HLEN", self.lease.keys.quarantine):
            return []
        return [(owner, why.reason) for owner, why in read_stuck(self._load, self.lease.keys, locked=True, most=most)]

    def stuck(self, most: int) -> list[tuple[str, int]]:
        """Owners that stand still at an event that could not be folded, and its seq; at most so many."""
        if not self._load.call("HLEN", self.lease.keys.quarantine):
            return []
        return [(owner, why.seq) for owner, why in read_stuck(self._load, self.lease.keys, locked=False, most=most)]

    def opens_now(self, owners: Sequence[str]) -> list[str]:
        """Those of these owners whose keys can be had now."""
        found = read_ciphers(self._load, self.lease.keys.log, owners)
        return [owner for owner in owners if isinstance(found.get(owner), ValueCipher)]

    def reads_now(self, most: int) -> list[str]:
        """Owners that an older release parked for an event that it could not read, and that this one reads; at most so many."""
        keys = self.lease.keys
        if not self._load.call("HLEN", keys.quarantine):
            return []
        found = list[str]()
        for seqs in slices(sorted(read_unread(self._load, keys).values()), LOOKED_AT):
            decoded = decode_all(self._opened(read_entries(self._load, keys, seqs, sealed=True)))
            found += (stored.owner for stored, event in decoded if not isinstance(event, UndecodableEvent))
            if len(found) >= most:
                break
        return found[:most]

    def retry(self, owner: str, request: str | None = None) -> bool:
        """Fold an owner's parked events again, by an operator's `request` or since its key is back; whether none stays parked."""
        self._lane.settle()
        self.stuck_changed = True
        if owner in self._owners and self._owners[owner].locked is not None:
            del self._owners[owner]
        load_owners(self._load, self.lease.keys, {owner: ()}, self._owners)
        working = self._owners[owner]
        outcome = Outcome(self.checkpoint.seq, self.checkpoint.seq, b"", self.checkpoint.head)
        if working.quarantine is not None:
            release(outcome, owner, working, self._parked(owner), on_failure=self._told)
        self._probe("during a retry")
        self._commit(outcome, control=[] if request is None else [request])
        self._lane.settle()
        return working.quarantine is None

    def full_inboxes(self, most: int) -> list[str]:
        """Owners of whom as much waits for a person as may, as far as they are in memory."""
        full = (name for name, owner in self._owners.items() if owner.state.waiting >= MOST_WAITING)
        return list(islice(full, most))

    def _commit(self, outcome: Outcome, control: Sequence[str] = ()) -> None:
        self._put(outcome, encode_outcome(self.checkpoint, outcome, self._owners), control)

    def _put(self, outcome: Outcome, encoded: EncodedOutcome, control: Sequence[str] = ()) -> None:
        pieces = self.checkpoint.pieces
        command = commit_command(self.lease, outcome, encoded, self._owners, pieces=pieces, control=control)
        self._lane.put(self.lease, outcome, *command)
        self.checkpoint = encoded.checkpoint
        for owner in outcome.filled:
            self._tell("inbox full", owner=owner, most=MOST_WAITING)

    def _told(self, stored: Stored, error: Exception) -> None:
        self.stuck_changed = True
        self._tell(
            "owner quarantined",
            owner=stored.owner,
            seq=stored.seq,
            kind=stored.kind,
            reason=type(error).__name__ if self._load.seals.is_on else f"{type(error).__name__}: {error}",
        )

    def _trim(self, fresh: set[str]) -> None:
        """Owners of this batch go to the end; while too much is cached, those at the front leave."""
        self._count(fresh)
        self._evict(len(fresh))

    def _count(self, fresh: Collection[str]) -> None:
        """These owners go to the end, and what is cached of them counts."""
        for name in fresh:
            owner = self._owners[name] = self._owners.pop(name)
            held = len(owner.memories)
            self._cached += held - owner.counted
            owner.counted = held

    def keep(self, most: int) -> None:
        """Let go of those folded longest ago until so many records are left; not while a batch about them is prepared."""
        if not self._ready:
            self._evict(0, most)

    def _evict(self, kept: int, most: int | None = None) -> None:
        """While too much is cached, owners at the front leave; not so many at the end."""
        most = self._most if most is None else most
        while self._cached > most and len(self._owners) > kept:
            self._cached -= self._owners.pop(next(iter(self._owners))).counted
            self._whole = False
