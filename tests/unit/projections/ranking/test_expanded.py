"""A question in other words: they bring what they find to the last places of the first ten, say so, and cost no more."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from projections.ranking.parts.in_parts import EXPANDED, OWN, SHOWN, _in_turn, _widened
from tests.examples import examples
from tests.given.events import Told, created
from tests.given.views import HOUR, found, viewed

MOVES = [created(f"Caroline and I talked about the house, round {one}", f"house{one}", one * HOUR) for one in range(14)]
FLAT = created("We carried the boxes into the new flat", "flat", 20 * HOUR)
VAN = created("The removal van was late again", "van", 21 * HOUR)
QUESTION = "When did Caroline move house?"
OTHER = ("boxes new flat", "removal van")


def first(question: str, *events: Told, **wish: Any) -> list[str]:
    return list(found(viewed(*events), question, 1, limit=SHOWN, **wish))


def test_what_only_other_words_find_is_among_the_first_ten() -> None:
    assert not {"flat", "van"} & set(first(QUESTION, *MOVES, FLAT, VAN))
    assert first(QUESTION, *MOVES, FLAT, VAN, expansions=OTHER)[-2:] == ["flat", "van"]


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
