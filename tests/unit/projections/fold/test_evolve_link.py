"""What joins memories: co-hits, uses that led from one to another, links of any kind, triples (memory.md, section 10)."""

from __future__ import annotations

from msgspec import structs

from engramlog_server.events.catalogue import FactAsserted, FactRetracted
from engramlog_server.events.envelope import DIGEST_BYTES
from engramlog_server.projections.memory.record import MAX_EDGES, MAX_FACTS, Edge, Memory, MemoryTriple
from tests.given.events import (
    Story,
    Told,
    accessed,
    asserted,
    at,
    created,
    deleted,
    folded,
    linked,
    memory,
    merged,
    purged,
    reinforced,
)
from tests.rows import each_row

TRIO = memory.given(created(), created(of="n"), created(of="o"), created(of="p"))
GONE = {
    "unknown": [],
    "purged": [created(of="x"), deleted("x"), purged("x", day=31)],
    "merged away": [created(of="x"), created(of="y"), merged("x", "y")],
}


def edges(outcome_memories: dict[str, Memory]) -> dict[str, list[tuple[str, float, float, str]]]:
    """Memory -> its halves of edges as (to, base, boost, link)."""
    return {
        i: [(e.to, e.base, e.boost, e.link) for e in m.edges] for i, m in sorted(outcome_memories.items()) if m.edges
    }


def edges_after(story: Story, *events: Told) -> dict[str, list[tuple[str, float, float, str]]]:
    return edges(story.when(*events).after.memories)


# --- shown together ------------------------------------------------------------------------------------------------


def test_a_pair_without_an_edge_gets_one_without_a_base() -> None:
    assert edges_after(TRIO, accessed("m", "n", day=1, together=(("m", "n"),))) == {
        "m": [("n", 0.0, 0.05, "co-hit")],
        "n": [("m", 0.0, 0.05, "co-hit")],
    }


def test_every_search_of_a_flush_in_which_a_pair_stood_together_strengthens_it() -> None:
    found = edges_after(TRIO, accessed("m", "n", "o", day=1, together=(("m", "n"), ("n", "m"), ("n", "o"))))
    assert (found["m"], found["n"], found["o"]) == (
        [("n", 0.0, 0.1, "co-hit")],
        [("m", 0.0, 0.1, "co-hit"), ("o", 0.0, 0.05, "co-hit")],
        [("n", 0.0, 0.05, "co-hit")],
    )


@each_row("link_first", [True, False])
def test_base_and_boosts_stand_apart_in_either_order(link_first: bool) -> None:
    link, hit = linked("m", "n", day=1, weight=0.4), accessed("m", "n", day=1, together=(("m", "n"),))
    events = (link, hit) if link_first else (hit, link)
    assert edges_after(TRIO, *events)["m"] == [("n", 0.4, 0.05, "semantic")]


# --- what led to it ------------------------------------------------------------------------------------------------


@each_row(("outcome", "boost"), [("used", 0.1), ("manual_review", 0.1), ("task_success", None), ("task_failure", None)])
def test_a_use_or_review_strengthens_the_way_that_led_there(outcome: str, boost: float | None) -> None:
    found = edges_after(TRIO.given(linked("m", "n", weight=0.5)), reinforced(day=1, outcome=outcome, from_memory="n"))
    expected = boost or 0.0
    assert found == {"m": [("n", 0.5, expected, "semantic")], "n": [("m", 0.5, expected, "semantic")]}


@each_row("before", GONE.values(), ids=GONE)
def test_a_use_that_something_not_there_led_to_counts_and_joins_nothing(before: list[Told]) -> None:
    outcome = TRIO.given(*before).when(reinforced(day=40, from_memory="x"))
    assert edges(outcome.after.memories) == {}
    assert outcome.decisions == {"m": "reinforce", "x": "ignored"}


# --- bounds and ends of edges --------------------------------------------------------------------------------------

MANY = memory.given(created(), *(created(of=f"n{n:02}") for n in range(34)))
FULL = MANY.given(*(linked("m", f"n{n:02}", weight=0.5 + n / 100) for n in range(MAX_EDGES)))


def test_a_weaker_edge_finds_no_room_among_thirty_two_and_its_other_half_stays() -> None:
    found = FULL.when(accessed("m", "n33", day=1, together=(("m", "n33"),))).after.memories
    assert (len(found["m"].edges), "n33" in {edge.to for edge in found["m"].edges}) == (MAX_EDGES, False)
    assert found["n33"].edges == (Edge("m", 0.0, 0.05, "co-hit"),)


