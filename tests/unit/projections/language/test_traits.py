"""What the conversation ranking reads off words where meaning is compared: lasting requests, likings, advice, frames."""

from __future__ import annotations

from engramlog_server.projections.language.questions import (
    HAS_DAY,
    HAS_TIME,
    LIKING_READ,
    PREFERS,
    STANDING,
    asks_advice,
    asks_when,
    asks_which_day,
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


@each_row(
    ("text", "found"),
    [
        ("The call is at 9:15", HAS_TIME), ("We meet at five", HAS_TIME), ("It opens at 10 am", HAS_TIME),
        ("every day before breakfast", HAS_TIME), ("会议十点开始", HAS_TIME), ("我晚上散步", HAS_TIME), ("今年上二年级", HAS_TIME),
        ("The lease is up on May 31", HAS_TIME | HAS_DAY), ("I sing on Thursdays", HAS_TIME | HAS_DAY),
        ("合同到三月底", HAS_TIME | HAS_DAY), ("每周一开会", HAS_TIME | HAS_DAY), ("八月初三是他生日", HAS_TIME | HAS_DAY),
        ("除夕回家", HAS_DAY), ("You may sit at the window", 0), ("我点了点心", 0), ("他有一点儿累", 0), ("一点心意", 0),
    ],
)  # fmt: skip
def test_words_of_time_and_those_that_name_a_day_are_known(text: str, found: int) -> None:
    assert traits(text, HAS_TIME | HAS_DAY) == found


@each_row(
    ("question", "when", "day"),
    [
        ("when is the call?", True, False), ("what time is it?", True, False), ("what day do we leave?", True, True),
        ("课几点开始", True, False), ("你何时出差", True, False), ("我们哪天走", True, True), ("星期几上课", True, True),
        ("几号出发", True, True), ("why do we leave?", False, False), ("来了好几点灯光", False, False),
    ],
)  # fmt: skip
def test_a_question_asks_for_a_time_or_for_a_day(question: str, when: bool, day: bool) -> None:
    assert (asks_when(question), asks_which_day(question)) == (when, day)
