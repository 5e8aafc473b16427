"""What holds for a time only: above what it interrupts until then, below it afterwards, dated by when it was said."""

from __future__ import annotations

from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import SearchRequest
from engramlog_server.projections.views.query import ViewQuery, told_beside
from tests.given.events import Told, at, created, moment, revised
from tests.given.views import viewed

PLAIN = SearchRequest(ranking="conversation")
UNTIL = "I live in Paris until 2024-04-20"
HOME = created("I live in Rome", "rome", 1, category="identity")


def order(*told: Told, day: float, text: str = "where do I live") -> list[str]:
    return [one["id"] for one in search(ViewQuery(viewed(*told), at(day), "review"), text, 10, PLAIN)["results"]]


def test_it_is_above_until_then_and_below_afterwards() -> None:
    told = (HOME, created(UNTIL, "paris", 2, category="identity"))
    assert [order(*told, day=day)[0] for day in (3, 400)] == ["paris", "rome"]


def test_other_words_are_dated_by_the_day_on_which_they_were_put() -> None:
    old = created("I live in Oslo", "paris", 0, category="identity")
    view = viewed(old, HOME, revised("I live in Paris until Friday", "paris", 50))
    memory = view.get("paris")
    assert memory is not None
    until = told_beside(view, memory)["until"]
    assert until is not None
    assert moment(50).isoformat() < until < moment(58).isoformat()


def test_what_is_said_later_of_now_stands_as_its_words_put_it() -> None:
    back = created("I live in Rome", "back", 5, category="identity")
    assert order(created(UNTIL, "paris", 2, category="identity"), back, day=6)[0] == "back"
