"""Where a memory comes from: source turns -> memories -> merged, corrected or summarised from -> events.

A tree of any depth without cycles, told as a flat list of nodes that each name their parent: depth costs no recursion.

Also why a memory is kept and what it rests on: as it is recorded, reported as changed, and joined in a merge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from engramlog_server.events.catalogue import Ground, GroundChanged, MemoryCreated, MemoryRevised
from engramlog_server.events.envelope import Event, from_micros, utc_text
from engramlog_server.events.partitions import position_text
from engramlog_server.events.vocabulary import MAX_GROUNDS, Plain
from engramlog_server.projections.fold.changelog import _TYPES, DECISIONS, Entry, id_text
from engramlog_server.projections.fold.working_set import WorkingSet
from engramlog_server.projections.memory.record import SECRET, Basis, Memory, Report, Rests
from engramlog_server.projections.shapes import BasisListed, BasisTold, OriginNode, OriginTree

if TYPE_CHECKING:
    from engramlog_server.projections.memory.columns import Columns


NOTHING = Basis()


def basis_of(data: MemoryCreated, at: int) -> Basis | None:
    """What a creation tells; None where that is nothing."""
    if not (data.because or data.grounds or data.metadata):
        return None
    basis = Basis(data.because or None, metadata=_sorted(data.metadata or {}))
    return _resting(basis, data.grounds, at) if data.grounds else basis


def revised(basis: Basis | None, data: MemoryRevised, at: int) -> Basis | None:
    """What holds after a revision: what it gives replaces, what it does not give stays."""
    if data.because is None and data.grounds is None and data.metadata is None:
        return basis
    after = basis or NOTHING
    if data.because is not None:
        after = msgspec.structs.replace(after, because=data.because or None)
    if data.grounds is not None:
        after = _resting(after, data.grounds, at)
    if data.metadata is not None:
        after = msgspec.structs.replace(after, metadata=_sorted(data.metadata))
    return after if after.because or after.grounds or after.metadata else None


def _sorted(metadata: Mapping[str, Plain]) -> tuple[tuple[str, Plain], ...]:
    return tuple(sorted(metadata.items()))


def _resting(basis: Basis, grounds: Sequence[Ground], at: int) -> Basis:
    """With other grounds: what was reported of them later than this was told goes on."""
    uris = {one.uri for one in grounds}
    reports = tuple(one for one in basis.reports if one.uri in uris and one.at > at)
    rests = tuple(Rests(one.uri, one.digest) for one in grounds)
    return msgspec.structs.replace(basis, grounds=rests, given_at=at, reports=reports)


def ground_changed(working: WorkingSet, data: GroundChanged, _event: Event[Any]) -> None:
    """A digest is reported of what the memory rests on: the newest report decides, whichever came first."""
    memory = working.live(data.memory_id)
    if memory is None:
        return
    basis = memory.basis or NOTHING
    rests = next((one for one in basis.grounds if one.uri == data.uri), None)
    known = next((one for one in basis.reports if one.uri == data.uri), None)
    if rests is None or basis.given_at is None:
        working.ignore(memory.id, "it does not rest on that")
    elif working.at < basis.given_at or (known is not None and working.at < known.at):
        working.ignore(memory.id, "something newer is known of that ground")
    else:
        others = tuple(one for one in basis.reports if one.uri != data.uri)
        after = msgspec.structs.replace(basis, reports=(*others, Report(data.uri, data.digest, working.at)))
        reason = "what it rests on has changed" if data.digest != rests.digest else "what it rests on is as it was told"
        working.change(memory, "ground", reason, basis=after)


class GroundedMemory(NamedTuple):
    """A memory that rests on something: the digest it rests on, the one last known, and since when that is known."""

    memory_id: str
    digest: str
    known: str
    since: int


def standing_on(columns: Columns, uri: str) -> Iterator[GroundedMemory]:
    """The memories that rest on this uri and that events may still change, in the order of rows."""
    for memory in columns.memories:
        basis = memory.basis
        if basis is None or basis.given_at is None or memory.purged_at is not None or memory.merged_into is not None:
            continue
        rests = next((one for one in basis.grounds if one.uri == uri), None)
        if rests is not None:
            known = next((one for one in basis.reports if one.uri == uri), None)
            last, since = (rests.digest, basis.given_at) if known is None else (known.digest, known.at)
            yield GroundedMemory(memory.id, rests.digest, last, since)


def merged(base: Memory, sources: Sequence[Memory]) -> Basis | None:
    """Of a merge: the words of the source that it goes on from, and what all sources rest on, what changed before the rest:
    a merge is no way around it.
    """
    bases = [memory.basis for memory in (base, *sources) if memory.basis is not None]
    if not bases:
        return None
    own = base.basis or NOTHING
    grounds: dict[str, tuple[Rests, Report | None]] = {}
    for basis, changed in ((basis, changed) for changed in (True, False) for basis in bases):
        reports = {report.uri: report for report in basis.reports}
        for ground in basis.grounds:
            if (ground.uri in basis.changed) == changed and ground.uri not in grounds and len(grounds) < MAX_GROUNDS:
                grounds[ground.uri] = ground, reports.get(ground.uri)
    given = [basis.given_at for basis in bases if basis.given_at is not None]
    return Basis(
        own.because,
        tuple(rests for rests, _ in grounds.values()),
        max(given, default=None),
        tuple(report for _, report in grounds.values() if report is not None),
        own.metadata,
    )


def with_reports(basis: Basis | None, other: Basis | None) -> Basis | None:
    """With what was reported to another memory, which stood for this one: of each of its grounds the newest report holds."""
    if basis is None or other is None or basis.given_at is None:
        return basis
    uris, reports = {ground.uri for ground in basis.grounds}, {report.uri: report for report in basis.reports}
    for report in other.reports:
        known = reports.get(report.uri)
        if report.uri in uris and report.at >= basis.given_at and (known is None or report.at >= known.at):
            reports[report.uri] = report
    return msgspec.structs.replace(basis, reports=tuple(reports.values()))


def told(memory: Memory, *, hidden: bool) -> BasisTold:
    """JSON-ready: `because`, `grounds` and `metadata`. `hidden`: nothing of it is told but digests and whether they changed."""
    basis = memory.basis or NOTHING
    last = {report.uri: report.digest for report in basis.reports}
    return {
        "because": None if hidden else basis.because,
        "grounds": [
            {
                "uri": None if hidden else ground.uri,
                "digest": ground.digest,
                "reported": last.get(ground.uri),
                "changed": ground.uri in basis.changed,
            }
            for ground in basis.grounds
        ],
        "metadata": {} if hidden else dict(basis.metadata),
    }


def told_in_lists(memory: Memory) -> BasisListed:
    """The same beside a card, of what there is; nothing of a secret."""
    some: BasisListed = {}
    if memory.basis is not None and memory.sensitivity < SECRET:
        basis = told(memory, hidden=False)
        if because := basis.get("because"):
            some["because"] = because
        if grounds := basis.get("grounds"):
            some["grounds"] = grounds
        if metadata := basis.get("metadata"):
            some["metadata"] = metadata
    return some


Get = Callable[[str], Memory | None]


def origins(memory: Memory) -> list[tuple[str, str]]:
    """(relation, id) of each memory that this one was made from or after."""
    found = [("merged_from", source) for source in memory.merged_from]
    found += [("summarises", source) for source in memory.summarises]
    if memory.corrects:
        found.append(("corrects", memory.corrects))
    return found


def tree(memory_id: str, get: Get, most: int | None = None) -> OriginTree:
    """The tree below a memory, without events. A memory that several come from stands below the first that names it.

    `most`: nodes at the most, the root among them; `nodes_left_out` says where there were more, and how many waited.
    """
    nodes: list[OriginNode] = []
    seen = {memory_id}
    waiting: list[tuple[str, str | None, str, int]] = [(memory_id, None, "root", 0)]
    while waiting and (most is None or len(nodes) < most):
        current, parent, relation, depth = waiting.pop()
        memory = get(current)
        node: OriginNode = {"id": current, "parent": parent, "relation": relation, "depth": depth, "events": []}
        if memory is None:
            node["unknown"] = True
        else:
            node["source_turns"] = list(memory.source_turns)
            node["created_at"] = utc_text(from_micros(memory.created_at))
            if memory.aside_seq is not None:
                node["set_aside"] = True
            for origin_relation, origin in reversed(origins(memory)):
                if origin not in seen:
                    seen.add(origin)
                    waiting.append((origin, current, origin_relation, depth + 1))
        nodes.append(node)
    told: OriginTree = {"memory": memory_id, "nodes": nodes}
    if waiting:
        told["nodes_left_out"] = len(waiting)
    return told


def with_events(told: OriginTree, entries: Iterable[Entry], partition: int, most: int | None = None) -> OriginTree:
    """The same tree with the events that made and changed its memories, which are read one by one, the oldest first.

    `most`: events of one memory at the most; `events_left_out` says how many more it had.
    """
    nodes = {node["id"]: node for node in told["nodes"]}
    for entry in entries:
        node = nodes.get(entry.memory_id)
        if node is None or DECISIONS[entry.decision] in ("ignored", "named"):
            continue
        if most is not None and len(node["events"]) >= most:
            node["events_left_out"] = (node.get("events_left_out") or 0) + 1
            continue
        node["events"].append(
            {
                "position": position_text(partition, entry.seq),
                "event_id": id_text(entry.raw_id),
                "event": _TYPES[entry.type],
            }
        )
    return told
