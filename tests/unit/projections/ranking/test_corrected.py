"""What holds now comes first: turns, summaries and merges that say what was corrected stand below it, and leave normal mode."""

from __future__ import annotations

from typing import Any

import pytest

from projections.choices import RANKINGS
from projections.reports.listing.rows import listing
from projections.views.query import ViewQuery
from tests.given.events import Told, at, created, linked, merged, negated
from tests.given.views import asked, brought, found, viewed
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
LANGUAGES = pytest.mark.parametrize("language", MOVES)
OURS = pytest.mark.parametrize("ranking", ["conversation", "text"])


@LANGUAGES
@OURS
def test_what_holds_now_is_brought_in_before_the_turn_that_says_what_it_replaced(language: str, ranking: str) -> None:
    events, question = MOVES[language]
    assert list(found(viewed(*events[:2]), question, 2, ranking=ranking))[0] == "t1"  # noqa: RUF015
    review = found(viewed(*events), question, 2, mode="review", ranking=ranking)
    assert list(review).index("now") < list(review).index("t1")
    assert list(review)[0] == "now"  # noqa: RUF015
    normal = asked(viewed(*events), question, 2, ranking=ranking)
    assert [one["id"] for one in normal["results"]][:1] == ["now"]
    assert {one["id"] for one in normal["results"]}.isdisjoint(("t1", "old"))
    assert {"reason": "corrected", "count": 1, "shown_by": "review", "ids": ["t1"]} in normal["withheld"]


@LANGUAGES
@pytest.mark.parametrize("mode", ["normal", "review"])
def test_the_successor_tells_what_it_replaces_and_its_score_adds_up(language: str, mode: Any) -> None:
    events, question = MOVES[language]
    explained = (one := found(viewed(*events), question, 2, mode=mode)["now"])["explain"]
    assert "t1" in explained["replaces"]
    assert sum(explained["score"].values()) == pytest.approx(one["score"], abs=2e-6)
    assert explained["score"]["current"] > 0


@LANGUAGES
@pytest.mark.parametrize("ranking", RANKINGS)
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


def test_a_turn_with_other_content_that_is_asked_for_stays_marked_and_in_its_place() -> None:
    answer = asked(viewed(*TEA), "Which tea pots do I collect?", 2)
    assert [one["id"] for one in answer["results"]] == ["t1"]
    assert answer["results"][0]["corrected"][0]["by"] == "now"
    assert answer["withheld"] == []


def test_what_a_sentence_says_beside_the_statement_that_was_corrected_is_still_found() -> None:
    turns = (turn("t1", "I live in Tokyo with my cat Tom"), stated("old", "User lives in Tokyo", "t1"))
    view = viewed(*turns, stated("now", "User moved to Osaka", "t2", day=1), replaced("old", "now"))
    assert list(found(view, "What is my cat called?", 2)) == ["t1"]
    assert list(found(view, "Where do I live?", 2)) == ["now"]


def test_a_turn_that_is_asked_for_both_stays_below_what_holds_now() -> None:
    answer = asked(viewed(*TEA), "Where do I live, and which tea pots do I collect?", 2)
    assert [one["id"] for one in answer["results"]] == ["now", "t1"]


def test_of_several_corrections_only_the_one_that_is_asked_for_is_brought_in() -> None:
    dislike = (stated("pots", "User collects green tea pots", "t1"), stated("sold", "User sold all", "t2", day=1))
    view = viewed(*TEA, *dislike, replaced("pots", "sold"))
    assert list(found(view, "Where do I live?", 2)) == ["now"]
    assert list(found(view, "Which tea pots do I collect?", 2)) == ["sold"]
    assert len(found(view, "Tokyo", 2, mode="review")["t1"]["corrected"]) == 2


@each_row("ranking", ["conversation", "text"])
def test_what_nothing_replaced_leaves_normal_mode_and_is_marked_as_corrected_by_nothing(ranking: str) -> None:
    view = viewed(turn("t1", "我养了一只狗"), stated("dog", "用户养了一只狗", "t1"), replaced("dog", None))
    assert found(view, "我养狗吗", 2, ranking=ranking) == {}
    review = found(view, "我养狗吗", 2, mode="review", ranking=ranking)
    assert [(one["by"], one["now"]) for one in review["t1"]["corrected"]] == [(None, None)]


