"""Searching by meaning in Chinese, offline, with the models themselves where they are installed."""

from __future__ import annotations

from benchmarks.vectors import MemoryVectors
from engramlog_server.projections.embedding.embedder import embedder_named
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import SearchRequest
from engramlog_server.projections.views.query import ViewQuery
from tests.given.events import at, created
from tests.given.views import viewed

MEMORIES = {
    "handling": "遇到重复的订单，先合并再退掉多余的那一份", "coffee": "我早上只喝黑咖啡，不加糖",
    "move": "下个月我们去杭州定居", "sister": "妹妹大学里主修大提琴", "budget": "这个季度的预算已经批下来了",
}  # fmt: skip
ASKED = [
    ("处理方式", "handling"), ("乐器", "sister"), ("搬家", "move"), ("she studies an instrument", "sister"),
    ("money for this quarter", "budget"),
]  # fmt: skip
"""Words that no memory has, and the memory that is meant. The first is the source's own example of a search by meaning."""


def test_what_is_meant_is_found_where_no_word_is_shared() -> None:
    view = viewed(*(created(text, of, day) for day, (of, text) in enumerate(MEMORIES.items())))
    asked = ViewQuery(view, at(99), "normal")
    embedder = embedder_named("use")
    assert embedder is not None
    first = {}
    vectors = MemoryVectors(embedder)
    vectors.fill([view])
    for question, _ in ASKED:
        assert search(asked, question, 5, SearchRequest("conversation", "keyword"))["results"] == []
        sense = vectors.asked(view, question)
        found = search(asked, question, 5, SearchRequest("conversation", "semantic"), sense)["results"]
        first[question] = found[0]["id"] if found else None
    assert first == dict(ASKED)
