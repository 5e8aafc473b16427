"""How far a negation reaches, and what looks like one."""

from __future__ import annotations

from engramlog_server.projections.language.contradiction.relation import (
    _cores,
    _kinds,
    _opposite_cores,
    _opposites,
    answer,
    read,
    written,
)
from tests.rows import each_row


@each_row(
    ("text", "affirmed", "denied"),
    [
        ("The dog is not chasing the ball", {"dog"}, {"chase", "ball"}),
        ("There is no dog chasing the ball", set(), {"dog", "chase", "ball"}),
        ("I eat fish but not meat", {"eat", "fish"}, {"meat"}), ("A man with no hat is smiling", {"man", "smile"}, {"hat"}),
        ("A man without a hat is smiling", {"man", "smile"}, {"hat"}), ("I never go out without my keys", {"key"}, {"go"}),
        ("I can't wait to see Lisbon", {"see", "lisbon"}, set()), ("Not only cats, also dogs", {"cat", "dog"}, set()),
        ("No, I live in Berlin", {"live", "berlin"}, set()), ("我不喜欢狗，喜欢猫", {"喜欢", "猫"}, {"喜欢", "狗"}),
        ("没有人不喜欢猫", {"喜欢", "猫"}, {"人"}), ("你是不是喜欢猫", {"喜欢", "猫"}, set()),
        ("猫很好看，价格也不错", {"猫", "漂亮", "价格", "不错"}, set()), ("不，我喜欢猫", {"喜欢", "猫"}, set()),
        ("吃饭了没有", {"吃饭"}, set()),
    ],
)  # fmt: skip
def test_a_negation_reaches_to_the_end_of_its_clause(text: str, affirmed: set[str], denied: set[str]) -> None:
    reading = read(text)
    assert (set(reading.affirmed), set(reading.denied)) == (affirmed, denied)


@each_row(
    ("text", "expected"),
    [
        ("Yes, I do", 1), ("no, thanks", -1), ("好的，走吧", 1), ("不，我不去", -1), ("没有，我在家", -1),
        ("不过我喜欢", 0), ("Nobody", 0), ("", 0),
    ],
)  # fmt: skip
def test_an_answer_is_yes_or_no(text: str, expected: int) -> None:
    assert answer(written(text)) == expected


def test_opposites_are_mutual_and_nothing_is_its_own_opposite() -> None:
    table = _opposites()
    assert all(word in table[reverse] for word, reverses in table.items() for reverse in reverses)
    assert all(word not in reverses for word, reverses in table.items())


def test_no_thing_is_a_kind_of_itself_and_kinds_of_kinds_count() -> None:
    table = _kinds()
    assert all(word not in above for word, above in table.items())
    assert "anim" in table["terrier"]


def test_what_differs_between_two_texts_is_found_without_words() -> None:
    assert _cores("你还想学吗", "你还想教吗") == ("学", "教")
    assert _cores("同样", "同样") == ("", "")
    assert _cores("aa", "a") == ("a", "")
    assert ("学", "教") in _opposite_cores()
    assert ("", "") not in _opposite_cores()
