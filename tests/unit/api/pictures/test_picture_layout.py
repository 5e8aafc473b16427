"""Where nodes and labels stand: near what they are tied to, clusters apart from each other, and labels never over anything."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.api.pictures.curves import apart
from engramlog_server.api.pictures.map import (
    Box,
    TakenRoom,
    around,
    beside,
    hull,
    place_clusters,
    place_nodes,
)
from tests.examples import examples
from tests.rows import each_row

ROOM = Box(20, 60, 1180, 620)


def distance(places: np.ndarray, one: int, other: int) -> float:
    return float(np.hypot(*(places[one] - places[other])))


@each_row("count", [2, 3, 30])
def test_all_nodes_stand_in_the_picture_and_apart(count: int) -> None:
    places = place_nodes(count, [(0, 1)], [0.5])
    assert places.shape == (count, 2)
    assert (places >= 0).all()
    assert (places <= 1).all()
    assert min(distance(places, *pair) for pair in combinations(range(count), 2)) > 0.3 / count**0.5


def members_of(sizes: list[int]) -> list[list[int]]:
    ends = np.cumsum(sizes)
    return [list(range(end - size, end)) for end, size in zip(ends, sizes, strict=True)]


def separated(one: np.ndarray, other: np.ndarray) -> float:
    """The widest gap between two sets of points over the directions of a fan."""
    turns = np.linspace(0, np.pi, 60, endpoint=False)
    fan = np.column_stack([np.cos(turns), np.sin(turns)])
    first, second = one @ fan.T, other @ fan.T
    return float(np.maximum(first.min(axis=0) - second.max(axis=0), second.min(axis=0) - first.max(axis=0)).max())


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=9), st.integers(0, 2**32 - 1))
def test_clusters_are_apart_by_their_hulls_and_in_the_room(sizes: list[int], seed: int) -> None:
    chance = np.random.default_rng(seed)
    clusters = members_of(sizes)
    count = sum(sizes)
    pairs = [(int(a), int(b)) for a, b in chance.integers(0, count, (count, 2)) if a != b]
    places = place_clusters(clusters, pairs, [0.5] * len(pairs), ROOM, reach=14)
    assert places[:, 0].min() >= ROOM.left
    assert places[:, 0].max() <= ROOM.left + ROOM.width
    assert places[:, 1].min() >= ROOM.top
    assert places[:, 1].max() <= ROOM.top + ROOM.height
    for one, other in combinations([places[members] for members in clusters if len(members) > 1], 2):
        assert separated(one, other) > 14


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=30))
def test_a_hull_has_every_point_on_its_inner_side(points: list[tuple[int, int]]) -> None:
    corners = hull([(float(x), float(y)) for x, y in points])
    assert set(corners) <= {(float(x), float(y)) for x, y in points}
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
        assert all((bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0 for x, y in points)


def test_a_label_takes_the_first_free_place_around_its_node() -> None:
    places = beside(50, 50, 5, 30, 10)
    taken = TakenRoom(Box(0, 0, 100, 100))
    assert taken.best(places) == places[0]
    taken.take(places[0])
    assert taken.best(places) == places[1]


def test_a_label_keeps_within_the_picture() -> None:
    assert TakenRoom(Box(0, 0, 60, 60)).best(beside(50, 30, 5, 30, 10)) == around(27, 30, 30, 10)
    assert TakenRoom(Box(0, 0, 20, 20)).best(beside(10, 10, 5, 30, 10)) is None


def test_no_place_is_free_where_something_is() -> None:
    crowd = [around(x, y, 8, 8) for x in range(5, 100, 10) for y in range(5, 100, 10)]
    assert TakenRoom(Box(0, 0, 100, 100), crowd).best(beside(55, 55, 4, 30, 8)) is None


@given(st.lists(st.floats(0, 300), min_size=1, max_size=8))
def test_things_in_a_row_are_moved_apart_as_little_as_may_be(wanted: list[float]) -> None:
    middles = apart(wanted, 20, 0, 300)
    ordered = sorted(middles)
    assert all(b - a >= 20 - 1e-6 for a, b in pairwise(ordered))
    assert ordered[0] >= 10 - 1e-6
    assert ordered[-1] <= 290 + 1e-6
    if all(abs(a - b) >= 20 for a, b in combinations(wanted, 2)) and min(wanted) >= 10 and max(wanted) <= 290:
        assert middles == pytest.approx(wanted)
