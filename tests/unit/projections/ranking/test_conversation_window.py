"""Nearness beside relevance: a turn with its neighbours, what was asked for, lasting requests, likings; vectors made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engramlog_server.projections.embedding.meaning import EmbeddedQuestion, JoinedPieces, Sense, Vectors
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.ranking.conversation import SETTINGS, WEIGHTS
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import SearchRequest
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, at, created, deleted
from tests.given.views import viewed
from tests.rows import each_row

MINUTE = 1 / 1440
NEAR, SOMEWHAT, FAR = (1.0, 0.0, 0.0), (0.8, 0.6, 0.0), (0.0, 0.0, 1.0)
VIOLIN, LESSON, OTHER = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
Line = tuple[str, str]
Pointed = Sequence[float]


def rows(*vectors: Pointed) -> Vectors:
    return np.array(vectors, dtype=np.float32).reshape(-1, 3)


def talk(*lines: Line) -> list[Told]:
    told = []
    for number, (who, text) in enumerate(lines):
        source = "assistant" if who == "assistant" else "user"
        one = created(text, chr(97 + number), number * MINUTE, source, speaker=who, source=source)
        told.append(replace(one, extra={"session_id": "s1"}))
    return told


def sense_of(
    wholes: Vectors, pieces: Sequence[Vectors], words: tuple[str, ...] = (), asked: Vectors | None = None
) -> Sense:
    question = EmbeddedQuestion(rows(NEAR)[0], rows() if asked is None else asked, words)
    known = np.ones(len(wholes), dtype=bool)

    def pieces_of(some: Rows) -> JoinedPieces:
        return JoinedPieces.of([pieces[row] for row in some.tolist()], wholes.shape[1])

    return Sense("hand-made", question, wholes, known, pieces_of, len(wholes))


def parts(view: OwnerView, query: str, sense: Sense, **asking: Any) -> Mapping[str, Mapping[str, float]]:
    request = SearchRequest("conversation", asking.pop("search_mode", "hybrid"))
    answer = search(ViewQuery(view, at(1), asking.pop("mode", "review")), query, 20, request, sense)
    for one in answer["results"]:
        assert one["score"] == pytest.approx(sum(one["explain"]["score"].values()), abs=1e-9)
    return {one["id"]: one["explain"]["score"] for one in answer["results"]}


CHATS = [
    (
        talk(
            ("Ann", "my new violin came"),
            ("Bob", "and the teacher?"),
            ("Ann", "she comes on Fridays"),
            ("Bob", "what of rain"),
            ("Ann", "it rained all day"),
            ("Bob", "the violin is an old one"),
        ),
        "violin lesson",
        ("violin", "lesson"),
    ),
    (
        talk(("小安", "小提琴到了"), ("小博", "老师呢"), ("小安", "每周五来"),
             ("小博", "下雨吗"), ("小安", "下了一天"), ("小博", "小提琴是旧的")),
        "小提琴 课程", ("小提琴", "课程"),
    ),
]  # fmt: skip
WHOLES = rows(SOMEWHAT, SOMEWHAT, FAR, FAR, FAR, SOMEWHAT)
PIECES = [rows(VIOLIN), rows(LESSON), rows(OTHER), rows(OTHER), rows(OTHER), rows(VIOLIN)]
ASKED = rows(VIOLIN, LESSON)


@each_row(("chat", "query", "words"), CHATS)
def test_without_pieces_the_words_and_wholes_of_neighbours_make_the_window(chat, query, words) -> None:
    found = parts(viewed(*chat), query, sense_of(WHOLES, [rows()] * len(WHOLES)))
    assert found["a"]["window"] == pytest.approx(found["b"]["window"])
    assert 0.9 * WEIGHTS.window < found["a"]["window"] <= WEIGHTS.window
    assert "window" not in found.get("d", {}), "neither it nor a neighbour has a word of the question"


def test_without_pieces_there_is_no_window_where_an_assistant_speaks() -> None:
    lines = [(who, text) for who, text in (("user", "my new violin came"), ("assistant", "and the teacher?"))] * 2
    found = parts(viewed(*talk(*lines)), "violin teacher", sense_of(WHOLES[:4], [rows()] * 4))
    assert found
    assert not [one for one in found.values() if "window" in one]


@each_row(("chat", "query", "words"), CHATS)
def test_two_turns_side_by_side_that_hold_all_of_a_question_rise_above_one_that_holds_half(chat, query, words) -> None:
    found = parts(viewed(*chat), query, sense_of(WHOLES, PIECES, words, ASKED))
    assert found["a"]["window"] == pytest.approx(found["b"]["window"])
    assert found["a"]["window"] > 0
    assert "window" not in found["f"] or found["f"]["window"] < found["a"]["window"]
    assert max(one.get("window", 0.0) for one in found.values()) <= WEIGHTS.window


@each_row(("chat", "query", "words"), CHATS)
def test_a_withheld_turn_lends_its_neighbours_no_word(chat, query, words) -> None:
    view = viewed(*chat, deleted("b", day=0.5))
    found = parts(view, query, sense_of(WHOLES, PIECES, words, ASKED), mode="normal")
    assert "b" not in found
    assert found["a"].get("window", 0.0) == found["f"].get("window", 0.0)


STANDING = [
    ("Always give prices in euros when I ask about flights.", "what does the flight to Graz cost"),
    ("以后请用欧元回答机票价格。", "去格拉茨的机票要多少钱"),
]


def logged(request: str) -> OwnerView:
    return viewed(*talk(("user", request), ("assistant", request), ("user", "it rains"), ("assistant", "indeed")))


@each_row(("request_", "query"), STANDING)
def test_a_lasting_request_rises_where_it_is_near_and_the_user_s_own(request_: str, query: str) -> None:
    near = sense_of(rows(NEAR, NEAR, FAR, FAR), [rows()] * 4)
    found = parts(logged(request_), query, near)
    assert found["a"]["standing"] == pytest.approx(WEIGHTS.standing)
    assert "standing" not in found["b"]


@each_row(
    ("liking", "advice", "other"),
    [
        ("I prefer a seat at the window", "can you suggest a seat?", "where was my seat?"),
        ("我更喜欢靠窗的座位", "推荐一个座位", "我的座位在哪里"),
    ],
)
def test_a_liking_rises_where_advice_is_asked_for_and_else_does_not(liking: str, advice: str, other: str) -> None:
    near = sense_of(rows(NEAR, NEAR, FAR, FAR), [rows()] * 4)
    found = parts(logged(liking), advice, near)
    assert found["a"]["prefers"] == pytest.approx(WEIGHTS.prefers)
    assert "prefers" not in found["b"]
    assert all("prefers" not in one for one in parts(logged(liking), other, near).values())


WORDS = rows(OTHER, VIOLIN, LESSON)
STANDS = rows(SOMEWHAT, FAR, FAR, FAR, FAR, FAR)
HELD = [rows(VIOLIN, LESSON), rows(OTHER), rows(OTHER), rows(OTHER), rows(OTHER), rows(OTHER)]
ENGLISH = ("Ann", "my violin lesson begins"), ("Bob", "{} Tell me!"), ("Ann", "in the old mill")
ENGLISH_REST = ("Bob", "what of rain"), ("Ann", "it rained all day"), ("Bob", "indeed it did")
CHINESE = ("小安", "小提琴课程开始了"), ("小博", "{}快说！"), ("小安", "老磨坊")
CHINESE_REST = ("小博", "天气好"), ("小安", "下了一天雨"), ("小博", "是啊")
TOLD = [
    (
        (*ENGLISH, *ENGLISH_REST), "Where will it be?", "How do you like it?", "where violin lesson",
        ("where", "violin", "lesson"),
    ),
    ((*CHINESE, *CHINESE_REST), "在哪里上？", "怎么样？", "哪里小提琴课程", ("哪里", "小提琴", "课程")),
]  # fmt: skip
Chat = tuple[tuple[Line, ...], str, str, str, tuple[str, str, str]]


def told(chat: Chat, asking: str, *later: Told) -> OwnerView:
    return viewed(*talk(*((who, text.format(asking)) for who, text in chat[0])), *later)


def heard(chat: Chat, view: OwnerView, query: str = "", **asking: str) -> dict[str, float]:
    found = parts(view, query or chat[3], sense_of(STANDS, HELD, chat[4], WORDS), **asking)
    return {name: one["asked"] for name, one in found.items() if "asked" in one}


@each_row("chat", TOLD)
def test_what_was_said_when_asked_for_the_same_kind_of_thing_rises(chat: Chat) -> None:
    asked = heard(chat, told(chat, chat[1]))
    assert set(asked) == {"c"}
    assert asked["c"] == pytest.approx(WEIGHTS.asked), "the turn before the question is the nearest"
    assert heard(chat, told(chat, chat[2])) == {}, "asked for another kind of thing"
    assert heard(chat, told(chat, chat[1]), " ".join(chat[4][1:])) == {}, "a question without a question word"


def test_notes_that_nobody_answers_have_no_window() -> None:
    view = viewed(*(created(text, name, 0) for name, text in zip("abcdef", ("violin",) * 6, strict=True)))
    found = parts(view, "violin lesson", sense_of(WHOLES, PIECES, ("violin", "lesson"), ASKED))
    assert all("window" not in one for one in found.values())


@each_row("chat", TOLD)
def test_a_question_that_follows_on_nothing_near_counts_little(chat: Chat) -> None:
    lines, asking = chat[0], chat[1]
    answer = lines[2][0], f"{lines[2][1]} {chat[4][2]}"
    moved = (*lines[3:], lines[1], answer, lines[0])
    wholes, pieces = rows(*[FAR] * 5, SOMEWHAT), [rows(OTHER)] * 5 + [rows(VIOLIN, LESSON)]
    view = viewed(*talk(*((who, text.format(asking)) for who, text in moved)))
    found = parts(view, chat[3], sense_of(wholes, pieces, chat[4], WORDS))
    assert found["e"]["asked"] == pytest.approx(WEIGHTS.asked * SETTINGS.asked_alone)


def test_a_question_that_is_corrected_is_read_anew() -> None:
    chat = TOLD[0]
    view = told(chat, chat[1])
    assert "c" in heard(chat, view)
    again = told(chat, chat[2])
    row = view.columns.row("b")
    assert row is not None
    view.conversation.put(row, again.columns.memories[row], with_text=True)
    assert heard(chat, view) == {}
