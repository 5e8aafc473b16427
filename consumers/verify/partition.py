"""Verifying: fold the log again in memory under the same version, and compare with everything stored, at equal checkpoints.

Checked of a partition: that its log is whole and its entries bear out their own bodies; both hash chains and the digest; of every
owner its state, records, change log (entry by entry, every field), sorted set, parked list and quarantine; dedupe of every event
id, owners' heads, the checkpoint; and that no key is there that nothing writes. Of vectors, which a model gave, their form. The
lease, presence and alarms are about now, and prove nothing. Reads only, in pages.

`Levels` knows how far a job read a partition's entries again under newer rules of sensitivity, and whose are left. Its mark only
saves work: if it is lost, or of other rules, the partition is read again from its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec
import redis

from engramlog_server.consumers.verify.encryption import Opening, compare_gone, compare_secrets
from engramlog_server.consumers.verify.findings import ExpectedKeys, Findings, Ledger, Oracle, shown
from engramlog_server.consumers.verify.keys import (
    compare_builds,
    compare_deletions,
    compare_fields,
    compare_log_keys,
    compare_recorded,
    compare_vectors,
    scan_partition,
)
from engramlog_server.consumers.verify.owner import (
    OwnerComparison,
    PastComparison,
    StoredIndex,
    StoredOwner,
    compare_index,
    opened_packs,
    read_found,
    read_index,
    read_some,
)
from engramlog_server.events.cipher import ValueCipher
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import DamagedState, LogGap
from engramlog_server.events.keys import is_tombstone
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import STORE_KEY, LogKeys, position_text
from engramlog_server.events.redis.durability import refuse_gap
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.server import redis_ms
from engramlog_server.events.redis.wire import Wire, open_wire, pairs
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.fold.owner import PROJECTION_VERSION
from engramlog_server.projections.fold.partition import Checkpoint, WorkingOwner
from engramlog_server.projections.language.sensitivity.level import LEVEL_RULES
from engramlog_server.projections.lifecycle.extraction import is_outdated, levels_today
from engramlog_server.projections.redis.builds import BuildKeys, is_build, version_of
from engramlog_server.projections.redis.store import read_checkpoint, slices

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
        mark = _believed_mark(wire, keys.log)
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
        _compare_levels(wire, keys.log, self._head(), verdict)
        compare_fields(wire, keys, [*oracle.owners, *self._opening.locked], verdict)
        compare_builds(wire, keys, found.builds, redis_ms(wire, keys.checkpoint), verdict)
        secrets = dict(pairs(wire, keys.log.secrets))
        for batch in self._read(ledger.seq, self._head()):
            ledger.feed(batch, self._opening.secrets(batch), oracle.locked, oracle.is_gone)
        compare_log_keys(wire, keys.log, found.buckets, ledger, self._read, self._opening.secrets, verdict)
        _compare_read(keys, mark, ledger, oracle, self._opening, verdict)
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


_FIELD = "read"
PAGE = 500
"""Entries read at once."""
MOST_NAMED = 20
"""Memories of one owner that a verification names."""
_MOST_LEFT = 1_000
"""Owners that a mark may name as left out; where there are more, it does not move."""


class _LevelsChecked(NamedTuple):
    """Up to where a partition was read, under which rules."""

    rules: int = LEVEL_RULES
    seq: int = 0
    left: tuple[str, ...] = ()
    """Owners that could not be looked at then."""


_DECODE = msgspec.msgpack.Decoder(_LevelsChecked)


def _compare_levels(wire: Wire, keys: LogKeys, head: int, verdict: Findings) -> None:
    """Report a mark that no job wrote: one beyond the log would keep entries from being read again."""
    for name, value in pairs(wire, keys.levels):
        try:
            mark = _DECODE.decode(value)
        except UNREADABLE:
            mark = _LevelsChecked(rules=0)
        known = mark.rules >= 1 and 0 <= mark.seq <= head and msgspec.msgpack.encode(mark) == value
        if name != _FIELD.encode() or not known:
            verdict.differs("how far levels were read again, which no job wrote", field=name.decode("utf-8", "replace"))


def _believed_mark(wire: Wire, keys: LogKeys) -> _LevelsChecked:
    """The mark that the job would use; seq 0 if it would read everything."""
    raw = wire.call("HGET", keys.levels, _FIELD)
    try:
        mark = _DECODE.decode(raw) if raw else _LevelsChecked()
    except UNREADABLE:
        return _LevelsChecked()
    return mark if mark.rules == LEVEL_RULES and mark.seq >= 0 else _LevelsChecked()


def _compare_read(
    keys: BuildKeys, mark: _LevelsChecked, ledger: Ledger, oracle: Oracle, opening: Opening, verdict: Findings
) -> None:
    """Report owners that the mark calls read although today's rules find more: the job would not read them again.

    `mark`: as it stood before the log was read, for the job appends what it found before it moves the mark. An owner with events
    that are not folded yet is left to the next verification.
    """
    for owner, seq in sorted(ledger.outdated.items()):
        kept, memories = oracle.kept.get(owner), oracle.owners.get(owner)
        if seq > mark.seq or owner in mark.left or kept is None or memories is None:
            continue
        if ledger.heads.get(owner, 0) > max([*kept.applied[-1:], *kept.parked], default=0):
            continue
        found = levels_today(_entries(opening, keys, kept.applied))
        low = [
            one.id
            for one in memories.memories.values()
            if one.purged_at is None and found.get(one.id, 0) > one.sensitivity
        ]
        if low:
            verdict.differs(
                "memories that newer rules find more sensitive, behind the mark of what was read again",
                owner=owner,
                memories=sorted(low)[:MOST_NAMED],
                cure=f"engramlog cleanup {owner} --job levels",
            )


def _entries(opening: Opening, keys: BuildKeys, seqs: Sequence[int]) -> Iterator[Stored]:
    for some in slices(seqs, PAGE):
        yield from opening.read(keys, some)


class _Waiting(NamedTuple):
    """Whose entries are to be read again, and the seq up to which that was found."""

    owners: list[str]
    seq: int


class Levels:
    """What one partition's entries are still to be read for."""

    def __init__(self, wire: Wire, log: EventLog, tag: str, partition: int) -> None:
        self._wire = wire
        self._log = log
        self._keys = LogKeys(tag)
        self._partition = partition

    def waiting(self, check: Check = unchecked) -> _Waiting:
        """Owners with an outdated entry since the mark, and those that it left out, but those who were erased; sorted. Raises
        StoreError."""
        mark, head = _believed_mark(self._wire, self._keys), self._log.head(self._partition)
        found, seq = set(mark.left), min(mark.seq, head)
        while seq < head:
            check(seq, head)
            page = self._log.read(self._partition, seq, min(PAGE, head - seq))
            if not page:
                break
            found.update(one.owner for one in page if is_outdated(one))
            seq = page[-1].seq
        return _Waiting([owner for owner in sorted(found) if not self._is_erased(owner)], seq)

    def _is_erased(self, owner: str) -> bool:
        """Whether nobody can read its entries again."""
        line = self._wire.call("HGET", self._keys.secrets, owner) if self._wire.seals.is_on else None
        return line is not None and is_tombstone(line)

    def read(self, seq: int, left: Iterable[str]) -> None:
        """All owners that waited were looked at up to `seq`, but for those `left` out. Raises StoreError."""
        names = tuple(sorted(left))
        if len(names) <= _MOST_LEFT:
            self._wire.call(
                "HSET", self._keys.levels, _FIELD, msgspec.msgpack.encode(_LevelsChecked(LEVEL_RULES, seq, names))
            )
