"""Verifying: fold the log anew in memory under the same version, and compare with what is stored, at equal checkpoints.

Checked: both hash chains, the digest, every record and owner state, every change log, and that every position up to the
checkpoint is applied, parked or discarded. Reads only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import msgspec
import redis

from events.envelope import Stored
from events.errors import LogGap
from events.parameters import DEFAULTS, Parameters
from events.partitions import LogKeys, position_text
from events.redis_gap import refuse_gap
from events.redis_log import entries
from events.redis_wire import Wire
from projections.builds import BuildKeys, version_of
from projections.changelog import FIRST_LINK, link, unpack
from projections.fold import PROJECTION_VERSION, OwnerState, decode_owner
from projections.memory import Memory, decode_memory, encode_memory
from projections.partition import Checkpoint, Outcome, WorkingOwner, decode_all, fold_batch, seal
from projections.redis_store import read_checkpoint, read_parked

READ_COUNT = 500
MOST_DIFFERENCES = 100
Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Verdict:
    """What one partition's verification found."""

    partition: int
    events: int = 0
    memories: int = 0
    digest: int = 0
    head: str = ""
    differences: list[dict[str, Any]] = field(default_factory=list)

    def differs(self, what: str, **where: Any) -> None:
        """One difference, up to a hundred a partition."""
        if len(self.differences) < MOST_DIFFERENCES:
            self.differences.append({"partition": self.partition, "what": what, **where})


class _Oracle:
    """The partition folded anew, in memory."""

    def __init__(self, base: Parameters) -> None:
        self.checkpoint = Checkpoint()
        self.owners: dict[str, WorkingOwner] = {}
        self.applied: dict[str, list[int]] = {}
        self.parked: dict[str, list[int]] = {}
        self.stored: dict[str, dict[int, Stored]] = {}
        self._base = base

    def feed(self, batch: Sequence[Stored]) -> None:
        decoded = decode_all(batch)
        for one in batch:
            self.owners.setdefault(one.owner, WorkingOwner())
        while decoded:
            outcome = fold_batch(self.checkpoint, self.owners, decoded, base=self._base)
            if outcome.events == 0:
                outcome = self._discard(decoded[:1])
            self._keep(outcome, decoded)
            decoded = decoded[outcome.events :]

    def _discard(self, first: list[Any]) -> Outcome:
        owner = first[0][0].owner
        parked = decode_all(self.stored[owner][seq] for seq in self.parked[owner])
        return fold_batch(self.checkpoint, self.owners, first, base=self._base, released={owner: parked})

    def _keep(self, outcome: Outcome, decoded: list[Any]) -> None:
        self.checkpoint = seal(self.checkpoint, outcome, self.owners).checkpoint
        for name, part in outcome.owners.items():
            self.applied.setdefault(name, []).extend(part.seqs)
            if part.parked_now is not None:
                self.parked[name] = list(part.parked_now)
            self.parked.setdefault(name, []).extend(part.park)
        for stored, _ in islice(decoded, outcome.events):
            if self.parked.get(stored.owner):
                self.stored.setdefault(stored.owner, {})[stored.seq] = stored


def verify_partition(
    client: redis.Redis,
    partition: int,
    tag: str,
    *,
    base: Parameters = DEFAULTS,
    on_progress: Progress = lambda _done, _all: None,
) -> Verdict:
    """Compare one partition's live build with its log."""
    wire = Wire(client)
    verdict = Verdict(partition)
    try:
        build = (wire.call("HGET", LogKeys(tag).meta, "live") or b"").decode()
        keys = BuildKeys(tag, build)
        if not build or version_of(build) != PROJECTION_VERSION:
            verdict.differs("build of another version", build=build, cure="engramlog rebuild")
            return verdict
        oracle = _Oracle(base)
        stored = read_checkpoint(wire, keys)
        _look(wire, keys, stored, verdict)
        _catch_up(wire, keys, oracle, stored.seq, verdict, on_progress)
        _compare_checkpoint(oracle.checkpoint, stored, verdict)
        _compare_owners(wire, keys, oracle, verdict, on_progress)
        verdict.events, verdict.memories = oracle.checkpoint.seq, oracle.checkpoint.memories
        verdict.digest, verdict.head = oracle.checkpoint.digest, oracle.checkpoint.head.hex()
    except _Gap:
        pass  # it was told; what lies behind it can be compared with nothing
    finally:
        wire.close()
    return verdict


class _Gap(Exception):
    """The log cannot be read on."""


def _look(wire: Wire, keys: BuildKeys, stored: Checkpoint, verdict: Verdict) -> None:
    try:
        refuse_gap(wire, keys.tag, stored.seq)
    except LogGap as error:
        verdict.differs("the log is not whole", problem=error.message)


def _catch_up(wire: Wire, keys: BuildKeys, oracle: _Oracle, to: int, verdict: Verdict, on_progress: Progress) -> None:
    while oracle.checkpoint.seq < to:
        after = oracle.checkpoint.seq
        try:
            batch = entries(
                wire.call("XRANGE", keys.log.stream, f"{after + 1}-0", f"{to}-0", "COUNT", READ_COUNT), keys.tag
            )
        except LogGap as error:
            verdict.differs("an entry that no append wrote", problem=error.message)
            raise _Gap from error
        whole = [one for expected, one in enumerate(batch, after + 1) if one.seq == expected]
        oracle.feed(whole)
        if len(whole) < len(batch) or not batch:
            missing = oracle.checkpoint.seq + 1
            verdict.differs("the log has a gap", position=position_text(verdict.partition, missing))
            raise _Gap
        on_progress(oracle.checkpoint.seq, to)


