"""Links between memories: association edges, symmetric and bounded (memory.md, sections 2 and 10)."""

from __future__ import annotations

from engramlog_server.projections.memory.record import MAX_EDGES, Edge, Memory
from tests.given.events import (
    Story,
    created,
    deleted,
    folded,
    linked,
    memory,
    merged,
    purged,
)
from tests.rows import each_row

COFFEE_THEN_TEA = memory.given(created(), created("I like tea", of="tea", day=5, corrects="m"))
LINKED = COFFEE_THEN_TEA.given(linked("m", "tea", day=6, weight=0.4))


def edges_of(found: Memory) -> list[tuple[str, float, str]]:
    return [(edge.to, edge.base, edge.link) for edge in found.edges]


@each_row(
    ("weight", "link", "kept"),
    [(0.6, "related", (0.6, "related")), (0.3, "related", (0.4, "semantic")), (0.4, "related", (0.4, "semantic"))],
)
def test_the_strongest_base_of_an_edge_is_kept_on_both_sides(weight: float, link: str, kept: tuple[float, str]) -> None:
    after = LINKED.when(linked("tea", "m", day=7, weight=weight, link=link)).after.memories
    assert (edges_of(after["m"]), edges_of(after["tea"])) == ([("tea", *kept)], [("m", *kept)])


@each_row(
    ("story", "other"),
    [
        (COFFEE_THEN_TEA, "nobody"),
        (COFFEE_THEN_TEA.given(deleted("tea", day=6), purged("tea", day=40)), "tea"),
        (COFFEE_THEN_TEA.given(created(of="n"), merged("tea", "n", day=6)), "tea"),
    ],
    ids=["unknown", "purged", "merged away"],
)
@each_row("link", ["semantic", "possible_conflict"])
def test_a_link_to_what_is_not_there_changes_neither_side(story: Story, other: str, link: str) -> None:
    outcome = story.when(linked("m", other, day=50, link=link))
    assert outcome.decisions == {"m": "ignored", other: "ignored"}
    assert outcome.after.memories == outcome.before.memories


def test_edges_of_one_weight_are_kept_by_id_in_whatever_order_they_come() -> None:
    others = [created(of=f"n{n:02}") for n in range(34)]
    links = [linked("m", f"n{n:02}") for n in range(34)]
    there, back = (folded(created(), *others, *order).memories["m"].edges for order in (links, list(reversed(links))))
    assert there == back == tuple(Edge(f"n{n:02}", 0.5, 0.0, "semantic") for n in range(MAX_EDGES))


def test_a_link_to_itself_changes_nothing_and_is_told_once() -> None:
    outcome = COFFEE_THEN_TEA.when(linked("m", "m", day=7))
    assert [(one["memory"], one["decision"], one["reason"]) for one in outcome.log] == [
        ("m", "ignored", "a link to itself")
    ]
    outcome.then(changed=set())
