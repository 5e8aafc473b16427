"""Merging near-duplicates and linking what is related, by the similarity of texts (memory.md, sections 5 and 10)."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

from events.catalogue import MemoriesLinked, MemoryMerged
from events.envelope import derived_id
from projections.checks import Check, counted, unchecked
from projections.decide.merging import merged_text
from projections.language.similar import SimilarPair, similar_pairs
from projections.lifecycle.decision import Decision
from projections.lifecycle.may_merge import frame_of, may_merge, merge_groups
from projections.memory.columns import Columns
from projections.memory.record import MAX_EDGES, SECRET, Memory
from projections.views.view import OwnerView

RELATED = "related"
ENOUGH = 500_000
"""Candidate pairs that one run looks at; only texts made from one template have more."""


def merges(view: OwnerView, now: int, check: Check = unchecked) -> list[Decision]:
    """Groups of near-duplicates, each into one new memory that says what they say together."""
    decisions = []
    memories = _comparable(view)
    for group in merge_groups(memories, view.parameters, check):
        sources = [memories[index] for index in group.source_indexes]
        ids = tuple(sorted(source.id for source in sources))
        seq = max(source.changed_seq for source in sources)
        into = f"m-{derived_id('lifecycle merge into', view.owner, *ids, str(seq))}"
        due = max(source.updated_at for source in sources)
        reason = f"{len(ids)} say the same (similarity {group.similarity:.2f})"
        data = MemoryMerged(sources=ids, into=into, summary=merged_text(sources), reason=reason)
        decisions.append(Decision("merge", "merge", ids, min(due, now), seq, reason, data))
    return decisions


def links(view: OwnerView, now: int, check: Check = unchecked) -> list[Decision]:
    """Links between what is related but not the same; each memory's best few, and only where both agree."""
    memories, parameters = _comparable(view), view.parameters
    found: dict[int, list[SimilarPair]] = defaultdict(list)
    most = parameters.related_similarity_most
    contents = [memory.content for memory in memories]
    pairs = similar_pairs(contents, parameters.related_similarity, most, enough=ENOUGH, check=check)
    framed = cache(lambda place: frame_of(memories[place], parameters))

    def may_become_one(pair: SimilarPair) -> bool:
        """Left to merging. What is framed apart is told by a look at each of the two, not at each pair."""
        if pair.similarity < parameters.merge_similarity or framed(pair.a) != framed(pair.b):
            return False
        return may_merge(memories[pair.a], memories[pair.b], parameters) is None

    for pair in counted(pairs, check, len(pairs), every=16):
        if not may_become_one(pair):
            found[pair.a].append(pair)
            found[pair.b].append(pair)
    best = {
        index: set(
            sorted(beside, key=lambda p: (-p.similarity, memories[p.a].id, memories[p.b].id))[
                : parameters.edges_of_a_kind
            ]
        )
        for index, beside in counted(found.items(), check, len(found))
    }
    decisions = []
    for index, chosen in counted(best.items(), check, len(best)):
        for pair in sorted(chosen):
            a, b = memories[pair.a], memories[pair.b]
            if index != pair.a or pair not in best[pair.b] or _linked(a, b, pair.similarity):
                continue
            ids, seq = (a.id, b.id), max(a.changed_seq, b.changed_seq)
            data = MemoriesLinked(a=a.id, b=b.id, weight=round(pair.similarity, 6), link=RELATED)
            due = min(max(a.updated_at, b.updated_at), now)
            decisions.append(Decision("link", "link", ids, due, seq, f"similarity {pair.similarity:.2f}", data))
    return decisions


def _linked(a: Memory, b: Memory, weight: float) -> bool:
    """Whether they are joined that strongly already, or one of them has no room for so weak an edge."""
    for one, other in ((a, b), (b, a)):
        known = next((edge for edge in one.edges if edge.to == other.id), None)
        if known is not None and known.base >= round(weight, 6):
            return True
        if known is None and len(one.edges) >= MAX_EDGES and min(e.base + e.boost for e in one.edges) >= weight:
            return True
    return False


def _comparable(view: OwnerView) -> list[Memory]:
    """Live memories whose text may be compared: none that is secret."""
    return [
        memory
        for memory, state in zip(view.columns.memories, view.columns.state.tolist(), strict=True)
        if state == Columns.LIVE and memory.sensitivity < SECRET
    ]
