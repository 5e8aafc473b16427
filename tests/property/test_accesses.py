"""Each access by itself comes to what its sums came to; what a person looks at comes to nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.events.catalogue import Hit, MemoriesAccessed
from engramlog_server.events.envelope import Event, decode, derived_id, encode
from engramlog_server.events.parameters import DEFAULTS
from engramlog_server.events.standing import LOOKING
from engramlog_server.events.validation import read_event
from engramlog_server.projections.fold.life import access
from engramlog_server.projections.fold.links import strengthened, strongest
from engramlog_server.projections.fold.owner import parameters_of
from engramlog_server.projections.fold.working_set import OwnerSettings, WorkingSet
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.memory.record import MAX_EDGES, Edge, Memory
from tests.examples import examples
from tests.given.events import CLOCK, Told, at, created, deleted, folded, merged, moment, reinforced
from tests.given.histories import histories
from tests.given.pooled import Shown, by_itself, fold_of_version_1, strengthened_plainly, summed

QUICK = settings(deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
IDS = ("a", "b", "c", "d", "nobody")
START = [
    created("I like tea", "a"), created("I like coffee", "b", importance=2.45), created("Ann", "c"), created("x", "d"),
]  # fmt: skip
BEFORE = [START, [*START, reinforced("b", 1), deleted("d", 2)], [*START, merged("c", "d", into="e", day=2)]]
MANY = [f"n{n:02}" for n in range(MAX_EDGES + 8)]
ways = st.sampled_from(["recall", "association", "detail", "injection"])
answers = st.lists(
    st.builds(
        lambda day, ids, page: Shown(moment(day), tuple(ids), page),
        st.integers(0, 9),
        st.lists(st.sampled_from(IDS), min_size=1, max_size=5, unique=True),
        st.sampled_from([1, 1, 1, 6]),
    ),
    min_size=1,
    max_size=12,
)


def figures(memories: dict[str, Memory]) -> dict[str, Any]:
    """What every law says of every memory, some days on."""
    return {
        f"{name} {law} {day}": LAWS[law].read(memory, at(day), DEFAULTS)
        for name, memory in memories.items()
        for law in LAWS
        for day in (9, 30, 400)
    }


@QUICK
@given(st.sampled_from(BEFORE), st.lists(st.tuples(answers, ways, st.integers(3, 12)), min_size=1, max_size=4))
def test_each_access_by_itself_leaves_the_records_and_figures_that_its_sums_left(
    before: list[Told], flushes: list[tuple[list[Shown], str, int]]
) -> None:
    ways_of_writing = (by_itself, summed)
    new, old = (
        folded(*before, *(Told(write(shown, via), day, "system") for shown, via, day in flushes)).memories
        for write in ways_of_writing
    )
    assert new == old
    assert figures(new) == figures(old)


hits = st.builds(
    lambda i, count, rank, day: Hit(memory_id=i, count=count, best_rank=rank, last_at=moment(day)),
    st.sampled_from(IDS),
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(0, 30),
)
groups = st.lists(st.lists(st.sampled_from(IDS), min_size=2, max_size=3).map(tuple), max_size=4).map(tuple)
"""Producers of version 1 may name one memory twice, also within a group."""


@QUICK
@given(st.sampled_from(BEFORE), st.lists(hits, min_size=1, max_size=8).map(tuple), groups, ways, st.integers(0, 30))
def test_an_event_of_version_1_folds_into_what_it_folded_into_when_it_was_written(
    before: list[Told], told: tuple[Hit, ...], together: Any, via: Any, day: int
) -> None:
    event = Event(
        event_id=derived_id("old"), type="MemoriesAccessed", schema_version=1, owner="ann", occurred_at=moment(day),
        actor="system", data=MemoriesAccessed(hits=told, via=via, together=together),
    )  # fmt: skip
    memories = folded(*before).memories
    there = decode("MemoriesAccessed.1", read_event(encode(event), now=CLOCK).body)
    scenes = [
        WorkingSet(memories, OwnerSettings(), parameters_of(OwnerSettings()), at(day), 99, "system") for _ in range(2)
    ]
    access(scenes[0], there.data, there)
    fold_of_version_1(scenes[1], there.data)
    assert scenes[0].changed == scenes[1].changed


@pytest.mark.parametrize("via", sorted(LOOKING))
@pytest.mark.parametrize("write", [by_itself, summed])
@QUICK
@given(told=histories, shown=answers)
def test_what_a_person_looks_at_moves_no_record_no_figure_of_any_law_and_no_entry(
    via: str, write: Any, told: list[Told], shown: list[Shown]
) -> None:
    before, after = folded(*told), folded(*told, Told(write(shown, via), 40, "system"))
    assert after.memories == before.memories
    assert after.entries == before.entries
    assert figures(after.memories) == figures(before.memories)


@QUICK
@given(st.lists(st.tuples(answers, ways), min_size=1, max_size=3))
def test_the_order_of_answers_within_an_event_changes_no_count_and_no_clock(
    flushes: list[tuple[list[Shown], str]],
) -> None:
    def bare(memories: dict[str, Memory]) -> list[tuple[Any, ...]]:
        return [
            (
                m.id,
                m.access_count,
                m.last_accessed_at,
                m.reinforce_count,
                m.stability,
                m.last_reinforced_at,
                set(m.edges),
            )
            for m in memories.values()
        ]

    there = folded(*START, *(Told(by_itself(shown, via), 12, "system") for shown, via in flushes)).memories
    back = folded(*START, *(Told(by_itself(shown[::-1], via), 12, "system") for shown, via in flushes)).memories
    assert bare(there) == bare(back)


edge = st.builds(
    Edge,
    st.sampled_from(MANY),
    st.sampled_from([0.0, 0.3, 0.35, 0.5, 1.0]),
    st.sampled_from([0.0, 0.05, 0.1, 1.0]),
    st.just("task"),
)


@QUICK
@given(st.lists(edge, max_size=60), st.lists(st.sampled_from(MANY), min_size=1, max_size=40))
def test_an_edge_that_is_boosted_finds_the_place_that_putting_all_in_order_gives_it(
    told: list[Edge], boosts: list[str]
) -> None:
    quick = plain = strongest(told)
    for to in boosts:
        quick, plain = strengthened(quick, to, 0.05), strengthened_plainly(plain, to, 0.05)
        assert quick == plain
        assert quick == strongest(list(quick))  # what the next boost relies on


def test_the_control_an_access_that_is_no_look_does_move_them() -> None:
    """Without it the tests above could not fail."""
    shown = [Shown(moment(3), ("a", "b"))]
    before, after = folded(*START).memories, folded(*START, Told(by_itself(shown, "recall"), 3, "system")).memories
    assert after["a"] != before["a"]
    moved = {
        law
        for law in LAWS
        if LAWS[law].read(after["a"], at(9), DEFAULTS) != LAWS[law].read(before["a"], at(9), DEFAULTS)
    }
    assert moved == set(LAWS) - {"weighted"}
