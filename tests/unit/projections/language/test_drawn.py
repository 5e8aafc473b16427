"""Which part of a text a statement was drawn from, found by words, in English and Chinese."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.language.keywords import LONGEST, asked_words, drawn
from tests.rows import each_row


@each_row(
    ("text", "statements", "rest"),
    [
        ("I live in Lisbon.", ["User lives in Lisbon"], set()),
        ("I live in Lisbon and I love green tea.", ["User lives in Lisbon"], {"green", "tea"}),
        ("I live in Lisbon and I love green tea.", ["User loves green tea", "User lives in Lisbon"], set()),
        ("I have a dog named Rex, who barks.", ["User has a dog named Rex (said on 2026-11-23)"], {"bark"}),
        ("Yes! I live in Lisbon. Thank you, good night.", ["User lives in Lisbon"], set()),
        ("I live in Lisbon with my cat Tom", ["User lives in Lisbon"], {"cat", "tom"}),
        ("I live in Lisbon with my cat Tom", ["User lives in Lisbon with a cat called Tom"], set()),
        ("我和猫咪小黑住在东京", ["用户住在东京"], {"和猫", "猫咪", "咪小", "小黑", "黑住", "猫", "咪", "小", "黑"}),
        ("我住在东京。", ["用户住在东京"], set()), ("主人住在东京", ["主人住在东京"], set()),
        ("我住在东京，养了一只猫。", ["用户住在东京"], {"养", "一只", "只猫", "只", "猫"}),
        ("我喜欢吃香菜", ["用户喜欢吃香菜"], set()), ("My desk is old", ["User lives in Lisbon"], {"desk", "old"}),
        ("My desk is old", [], {"desk", "old"}), ("", ["User lives in Lisbon"], set()),
    ],
)  # fmt: skip
def test_what_a_text_says_beside_its_statements_is_the_rest(text: str, statements: list[str], rest: set[str]) -> None:
    assert drawn(text, statements).rest == rest


def test_a_statement_in_other_words_takes_the_clause_that_shares_most_of_them() -> None:
    part = drawn("Lisbon has been home since May; my sister plays the violin", ["User lives in Lisbon"])
    assert {"home", "lisbon", "live"} <= part.inside
    assert {"sister", "violin"} <= part.rest


def test_what_stands_behind_a_very_long_text_is_one_clause() -> None:
    part = drawn("x " * LONGEST + ". I live in Lisbon", ["User lives in Lisbon"])
    assert {"lisbon", "live"} <= part.inside


@given(st.text(max_size=200), st.lists(st.text(max_size=50), max_size=3))
def test_no_word_of_a_text_is_both_inside_and_rest_and_without_statements_all_are_rest(
    text: str, statements: list[str]
) -> None:
    part, alone = drawn(text, statements), drawn(text, [])
    assert part.inside.isdisjoint(part.rest)
    assert alone.rest == part.rest | (part.inside & alone.rest)
    assert not alone.inside


@each_row(
    ("question", "words"),
    [
        ("Where do I live?", {"live"}), ("What is my user name?", {"name"}), ("主人住在哪里", {"住"}),
        ("我的猫叫什么？", {"猫叫", "猫", "叫"}), ("你好", set()), ("Thanks, good night!", set()),
    ],
)  # fmt: skip
def test_a_question_is_about_what_is_left_without_question_words_pronouns_and_greetings(
    question: str, words: set[str]
) -> None:
    assert asked_words(question) == words
