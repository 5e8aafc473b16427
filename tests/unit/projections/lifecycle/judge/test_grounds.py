"""What a model's proposal rests on: words that were said, and nothing that it says itself."""

from __future__ import annotations

from engramlog_server.projections.lifecycle.judge.corrections import (
    Quotation,
    answers,
    ground_of,
    is_quoted,
    says_reverse,
    takes_back,
    unasserted,
    unsaid,
    unsaid_number,
)
from tests.rows import each_row


@each_row(
    ("quote", "text", "stands"),
    [
        ("I live in Berlin", "Well, I live in  BERLIN!", True), ("I live in Rome", "I live in Berlin.", False),
        ("我住在北京", "其实，我住在 北京。", True), ("ＡＢＣ１２", "abc12 it is", True), ("", "anything", False),
        ("!?", "what!?", False), ("a", "a", False),
    ],
)  # fmt: skip
def test_a_quotation_stands_in_the_text_or_is_none(quote: str, text: str, stands: bool) -> None:
    assert is_quoted(quote, text) is stands


@each_row(
    ("content", "said", "against"),
    [
        ("Ann lives in Berlin", "I live in Berlin.", None),
        ("Ann adores BrandX shoes and buys them weekly", "I like cats", "nobody said BrandX"),
        ("Ann adores new shoes and buys them weekly", "I like cats", "mostly words that nobody said"),
        ("Ann", "I like cats", "it says nothing"),
        ("用户喜欢爬山", "我喜欢爬山", None),
        ("用户讨厌猫和狗", "今天下雨", "mostly words that nobody said"),
    ],
)
def test_a_content_holds_no_name_and_few_words_that_nobody_said(content: str, said: str, against: str | None) -> None:
    assert unsaid(content, said, [said], "Ann") == against


@each_row(
    ("content", "said", "against"),
    [
        ("Ann has 3 dogs", "I have 2 dogs", "3"), ("Ann has 3 dogs", "I have three dogs", None),
        ("用户有3只狗", "我有三只狗", None), ("Ann's code is 4711", "I like cats", "4711"),
        ("Ann moved to Berlin (said on 2024-05-01)", "I moved to Berlin today", None),
        ("Ann moved to Berlin in 1999-05-01", "I moved to Berlin today", "1999"),
    ],
)  # fmt: skip
def test_a_content_holds_no_number_that_nobody_said(content: str, said: str, against: str | None) -> None:
    found = unsaid_number(content, said, "2024-05-01")
    assert (found is None) is (against is None)
    assert against is None or (found is not None and against in found)


def ground(text: str) -> Quotation:
    found = ground_of(text, text)
    assert found is not None
    return found


@each_row(
    ("text", "known", "back"),
    [
        ("I don't like coffee any more", "Ann likes coffee", True), ("I gave up coffee", "Ann drinks coffee", True),
        ("我不喜欢咖啡了", "用户喜欢咖啡", True), ("I'm not hungry", "Ann likes coffee", False),
        ("I like coffee", "Ann likes coffee", False), ("我喜欢咖啡", "用户喜欢咖啡", False),
    ],
)  # fmt: skip
def test_a_turn_takes_back_what_it_denies_or_tells_a_change_of(text: str, known: str, back: bool) -> None:
    assert takes_back(ground(text), known) is back


@each_row(
    ("text", "content", "stated"),
    [
        ("I live in Berlin.", "Ann lives in Berlin", True), ("Do I live in Berlin?", "Ann lives in Berlin", False),
        ("If I lived in Berlin, I would ride a bike.", "Ann lives in Berlin", False),
        ("我住在柏林。", "用户住在柏林", True), ("要是我住在柏林就好了。", "用户住在柏林", False),
    ],
)  # fmt: skip
def test_questions_and_suppositions_state_nothing(text: str, content: str, stated: bool) -> None:
    assert (unasserted(ground(text), content) is None) is stated


def test_the_reverse_of_what_was_said_is_seen() -> None:
    assert says_reverse(ground("I hate jazz."), "Ann loves jazz")
    assert not says_reverse(ground("I love jazz."), "Ann loves jazz")


def test_yes_and_no_are_told_from_other_words() -> None:
    assert [answers(text) for text in ("Yes, I do", "对", "No way", "不", "Yesterday", "Nobody")] == [
        1,
        1,
        -1,
        -1,
        0,
        0,
    ]
