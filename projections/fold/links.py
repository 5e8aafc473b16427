"""Links of a memory: edges, triples, negations and conflicts with others, and its provenance. Pure (memory.md, sections 4, 10).

Each memory holds its half of an edge. An edge is read while neither of the two had to drop its half for 32 stronger ones, so
it stays symmetric. Edges by keyword, task and time are not folded: they follow from the records.

A memory is negated iff, among its negations and the mentions by actor `user`, the newest by `occurred_at` is a
negation; ties and mentions of the same turn go to the negation ("I don't like coffee any more" also mentions coffee).

Provenance leads from source turns to memories, and from these to what was merged, corrected or summarised from them. It is a tree
of any depth without cycles, returned as a flat list of nodes that each name their parent: depth costs no recursion. The basis
says why a memory is kept and what it rests on.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from engramlog_server.events.catalogue import (
    FactAsserted,
    FactRetracted,
    Ground,
    GroundChanged,
    MemoriesLinked,
    MemoryCreated,
    MemoryNegated,
    MemoryRevised,
)
from engramlog_server.events.envelope import Event, from_micros, utc_text
from engramlog_server.events.partitions import position_text
from engramlog_server.events.trust import ASSERTED
from engramlog_server.events.vocabulary import DEFAULT_RESOLUTION, MAX_GROUNDS, Plain
from engramlog_server.projections.fold.changelog import _TYPES, DECISIONS, Entry, id_text
from engramlog_server.projections.fold.trust import judged, risen_by, waits
from engramlog_server.projections.fold.working_set import WorkingSet, trouble_with
from engramlog_server.projections.language.sensitivity.level import told_by_triple
from engramlog_server.projections.memory.record import (
    MAX_CONFLICTS,
    MAX_EDGES,
    MAX_FACTS,
    MAX_NEGATIONS,
    MAX_USER_MENTIONS,
    SECRET,
    Author,
    Basis,
    CorrectionEntry,
    Edge,
    Memory,
    MemoryTriple,
    Report,
    Rests,
    UserMention,
)
from engramlog_server.projections.memory.rejection import BEFORE_ANY
from engramlog_server.projections.shapes import BasisListed, BasisTold, OriginNode, OriginTree

if TYPE_CHECKING:
    from engramlog_server.projections.memory.columns import Columns

Told = TypeVar("Told", UserMention, CorrectionEntry)


def negate(working: WorkingSet, data: MemoryNegated, event: Event[Any]) -> None:
    """Ends a memory's truth. Time stamps of activity stay; C follows the curve of the resolution."""
    memory = working.live(data.memory_id)
    if memory is None or waits(working, memory, event):
        return
    replaced_by = data.replaced_by if data.replaced_by != memory.id else None
    entry = CorrectionEntry(
        working.at,
        data.resolution or DEFAULT_RESOLUTION[memory.category],
        data.reason,
        data.correction,
        replaced_by,
        data.turn_id,
        working.seq,
        working.author_unless(memory),
        working.trust == ASSERTED,
    )
    negations = _kept(sorted([*memory.negations, entry], key=_by_time), MAX_NEGATIONS)
    state = negation_state(negations, memory.user_mentions)
    if state["negated_at"] is not None:
        reason, conflicts = f"negated, {entry.resolution}", settled(working, memory)
    else:
        # It came late: the record is the one that the other order gives, where the mention reaffirmed.
        reason = "negated earlier than the user last said it"
        conflicts = contradicted(working, memory, replaced_by if negations[-1] is entry else None)
    working.change(memory, "negate", reason, negations=negations, conflicts=conflicts, **state)


def _by_time(entry: CorrectionEntry) -> tuple[int, int, int]:
    """Of negations at one instant the surest is the newest, whichever arrived first."""
    return entry.at, _SURENESS.index(entry.resolution), entry.position


_SURENESS = ("weight_balance", "version_keep", "latest_wins")


def negation_state(negations: tuple[CorrectionEntry, ...], said: tuple[UserMention, ...]) -> dict[str, Any]:
    """`negated_at`, `resolution` and `superseded_by` as the negations and the user's mentions have them.

    What a lower source says that the user said takes back no negation of his own. The successor is the one named last since the
    user last said it: a further negation that names none forgets none.
    """
    turns = {n.turn_id for n in negations if n.turn_id}
    counted = [m for m in said if m.turn_id not in turns]
    since = max((m.at for m in counted), default=BEFORE_ANY)
    since_own = max((m.at for m in counted if m.own), default=BEFORE_ANY)
    standing = [n for n in negations if n.at >= (since_own if n.own else since)]
    if not standing:
        return {"negated_at": None, "resolution": None, "superseded_by": None}
    newest, named = standing[-1], (n.replaced_by for n in reversed(standing) if n.replaced_by)
    return {"negated_at": newest.at, "resolution": newest.resolution, "superseded_by": next(named, None)}


