"""Edges between memories: what makes one, how strong it is, and which of many are kept (seed 004, section 5)."""

from __future__ import annotations

import pytest

from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.projections.index.associations import AssociationIndex
from engramlog_server.projections.memory.record import Memory, with_changes
from tests.given.associated import half, index_of, links_of, memory
from tests.rows import each_row


def weights(*memories: Memory, of: str = "a", parameters: Parameters = DEFAULTS) -> dict[str, tuple[str, float]]:
    """Kind and weight of one memory's edges, by the other's id."""
    links = links_of(index_of(memories), of, parameters)
    return {other: (link.link, link.weight) for other, link in links.items()}


WORDS = tuple(f"w{number}" for number in range(10))


def test_keywords_make_an_edge_from_an_overlap_of_three_tenths_on() -> None:
    assert weights(memory("a", *WORDS), memory("b", *WORDS[:3])) == {"b": ("keyword", 0.3)}
    # 2 of 7 are 0.286, and no two sets of at most 50 words come nearer to 0.29 than 2 of 7 without sharing more.
    assert weights(memory("a", *WORDS[:7]), memory("b", *WORDS[:2])) == {}


def test_memories_of_one_task_are_linked_however_far_apart() -> None:
    assert weights(memory("a", task="t"), memory("b", task="t", hours=9_000), memory("c", task="u")) == {
        "b": ("co-task", 0.5)
    }


@each_row("place", ["project", "session"])
@each_row(
    ("hours", "expected"),
    [(0, {"b": ("temporal", 0.2)}), (24, {"b": ("temporal", 0.2)}), (24 + 1e-6, {}), (-24, {"b": ("temporal", 0.2)})],
)
def test_memories_of_one_project_or_session_are_linked_within_a_day(place, hours, expected) -> None:
    assert weights(memory("a", hours=100, **{place: "p"}), memory("b", hours=100 + hours, **{place: "p"})) == expected


def pair(mine: dict[str, object], theirs: dict[str, object], **shared: object) -> list[Memory]:
    return [memory("a", edges=(half("b", **mine),), **shared), memory("b", edges=(half("a", **theirs),), **shared)]


def test_a_told_edge_takes_the_smaller_of_both_halves_or_the_one_there_is() -> None:
    strong, weak = {"base": 0.8, "boost": 0.05, "link": "semantic"}, {"base": 0.6, "boost": 0.1, "link": "related"}
    assert weights(*pair(strong, weak)) == {"b": ("related", pytest.approx(0.65))}
    one_way = memory("a", edges=(half("b", 0.8),)), memory("b")
    assert weights(*one_way) == {"b": ("semantic", 0.8)}
    assert weights(*one_way, of="b") == {"a": ("semantic", 0.8)}


def test_a_told_edge_that_one_side_had_to_drop_for_32_stronger_ones_is_none() -> None:
    full = memory("a", edges=tuple(half(f"x{n}", 0.9) for n in range(32)))
    other = memory("b", edges=(half("a", 0.8),))
    assert weights(full, other) == weights(full, other, of="b") == {}


@each_row(
    "gone",
    [{"deleted_at": 1}, {"purged_at": 1}, {"merged_into": "m"}, {"retired_at": 1}, {"sensitivity": 3}],
    ids=lambda gone: next(iter(gone)),
)
def test_what_is_not_live_and_what_is_secret_has_no_edges(gone) -> None:
    everything = {"task": "t", "project": "p", "session": "s"}
    one = memory("a", "x", edges=(half("b", 0.8),), **everything)
    other = memory("b", "x", edges=(half("a", 0.8),), **everything)
    index = index_of([one, other])
    assert links_of(index, "a")
    index.put(1, with_changes(other, **gone))
    assert index.neighbours(0, DEFAULTS) == index.neighbours(1, DEFAULTS) == []
    assert (len(index), 1 in index) == (1, False)


def test_five_of_a_kind_are_kept_those_nearest_in_time() -> None:
    line = [memory(f"m{hours:02}", task="t", hours=hours) for hours in range(30)]
    assert list(weights(*line, of="m15")) == ["m13", "m14", "m16", "m17"]
    # m12 is as near to m15 as m18, and comes first; but m12's own five are m10, m11, m13, m14 and m09.
    assert list(weights(*line, of="m00")) == ["m01", "m02", "m03"]


@each_row("shared", [{"task": "t"}, {"session": "s"}, {"keywords": ("imported",)}], ids=str)
def test_memories_of_one_instant_are_linked_along_their_ids_so_that_none_is_left_alone(shared) -> None:
    crowd = [with_changes(memory(f"m{number:03}"), **shared) for number in range(200)]
    index = index_of(crowd)
    assert {len(index.neighbours(row, DEFAULTS)) for row in range(200)} <= {2, 3, 4, 5}
    assert list(links_of(index, "m100")) == ["m098", "m099", "m101", "m102"]


def test_a_memory_that_changed_is_known_by_its_new_keys_only() -> None:
    index = index_of([memory("a", "x", task="t"), memory("b", "x", hours=1), memory("c", "y", hours=2)])
    assert list(links_of(index, "a")) == ["b"]
    index.put(0, memory("a", "y", task="u"))
    assert list(links_of(index, "a")) == ["c"]
    assert links_of(index, "b") == {}


def test_a_memory_that_comes_late_takes_its_place_in_time() -> None:
    line = [memory(f"m{hours:02}", task="t", hours=hours) for hours in range(80)]
    index = index_of(line)
    assert list(links_of(index, "m40")) == ["m38", "m39", "m41", "m42"]
    index.put(80, memory("late", task="t", hours=40.5))
    assert list(links_of(index, "m40")) == ["late", "m38", "m39", "m41", "m42"]
    index.put(80, memory("late", task="t", hours=40.5, deleted_at=1))
    assert list(links_of(index, "m40")) == ["m38", "m39", "m41", "m42"]


def test_bytes_used_grows_with_what_is_held() -> None:
    assert AssociationIndex().bytes_used() == 0
    assert index_of([memory("a"), memory("b")]).bytes_used() > index_of([memory("a")]).bytes_used()
