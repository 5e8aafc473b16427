"""What is searched for unasked, and how close a result must be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.choices import THRESHOLD
from projections.ranking.proactive import LONGEST, closeness, closenesses, searches
from projections.ranking.recall import search
from projections.views.query import ViewQuery
from projections.views.view import OwnerView
from tests.given.events import at, created, folded

PLAN = "Hi! I am planning dinner for us. What restaurants did I like in Paris? Also my sister comes by train."


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("What do I drink?", 3, ["What do I drink?"]),
        (PLAN, 1, [PLAN]),
        (PLAN, 2, [PLAN, "What restaurants did I like in Paris?"]),
        (
            "我明天去北京。我上次住哪家酒店？",
            3,
            ["我明天去北京。我上次住哪家酒店？", "我上次住哪家酒店？", "我明天去北京。"],
        ),
        ("  ", 3, []),
    ],
)
def test_the_whole_turn_is_searched_for_then_its_questions(text: str, most: int, expected: list[str]) -> None:
    assert searches(text, most) == expected


@given(st.text(max_size=3_000), st.integers(0, 5))
def test_searches_are_few_different_and_short(text: str, most: int) -> None:
    found = searches(text, most)
    assert len(found) == len(set(found)) <= most
    assert all(one.strip() and len(one) <= LONGEST for one in found)


@pytest.mark.parametrize(
    ("relevance", "coverage", "score", "best", "expected"),
    [
        (0.2, 1.0, 2.0, 2.0, 1.0),
        (0.2, 0.49, 2.0, 2.0, 0.7),
        (0.2, 1.0, 0.98, 2.0, 0.7),
        (0.8, 0.0, 2.0, 2.0, 0.8),
        (0.2, 1.0, -1.0, 2.0, 0.2),
        (0.2, 1.0, -2.0, -1.0, 0.2),
        (0.2, 1.0, 0.0, 0.0, 0.2),
    ],
)
def test_close_is_what_holds_the_turns_words_and_stands_near_the_best(
    relevance, coverage, score, best, expected
) -> None:
    assert closeness(relevance, coverage, score, best) == pytest.approx(expected)


@given(*[st.floats(0, 1)] * 2, *[st.floats(-10, 10)] * 2)
def test_closeness_is_a_share_and_at_least_the_relevance(relevance, coverage, score, best) -> None:
    assert relevance <= closeness(relevance, coverage, score, best) <= 1


@pytest.mark.parametrize(
    ("query", "close"),
    [("我早上喝什么？", "咖啡"), ("What do I drink in the morning?", "coffee"), ("什么？", None), ("swim", None)],
)
def test_an_answer_need_not_hold_the_questions_own_words(query: str, close: str | None) -> None:
    texts = {"咖啡": "我每天早上喝咖啡", "coffee": "I drink coffee every morning"}
    history = folded(*(created(text, of) for of, text in texts.items()))
    view = OwnerView.of_history("ada", history)
    results = search(ViewQuery(view, at(1), "normal"), query, 5)["results"]
    values = closenesses(view, query, [*results, {"id": "gone", "relevance": 1.0, "score": 1.0}])
    assert values.pop() == 0.0
    assert not close or values[0] > 0.9
    assert [one["id"] for one, value in zip(results, values, strict=True) if value >= THRESHOLD] == (
        [close] if close else []
    )


@pytest.mark.parametrize(
    "text",
    [
        "hi there",
        "Thanks, that's great!",
        "How are you?",
        "Good morning",
        "ok",
        "你好！",
        "谢谢你",
        "你好吗？",
        "好的，再见",
        "什么？",
        "!?",
        "🙂",
    ],
)
def test_nothing_is_searched_for_where_somebody_only_greets_or_thanks(text: str) -> None:
    assert searches(text, 3) == []


@pytest.mark.parametrize(
    "text", ["Where do I live?", "coffee", "kiln?", "我住哪里？", "我早上喝什么？", "茶", "ERR-1042"]
)
def test_few_words_are_enough_to_search_for(text: str) -> None:
    assert searches(text, 3) == [text]
