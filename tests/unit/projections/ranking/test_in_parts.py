"""A question of several parts: each has its share of the first ten, and says so."""

from __future__ import annotations

import pytest

from projections.ranking.parts.in_parts import KEPT, SHOWN
from tests.given.events import Told, created, deleted, negated
from tests.given.views import HOUR, asked, found, viewed
from tests.rows import each_row

CHESS = [created(f"We played at the chess club, round {one}", f"chess{one}", one * HOUR) for one in range(14)]
POTTERY = created("The pottery class has a new oven", "pottery", 20 * HOUR)
COMPARES = "Which did I like more, the chess club or the pottery class?"


def kept(question: str, *events: Told, parts: bool = True, **wish: object) -> list[str]:
    return list(found(viewed(*events), question, 1, limit=SHOWN, parts=parts, **wish))


def test_each_of_two_compared_is_among_the_first_ten() -> None:
    pottery = [created(f"Pottery was fun, day {one}", f"pottery{one}") for one in range(14)]
    chess = [created(f"Chess was fun, evening {one}", f"chess{one}") for one in range(60)]
    question = "Which do I like more, pottery or chess?"
    assert not [one for one in kept(question, *pottery, *chess, parts=False) if one.startswith("chess")]
    assert [one for one in kept(question, *pottery, *chess) if one.startswith("chess")]


def test_the_first_places_are_the_whole_question_s_own() -> None:
    events = (*CHESS, POTTERY, created("The pottery class and the chess club are both dear", "both", HOUR))
    assert kept(COMPARES, *events)[:KEPT] == kept(COMPARES, *events, parts=False)[:KEPT]


def test_the_answer_tells_the_parts_and_what_each_brought() -> None:
    answer = asked(viewed(*CHESS, POTTERY), COMPARES, 1, limit=SHOWN)
    chess, pottery = answer["understood"]["parts"]
    assert ("chess club" in chess, "pottery class" in pottery) == (True, True)
    told = {one["id"]: one["explain"].get("asked_by") for one in answer["results"]}
    assert set(told) >= {"pottery"}
    assert any(parts == [chess] for parts in told.values())


def test_the_share_of_a_part_is_a_part_of_the_score() -> None:
    for one in asked(viewed(*CHESS, POTTERY), COMPARES, 1, limit=SHOWN)["results"]:
        assert sum(one["explain"]["score"].values()) == pytest.approx(one["score"], abs=4e-6)


def test_a_question_of_one_thing_has_no_parts() -> None:
    answer = asked(viewed(*CHESS, POTTERY), "Where is the chess club?", 1)
    assert "parts" not in answer["understood"]
    assert not any("asked_by" in one["explain"] or "share" in one["explain"]["score"] for one in answer["results"])


@each_row("gone", [negated("pottery", 21 * HOUR), deleted("pottery", 21 * HOUR)], ids=["negated", "deleted"])
def test_a_part_brings_nothing_that_the_mode_withholds(gone: Told) -> None:
    assert "pottery" not in kept(COMPARES, *CHESS, POTTERY, gone)


def test_a_part_brings_nothing_that_the_filters_leave_out() -> None:
    events = (*CHESS, created("The pottery class has a new oven", "pottery", 20 * HOUR, kind="fact"))
    assert "pottery" in kept(COMPARES, *events)
    assert "pottery" not in kept(COMPARES, *events, kinds=("preference",))


PEOPLE = [
    (created("My sister is called Anna", "who"), created("Anna plays the cello", "said"), "What does my sister play?"),
    (created("我表哥叫李强", "who"), created("李强在上海开了一家面馆", "said"), "我表哥在哪里开面馆？"),
]


@each_row(("who", "what", "question"), PEOPLE, ids=["English", "Chinese"])
def test_a_role_is_asked_for_by_its_name_too(who: Told, what: Told, question: str) -> None:
    answer = asked(viewed(who, what, *CHESS), question, 1)
    (other,) = answer["understood"]["parts"]
    assert ("Anna" in other) or ("李强" in other)
    assert "said" in [one["id"] for one in answer["results"]]


def test_a_name_is_asked_for_by_its_role_too() -> None:
    events = (created("Karen is my boss", "who"), created("My boss hates late trains", "said"), *CHESS)
    answer = asked(viewed(*events), "What does Karen hate?", 1)
    assert answer["understood"]["parts"] == ["What does my boss hate?"]
    assert "said" in [one["id"] for one in answer["results"]]


@each_row("gone", [deleted("who", HOUR), negated("who", HOUR)], ids=["deleted", "negated"])
def test_nobody_is_known_by_what_is_withheld(gone: Told) -> None:
    view = viewed(created("My sister is called Anna", "who"), created("Anna plays the cello", "said"), gone)
    assert "parts" not in asked(view, "What does my sister play?", 1)["understood"]


def test_other_rankings_take_no_question_apart() -> None:
    for ranking in ("text", "published", "overlap", "associative"):
        assert "parts" not in asked(viewed(*CHESS, POTTERY), COMPARES, 1, ranking=ranking)["understood"]
