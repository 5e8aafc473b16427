"""Where nodes and labels stand: near what they are tied to, apart from the rest, and never over each other."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from api.pictures.layout import Spot, place_labels, place_nodes

TRIANGLES = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]


def distance(places: np.ndarray, one: int, other: int) -> float:
    return float(np.hypot(*(places[one] - places[other])))


def test_tied_nodes_stand_nearer_than_others() -> None:
    places = place_nodes(6, TRIANGLES, [1.0] * 6)
    tied = [distance(places, *pair) for pair in TRIANGLES]
    others = [distance(places, *pair) for pair in combinations(range(6), 2) if pair not in TRIANGLES]
    assert np.mean(tied) < 0.7 * np.mean(others)


def test_a_stronger_tie_is_shorter() -> None:
    places = place_nodes(3, [(0, 1), (1, 2)], [1.0, 0.1])
    assert distance(places, 0, 1) < distance(places, 1, 2)


@pytest.mark.parametrize("count", [2, 3, 30])
def test_all_nodes_stand_in_the_picture_and_apart(count: int) -> None:
    places = place_nodes(count, [(0, 1)], [0.5])
    assert places.shape == (count, 2)
    assert (places >= 0).all()
    assert (places <= 1).all()
    assert min(distance(places, *pair) for pair in combinations(range(count), 2)) > 0.3 / count**0.5


def test_one_node_stands_in_the_middle_and_none_nowhere() -> None:
    assert place_nodes(1, [], []).tolist() == [[0.5, 0.5]]
    assert place_nodes(0, [], []).shape == (0, 2)


def test_a_label_stands_below_its_node_where_there_is_room() -> None:
    assert place_labels([Spot(50, 50, 5, 30)], 10, (100, 100)) == [(50, 39)]


@pytest.mark.parametrize(
    ("spot", "middle"),
    [(Spot(50, 5, 5, 30), (50, 16)), (Spot(5, 5, 5, 30), (27, 5)), (Spot(95, 5, 5, 30), (73, 5))],
    ids=["above", "right", "left"],
)
def test_a_label_keeps_within_the_picture(spot: Spot, middle: tuple[float, float]) -> None:
    assert place_labels([spot], 10, (100, 100)) == [middle]


def test_a_label_without_room_is_left_out() -> None:
    crowd = [Spot(x, y, 4, 30) for x in range(10, 100, 10) for y in range(10, 100, 10)]
    middles = place_labels(crowd, 8, (105, 105))
    assert None in middles


def test_labels_hide_no_node_and_no_other_label() -> None:
    spots = [Spot(float(37 * n % 300), float(53 * n % 200), 4, 40) for n in range(40)]
    placed = [(x, y) for x, y in filter(None, place_labels(spots, 10, (300, 200)))]
    assert len(placed) > 10
    for (x, y), (other_x, other_y) in combinations(placed, 2):
        assert abs(x - other_x) >= 40 or abs(y - other_y) >= 10
    for x, y in placed:
        assert not any(abs(x - spot.x) < 24 and abs(y - spot.y) < 9 for spot in spots)


def test_the_first_have_a_label_in_any_case() -> None:
    crowd = [Spot(50, 50, 5, 90)] * 6
    middles = place_labels(crowd, 30, (100, 100), kept=4)
    assert [middle is not None for middle in middles] == [True] * 4 + [False] * 2
    assert all(45 <= middle[0] <= 55 and 15 <= middle[1] <= 85 for middle in middles if middle)
