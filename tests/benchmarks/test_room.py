"""The talk by which room in Redis is measured."""

from __future__ import annotations

from benchmarks.room import LEAST_LETTERS, MOST_LETTERS, short_talk


def test_short_talk_is_short_and_the_same_each_time() -> None:
    texts = short_talk(50)
    assert len(texts) == 50
    assert all(LEAST_LETTERS <= len(text) <= MOST_LETTERS for text in texts)
    assert texts == short_talk(50)
