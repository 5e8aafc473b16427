"""What the conversation ranking reads off words where meaning is compared: lasting requests, likings, advice, frames."""

from __future__ import annotations

from engramlog_server.projections.language.questions import (
    LIKING_READ,
    PREFERS,
    STANDING,
    asks_advice,
    framing_terms,
    traits,
)
from engramlog_server.projections.language.text import tokens
from tests.rows import each_row


@each_row(
    "text",
    [
        "Always give the price in euros when I ask about flights.", "Thanks! From now on answer in short sentences.",
        "以后请用中文回答。", "好的。以后都叫我老王。",
    ],
)  # fmt: skip
def test_a_turn_that_asks_for_something_for_good_is_known(text: str) -> None:
    assert traits(text, STANDING) == STANDING


@each_row(
    "text",
    [
        "I always take the early flight.", "Never give up!", "It always rains when I ask about flights", "以后我想去中国。",
        "请用中文回答。", "", f"{'So it was. ' * 200}From now on answer in short sentences.",
    ],
)  # fmt: skip
def test_a_habit_one_single_request_and_what_stands_far_behind_are_none(text: str) -> None:
    assert traits(text, STANDING) == 0


@each_row(
    "text",
    ["I'd prefer a window seat", "I really love jazz", "My favourite is mint", "我更喜欢靠窗的座位", "我对花生过敏"],
)
def test_a_turn_that_says_what_its_speaker_likes_better_is_known(text: str) -> None:
    assert traits(text, PREFERS) == PREFERS


@each_row(("before", "found"), [(LIKING_READ - 20, PREFERS), (LIKING_READ, 0)])
def test_a_liking_is_read_off_the_begin_of_a_turn(before: int, found: int) -> None:
    assert traits("." * before + "I really love jazz", PREFERS) == found


@each_row("text", ["It looks like rain", "Do you like jazz?", "今天下雨了"])
def test_what_nobody_says_of_himself_is_no_liking(text: str) -> None:
    assert traits(text, PREFERS) == 0


@each_row("question", ["can you suggest a seat?", "how should i sit, any tips?", "帮我选个座位", "推荐一下"])
def test_a_question_for_advice_is_known(question: str) -> None:
    assert asks_advice(question)


@each_row("question", ["where did i sit?", "which seat had the better view?", "我坐在哪里？"])
def test_a_question_for_what_was_is_none(question: str) -> None:
    assert not asks_advice(question)


@each_row(
    ("question", "about"),
    [
        ("summarize what we discussed throughout our conversations of kayaks", {"we", "our", "kayak"}),
        ("总结皮划艇", {"总", "结", "结皮", "皮划", "划艇", "皮", "划", "艇"}),
    ],
)
def test_words_that_say_how_to_answer_are_told_from_what_a_question_is_about(question: str, about: set[str]) -> None:
    assert set(tokens(question)) - framing_terms() == about
