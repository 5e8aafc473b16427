"""Turns that were read before, read again: what today's rules would make of them, and what they would not (pure)."""

from __future__ import annotations

from engramlog_server.projections.lifecycle.extraction import read_again
from tests.given.events import Told, at, created, deleted
from tests.unit.projections.lifecycle.test_judging import carried_out, turn, view_of

TURNS = [turn("I live in Berlin. I love jazz.", "t1"), turn("I hate mushrooms.", "t2", 3)]


def drawn(content: str, memory_id: str, turn_id: str, day: float = 1) -> Told:
    """As an earlier reading drew it."""
    return created(content, memory_id, day, source="judge", source_turns=(turn_id,), speaker="user")


def changing(*events: Told) -> list[str]:
    return [one.operation for one in read_again(view_of(events), at(100)).verdicts if one.decisions]


def test_what_the_same_rules_read_before_is_known_and_nothing_would_be_gone() -> None:
    found = read_again(carried_out(*TURNS), at(200))
    assert (found.turns, found.gone) == (2, [])
    assert {one.operation for one in found.verdicts} == {"SKIP"}
    assert [one.decisions for one in found.verdicts if one.decisions] == []


def test_what_an_earlier_reading_missed_would_come_to_be() -> None:
    found = read_again(view_of([*TURNS, drawn("User lives in Berlin", "m1", "t1")]), at(100))
    assert sorted(one.statement.content for one in found.verdicts if one.operation == "ADD") == [
        "User hates mushrooms",
        "User loves jazz",
    ]
    assert found.gone == []


def test_what_todays_rules_would_not_draw_would_be_gone() -> None:
    found = read_again(view_of([*TURNS, drawn("User owns a blue boat", "m1", "t1")]), at(100))
    assert found.gone == ["m1"]
    said_again = read_again(view_of([*TURNS, drawn("User LIVES in Berlin", "other-id", "t1")]), at(100))
    assert said_again.gone == []


def test_a_turn_of_which_somebody_deleted_something_is_not_read_again() -> None:
    events = [*TURNS, drawn("User lives in Berlin", "m1", "t1"), deleted("m1", 5)]
    found = read_again(view_of(events), at(100))
    assert found.turns == 1
    assert changing(*events) == ["ADD"]  # of the other turn
    assert found.gone == []
