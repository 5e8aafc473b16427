"""The verdict: what is in Redis against a pure in-memory fold of the ledger, event by event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import redis

from events.envelope import Stored
from events.parameters import DEFAULTS
from events.partitions import LogKeys
from events.redis_log import RedisEventLog
from events.redis_wire import Wire
from projections.builds import BuildKeys
from projections.changelog import Entry, unpack
from projections.evolve import parameters_of
from projections.fold import decode_owner
from projections.laws.weighted import factors
from projections.memory import decode_memory, encode_memory
from projections.partition import Checkpoint, WorkingOwner, decode_all, fold_batch, seal
from projections.redis_store import decode_quarantine, read_checkpoint, read_parked
from tests.chaos.ledger import Ledger, Line, by_id
from tests.chaos.story import BEGIN, CLOCK

MOST_TOLD = 50


@dataclass(slots=True)
class Verdict:
    """Counts of what went wrong, and each difference in words."""

    acknowledged: int = 0
    unknown_written: int = 0
    """Never acknowledged, found in the log: once, or it counts as duplicated."""
    unknown_absent: int = 0
    lost: int = 0
    """Acknowledged, but not at its position in the log; or in the log and passed over: neither applied, nor parked for an
    owner that stands still, nor discarded."""
    duplicated: int = 0
    """Times that an event is in the log, or applied, beyond the first."""
    out_of_order: int = 0
    """Neighbours of one owner that stand in the log, or were applied, against the order of sending."""
    owners: int = 0
    memories: int = 0
    applied: int = 0
    parked: int = 0
    discarded: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Nothing lost, nothing twice, in order, and every byte as the pure fold has it."""
        return not (self.lost or self.duplicated or self.out_of_order or self.differences)

    def differs(self, what: str) -> None:
        """One difference, in words; of many, the first fifty."""
        if len(self.differences) < MOST_TOLD:
            self.differences.append(what)


@dataclass(slots=True)
class Folded:
    """One partition folded in memory, one event at a time."""

    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    owners: dict[str, WorkingOwner] = field(default_factory=dict)
    applied: dict[str, list[int]] = field(default_factory=dict)
    entries: dict[str, list[Entry]] = field(default_factory=dict)
    touched: dict[str, dict[str, int]] = field(default_factory=dict)
    parked: dict[str, list[int]] = field(default_factory=dict)


def fold_in_memory(log: Sequence[Stored]) -> Folded:
    """The pure fold of a partition, quarantine and discards included."""
    folded = Folded()
    known = {one.seq: one for one in log}
    for decoded in decode_all(log):
        name = decoded[0].owner
        folded.owners.setdefault(name, WorkingOwner())
        parked = folded.parked.setdefault(name, [])
        released = {name: decode_all(known[seq] for seq in parked)}
        outcome = fold_batch(folded.checkpoint, folded.owners, [decoded], released=released)
        folded.checkpoint = seal(folded.checkpoint, outcome, folded.owners).checkpoint
        part = outcome.writes(name)
        folded.applied.setdefault(name, []).extend(part.seqs)
        folded.entries.setdefault(name, []).extend(part.entries)
        folded.touched.setdefault(name, {}).update(part.touched)
        folded.parked[name] = (parked if part.parked_now is None else part.parked_now) + part.park
    return folded


def judge(client: redis.Redis, tags: Sequence[str], ledger: Ledger) -> Verdict:
    """Compare every partition with the ledger. Call when every checkpoint has reached its head."""
    verdict = Verdict()
    lines = by_id(ledger.lines)
    log, wire = RedisEventLog(client, tags), Wire(client)
    places: dict[bytes, tuple[int, int]] = {}
    for partition, tag in enumerate(tags):
        written = _read_log(log, partition, lines, places, verdict)
        _judge_partition(wire, tag, partition, written, verdict)
    _judge_ledger(ledger, places, verdict)
    log.close()
    wire.close()
    return verdict


def _read_log(
    log: RedisEventLog, partition: int, lines: dict[bytes, Line], places: dict[bytes, tuple[int, int]], verdict: Verdict
) -> list[Stored]:
    """The partition as the ledger has it, in the order in which the log has it."""
    written: list[Stored] = []
    seen: Counter[bytes] = Counter()
    at = 0
    while batch := log.read(partition, at):
        for one in batch:
            if one.seq != at + 1:
                verdict.differs(f"{partition}: seq {one.seq} follows on {at}")
            at = one.seq
            line = lines.get(one.raw_id)
            if line is None:
                verdict.differs(f"{partition}:{one.seq}: an event that nobody sent")
                continue
            sent = line.event
            if (one.kind, one.owner, one.body) != (sent.kind, sent.owner, sent.body):
                verdict.differs(f"{partition}:{one.seq}: other bytes than were sent")
            seen[one.raw_id] += 1
            places.setdefault(one.raw_id, (partition, one.seq))
            written.append(Stored(one.seq, sent.kind, sent.raw_id, sent.owner, sent.body))
    verdict.duplicated += sum(count - 1 for count in seen.values())
    if log.head(partition) != at:
        verdict.differs(f"{partition}: the head is {log.head(partition)}, the last entry {at}")
    return written


def _judge_ledger(ledger: Ledger, places: dict[bytes, tuple[int, int]], verdict: Verdict) -> None:
    last: dict[tuple[str, str], tuple[int, int]] = {}
    for line in sorted(ledger.lines, key=lambda line: (line.sender, line.event.owner, line.number)):
        place = places.get(line.event.raw_id)
        if not line.acknowledged:
            verdict.unknown_written += place is not None
            verdict.unknown_absent += place is None
            continue
        verdict.acknowledged += 1
        verdict.lost += place != line.position
        assert line.position is not None
        before = last.get((line.sender, line.event.owner), (line.position[0], 0))
        verdict.out_of_order += line.position <= before
        last[line.sender, line.event.owner] = line.position
    for complaint in ledger.complaints:
        verdict.differs(f"receipt: {complaint}")