def newest_said(said: Iterable[UserMention]) -> tuple[UserMention, ...]:
    """The newest mention of each turn, the newest 8 of these, ascending: mentions of one turn share their fate.

    Of those without a turn the newest of each author, for what one of them says may be set aside. The user's own word and what
    others say of him are kept apart: none of these drives out his own.
    """
    by_turn: dict[tuple[str | Author | None, bool], UserMention] = {}
    for one in said:
        name = one.turn_id or one.author, one.own
        known = by_turn.get(name)
        if known is None or one.at > known.at:
            by_turn[name] = one
    if len(by_turn) == 1:
        return tuple(by_turn.values())
    return _kept(sorted(by_turn.values(), key=_by_turn), MAX_USER_MENTIONS)


def _kept(told: Sequence[Told], most: int) -> tuple[Told, ...]:
    """The last of these, at most so many a person's own word and as many of others; a flood of these drives out none of his."""
    if len(told) <= most:
        return tuple(told)
    parts: dict[bool, list[int]] = {True: [], False: []}
    for number, one in enumerate(told):
        parts[one.own].append(number)
    return tuple(told[number] for number in sorted((*parts[True][-most:], *parts[False][-most:])))


def _by_turn(said: UserMention) -> tuple[int, str, str, str]:
    author = said.author
    return said.at, said.turn_id or "", "" if author is None else author.by, (author and author.session) or ""


def contradicted(working: WorkingSet, memory: Memory, successor: str | None) -> tuple[str, ...]:
    """`conflicts` of a memory that the user said again: it and what had replaced it may contradict each other.

    The other one (if merged, what stands for it) is flagged too; one that is gone or negated contradicts nothing.
    """
    other = working.get(successor) if successor else None
    while other is not None and other.merged_into is not None:
        other = working.get(other.merged_into)
    if other is None or other.id == memory.id or other.is_negated:
        return memory.conflicts
    if other.deleted_at is not None or other.purged_at is not None:
        return memory.conflicts
    working.adjust(other, conflicts=flagged(other.conflicts, memory.id))
    return flagged(memory.conflicts, other.id)


def flagged(conflicts: tuple[str, ...], other: str) -> tuple[str, ...]:
    """The flags with one more, the newest 16."""
    return (*(c for c in conflicts if c != other), other)[-MAX_CONFLICTS:]


def settled(working: WorkingSet, memory: Memory) -> tuple[str, ...]:
    """No flags: a memory that is negated, revised or deleted stands in conflict with no other; those are told."""
    for other_id in memory.conflicts:
        other = working.get(other_id)
        if other is not None and memory.id in other.conflicts:
            working.adjust(other, conflicts=tuple(c for c in other.conflicts if c != memory.id))
    return ()


CO_HIT = "co-hit"
_NONE = Edge("", 0.0, 0.0, CO_HIT)


def link(working: WorkingSet, data: MemoriesLinked, _event: Event[Any]) -> None:
    """An association edge on both sides, the strongest base kept; `possible_conflict` flags both instead."""
    if data.a == data.b:
        working.ignore(data.a, "a link to itself")
        return
    a, b = working.get(data.a), working.get(data.b)
    troubles = [(memory_id, trouble_with(memory)) for memory_id, memory in ((data.a, a), (data.b, b))]
    if a is None or b is None or any(trouble for _, trouble in troubles):
        for memory_id, trouble in troubles:
            working.ignore(memory_id, trouble or "the other memory of the link cannot be linked")
        return
    for one, other in ((a, b), (b, a)):
        if data.link == "possible_conflict":
            working.change(one, "link", "possible conflict", conflicts=flagged(one.conflicts, other.id))
        else:
            working.change(
                one, "link", f"link {data.link}", edges=linked(one.edges, other.id, float(data.weight), data.link)
            )


def linked(edges: tuple[Edge, ...], to: str, weight: float, kind: str) -> tuple[Edge, ...]:
    """The edges with one more, the strongest base of each neighbour kept; the strongest 32, strongest first."""
    old = next((edge for edge in edges if edge.to == to), None)
    edge = Edge(to, weight, old.boost if old else 0.0, kind)
    if old is not None and old.base >= weight:
        edge = old
    return strongest([*(e for e in edges if e.to != to), edge])


def boosted(working: WorkingSet, one_id: str, other_id: str, amount: float) -> None:
    """Strengthens the edge between two memories on both sides, without a note; a pair without an edge gets one."""
    all_boosted(working, [(one_id, other_id)], amount)


