"""One build in Redis against the pure in-memory fold of the log up to its checkpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from engramlog_server.events.envelope import Stored
from engramlog_server.events.parameters import DEFAULTS
from engramlog_server.events.redis.wire import Wire
from engramlog_server.projections.fold.changelog import Entry, unpack
from engramlog_server.projections.fold.owner import decode_owner, parameters_of
from engramlog_server.projections.fold.partition import Checkpoint, WorkingOwner, decode_all, encode_outcome, fold_batch
from engramlog_server.projections.laws.law import factors
from engramlog_server.projections.memory.record import decode_memory, encode_memory
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.history import read_packs
from engramlog_server.projections.redis.store import decode_quarantine, read_checkpoint, read_parked
from tests.chaos.faulty_worker import NEWER_KIND
from tests.chaos.story import BEGIN, CLOCK

MOST_TOLD = 50


@dataclass(slots=True)
class Findings:
    """What was found in a build, or in several."""

    lost: int = 0
    """In the log and passed over: neither applied, nor parked for an owner that stands still, nor discarded."""
    duplicated: int = 0
    """Times that an event is applied beyond the first."""
    out_of_order: int = 0
    """Neighbours of one owner that were applied against the order of the log."""
    owners: int = 0
    memories: int = 0
    applied: int = 0
    parked: int = 0
    discarded: int = 0
    differences: list[str] = field(default_factory=list)

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


def fold_in_memory(log: Sequence[Stored], secrets: Mapping[str, bytes]) -> Folded:
    """The pure fold of a partition, quarantine and discards included. `secrets`: of its owners."""
    folded = Folded()
    known = {one.seq: one for one in log}
    for decoded in decode_all(log):
        name = decoded[0].owner
        folded.owners.setdefault(name, WorkingOwner(secret=secrets[name]))
        parked = folded.parked.setdefault(name, [])
        released = {name: decode_all(known[seq] for seq in parked)}
        outcome = fold_batch(folded.checkpoint, folded.owners, [decoded], released=released)
        folded.checkpoint = encode_outcome(folded.checkpoint, outcome, folded.owners).checkpoint
        part = outcome.writes(name)
        folded.applied.setdefault(name, []).extend(part.seqs)
        folded.entries.setdefault(name, []).extend(part.entries)
        folded.touched.setdefault(name, {}).update(part.touched)
        folded.parked[name] = (parked if part.parked_now is None else part.parked_now) + part.park
    return folded


def judge_build(wire: Wire, keys: BuildKeys, written: Sequence[Stored]) -> Findings:
    """Compare a build with the fold of `written`, the partition's log, as far as the build has come.

    An owner that an older release has parked and that nobody has freed (in a build that was replaced) is passed by.
    """
    findings = Findings()
    stored = read_checkpoint(wire, keys)
    secrets = {name.decode(): secret for name, secret in _pairs(wire.call("HGETALL", keys.log.secrets))}
    mine = fold_in_memory(written[: stored.seq], secrets)
    flat = wire.call("HGETALL", keys.quarantine)
    stuck = {name.decode(): decode_quarantine(raw) for name, raw in _pairs(flat)}
    waiting = {owner for owner, why in stuck.items() if why.kind == NEWER_KIND}
    told_by = Checkpoint._fields[:2] if waiting else Checkpoint._fields
    for name in told_by:
        ours, theirs = getattr(mine.checkpoint, name), getattr(stored, name)
        if ours != theirs:
            findings.differs(f"{keys.checkpoint}: {name} is {theirs!r}, folded {ours!r}")
    unexpected = {raw.decode() for raw in wire.call("HKEYS", keys.owners)} - mine.owners.keys()
    if unexpected:
        findings.differs(f"{keys.owners}: owners without an event: {sorted(unexpected)}")
    for owner in mine.owners.keys() - waiting:
        there = {one.seq for one in written[: stored.seq] if one.owner == owner}
        _judge_owner(wire, keys, owner, mine, there, findings)
    return findings


def _pairs(flat: Sequence[Any]) -> Iterable[tuple[Any, Any]]:
    return zip(flat[::2], flat[1::2], strict=True)


def _judge_owner(wire: Wire, keys: BuildKeys, owner: str, mine: Folded, there: set[int], findings: Findings) -> None:
    working, where = mine.owners[owner], f"{keys.log.tag} {owner}"
    stuck = wire.call("HGET", keys.quarantine, owner)
    applied, entries = unpack(read_packs(wire, keys, owner))
    parked = read_parked(wire, keys, owner)
    _judge_applied(mine, owner, applied, parked if stuck else [], there, findings)
    if (applied, entries) != (mine.applied[owner], mine.entries[owner]):
        findings.differs(f"{where}: change log of {len(entries)} entries, folded {len(mine.entries[owner])}")
    if parked != mine.parked[owner]:
        findings.differs(f"{where}: parked {parked}, folded {mine.parked[owner]}")
    if (decode_quarantine(stuck) if stuck else None) != working.quarantine:
        findings.differs(f"{where}: quarantine {stuck!r}, folded {working.quarantine}")
    token = wire.call("HGET", keys.owners, owner)
    state = decode_owner(token) if token else None
    if _without_pack(state) != _without_pack(working.state if mine.applied[owner] else None):
        findings.differs(f"{where}: state {state}, folded {working.state}")
    scores = {
        raw.decode(): int(score) for raw, score in _pairs(wire.call("ZRANGE", keys.changes(owner), 0, -1, "WITHSCORES"))
    }
    if scores != mine.touched[owner]:
        findings.differs(f"{where}: versions of last changes {scores}, folded {mine.touched[owner]}")
    _judge_records(wire, keys, owner, working, findings)


def _judge_applied(
    mine: Folded, owner: str, applied: list[int], parked: list[int], there: set[int], findings: Findings
) -> None:
    gone = there - set(mine.applied[owner]) - set(mine.parked[owner])
    findings.owners += 1
    findings.applied += len(applied)
    findings.parked += len(parked)
    findings.discarded += len(gone)
    findings.lost += len(there - gone - set(applied) - set(parked))
    counts = Counter([*applied, *parked])
    findings.duplicated += sum(count - 1 for count in counts.values())
    rank = {seq: place for place, seq in enumerate(mine.applied[owner])}
    ranks = [rank[seq] for seq in dict.fromkeys(applied) if seq in rank]
    findings.out_of_order += sum(later < sooner for sooner, later in pairwise(ranks))


def _judge_records(wire: Wire, keys: BuildKeys, owner: str, working: WorkingOwner, findings: Findings) -> None:
    records = {raw.decode(): record for raw, record in _pairs(wire.call("HGETALL", keys.records(owner)))}
    findings.memories += len(records)
    parameters = parameters_of(working.state.settings, DEFAULTS)
    for memory_id in sorted(records.keys() | working.memories.keys()):
        ours, theirs = working.memories.get(memory_id), records.get(memory_id)
        if ours is None or theirs is None:
            findings.differs(f"{keys.log.tag} {owner}: memory {memory_id} is {'not' if ours else 'only'} in Redis")
            continue
        if encode_memory(ours) != theirs:
            findings.differs(f"{keys.log.tag} {owner}: memory {memory_id} has other bytes than folded")
        for instant in (int(BEGIN.timestamp()) * 1_000_000, CLOCK):
            if factors(ours, instant, parameters) != factors(decode_memory(theirs), instant, parameters):
                findings.differs(f"{keys.log.tag} {owner}: memory {memory_id} has another weight at {instant}")


def _without_pack(state: Any) -> Any:
    """How the change log is cut into packs depends on batches, and is all that may."""
    return None if state is None else {name: getattr(state, name) for name in state.__struct_fields__ if name != "pack"}
