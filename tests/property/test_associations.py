"""Laws of associations: symmetric, bounded, the same whatever happened before, and as the definition has them."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.index.associations import CO_HIT, DERIVED, AssociationIndex
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.record import HOUR, SECRET, Edge, Memory
from engramlog_server.projections.ranking.rankings import spread
from tests.given.associated import half, index_of, memory, overlap

IDS = [f"m{number}" for number in range(9)]
maybe = st.none() | st.sampled_from(["one", "two"])
halves = st.builds(
    half,
    st.sampled_from(IDS),
    base=st.sampled_from([0.0, 0.25, 0.5, 0.9]),
    boost=st.sampled_from([0.0, 0.05, 0.3]),
    link=st.sampled_from(["semantic", "related"]),
)
memories = st.builds(
    lambda memory_id, keywords, hours, edges, **fields: memory(
        memory_id, *keywords, hours=hours, edges=edges, **fields
    ),
    st.sampled_from(IDS),
    keywords=st.lists(st.sampled_from(["coffee", "tea", "茶", "cat"]), max_size=4, unique=True),
    hours=st.sampled_from([0, 0, 0, 1, 2, 24, 25, 49]),
    task=maybe,
    project=maybe,
    session=maybe,
    edges=st.lists(halves, max_size=4, unique_by=lambda edge: edge.to).map(tuple),
    sensitivity=st.sampled_from([0, 0, 0, 0, 2, 3]),
    deleted_at=st.sampled_from([None, None, None, None, 1]),
)
histories = st.lists(memories, max_size=30)
parameters = st.builds(
    Parameters, edges_of_a_kind=st.integers(1, 5), task_edge=st.sampled_from([0.5, 0.2, 0.0]), spread_depth=st.just(3)
)

Edges = dict[str, dict[str, tuple[float, float, float, str]]]


def edges_of(index: AssociationIndex, chosen: Parameters) -> Edges:
    """All edges by both ids."""
    rows = [row for row in range(len(IDS)) if row in index]
    return {
        index.id_of(row): {index.id_of(link[0]): link[1:] for link in index.neighbours(row, chosen)} for row in rows
    }


def played(history: list[Memory], chosen: Parameters, asking: int = 0) -> AssociationIndex:
    """An index to which the memories were put in turn, one row an id, and which was asked now and then."""
    index = AssociationIndex()
    for number, one in enumerate(history):
        index.put(IDS.index(one.id), one)
        if asking and number % asking == 0:
            edges_of(index, chosen)
    return index


def newest(history: list[Memory]) -> list[Memory]:
    """What the history ends with: the last record of each memory."""
    return list({one.id: one for one in history}.values())


def base_of(kind: str, one: Memory, other: Memory, chosen: Parameters) -> float | None:
    """Base of a derived kind between two memories, None if there is none."""
    if kind == "keyword":
        shared = overlap(one.keywords, other.keywords)
        return shared if shared >= chosen.keyword_edge_from else None
    if kind == "co-task":
        return chosen.task_edge if one.task is not None and one.task == other.task else None
    near = abs(one.created_at - other.created_at) <= chosen.temporal_hours * HOUR
    together = (one.project and one.project == other.project) or (one.session and one.session == other.session)
    return chosen.temporal_edge if near and together else None


def best_by_definition(kind: str, one: Memory, others: list[Memory], chosen: Parameters) -> set[str]:
    """Ids of the best of a kind: higher base, nearer in time, then place among those that tie, before before after."""

    def key(other: Memory) -> tuple[float, int]:
        return -(base_of(kind, one, other, chosen) or 0.0), abs(other.created_at - one.created_at)

    def order(other: Memory) -> tuple[int, str]:
        return other.created_at, other.id

    def place(other: Memory) -> tuple[int, bool]:
        between = [
            third
            for third in held
            if key(third) == key(other)
            and (order(other) < order(third) < order(one) or order(one) < order(third) < order(other))
        ]
        return len(between), order(other) > order(one)

    held = [other for other in others if other is not one and base_of(kind, one, other, chosen) is not None]
    ranked = sorted(held, key=lambda other: (key(other), place(other)))
    return {other.id for other in ranked[: chosen.edges_of_a_kind]}


def half_to(one: Memory, other: Memory) -> Edge | None:
    return next((edge for edge in one.edges if edge.to == other.id), None)


def by_definition(history: list[Memory], chosen: Parameters) -> Edges:
    """All edges as the definition has them, each memory compared with each."""
    members = [m for m in newest(history) if state_of(m) == Columns.LIVE and m.sensitivity < SECRET]
    best = {(kind, m.id): best_by_definition(kind, m, members, chosen) for kind in DERIVED for m in members}
    edges: Edges = {m.id: {} for m in members}
    for one in members:
        for other in members:
            mine, theirs = half_to(one, other), half_to(other, one)
            bases: list[tuple[float, str]] = []
            boost = 0.0
            halves = [half for half in (mine, theirs) if half]
            if one is not other and halves:
                base, link = min((half.base, half.link) for half in halves)
                bases.append((base, link if base else CO_HIT))
                boost = min(half.boost for half in halves)
            for kind in DERIVED:
                if other.id in best[kind, one.id] and one.id in best[kind, other.id]:
                    bases.append((base_of(kind, one, other, chosen) or 0.0, kind))
            if bases:
                base, link = max(bases, key=lambda found: found[0])
                if base + boost > 0:
                    edges[one.id][other.id] = min(1.0, base + boost), base, boost, link
    return edges


@given(histories, parameters, st.integers(0, 3))
def test_edges_are_those_of_the_definition_whatever_was_put_before(history, chosen, asking) -> None:
    assert edges_of(played(history, chosen, asking), chosen) == by_definition(history, chosen)


@given(histories, memories, parameters)
def test_a_memory_that_comes_and_goes_leaves_no_trace(history, guest, chosen) -> None:
    staying = [one for one in history if one.id != guest.id]
    index = played(staying, chosen)
    before = edges_of(index, chosen)
    row = IDS.index(guest.id)
    index.put(row, guest)
    edges_of(index, chosen)
    index.put(row, memory(guest.id, deleted_at=1))
    assert edges_of(index, chosen) == before


@given(histories, parameters, st.sampled_from([0.05, 0.2, 0.5, 0.9, 1.0]))
def test_asking_for_strong_edges_gives_those_of_all_edges(history, chosen, least) -> None:
    index = played(history, chosen)
    for row in range(len(IDS)):
        strong = [link for link in index.neighbours(row, chosen) if link.weight >= least]
        assert index.neighbours(row, chosen, least) == strong


@given(histories, parameters, st.lists(st.floats(0, 1), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_activation_spreads_along_edges_the_same_whatever_the_order(history, chosen, relevances, chance) -> None:
    memories = newest(history)
    hits = list(zip([one.id for one in memories], relevances, strict=False))

    def found() -> list[tuple[list[str], float]]:
        index = index_of(memories)
        rows = {one.id: row for row, one in enumerate(memories)}
        activated = spread([(rows[memory_id], relevance) for memory_id, relevance in hits], index, chosen, limit=9)
        return [([memories[row].id for row in one.path], one.activation) for one in activated]

    first = found()
    chance.shuffle(memories)
    chance.shuffle(hits)
    assert found() == first
    edges = edges_of(index_of(memories), chosen)
    best = max((relevance for memory_id, relevance in hits if memory_id in edges), default=0.0)
    for path, activation in first:
        expected = dict(hits)[path[0]] / best
        for one, other in pairwise(path):
            expected = expected * edges[one][other][0] * chosen.spread_decay
        assert activation == expected >= chosen.spread_least
        assert len(set(path)) == len(path) <= chosen.spread_depth + 1
