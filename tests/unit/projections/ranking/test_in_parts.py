"""A question of several parts: each has its share of the first ten, and says so."""

from __future__ import annotations

from engramlog_server.projections.ranking.recall import KEPT, SHOWN
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
