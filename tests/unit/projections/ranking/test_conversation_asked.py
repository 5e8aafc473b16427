"""A turn that was asked for what the question asks for; vectors made by hand, both languages."""

from __future__ import annotations

import pytest

from projections.ranking.conversation_weights import SETTINGS, WEIGHTS
from projections.views.view import OwnerView
from tests.given.events import deleted
from tests.given.views import viewed
from tests.unit.projections.ranking.test_conversation_window import (
    FAR,
    LESSON,
    OTHER,
    SOMEWHAT,
    VIOLIN,
    Line,
    parts,
    rows,
    sense_of,
    talk,
)

ASKED = rows(OTHER, VIOLIN, LESSON)
WHOLES = rows(SOMEWHAT, FAR, FAR, FAR, FAR, FAR)
PIECES = [rows(VIOLIN, LESSON), rows(OTHER), rows(OTHER), rows(OTHER), rows(OTHER), rows(OTHER)]
ENGLISH = ("Ann", "my violin lesson begins"), ("Bob", "{} Tell me!"), ("Ann", "in the old mill")
ENGLISH_REST = ("Bob", "what of rain"), ("Ann", "it rained all day"), ("Bob", "indeed it did")
CHINESE = ("小安", "小提琴课程开始了"), ("小博", "{}快说！"), ("小安", "老磨坊")
CHINESE_REST = ("小博", "天气好"), ("小安", "下了一天雨"), ("小博", "是啊")
CHATS = [
    (
        (*ENGLISH, *ENGLISH_REST),
        "Where will it be?",
        "How do you like it?",
        "where violin lesson",
        ("where", "violin", "lesson"),
    ),
    ((*CHINESE, *CHINESE_REST), "在哪里上？", "怎么样？", "哪里小提琴课程", ("哪里", "小提琴", "课程")),
]
Chat = tuple[tuple[Line, ...], str, str, str, tuple[str, str, str]]


def told(chat: Chat, asking: str, *later: object) -> OwnerView:
    return viewed(*talk(*((who, text.format(asking)) for who, text in chat[0])), *later)


def heard(chat: Chat, view: OwnerView, query: str = "", **asking: str) -> dict[str, float]:
    found = parts(view, query or chat[3], sense_of(WHOLES, PIECES, chat[4], ASKED), **asking)
    return {name: one["asked"] for name, one in found.items() if "asked" in one}


@pytest.mark.parametrize("chat", CHATS)
def test_what_was_said_when_asked_for_the_same_kind_of_thing_rises(chat: Chat) -> None:
    asked = heard(chat, told(chat, chat[1]))
    assert set(asked) == {"c"}
    assert asked["c"] == pytest.approx(WEIGHTS.asked), "the turn before the question is the nearest"
    assert heard(chat, told(chat, chat[2])) == {}, "asked for another kind of thing"
    assert heard(chat, told(chat, chat[1]), " ".join(chat[4][1:])) == {}, "a question without a question word"


@pytest.mark.parametrize("chat", CHATS)
def test_a_question_that_follows_on_nothing_near_counts_little(chat: Chat) -> None:
    lines, asking = chat[0], chat[1]
    answer = lines[2][0], f"{lines[2][1]} {chat[4][2]}"
    moved = (*lines[3:], lines[1], answer, lines[0])
    wholes, pieces = rows(*[FAR] * 5, SOMEWHAT), [rows(OTHER)] * 5 + [rows(VIOLIN, LESSON)]
    view = viewed(*talk(*((who, text.format(asking)) for who, text in moved)))
    found = parts(view, chat[3], sense_of(wholes, pieces, chat[4], ASKED))
    assert found["e"]["asked"] == pytest.approx(WEIGHTS.asked * SETTINGS.asked_alone)


@pytest.mark.parametrize("chat", CHATS)
def test_a_withheld_question_is_not_read(chat: Chat) -> None:
    view = told(chat, chat[1], deleted("b", day=0.5))
    assert heard(chat, view, mode="normal") == {}


@pytest.mark.parametrize("chat", CHATS)
def test_a_question_to_oneself_is_none_that_was_put(chat: Chat) -> None:
    lines = [(chat[0][0][0], text) for _, text in chat[0][:3]]
    assert heard(chat, told(((*lines, *chat[0][3:]), *chat[1:]), chat[1])) == {}


@pytest.mark.parametrize("chat", CHATS)
def test_by_words_alone_nothing_of_it_counts(chat: Chat) -> None:
    assert heard(chat, told(chat, chat[1]), search_mode="keyword") == {}


@pytest.mark.parametrize("chat", CHATS)
def test_the_turn_two_before_and_pairs_of_words_count_less_where_meaning_says_better(chat: Chat) -> None:
    view, sense = told(chat, chat[2]), sense_of(WHOLES, PIECES, chat[4], ASKED)
    keyword, hybrid = (parts(view, chat[3], sense, search_mode=mode) for mode in ("keyword", "hybrid"))
    for name, row, less in (("thread", "c", SETTINGS.thread_less), ("phrase", "a", SETTINGS.phrase_less)):
        assert hybrid[row][name] == pytest.approx((1 - less) * keyword[row][name], abs=1e-5)


def test_a_question_that_is_corrected_is_read_anew() -> None:
    chat = CHATS[0]
    view = told(chat, chat[1])
    assert "c" in heard(chat, view)
    again = told(chat, chat[2])
    row = view.columns.row("b")
    assert row is not None
    view.conversation.put(row, again.columns.memories[row], with_text=True)
    assert heard(chat, view) == {}
