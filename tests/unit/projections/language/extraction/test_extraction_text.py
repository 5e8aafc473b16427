"""What extraction reads of a turn: white space closed up, no code, no quoted lines; and where it stands in the turn."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.language.contradiction.relation import compare
from engramlog_server.projections.language.extraction.rules import extract, questions
from engramlog_server.projections.language.extraction.shape import MOST_READ, TurnText, talk_of
from engramlog_server.projections.language.keywords import extracted
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from tests.given.times import heard
from tests.rows import each_row

_PIECES = """
a I I'm my My 1 1. 1, - -- — . , ; ! ? 。 ， 我 我的 我喜欢 你 ' " “ ” ( ) ` ``` [shared > | http:// @ a@ a.b / \\ _ = : # and so
but because not 记住 请 password 密码 sk- 2024- 最近 今天 年 月 一 十 去 了 打算 very yes 嗯 * [
"""
SPACES = (" ", "\t", "\n", "\u3000", "\u00a0", " \n", "\t ", "\r\n")
FRAGMENTS = (*_PIECES.split(), *SPACES, "and I ", "I live in ", "not a but ", "I really ", "in 2010 ", " - ", "```x ")
TEXTS = st.lists(st.sampled_from([*FRAGMENTS, "I love jazz. ", "我住在杭州。"]), max_size=40).map("".join)


@each_row("gap", SPACES)
def test_a_gap_of_thousands_is_read_as_one_space(gap: str) -> None:
    wide = gap * (7_000 // len(gap))
    assert len(talk_of(f"I love{wide}jazz").text) < 20


@given(TEXTS)
def test_no_space_follows_another(text: str) -> None:
    assert re.search(r"[^\S\n]{2}", talk_of(text).text) is None


@given(TEXTS)
def test_every_character_that_is_read_stands_where_it_is_said_to_stand(text: str) -> None:
    talk = talk_of(text)
    assert len(talk.places) == len(talk.text) + 1
    assert list(talk.places) == sorted(set(talk.places))
    assert all(text[place] == one for one, place in zip(talk.text, talk.places, strict=False) if not one.isspace())


@given(TEXTS)
def test_what_is_stated_does_not_depend_on_how_wide_the_gaps_are(text: str) -> None:
    wide = re.sub(r"(?<=\S) (?=\S)", " " * 9, text)
    contents = [one.content for one in extract(TurnText("t", text))]
    assert [one.content for one in extract(TurnText("t", wide))] == contents


def test_a_span_is_that_of_the_turns_own_text() -> None:
    text = "Hello   there.\n\n\n  I    love\t\tjazz. Bye."
    (found,) = extract(TurnText("t", text))
    assert text[slice(*found.span)].strip(" .") == "I    love\t\tjazz"


@each_row("quoted", ["> I hate jazz.\n", "| I hate | jazz |\n", "```I hate jazz.```\n", "`x`\n"])
def test_what_stands_after_a_quotation_a_table_or_code_is_read(quoted: str) -> None:
    assert [one.content for one in extract(TurnText("t", f"{quoted}I love opera."))] == ["User loves opera"]


@each_row("fragment", FRAGMENTS)
def test_eight_thousand_characters_of_anything_are_read_in_time_proportional_to_them(fragment: str) -> None:
    text = fragment * (MOST_READ // len(fragment))
    turn = TurnText("t", text, "user", "Ann", "2024-05-01")
    assert len(extract(turn)) + len(questions(turn)) <= 24
    assert len(extracted(text, 5)) <= 5
    assert 0 <= detect_sensitivity(text) <= 3
    assert compare(text, f"{text} x").kind in {"same", "refines", "contradicts", "unrelated"}
    assert len(heard(text).phrases) <= MOST_READ
