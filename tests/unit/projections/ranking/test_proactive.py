"""How close a result is to a turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.ranking.rankings import closeness, closenesses
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import at, created, folded
from tests.rows import each_row


@each_row(
    ("relevance", "coverage", "score", "best", "expected"),
    [
        (0.2, 1.0, 2.0, 2.0, 1.0), (0.2, 0.49, 2.0, 2.0, 0.7), (0.2, 1.0, 0.98, 2.0, 0.7), (0.8, 0.0, 2.0, 2.0, 0.8),
        (0.2, 1.0, -1.0, 2.0, 0.2), (0.2, 1.0, -2.0, -1.0, 0.2), (0.2, 1.0, 0.0, 0.0, 0.2),
    ],
)  # fmt: skip
def test_close_is_what_holds_the_turns_words_and_stands_near_the_best(
    relevance, coverage, score, best, expected
) -> None:
    assert closeness(relevance, coverage, score, best) == pytest.approx(expected)


@given(*[st.floats(0, 1)] * 2, *[st.floats(-10, 10)] * 2)
def test_closeness_is_a_share_and_at_least_the_relevance(relevance, coverage, score, best) -> None:
    assert relevance <= closeness(relevance, coverage, score, best) <= 1


@each_row(
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
    assert [one["id"] for one, value in zip(results, values, strict=True) if value >= 0.7] == ([close] if close else [])