def test_a_stronger_edge_puts_the_weakest_out_which_a_boost_may_have_saved() -> None:
    saved = FULL.given(accessed("m", "n00", day=1, together=(("m", "n00"),)))
    out = [
        {f"n{n:02}" for n in range(MAX_EDGES)} - {edge.to for edge in found.edges}
        for found in (story.when(linked("m", "n33", day=2, weight=0.8)).after.memories["m"] for story in (FULL, saved))
    ]
    assert out == [{"n00"}, {"n01"}]


# --- triples -------------------------------------------------------------------------------------------------------


def triple(*evidence: str, day: float = 0, retract: bool = False, **data: object) -> Told:
    """That Ada likes tea, unless told otherwise."""
    said = {"subject": "Ada", "predicate": "likes", "object": "tea"} | data
    return Told((FactRetracted if retract else FactAsserted)(evidence=evidence, **said), day, "judge")  # type: ignore[arg-type]


def facts_after(*events: Told, of: str = "m") -> tuple[MemoryTriple, ...]:
    return undigested(TRIO.when(*events).after.memories[of].facts)


def undigested(facts: tuple[MemoryTriple, ...]) -> tuple[MemoryTriple, ...]:
    """Triples that all have a digest of what they state, without it."""
    assert all(len(fact.stated) == DIGEST_BYTES for fact in facts)
    return tuple(structs.replace(fact, stated=b"") for fact in facts)


def test_every_memory_of_the_evidence_backs_the_triple() -> None:
    found = TRIO.when(triple("m", "o", day=3, degree=0.9, condition="in the morning")).after.memories
    fact = MemoryTriple("Ada", "likes", "tea", False, 0.9, "in the morning", at(3))
    assert {i: undigested(m.facts) for i, m in found.items() if m.facts} == {"m": (fact,), "o": (fact,)}


def test_said_again_a_triple_is_backed_once_with_the_newest_degree_and_condition() -> None:
    found = facts_after(triple("m", day=3, degree=0.9, condition="cold"), triple("m", day=5, degree=0.4))
    assert found == (MemoryTriple("Ada", "likes", "tea", False, 0.4, None, at(5)),)


def test_said_again_at_the_same_instant_the_one_told_later_holds() -> None:
    found = facts_after(triple("m", day=3, degree=0.9), triple("m", day=3, degree=0.4))
    assert [fact.degree for fact in found] == [0.4]


def test_said_late_a_triple_leaves_what_was_said_after_it() -> None:
    outcome = TRIO.given(triple("m", day=5, degree=0.4)).when(triple("m", day=3, degree=0.9))
    outcome.then(changed=set(), decision="ignored", reason="said earlier than what the memory backs already")


@each_row("other", [{"subject": "Bob"}, {"predicate": "hates"}, {"object": "奶茶"}, {"negation": True}], ids=str)
def test_another_subject_predicate_object_or_negation_is_another_triple(other: dict[str, object]) -> None:
    assert len(facts_after(triple("m", day=1), triple("m", day=2, **other))) == 2
    kept = facts_after(triple("m", day=1), triple("m", day=2, **other), triple("m", day=3, retract=True, **other))
    assert kept == facts_after(triple("m", day=1))


def test_a_retraction_takes_the_backing_of_the_memories_that_it_names() -> None:
    found = TRIO.when(triple("m", "n"), triple("m", day=1, retract=True, degree=0.1, condition="any")).after.memories
    assert [len(found[i].facts) for i in ("m", "n")] == [0, 1]


@each_row("before", GONE.values(), ids=GONE)
def test_evidence_that_is_not_there_backs_nothing_and_the_rest_does(before: list[Told]) -> None:
    outcome = TRIO.given(*before).when(triple("x", "m", day=40))
    assert outcome.decisions == {"x": "ignored", "m": "link"}
    assert len(outcome.after.memories["m"].facts) == 1


@each_row("shift", [0, 31, 67])
def test_a_memory_backs_the_sixty_four_newest_triples_in_whatever_order_they_come(shift: int) -> None:
    days = [(day * 31 + shift) % 70 for day in range(70)]
    found = folded(created(), *(triple("m", day=day, object=f"tea {day}") for day in days)).memories["m"].facts
    assert [fact.object for fact in found] == [f"tea {day}" for day in range(70 - MAX_FACTS, 70)]


def test_retracting_what_a_memory_does_not_back_is_ignored() -> None:
    outcome = TRIO.given(asserted("m")).when(triple("m", day=1, retract=True))
    outcome.then(changed=set(), decision="ignored", reason="does not back this triple")
