"""What a block brings up for a turn that asks: the turn beside a match, the order, the bounds."""

from __future__ import annotations

from typing import Any

import pytest

from projections.choices import MOST_RESULTS
from projections.memory.working_memory import conversation
from projections.prompt.block import build
from projections.prompt.gathering import AskedTurn, Valued, Wanted, always, material, rules_of
from projections.prompt.whole import MOST_ANSWERING, MOST_TOGETHER, brought_up
from projections.views.view import OwnerView
from tests.given.events import Told, at, created, deleted, negated
from tests.given.views import asked, viewed

ASKS = "Which glaze did the vase get?"


def told(*events: Told) -> OwnerView:
    """All of one session, in order."""
    return viewed(*(Told(one.data, one.day, one.actor, {"session_id": "s1"}) for one in events))


def brings(view: OwnerView, text: str, *shown: str, closeness: float = 0.9, **wanted: Any) -> list[str]:
    """Ids that a block brings up where a search found these memories."""
    known = {one["id"]: one for one in asked(view, "vase glaze kiln city", 40, limit=100)["results"]}
    found = [Valued([known[one] for one in shown], [closeness] * len(shown))]
    wish = Wanted(1_500, 0, sensitive=False, language="en", threshold=0.7, trust=0)._replace(**wanted)
    rules, turn = rules_of(view, wish), AskedTurn(text, conversation((), text))
    holds = always(view, at(40), turn.talk, rules)
    return [one.memory_id for one in brought_up(view, at(40), found, turn, wish, rules, holds)[0]]


QUESTION = created("Which glaze for the vase?", "question", 1, source="assistant")
ANSWER = created("Celadon, thank you", "answer", 2)
LATER = created("Lunch was late", "later", 3)


def test_a_question_that_was_found_brings_its_answer() -> None:
    assert brings(told(QUESTION, ANSWER, LATER), ASKS, "question") == ["question", "answer"]


def test_an_answer_that_was_found_brings_its_question() -> None:
    view = told(QUESTION, created("Glaze: celadon", "answer", 2), LATER)
    assert brings(view, ASKS, "answer") == ["answer", "question"]


def test_a_turn_that_tells_brings_no_neighbour() -> None:
    assert brings(told(QUESTION, ANSWER, LATER), "The vase got a glaze.", "question") == ["question"]


@pytest.mark.parametrize("gone", [deleted("answer", 4), negated("answer", 4)], ids=["deleted", "negated"])
def test_a_neighbour_that_may_not_be_told_is_not_brought(gone: Told) -> None:
    assert brings(told(QUESTION, ANSWER, LATER, gone), ASKS, "question") == ["question"]


CITIES = [created(f"City number {one} was hot", f"city{one}", one) for one in range(30)]
NAMES = [f"city{one}" for one in reversed(range(30))]


@pytest.mark.parametrize(
    ("text", "wanted", "most"),
    [
        ("I like the city.", {}, MOST_RESULTS),
        ("Was the city hot?", {}, MOST_ANSWERING),
        ("How many cities were hot?", {}, MOST_TOGETHER),
        ("Was the city hot?", {"whole": True}, MOST_TOGETHER),
        ("How many cities were hot?", {"whole": False}, MOST_RESULTS),
    ],
)
def test_so_many_are_brought_at_most(text: str, wanted: dict[str, Any], most: int) -> None:
    assert len(brings(viewed(*CITIES), text, *NAMES, **wanted)) == most


def test_where_nothing_is_close_only_the_whole_answer_is_brought() -> None:
    view = viewed(*CITIES)
    assert brings(view, "Was the city hot?", *NAMES, closeness=0.3) == []
    assert brings(view, "Was the city hot?", *NAMES, closeness=0.3, whole=True) == NAMES[:MOST_TOGETHER]


def test_what_is_asked_for_in_order_is_kept_by_closeness_where_the_budget_is_short() -> None:
    view, text = viewed(*CITIES[:8]), "In what order did I see the cities?"
    names = [f"city{one}" for one in range(8)]
    known = {one["id"]: one for one in asked(view, "city", 40, limit=100)["results"]}
    found = [Valued([known[one] for one in names], [0.7 + at / 100 for at in range(8)])]
    wanted = Wanted(200, 0, sensitive=False, language="en", threshold=0.7, trust=0)
    rules, turn = rules_of(view, wanted), AskedTurn(text, conversation((), text))
    holds = always(view, at(40), turn.talk, rules)
    close, _ = brought_up(view, at(40), found, turn, wanted, rules, holds)
    assert [one.memory_id for one in close] == names
    block = build(material(view, at(40), 0, turn, 0, rules, holds, close), 140)
    shown = [line.id for line in block.parts["retrieved"]]
    assert 0 < len(shown) < 8
    assert shown == names[-len(shown) :], "the closest stay, in the order of time"
