"""What holds now comes first: turns, summaries and merges that say what was corrected stand below it, and leave normal mode."""

from __future__ import annotations

from typing import Any

from engramlog_server.projections.choices import RANKINGS
from engramlog_server.projections.reports.listing import listing
from engramlog_server.projections.views.query import ViewQuery
from tests.given.events import Told, at, created, negated
from tests.given.views import asked, found, viewed
from tests.rows import each_row


def turn(turn_id: str, text: str, day: float = 0) -> Told:
    return created(text, turn_id, day, source_turns=(turn_id,), kind="episode")


def stated(memory_id: str, text: str, *turns: str, day: float = 0, **more: Any) -> Told:
    return created(text, memory_id, day, actor="judge", source="judge", source_turns=turns, **more)


def replaced(old: str, new: str | None, day: float = 1, **more: Any) -> Told:
    return negated(old, day, **{"replaced_by": new, "resolution": "latest_wins"} | more)


MOVES = {
    "zh": (
        (
            turn("t1", "我住在东京"), stated("old", "用户住在东京", "t1"), turn("t2", "我搬到大阪了", 1),
            stated("now", "用户搬到大阪了", "t2", day=1), replaced("old", "now", turn_id="t2"),
        ),
        "主人住在哪里",
    ),
    "en": (
        (
            turn("t1", "I live in Tokyo"), stated("old", "User lives in Tokyo", "t1"), turn("t2", "We moved to Osaka", 1),
            stated("now", "User moved to Osaka", "t2", day=1), replaced("old", "now", turn_id="t2"),
        ),
        "Where do I live?",
    ),
}  # fmt: skip
LANGUAGES = each_row("language", MOVES)
OURS = each_row("ranking", ["conversation", "text"])


@LANGUAGES
@OURS
def test_what_holds_now_is_brought_in_before_the_turn_that_says_what_it_replaced(language: str, ranking: str) -> None:
    events, question = MOVES[language]
    assert next(iter(found(viewed(*events[:2]), question, 2, ranking=ranking))) == "t1"
    review = found(viewed(*events), question, 2, mode="review", ranking=ranking)
    assert list(review).index("now") < list(review).index("t1")
    assert next(iter(review)) == "now"
    normal = asked(viewed(*events), question, 2, ranking=ranking)
    assert [one["id"] for one in normal["results"]][:1] == ["now"]
    assert {one["id"] for one in normal["results"]}.isdisjoint(("t1", "old"))
    assert {"reason": "corrected", "count": 1, "shown_by": "review", "ids": ["t1"]} in normal["withheld"]


@LANGUAGES
@each_row("ranking", RANKINGS)
def test_every_ranking_marks_what_no_longer_holds_and_withholds_it_from_normal_mode(
    language: str, ranking: str
) -> None:
    view, question = viewed(*MOVES[language][0]), MOVES[language][1]
    review = found(view, question, 2, mode="review", ranking=ranking)
    for one in ("t1", "old"):
        (told,) = review[one]["corrected"]
        assert (told["by"], told["now"]) == ("now", view.get("now").content)  # type: ignore[union-attr]
        assert (told["was"], told["at"]) == (view.get("old").content, "2024-01-02T08:00:00Z")  # type: ignore[union-attr]
    assert "corrected" not in review.get("now", {})
    assert {"t1", "old"}.isdisjoint(found(view, question, 2, ranking=ranking))


def test_the_turn_that_says_the_successor_stands_above_the_turn_that_it_corrects() -> None:
    dislike = (
        turn("t1", "我喜欢吃香菜，香菜很好吃"),
        stated("old", "用户喜欢吃香菜", "t1"),
        turn("t2", "我不喜欢吃香菜了", 1),
        stated("now", "用户不喜欢吃香菜了", "t2", day=1),
        replaced("old", "now", turn_id="t2", resolution="version_keep"),
    )
    assert list(found(viewed(*dislike), "香菜", 2, mode="review")) == ["now", "t2", "t1", "old"]
    assert list(found(viewed(*dislike), "香菜", 2)) == ["now", "t2"]


TEA = (
    turn("t1", "I live in Tokyo, and I collect green tea pots."), stated("old", "User lives in Tokyo", "t1"),
    stated("now", "User moved to Osaka", "t2", day=1), replaced("old", "now"),
)  # fmt: skip


def test_what_a_sentence_says_beside_the_statement_that_was_corrected_is_still_found() -> None:
    turns = (turn("t1", "I live in Tokyo with my cat Tom"), stated("old", "User lives in Tokyo", "t1"))
    view = viewed(*turns, stated("now", "User moved to Osaka", "t2", day=1), replaced("old", "now"))
    assert list(found(view, "What is my cat called?", 2)) == ["t1"]
    assert list(found(view, "Where do I live?", 2)) == ["now"]


def test_a_turn_that_is_asked_for_both_stays_below_what_holds_now() -> None:
    answer = asked(viewed(*TEA), "Where do I live, and which tea pots do I collect?", 2)
    assert [one["id"] for one in answer["results"]] == ["now", "t1"]


def test_where_nothing_is_asked_what_says_nothing_else_is_left_out() -> None:
    view = viewed(
        *TEA, turn("t3", "I live in Tokyo!"), stated("again", "User lives in Tokyo", "t3"), replaced("again", "now")
    )
    answer = listing(ViewQuery(view, at(2), "normal"), 10, 0)
    assert {one["id"] for one in answer["memories"]} == {"t1", "now"}
    assert {"reason": "corrected", "count": 1, "shown_by": "review"} in answer["withheld"]
    assert {one["id"] for one in listing(ViewQuery(view, at(2), "review"), 10, 0)["memories"]} >= {"t1", "t3", "now"}


def test_a_secret_successor_is_neither_told_nor_brought_in() -> None:
    events = (
        MOVES["en"][0][0],
        MOVES["en"][0][1],
        stated("now", "User lives at Elm Street 5", "t2", day=1, sensitivity=3),
    )
    view = viewed(*events, replaced("old", "now"))
    (told,) = found(view, "Where do I live?", 2, mode="review")["t1"]["corrected"]
    assert "Elm" not in str(told)
    assert found(view, "Where do I live?", 2) == {}
