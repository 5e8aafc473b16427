"""The two halves of a block: what is in which, no line in both, and the budget that they share."""

from __future__ import annotations

from typing import Any

from engramlog_server.projections.language.prompt_text import estimated_tokens
from engramlog_server.projections.memory.working_memory import conversation
from engramlog_server.projections.prompt.block import CLOSE, LEAST_BUDGET, OPEN, Line, Material
from engramlog_server.projections.prompt.gathering import (
    StablePart,
    Wanted,
    always,
    in_two,
    rules_of,
    stable_part,
    stable_room,
)
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, at, created, promoted
from tests.rows import each_row
from tests.unit.projections.lifecycle.test_judging import carried_out, turn

NOW = at(30)
WANTED = Wanted(1_500, 30, False, "en", 0.0, 0, 750)
HELD = Material(
    "2024-01-31 08:00 Wednesday (UTC)",
    {
        "core": [Line("memory", "core", "never in the turn part")],
        "remembered": [Line("turn", "t1", "Hello there", "user")],
        "retrieved": [Line("memory", "r1", "I like tea", "2024-01-01"), Line("memory", "r2", "User lives in Lisbon")],
        "tools": [Line("tool", "3:9", "city: Berlin", "weather")],
    },
)


def stable_of(view: OwnerView, wanted: Wanted = WANTED, **more: Any) -> StablePart:
    rules = rules_of(view, wanted)
    holds = always(view, NOW, conversation([], "hello"), rules)
    return stable_part(view, NOW, holds, rules, wanted, estimated_tokens, **more)


def by_operator(told: Told) -> Told:
    return Told(told.data, told.day, "operator")


SAID = [turn("Always answer in French.", "t1", 1), turn("I live in Lisbon.", "t2", 2)]
LIFE = [*SAID, created("Her name is Ada", "name", 3), by_operator(promoted("core", "name", 4))]


def test_the_stable_part_reads_instructions_core_profile_and_no_time() -> None:
    (frame, *lines) = stable_of(carried_out(*LIFE)).block.text.split("\n")[1:-1]
    assert frame.startswith("What follows was recorded earlier.")
    assert [line.split("] ", 1)[-1] for line in lines] == [
        "[Standing instructions from the user]",
        "2024-04-10, user, inferred: User has a standing request: Always answer in French",
        "[Always holds]",
        "2024-01-04: Her name is Ada",
        "[About the user]",
        "2024-04-10, user, inferred: User lives in Lisbon",
    ]


def test_the_turn_part_has_the_time_and_repeats_no_line_of_the_stable_part() -> None:
    stable = stable_of(carried_out(turn("I live in Lisbon.", "t2", 2)))
    both = in_two(stable, HELD, WANTED, estimated_tokens)
    assert both.turn.text.split("\n")[2:-1] == [
        "[Time]",
        "2024-01-31 08:00 Wednesday (UTC)",
        "[This conversation so far]",
        "- [t1] user: Hello there",
        "[Related memories]",
        "- [r1] 2024-01-01: I like tea",
        "[Tool results of the last turn]",
        "- [3:9] weather: city: Berlin",
    ]
    assert both.whole.text == f"{stable.block.text}\n{both.turn.text}"
    assert both.whole.text.split("\n").count(OPEN) == both.whole.text.split("\n").count(CLOSE) == 2
    assert set(both.whole.memories) == {*stable.profile, "r1"}


@each_row("count", [estimated_tokens, len, lambda text: len(text) ** 2 // 400])
@each_row("budget", [80, 90, 120, 200, 400, 1_500])
def test_both_together_are_never_over_the_budget(count: Any, budget: int) -> None:
    view = carried_out(*LIFE, *(turn(f"I live in city number {n}.", f"c{n}", 5 + n) for n in range(3)))
    wanted = WANTED._replace(budget=budget, stable=stable_room(budget, None))
    rules = rules_of(view, wanted)
    stable = stable_part(view, NOW, always(view, NOW, conversation([], "hi"), rules), rules, wanted, count)
    both = in_two(stable, HELD, wanted, count)
    assert count(both.whole.text) == both.whole.tokens <= budget
    assert stable.block.tokens <= (wanted.stable or 0)


def test_the_stable_part_takes_half_a_quarter_of_a_small_budget_or_what_is_asked() -> None:
    rows = [
        (1_500, None, 750),
        (1_500, 100, 100),
        (1_500, 0, 0),
        (300, None, 75),
        (LEAST_BUDGET, None, 0),
        (90, None, 10),
    ]
    assert [(budget, asked, stable_room(budget, asked)) for budget, asked, _ in rows] == rows


def test_made_again_by_the_ids_of_its_profile_it_is_the_same() -> None:
    view = carried_out(*LIFE, *(turn(f"I love the number {n}.", f"n{n}", 5 + n) for n in range(12)))
    for room in (60, 90, 140, 600):
        first = stable_of(view, WANTED._replace(stable=room))
        again = stable_of(view, WANTED._replace(stable=room, stable_language=first.language), chosen=first.profile)
        assert again.block.text == first.block.text
