"""What kind of thing a text asks for: by its question words, English and Chinese alike."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.language.questions import (
    ASKS_NOTHING,
    MOST_KINDS,
    asks_another,
    kinds_asked,
    kinds_of,
)
from tests.rows import each_row

ALIKE = [
    ("what did ann paint?", "Lovely! Which colours did you take?", "小安画了什么？", "真好！哪种颜色？"),
    ("where does ben live?", "Nice. Where is that?", "小博住在哪里？", "不错。那在哪儿？"),
    ("when did ann move?", "When was it?", "小安什么时候搬家的？", "那是哪天？"),
    ("why did ann leave?", "Oh no! Why?", "小安为什么走了？", "怎么会！为何？"),
    ("who came?", "Whose bike is that?", "谁来了？", "那是谁的车？"),
    ("how did ann feel?", "And how was it?", "小安怎么去的？", "感觉怎样？"),
    ("how long did it take?", "How long was it?", "花了多久？", "多长时间？"),
    ("how many cats has ann?", "How many are there?", "小安有多少只猫？", "有几只？"),
    ("how much was it?", "How much did you pay?", "多少钱？", "花了多少钱？"),
    ("how often does ann run?", "How often?", "小安跑几次？", "多少次？"),
    ("where does ben live?", "Where?", "小博住在什么地方？", "那是什麼地方？"),
    ("when does it begin?", "When?", "几点开始？", "什麼時候？"),
    ("why did ann leave?", "Why?", "小安為什麼走了？", "為何？"),
    ("how long did ann stay?", "How long?", "小安住了几天？", "住了多長時間？"),
    ("how much was it?", "How much?", "这要几块？", "多少錢？"),
    ("how often does ann run?", "How often?", "小安多久一次？", "多少次？"),
]


@each_row("row", ALIKE)
def test_a_question_and_a_turn_that_ask_for_the_same_kind_of_thing_share_it(row: tuple[str, ...]) -> None:
    english, asked, chinese, asked_in_chinese = row
    found = [kinds_of(english), kinds_asked(asked), kinds_of(chinese), kinds_asked(asked_in_chinese)]
    shared = found[0] & found[1] & found[2] & found[3]
    assert shared != ASKS_NOTHING
    others = [one for other in ALIKE if not (one := kinds_of(other[0])) & found[0]]
    assert len({kinds_of(other[0]) for other in ALIKE}) == len(set(others)) + 1
    assert all(not other & shared for other in others), "no question of another kind has it"


@each_row(
    "turn",
    [
        "I know where he lives. It is far.", "She told me what she paints! Lovely.", "Is it nice there?",
        "我知道他住在哪里。", "前几天还好吗？这几点对吗？", "Where he lives I know. Nice?", "",
    ],
)  # fmt: skip
def test_what_is_no_question_or_has_no_question_word_asks_for_no_kind(turn: str) -> None:
    assert kinds_asked(turn) == ASKS_NOTHING


def test_a_turn_that_lists_the_kinds_asks_for_none() -> None:
    assert kinds_asked("Where and when, and why?").bit_count() == MOST_KINDS
    assert kinds_asked("Where and when, and why? Who?") == ASKS_NOTHING
    assert kinds_asked("在哪里？什么时候？为什么？谁？") == ASKS_NOTHING


@given(st.text(max_size=300))
def test_of_any_turn_no_more_is_asked_than_its_words_ask(turn: str) -> None:
    assert 0 <= kinds_asked(turn) < 2**15
    assert kinds_asked(f"{turn}!") & ~kinds_of(turn.casefold()) == 0


@each_row(
    ("a", "b", "another"),
    [
        ("When is the next train to York?", "When is the last train to York?", True),
        ("How do I install Python on Windows?", "How do I uninstall Python on Windows?", True),
        ("《红楼梦》的作者是谁？", "《红楼梦》的导演是谁？", True),
        ("下一班去杭州的火车是几点？", "下一班去苏州的火车是几点？", True),
        ("How can I reset the router?", "How do I reset the router?", False),
        ("How do I reset the router?", "How do I reset the router again, please?", False),
        ("How do I descale the machine?", "How do you descale a machine?", False),
        ("Where can I renew my passport?", "Where can you renew your passport?", False),
        ("Where do I live?", "Where do you live?", True),
        ("What is my name?", "What is your name?", True),
        ("我们怎么办护照？", "咱怎么办护照？", False),
        ("药店周日几点关门？", "药店周日什么时候关门？", False),
        ("怎么重置路由器？", "如何重置路由器？", False),
        ("Which bus goes to the airport?", "What bus do I take to get to the airport?", False),
        ("", "", False),
    ],
)
def test_questions_of_one_form_that_name_other_things_ask_another(a: str, b: str, another: bool) -> None:
    assert (asks_another(a, b), asks_another(b, a)) == (another, another)
