"""A question in other words: they bring what they find to the last places of the first ten, say so, and cost no more."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projections.ranking.parts.in_parts import EXPANDED, KEPT, OWN, SHOWN, _in_turn, _widened
from tests.examples import examples
from tests.given.events import Told, created, deleted, negated
from tests.given.views import HOUR, asked, found, viewed
from tests.rows import each_row

MOVES = [created(f"Caroline and I talked about the house, round {one}", f"house{one}", one * HOUR) for one in range(14)]
FLAT = created("We carried the boxes into the new flat", "flat", 20 * HOUR)
VAN = created("The removal van was late again", "van", 21 * HOUR)
QUESTION = "When did Caroline move house?"
OTHER = ("boxes new flat", "removal van")
NONSENSE = ("quantum teapot", "zebra crossing")


def first(question: str, *events: Told, **wish: Any) -> list[str]:
    return list(found(viewed(*events), question, 1, limit=SHOWN, **wish))


def test_what_only_other_words_find_is_among_the_first_ten() -> None:
    assert not {"flat", "van"} & set(first(QUESTION, *MOVES, FLAT, VAN))
    assert first(QUESTION, *MOVES, FLAT, VAN, expansions=OTHER)[-2:] == ["flat", "van"]


def test_the_first_places_are_the_whole_question_s_own_and_two_at_most_are_taken() -> None:
    events = (*MOVES, FLAT, VAN, created("A third removal, with more boxes", "third", 22 * HOUR))
    plain = first(QUESTION, *events)
    widened = first(QUESTION, *events, expansions=(*OTHER, "third removal"))
    assert KEPT <= SHOWN - EXPANDED
    assert widened[: SHOWN - EXPANDED] == plain[: SHOWN - EXPANDED]


def test_where_the_question_finds_little_other_words_fill_what_is_left() -> None:
    boxes = [created(f"More boxes, load {one}", f"load{one}", one * HOUR) for one in range(12)]
    told = first("Who is the lessor?", *boxes, created("The lessor is Ms Brandt", "lessor"), expansions=("boxes",))
    assert (told[0], len(told)) == ("lessor", SHOWN)


def test_a_question_whose_words_nobody_used_is_answered_in_other_words() -> None:
    assert first("Who is the lessor?", FLAT, VAN) == []
    assert first("Who is the lessor?", FLAT, VAN, expansions=("removal van",)) == ["van"]


def test_words_that_nobody_used_change_nothing() -> None:
    assert first(QUESTION, *MOVES, FLAT, expansions=NONSENSE) == first(QUESTION, *MOVES, FLAT)


def test_a_result_tells_which_words_brought_it_and_parts_still_add_up() -> None:
    answer = asked(viewed(*MOVES, FLAT, VAN), QUESTION, 1, limit=SHOWN, expansions=OTHER)
    told = {one["id"]: one["explain"].get("asked_by") for one in answer["results"]}
    assert (told["flat"], told["van"]) == ([OTHER[0]], [OTHER[1]])
    assert "parts" not in answer["understood"]
    for one in answer["results"]:
        assert sum(one["explain"]["score"].values()) == pytest.approx(one["score"], abs=4e-6)


def test_parts_of_a_question_keep_their_share_beside_other_words() -> None:
    pottery = created("The pottery class has a new oven", "pottery", 20 * HOUR)
    question = "Which did I like more, the house of Caroline or the pottery class?"
    told = first(question, *MOVES, pottery, FLAT, VAN, expansions=OTHER)
    assert {"pottery", "flat", "van"} <= set(told)


@each_row("gone", [negated("flat", 22 * HOUR), deleted("flat", 22 * HOUR)], ids=["negated", "deleted"])
def test_other_words_bring_nothing_that_the_mode_withholds(gone: Told) -> None:
    assert "flat" not in first(QUESTION, *MOVES, FLAT, gone, expansions=OTHER)


def test_other_words_bring_nothing_that_the_filters_leave_out() -> None:
    events = (*MOVES, created("We carried the boxes into the new flat", "flat", 20 * HOUR, kind="fact"))
    assert "flat" in first(QUESTION, *events, expansions=OTHER)
    assert "flat" not in first(QUESTION, *events, expansions=OTHER, kinds=("preference",))


@each_row("ranking", ["text", "published", "overlap", "associative"])
def test_other_rankings_know_no_other_words(ranking: str) -> None:
    events = (*MOVES, FLAT)
    assert first(QUESTION, *events, ranking=ranking, expansions=OTHER) == first(QUESTION, *events, ranking=ranking)


ROWS = st.permutations(range(24)).map(lambda rows: rows[: 4 + rows[0] % 9])


def held(rows: list[int], parts: list[list[int]]) -> set[int]:
    """The parts that have a row there."""
    return {at for at, part in enumerate(parts) if set(rows) & set(part[:SHOWN])}


@settings(max_examples=examples(20))
@given(ROWS, st.lists(ROWS, max_size=5), st.lists(ROWS, max_size=3))
def test_other_words_take_no_part_all_of_its_share_and_none_of_the_first_places(
    whole: list[int], parts: list[list[int]], others: list[list[int]]
) -> None:
    first = _in_turn(whole, parts)
    widened = _widened(first, parts, others)
    assert held(first, parts) <= held(widened, parts)
    assert widened[:OWN] == first[:OWN] if len(first) >= OWN else widened[: len(first)] == first
    assert len(set(widened)) == len(widened) <= SHOWN
    assert len(set(first) - set(widened)) <= EXPANDED


def test_the_only_match_of_a_part_stays_and_another_makes_room() -> None:
    first, parts = list(range(10)), [[0, 1, 2], [9]]
    assert _widened(first, parts, [[20], [21]]) == [*range(8), 9, 20]
    assert _widened(first, [[8], [9]], [[20], [21]]) == first
