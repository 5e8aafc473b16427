"""The words of a record are the same, whether it is decoded whole or only as far as they stand."""

from __future__ import annotations

from engramlog_server.projections.memory.record import Memory, encode_memory, with_changes, words_of
from tests.given.events import created, folded


def test_words_read_from_bytes_are_those_of_the_record() -> None:
    memory = folded(created("我喜欢喝茶", "m", 1)).memories["m"]
    whole: Memory = with_changes(memory, speaker="ada", summary="茶", keywords=("茶", "tea"))
    assert words_of(encode_memory(whole)) == words_of(whole) == ("ada", "我喜欢喝茶", "茶", ("茶", "tea"))
