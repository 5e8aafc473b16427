"""Verifying: fold the log again in memory under the same version, and compare with everything stored, at equal checkpoints.

Checked of a partition: that its log is whole and its entries bear out their own bodies; both hash chains and the digest; of every
owner its state, records, change log (entry by entry, every field), sorted set, parked list and quarantine; dedupe of every event
id, owners' heads, the checkpoint; and that no key is there that nothing writes. Of vectors, which a model gave, their form. The
lease, presence and alarms are about now, and prove nothing. Reads only, in pages.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from typing import Any

import redis

from engramlog_server.consumers.verify.encryption import Opening, compare_gone, compare_secrets
from engramlog_server.consumers.verify.findings import Findings, shown
from engramlog_server.consumers.verify.keys import (
    compare_builds,
    compare_deletions,
    compare_fields,
    compare_log_keys,
    compare_recorded,
    scan_partition,
)
from engramlog_server.consumers.verify.levels import believed_mark, compare_levels, compare_read
from engramlog_server.consumers.verify.oracle import ExpectedKeys, Ledger, Oracle
from engramlog_server.consumers.verify.owner import OwnerComparison, StoredOwner, opened_packs, read_found, read_some
from engramlog_server.consumers.verify.past import PastComparison, StoredIndex, compare_index, read_index
from engramlog_server.consumers.verify.vectors import compare_vectors
from engramlog_server.events.encryption.cipher import ValueCipher
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import DamagedState, LogGap
from engramlog_server.events.partitions import STORE_KEY, position_text
from engramlog_server.events.redis.gap import refuse_gap
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.scan import pairs
from engramlog_server.events.redis.server import redis_ms
from engramlog_server.events.redis.wire import Wire, open_wire
from engramlog_server.projections.fold.owner import PROJECTION_VERSION
from engramlog_server.projections.fold.partition import Checkpoint, WorkingOwner
from engramlog_server.projections.redis.builds import BuildKeys, is_build, version_of
from engramlog_server.projections.redis.store import read_checkpoint

READ_COUNT = 500
OWNERS_AT_ONCE = 20
NAMES = ([b"%c" % name for name in b"tioerpldcs"], [b"%c" % name for name in b"tioerpldcsw"])
"""The fields of an entry, and of one where a clock was behind, in their order."""
Progress = Callable[[int, int], None]


def verify_partition(
    client: redis.Redis,
    partition: int,
    tag: str,
    *,
    chain_at: Iterable[int] = (),
    on_progress: Progress = lambda _done, _all: None,
) -> Findings:
    """Compare one partition's live build with its log. The verdict has the chain at the seqs `chain_at`."""
    verdict, wire = Findings(partition), open_wire(client)
    try:
        verification = _Verification(wire, tag, verdict, chain_at, on_progress)
        with suppress(_CannotReadOn):  # it was reported; data behind it cannot be compared
            verification.run()
    finally:
        wire.close()
    return verdict


class _CannotReadOn(Exception):
    """What comes next cannot be compared."""