def _compare_checkpoint(mine: Checkpoint, stored: Checkpoint, verdict: Verdict) -> None:
    if mine.seq != stored.seq:
        verdict.differs("the log ends before the checkpoint", checkpoint=stored.seq, log=mine.seq)
        return
    if mine.head != stored.head:
        verdict.differs(
            "the chain over stored events", stored=stored.head.hex(), folded=mine.head.hex(), checkpoint=stored.seq
        )
    if mine.digest != stored.digest or mine.memories != stored.memories:
        verdict.differs(
            "the digest of all records",
            stored=f"{stored.digest:032x}",
            folded=f"{mine.digest:032x}",
            checkpoint=stored.seq,
        )


def _compare_owners(wire: Wire, keys: BuildKeys, oracle: _Oracle, verdict: Verdict, on_progress: Progress) -> None:
    names = set(oracle.owners)
    names.update(raw.decode() for raw, _ in _scan(wire, keys.owners))
    for name in sorted(names):
        for _ in range(50):
            before = wire.call("HGET", keys.owners, name)
            found = _read_owner(wire, keys, name)
            at = read_checkpoint(wire, keys).seq
            if wire.call("HGET", keys.owners, name) == before and before == found[0]:
                _catch_up(wire, keys, oracle, at, verdict, on_progress)
                _compare_owner(name, oracle, *found, verdict)
                break
        else:
            verdict.differs("owner changed too fast to compare; run verify again when it is calmer", owner=name)


Found = tuple[bytes | None, dict[str, bytes], list[tuple[int, bytes]], list[int]]


def _read_owner(wire: Wire, keys: BuildKeys, name: str) -> Found:
    records = {memory_id.decode(): raw for memory_id, raw in _scan(wire, keys.records(name))}
    packs = [(int(seq), raw) for seq, raw in _scan(wire, keys.changelog(name))]
    return wire.call("HGET", keys.owners, name), records, sorted(packs), read_parked(wire, keys, name)


def _scan(wire: Wire, key: str) -> list[tuple[bytes, bytes]]:
    found: dict[bytes, bytes] = {}
    cursor = b"0"
    while True:
        cursor, page = wire.call("HSCAN", key, cursor, "COUNT", 500)
        found.update(zip(page[::2], page[1::2], strict=True))
        if cursor == b"0":
            return list(found.items())


def _compare_owner(
    name: str,
    oracle: _Oracle,
    token: bytes | None,
    records: dict[str, bytes],
    packs: list[tuple[int, bytes]],
    parked: list[int],
    verdict: Verdict,
) -> None:
    mine = oracle.owners.get(name, WorkingOwner())
    try:
        state = decode_owner(token) if token else OwnerState()
    except msgspec.MsgspecError as error:
        verdict.differs("an owner's state that cannot be read", owner=name, error=str(error))
        return
    if state.seq != mine.state.seq:
        verdict.differs("an owner's last applied position", owner=name, stored=state.seq, folded=mine.state.seq)
    for memory_id in sorted(mine.memories.keys() | records.keys()):
        expected = encode_memory(mine.memories[memory_id]) if memory_id in mine.memories else None
        if expected != records.get(memory_id):
            changed = _fields_that_differ(mine.memories.get(memory_id), records.get(memory_id))
            verdict.differs("a memory", owner=name, memory=memory_id, fields=changed)
    if (state.chain, state.entries, state.applied) != (mine.state.chain, mine.state.entries, mine.state.applied):
        verdict.differs(
            "an owner's chain over its change log", owner=name, stored=state.chain.hex(), folded=mine.state.chain.hex()
        )
    if state.settings != mine.state.settings:
        verdict.differs("an owner's profile, parameters or synonyms", owner=name)
    _compare_log(name, oracle, state, packs, parked, verdict)


def _compare_log(
    name: str, oracle: _Oracle, state: OwnerState, packs: list[tuple[int, bytes]], parked: list[int], verdict: Verdict
) -> None:
    try:
        seqs, log = unpack(b"".join(raw for _, raw in packs))
    except Exception as error:  # noqa: BLE001 - damaged bytes can fail in any way, and are what is looked for
        verdict.differs("a change log that cannot be read", owner=name, error=str(error))
        return
    chain = FIRST_LINK
    for entry in log:
        chain = link(chain, entry)
    if chain != state.chain:
        verdict.differs(
            "a change log that does not fit its chain", owner=name, stored=state.chain.hex(), computed=chain.hex()
        )
    if seqs != oracle.applied.get(name, []):
        verdict.differs(
            "positions neither applied nor parked",
            owner=name,
            positions=_missing(seqs, oracle.applied.get(name, []), verdict),
        )
    if parked != oracle.parked.get(name, []):
        verdict.differs("parked positions", owner=name, stored=parked, folded=oracle.parked.get(name, []))


def _missing(seqs: list[int], expected: list[int], verdict: Verdict) -> list[str]:
    return [position_text(verdict.partition, seq) for seq in sorted(set(seqs) ^ set(expected))[:20]]


def _fields_that_differ(expected: Memory | None, raw: bytes | None) -> list[str]:
    """Names of the fields in which a stored record differs, or what is wrong with it as a whole."""
    if expected is None:
        return ["not in the log"]
    if raw is None:
        return ["not stored"]
    try:
        found = decode_memory(raw)
    except Exception:  # noqa: BLE001 - damaged bytes can fail in any way
        return ["cannot be read"]
    return [name for name in expected.__struct_fields__ if getattr(expected, name) != getattr(found, name)]
