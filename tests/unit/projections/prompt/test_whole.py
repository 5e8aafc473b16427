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
    known = {
        one["id"]: one for one in asked(view, "vase glaze kiln city porto sister harbour", 40, limit=100)["results"]
    }
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


def of_turns(*events: Told) -> OwnerView:
    return told(
        created("My sister lives in Porto with two cats", "t1", 1, source_turns=("t1",), kind="episode", speaker="Ada"),
        created("The harbour there was cold", "t2", 2, source_turns=("t2",), kind="episode", speaker="Ada"),
        *events,
    )


def drawn(text: str, name: str, *turns: str, **data: Any) -> Told:
    return created(text, name, 3, source="judge", source_turns=turns or ("t1",), kind="fact", **data)


def account(text: str) -> Told:
    return created(text, "ep", 4, source="system", source_turns=("t1", "t2"), kind="episode", tier="episode")


WHERE = "Where in Porto does my sister live?"


@pytest.mark.parametrize("order", [("s1", "t1"), ("t1", "s1")])
def test_what_was_read_in_a_turn_is_not_told_beside_it(order: tuple[str, str]) -> None:
    view = of_turns(drawn("User's sister lives in Porto", "s1"))
    assert brings(view, WHERE, *order) == ["t1"]
    assert brings(view, WHERE, "s1") == ["s1"], "alone it is told"


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(drawn("User's sister Anna lives in Porto", "s1"), id="a name that the turn has not"),
        pytest.param(drawn("User's sister lives in Porto since 2019", "s1"), id="a time"),
        pytest.param(drawn("User's sister lives in Porto", "s1", "t9"), id="of another turn"),
    ],
)
def test_what_says_a_word_more_is_told_beside_the_turn(more: Told) -> None:
    assert sorted(brings(of_turns(more), WHERE, "t1", "s1")) == ["s1", "t1"]


def test_an_account_is_told_only_where_it_has_a_word_of_the_question_that_its_pieces_have_not() -> None:
    view = of_turns(account("My sister lives in Porto; the harbour there was cold"))
    assert brings(view, WHERE, "ep", "t1") == ["t1"]
    assert brings(view, "Was the harbour in Porto cold?", "ep", "t1") == ["ep", "t1"]
    assert brings(view, "Was the harbour in Porto cold?", "ep", "t1", "t2") == ["t1", "t2"]


def test_in_chinese_too() -> None:
    turn = created("我住在北京，养了一只猫", "t1", 1, source_turns=("t1",), kind="episode")
    view = told(turn, drawn("用户住在北京", "s1"), drawn("用户养了一只叫咪咪的猫", "s2"))
    known = {one["id"]: one for one in asked(view, "北京 猫", 40, limit=100)["results"]}
    assert {"t1", "s1", "s2"} <= known.keys()
    found = [Valued([known[one] for one in ("s1", "t1", "s2")], [0.9] * 3)]
    wish = Wanted(1_500, 0, sensitive=False, language="zh", threshold=0.7, trust=0)
    rules, turn_asked = rules_of(view, wish), AskedTurn("我住在哪里？", conversation((), "我住在哪里？"))
    holds = always(view, at(40), turn_asked.talk, rules)
    close, _ = brought_up(view, at(40), found, turn_asked, wish, rules, holds)
    assert ([one.memory_id for one in close], holds.repeated) == (["s2", "t1"], {"s1": "t1"})


def test_the_place_of_what_is_not_told_again_is_for_something_else() -> None:
    view = told(*of_events(), *CITIES, created("City of glass", "u1", 31))
    others = [*NAMES[: MOST_RESULTS - 2], "u1"]
    assert sorted(brings(view, "The city.", "t1", "s1", *others)) == sorted(["t1", *others])


def of_events() -> list[Told]:
    return [
        created("A city where my sister lives", "t1", 1, source_turns=("t1",), kind="episode"),
        drawn("User's sister lives in a city", "s1"),
    ]