def _judge_partition(wire: Wire, tag: str, partition: int, written: Sequence[Stored], verdict: Verdict) -> None:
    live = (wire.call("HGET", LogKeys(tag).meta, "live") or b"").decode()
    keys = BuildKeys(tag, live)
    mine = fold_in_memory(written)
    stored = read_checkpoint(wire, keys)
    for name, ours, theirs in zip(Checkpoint._fields, mine.checkpoint, stored, strict=True):
        if ours != theirs:
            verdict.differs(f"{partition}: {name} of the checkpoint is {theirs!r}, folded {ours!r}")
    by_owner: dict[str, list[Stored]] = {}
    for one in written:
        by_owner.setdefault(one.owner, []).append(one)
    unexpected = {raw.decode() for raw in wire.call("HKEYS", keys.owners)} - by_owner.keys()
    if unexpected:
        verdict.differs(f"{partition}: owners without an event: {sorted(unexpected)}")
    if left := wire.call("HGETALL", LogKeys(tag).control):
        verdict.differs(f"{partition}: requests that nobody carried out: {left}")
    for owner, events in by_owner.items():
        _judge_owner(wire, keys, owner, mine, {one.seq for one in events}, verdict)


def _pairs(flat: Sequence[Any]) -> Iterable[tuple[Any, Any]]:
    return zip(flat[::2], flat[1::2], strict=True)


def _judge_owner(wire: Wire, keys: BuildKeys, owner: str, mine: Folded, there: set[int], verdict: Verdict) -> None:
    working, where = mine.owners[owner], f"{keys.log.tag} {owner}"
    stuck = wire.call("HGET", keys.quarantine, owner)
    packs = {int(seq): raw for seq, raw in _pairs(wire.call("HGETALL", keys.changelog(owner)))}
    applied, entries = unpack(b"".join(packs[seq] for seq in sorted(packs)))
    parked = read_parked(wire, keys, owner)
    _judge_applied(mine, owner, applied, parked if stuck else [], there, verdict)
    if (applied, entries) != (mine.applied[owner], mine.entries[owner]):
        verdict.differs(f"{where}: change log of {len(entries)} entries, folded {len(mine.entries[owner])}")
    if parked != mine.parked[owner]:
        verdict.differs(f"{where}: parked {parked}, folded {mine.parked[owner]}")
    if (decode_quarantine(stuck) if stuck else None) != working.quarantine:
        verdict.differs(f"{where}: quarantine {stuck!r}, folded {working.quarantine}")
    token = wire.call("HGET", keys.owners, owner)
    state = decode_owner(token) if token else None
    if _without_pack(state) != _without_pack(working.state if mine.applied[owner] else None):
        verdict.differs(f"{where}: state {state}, folded {working.state}")
    scores = {
        raw.decode(): int(score) for raw, score in _pairs(wire.call("ZRANGE", keys.changes(owner), 0, -1, "WITHSCORES"))
    }
    if scores != mine.touched[owner]:
        verdict.differs(f"{where}: versions of last changes {scores}, folded {mine.touched[owner]}")
    _judge_records(wire, keys, owner, working, verdict)


def _judge_applied(
    mine: Folded, owner: str, applied: list[int], parked: list[int], there: set[int], verdict: Verdict
) -> None:
    gone = there - set(mine.applied[owner]) - set(mine.parked[owner])
    verdict.owners += 1
    verdict.applied += len(applied)
    verdict.parked += len(parked)
    verdict.discarded += len(gone)
    verdict.lost += len(there - gone - set(applied) - set(parked))
    counts = Counter([*applied, *parked])
    verdict.duplicated += sum(count - 1 for count in counts.values())
    rank = {seq: place for place, seq in enumerate(mine.applied[owner])}
    ranks = [rank[seq] for seq in dict.fromkeys(applied) if seq in rank]
    verdict.out_of_order += sum(later < sooner for sooner, later in pairwise(ranks))


def _judge_records(wire: Wire, keys: BuildKeys, owner: str, working: WorkingOwner, verdict: Verdict) -> None:
    records = {raw.decode(): record for raw, record in _pairs(wire.call("HGETALL", keys.records(owner)))}
    verdict.memories += len(records)
    parameters = parameters_of(working.state.settings, DEFAULTS)
    for memory_id in sorted(records.keys() | working.memories.keys()):
        ours, theirs = working.memories.get(memory_id), records.get(memory_id)
        if ours is None or theirs is None:
            verdict.differs(f"{keys.log.tag} {owner}: memory {memory_id} is {'not' if ours else 'only'} in Redis")
            continue
        if encode_memory(ours) != theirs:
            verdict.differs(f"{keys.log.tag} {owner}: memory {memory_id} has other bytes than folded")
        for instant in (int(BEGIN.timestamp()) * 1_000_000, CLOCK):
            if factors(ours, instant, parameters) != factors(decode_memory(theirs), instant, parameters):
                verdict.differs(f"{keys.log.tag} {owner}: memory {memory_id} has another weight at {instant}")


def _without_pack(state: Any) -> Any:
    """How the change log is cut into packs depends on batches, and is all that may."""
    return None if state is None else {name: getattr(state, name) for name in state.__struct_fields__ if name != "pack"}
