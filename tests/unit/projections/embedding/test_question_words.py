"""The word that a piece of a question is part of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.embedding.encoders import words_at
from tests.rows import each_row

WORDS = [
    ("a word from its beginning and its middle", "hello world", [0, 3, 6], ["hello", "hello", "world"]),
    ("white space belongs to none", "a b", [1], [""]), ("nor does what lies beyond", "a", [1, 9], ["", ""]),
    ("a possessive is one word", "Anna's dog", [0, 4, 5], ["Anna's"] * 3),
    ("a day is one word", "in 2023-05-07", [3, 8, 11], ["2023-05-07"] * 3),
    ("the question mark is no part of the word before it", "café?", [3, 4], ["café", "?"]),
    ("a Han character is a word", "喝咖啡。", [0, 1, 2, 3], ["喝", "咖", "啡", "。"]),
    ("Latin in a Han run stands for itself", "买iPhone了", [0, 1, 4, 7], ["买", "iPhone", "iPhone", "了"]),
    ("other scripts have words", "Привет мир", [2, 8], ["Привет", "мир"]),
    ("rare Han counts as Han", "𠮷野", [0, 1], ["𠮷", "野"]), ("no text has no words", "", [0], [""]),
]  # fmt: skip


@each_row(("what", "text", "starts", "words"), WORDS, ids=[row[0] for row in WORDS])
def test_the_word_at_an_offset(what: str, text: str, starts: list[int], words: list[str]) -> None:
    assert words_at(text, starts) == words


@given(st.text())
def test_every_character_but_white_space_is_in_a_word(text: str) -> None:
    for character, word in zip(text, words_at(text, range(len(text))), strict=True):
        assert character in word if not character.isspace() else word == ""