def all_boosted(working: WorkingSet, pairs: Iterable[tuple[str, str]], amount: float) -> None:
    """The same for each of these pairs, in this order. A memory's edges depend on no other's, so its record is made anew once."""
    edges: dict[str, tuple[Edge, ...] | None] = {}
    for one_id, other_id in pairs:
        for memory_id in (one_id, other_id):
            if memory_id not in edges:
                memory = working.get(memory_id)
                edges[memory_id] = None if memory is None or trouble_with(memory) else memory.edges
        mine, others = edges[one_id], edges[other_id]
        if one_id != other_id and mine is not None and others is not None:
            edges[one_id], edges[other_id] = strengthened(mine, other_id, amount), strengthened(others, one_id, amount)
    for memory_id, now in edges.items():
        memory = working.get(memory_id)
        if memory is not None and now is not None and now is not memory.edges:
            working.adjust(memory, edges=now)


def strengthened(edges: tuple[Edge, ...], to: str, amount: float) -> tuple[Edge, ...]:
    """The edges with a boost to one; base and boost stand apart, and the boost ends at 1. The strongest 32.

    A record's edges stand in the order of `strongest`, one for each neighbour, so one more finds its place by bisection.
    """
    old, others = _NONE, list(edges)
    for place, edge in enumerate(edges):
        if edge.to == to:
            old = edge
            del others[place]
            break
    new = Edge(to, old.base, min(round(old.boost + amount, 6), 1.0), old.link)
    insort(others, new, key=_by_strength)
    return tuple(others[:MAX_EDGES])


def _by_strength(edge: Edge) -> tuple[float, str]:
    return -min(1.0, edge.base + edge.boost), edge.to


def strongest(edges: list[Edge]) -> tuple[Edge, ...]:
    """The strongest 32, one for each neighbour."""
    best: dict[str, Edge] = {}
    for edge in edges:
        known = best.get(edge.to)
        if known is None or (edge.base + edge.boost, edge.base) > (known.base + known.boost, known.base):
            best[edge.to] = edge
    return tuple(sorted(best.values(), key=_by_strength)[:MAX_EDGES])


def assert_fact(working: WorkingSet, data: FactAsserted, _event: Event[Any]) -> None:
    """Every memory of the evidence backs the triple from now on; said again, degree and condition are the newest."""
    for memory_id in data.evidence:
        memory = working.live(memory_id)
        if memory is None:
            continue
        degree = None if data.degree is None else float(data.degree)
        fact = MemoryTriple(
            data.subject,
            data.predicate,
            data.object,
            data.negation,
            degree,
            data.condition,
            working.at,
            working.statement,
            _asserter(working, memory),
        )
        old = _same(memory, data)
        if old is not None and old.at > fact.at:
            working.ignore(memory_id, "said earlier than what the memory backs already")
            continue
        others = [one for one in memory.facts if one is not old]
        facts = sorted([*others, fact], key=lambda f: (f.at, f.subject, f.predicate, f.object, f.negation))[-MAX_FACTS:]
        if fact not in facts:
            working.ignore(memory_id, f"older than the {MAX_FACTS} triples that it backs")
            continue
        told = (told_by_triple(data),)
        sensitivity = memory.sensitivity if judged(memory, data.object) else risen_by(memory, told, working.level)
        working.change(memory, "link", "backs a triple", facts=tuple(facts), sensitivity=sensitivity)


def _asserter(working: WorkingSet, memory: Memory) -> Author | None:
    """Who asserts a triple; None where that is who wrote the memory, or the job that made it of what somebody said."""
    mine, own = Author(working.by, working.session), memory.author
    alike = mine.principal == own.principal and mine.session == own.session
    return None if mine == own or (alike and mine.actor == "judge") else mine


def retract_fact(working: WorkingSet, data: FactRetracted, _event: Event[Any]) -> None:
    """These memories no longer back the triple."""
    for memory_id in data.evidence:
        memory = working.live(memory_id)
        if memory is None:
            continue
        old = _same(memory, data)
        if old is None:
            working.ignore(memory_id, "does not back this triple")
            continue
        if old.at > working.at:
            working.ignore(memory_id, "the triple was asserted again later than this")
            continue
        working.change(
            memory, "link", "no longer backs a triple", facts=tuple(one for one in memory.facts if one is not old)
        )


def _same(memory: Memory, data: FactAsserted | FactRetracted) -> MemoryTriple | None:
    key = (data.subject, data.predicate, data.object, data.negation)
    return next((f for f in memory.facts if (f.subject, f.predicate, f.object, f.negation) == key), None)


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