def test_a_retraction_takes_the_place_of_the_turn_that_it_takes_back() -> None:
    view = viewed(
        turn("t1", "I have a dog named Rex"),
        stated("dog", "User has a dog named Rex", "t1"),
        turn("t2", "I misspoke, there is no such animal", 1),
        replaced("dog", None, turn_id="t2"),
    )
    assert list(found(view, "my dog Rex", 2)) == ["t2"]
    assert list(found(view, "my dog Rex", 2, mode="review"))[0] == "t2"  # noqa: RUF015


def test_a_summary_and_a_merge_of_a_corrected_turn_stand_below_and_leave_likewise() -> None:
    events, question = MOVES["en"]
    summary = created("She told that she lives in Tokyo", "sum", 1, tier="episode", kind="note", source="system",
                      source_turns=("t1", "t9"))  # fmt: skip
    hello = turn("t9", "Hello!")
    for more in ((hello, summary), (hello, merged("t1", "t9", into="both", day=2, summary="I live in Tokyo. Hello!"))):
        view, account = viewed(*events, *more), "sum" if summary in more else "both"
        assert account not in found(view, question, 3)
        review = found(view, question, 3, mode="review")
        assert list(review).index("now") < list(review).index(account)
        assert review[account]["corrected"][0]["by"] == "now"


def test_an_account_that_also_tells_what_holds_now_stays_marked() -> None:
    events, question = MOVES["en"]
    both = created("She lived in Tokyo, then moved to Osaka", "sum", 2, tier="episode", kind="note", source="system",
                   source_turns=("t1", "t2"))  # fmt: skip
    results = found(viewed(*events, both), question, 3)
    assert list(results)[0] == "now"  # noqa: RUF015
    assert results["sum"]["corrected"][0]["by"] == "now"


def test_where_nothing_is_asked_what_says_nothing_else_is_left_out() -> None:
    view = viewed(
        *TEA, turn("t3", "I live in Tokyo!"), stated("again", "User lives in Tokyo", "t3"), replaced("again", "now")
    )
    answer = listing(ViewQuery(view, at(2), "normal"), 10, 0)
    assert {one["id"] for one in answer["memories"]} == {"t1", "now"}
    assert {"reason": "corrected", "count": 1, "shown_by": "review"} in answer["withheld"]
    assert {one["id"] for one in listing(ViewQuery(view, at(2), "review"), 10, 0)["memories"]} >= {"t1", "t3", "now"}


def test_what_left_normal_mode_is_not_brought_to_mind_either() -> None:
    events = MOVES["en"][0]
    view = viewed(
        *events, created("The kiln broke", "kiln"), linked("kiln", "t1", weight=0.9), linked("kiln", "now", weight=0.9)
    )
    assert set(brought(view, "kiln", 2)) == {"now"}
    assert {"t1", "now"} <= set(brought(view, "kiln", 2, mode="review"))


def test_what_a_corrected_turn_matched_lends_nothing_to_its_neighbours() -> None:
    events, question = MOVES["en"]
    reply = created("What a place, tell me more", "t1b", 0, actor="assistant", source="assistant", source_turns=("t1b",),
                    kind="episode")  # fmt: skip
    talk = [Told(one.data, one.day, one.actor, {"session_id": "s1"}) for one in (events[0], reply)]
    view = viewed(*talk, *events[1:])
    assert "t1b" not in found(view, question, 2)


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


def test_a_filter_that_the_successor_does_not_pass_does_not_bring_it_in() -> None:
    events, question = MOVES["en"]
    assert "now" not in found(viewed(*events), question, 2, mode="review", until=at(0.5))


def test_two_turns_that_correct_each_other_in_part_come_to_an_end() -> None:
    view = viewed(
        turn("t1", "I live in Tokyo. I have a cat."),
        turn("t2", "I live in Osaka. I have a dog.", 1),
        stated("tokyo", "User lives in Tokyo", "t1"),
        stated("osaka", "User lives in Osaka", "t2", day=1),
        stated("cat", "User has a cat", "t1", day=1),
        stated("dog", "User has a dog", "t2"),
        replaced("tokyo", "osaka"),
        replaced("dog", "cat"),
    )
    places = list(found(view, "Where do I live, and have I a cat or a dog?", 2, mode="review", limit=9))
    for now, old in (("osaka", "t1"), ("osaka", "tokyo"), ("cat", "t2"), ("cat", "dog")):
        assert places.index(now) < places.index(old)