class _Verification:
    """One partition, compared step by step."""

    def __init__(self, wire: Wire, tag: str, verdict: Findings, chain_at: Iterable[int], on_progress: Progress) -> None:
        self._wire, self._tag = wire, tag
        self._verdict = verdict
        self._oracle = Oracle(verdict.partition)
        partitions = wire.call("HGET", STORE_KEY, "partitions")
        self._ledger = Ledger(verdict, int(partitions), chain_at, sealed=wire.seals.is_on)
        self._on_progress = on_progress

    def run(self) -> None:
        """Everything, in an order in which each step may rely on those before."""
        wire, verdict, oracle, ledger = self._wire, self._verdict, self._oracle, self._ledger
        build = (wire.call("HGET", f"{{{self._tag}}}:meta", "live") or b"").decode("utf-8", "replace")
        keys = self._keys = BuildKeys(self._tag, build)
        if not is_build(build) or version_of(build) != PROJECTION_VERSION:
            verdict.differs("build not supported", build=build, cure="engramlog rebuild")
            return
        found = scan_partition(wire, keys, verdict)
        if found is None:
            return
        self._opening = Opening(wire, keys.log, verdict)
        oracle.locked, oracle.is_gone = self._opening.shut, self._opening.is_gone
        mark = believed_mark(wire, keys.log)
        stored = self._checkpoint()
        try:
            refuse_gap(wire, keys.tag, stored.seq)
        except LogGap as error:
            verdict.differs("the log is not whole", problem=error.message)
        self._fold_to(stored.seq)
        self._compare_checkpoint(stored)
        self._compare_owners(found.owners)
        compare_vectors(wire, keys, found, oracle, self._opening, verdict)
        compare_deletions(
            wire, keys, self._opening.locked, self._memories, lambda: self._fold_to(self._head()), verdict
        )
        compare_levels(wire, keys.log, self._head(), verdict)
        compare_fields(wire, keys, [*oracle.owners, *self._opening.locked], verdict)
        compare_builds(wire, keys, found.builds, redis_ms(wire, keys.checkpoint), verdict)
        secrets = dict(pairs(wire, keys.log.secrets))
        for batch in self._read(ledger.seq, self._head()):
            ledger.feed(batch, self._opening.secrets(batch), oracle.locked, oracle.is_gone)
        compare_log_keys(wire, keys.log, found.buckets, ledger, self._read, self._opening.secrets, verdict)
        compare_read(keys, mark, ledger, oracle, self._opening, verdict)
        compare_secrets(self._opening, secrets, ledger.owners, verdict)
        if self._opening.is_on:
            compare_gone(wire, keys.log, verdict)
        compare_recorded(wire, keys, ledger, verdict)
        verdict.events, verdict.memories = oracle.checkpoint.seq, oracle.checkpoint.memories
        verdict.digest, verdict.head = oracle.checkpoint.digest, oracle.checkpoint.head.hex()

    def _memories(self, owner: str) -> Collection[str]:
        known = self._oracle.owners.get(owner)
        return () if known is None else known.memories

    def _checkpoint(self) -> Checkpoint:
        try:
            return read_checkpoint(self._wire, self._keys)
        except DamagedState as error:
            self._verdict.differs("a checkpoint that cannot be read", problem=error.message)
            raise _CannotReadOn from error

    def _head(self) -> int:
        head = self._wire.call("HGET", self._keys.log.meta, "head") or b"0"
        if not head.isdigit():
            raise _CannotReadOn  # reported as a log that is not whole
        return int(head)

    def _fold_to(self, seq: int) -> None:
        for batch in self._read(self._oracle.checkpoint.seq, seq):
            secrets = self._opening.secrets(batch)
            self._ledger.feed(batch, secrets, self._oracle.locked, self._oracle.is_gone)
            self._oracle.feed(batch, secrets, self._ledger.chain)
            self._on_progress(self._ledger.seq, seq)
        self._oracle.settle()

    def _read(self, after: int, to: int) -> Iterator[list[Stored]]:
        """Batches of the log; ends at a gap, which is reported."""
        while after < to:
            answer = self._wire.call("XRANGE", self._keys.log.stream, f"{after + 1}-0", f"{to}-0", "COUNT", READ_COUNT)
            self._refuse_names(answer)
            try:
                batch = entries(answer, self._tag)
            except LogGap as error:
                self._verdict.differs("an entry that no append wrote", problem=error.message)
                raise _CannotReadOn from error
            whole = [one for expected, one in enumerate(batch, after + 1) if one.seq == expected]
            if whole:
                yield self._opening.batch(whole)
            after += len(whole)
            if len(whole) < len(batch) or not batch:
                self._verdict.differs("the log has a gap", position=position_text(self._verdict.partition, after + 1))
                raise _CannotReadOn

    def _refuse_names(self, answer: list[Any]) -> None:
        for key, held in answer:
            if held[::2] not in NAMES:
                told = [shown(name) for name in held[::2][:8]]
                self._verdict.differs("an entry that no append wrote", entry=key.decode(), names=told)
                raise _CannotReadOn

    def _compare_checkpoint(self, stored: Checkpoint) -> None:
        mine = self._oracle.checkpoint
        if mine.head != stored.head:
            told = {"stored": stored.head.hex(), "folded": mine.head.hex()}
            self._verdict.differs("the chain over stored events", checkpoint=stored.seq, **told)
        if self._opening.locked:
            return  # counts over all owners were reported with the first missing key
        if mine.digest != stored.digest or mine.memories != stored.memories:
            told = {"stored": f"{stored.digest:032x}", "folded": f"{mine.digest:032x}"}
            counts = {"stored_memories": stored.memories, "folded_memories": mine.memories}
            self._verdict.differs("the digest of all records", checkpoint=stored.seq, **told, **counts)
        if (mine.waiting, mine.full) != (stored.waiting, stored.full):
            told = {"stored": f"{stored.waiting}, {stored.full}", "folded": f"{mine.waiting}, {mine.full}"}
            self._verdict.differs("how much waits for a person", **told)
        if mine.refused != stored.refused:
            told = {"stored": str(stored.refused), "folded": str(mine.refused)}
            self._verdict.differs("how many events say what was rejected", **told)

    def _compare_owners(self, scanned: set[str]) -> None:
        """Owner by owner, each at the position at which it was read: producers and workers go on meanwhile."""
        names = scanned | set(self._oracle.owners)
        for table in (self._keys.owners, self._keys.quarantine):
            names.update(filter(None, (self._owner(table, raw) for raw, _ in pairs(self._wire, table))))
        for name in sorted(names & self._opening.erased):
            self._verdict.differs("something of an owner who was erased", owner=name)
        for name, index, found, cipher in self._found(sorted(names - self._opening.shut)):
            if name in self._opening.shut:
                continue
            if found is None:
                self._verdict.differs(
                    "owner changed too fast to compare; run verify again when it is calmer", owner=name
                )
                continue
            self._fold_to(found.standing.at)
            mine, kept = self._oracle.owners.get(name), self._oracle.kept.get(name)
            comparison = OwnerComparison(
                name, mine or WorkingOwner(), kept or ExpectedKeys(), found, self._verdict, cipher
            )
            if comparison.compare() and index is not None:
                compare_index(name, index, opened_packs(name, found.packs, cipher), self._verdict)
                if mine is not None and kept is not None:
                    PastComparison(self._wire, self._keys, name, mine, kept, self._verdict, self._opening).compare()

    def _found(
        self, names: list[str]
    ) -> Iterator[tuple[str, StoredIndex | None, StoredOwner | None, ValueCipher | None]]:
        """What is stored of each owner, as of moments that follow on each other, with its index where it has one, and what opens it
        in a sealed store."""
        wire, keys, at = self._wire, self._keys, 0
        while at < len(names):
            some = names[at : at + OWNERS_AT_ONCE]
            ciphers = self._opening.ciphers(some) if self._opening.is_on else {}
            for name, found in zip(some, read_some(wire, keys, some), strict=True):
                at += 1
                if found is None:
                    yield (
                        name,
                        read_index(wire, keys, name, self._verdict),
                        read_found(wire, keys, name),
                        ciphers.get(name),
                    )
                    break  # what was read of the others is older than that
                yield name, None, found, ciphers.get(name)

    def _owner(self, table: str, raw: bytes) -> str | None:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            told = shown(raw)
            self._verdict.differs("an owner's name that no event has", key=table, owner=told)
            return None
