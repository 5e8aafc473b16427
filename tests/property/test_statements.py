"""Laws of the normal form of statements, over texts made to break them."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engramlog_server.projections.language import statements
from engramlog_server.projections.language.statements import (
    IN_LATIN,
    closed_up,
    composed,
    letters,
    like,
    normalised,
    signed,
)

_PIECES = (
    *" \t\n.,;:!?'\"()*_~-#+%$/^&=<>0123456789", *"aAiIoOeE", *"東京东京。，、？！：主人ニーガ々", *"αΜμνΝηγйёьһү",
    *"éßİıŉǰΐᾳ", *"\u200b\u200d\u2060\ufe0f\u034f\u202e\u00ad\u2028\x00\x1f\x85",
    *"\u0301\u0307\u0323\u0336\u0338\u0345\u3099\u20e3\u05b0\u064b\u093f", *"²³½①⑤⒈㏠ⅷ５٣٫—–−・·…〜´`",
    *"👍👎🏽🅰⒯ㄚ가가\u09c7\u09be", "...", " - ", "C++", ".NET", "A-", "http://",
)  # fmt: skip
ODD = st.lists(st.sampled_from(_PIECES), max_size=14).map("".join)
TEXTS = ODD | st.text(max_size=30)


@given(TEXTS)
@example("薴")
@example("is A- b")
@example("a" + "\u0301\u0323" * 40)
@example("ְ " * 50)
def test_the_normal_form_of_a_normal_form_is_itself(text: str) -> None:
    form = normalised(text)
    assert normalised(form) == form


@given(TEXTS)
def test_the_short_way_gives_what_the_long_one_does(text: str) -> None:
    assert letters(text) == _letters_one_by_one(text)


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_the_short_way_of_ascii_gives_what_the_long_one_does(text: str) -> None:
    assert letters(text) == _letters_one_by_one(text)


@given(TEXTS)
def test_a_sign_that_can_only_end_a_word_is_read_as_if_all_had_been_asked(text: str) -> None:
    plain = letters(text)
    quickly = closed_up(plain)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statements, "_ENDS", frozenset())
        assert closed_up(plain) == quickly


def _letters_one_by_one(text: str) -> str:
    """Every step taken for every character."""
    return statements._joined(composed(text).translate(statements._FORMS))


_SIGNS = "!\"'()*,-.:;[]_{}~"
SIGNED = st.text(_SIGNS + "  ab1", max_size=20) | st.text(
    f"{_SIGNS * 2}    aabbcc012$=/%?\u4e3b\u2019\xbc\xe9", max_size=20
)


@settings(max_examples=1_000)
@given(SIGNED | TEXTS)
@example("',b*'-a-")
@example("a- 11,'.a-b")
@example("3 - 5, 1,000 3.5 -.5 .5 A-, *I* **b**: rock-'n'-roll")
@example("5\n   - 3\n  -  4 a\n -5  ~ 6")
@example("-5 .b " * 100)
def test_what_may_stay_is_all_that_stays_where_each_run_is_asked(text: str) -> None:
    assert normalised(text) == _asked_of_each_run(text)


PIECES = (
    "### Step 2: costs\n", "1. **Rent**:\n", "   - 12 - 3 = 9\n", "   - about -5 °C\n", "```\nx = a[-1] - b\n```\n", "$x^2 - 4$\n",
    "Is it 10-12 or 10 - 12?? ", "2024-05-01 ", "well-known ", "**bold** ", "- ", "(-7) ", "3.5 , 4 ", "预算是 5 - 6 万。",
)  # fmt: skip
"""Of long answers of an assistant: headings, lists, sums, code."""


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_long_answers_are_written_as_if_each_run_had_been_asked(text: str) -> None:
    assert normalised(text) == _asked_of_each_run(text)


def _asked_of_each_run(text: str) -> str:
    plain = letters(text)
    told = re.sub(r"\?{2,}", "?", _spaced_between_numbers(signed(plain)))
    return unicodedata.normalize("NFC", told) or plain.replace(" ", "")


def _spaced_between_numbers(told: str) -> str:
    return re.sub(r"(?<![0-9.,~-]) | (?![0-9.,~-])", "", " ".join(told.split()))


@given(TEXTS)
def test_texts_that_unicode_calls_equal_are_one_statement(text: str) -> None:
    assert normalised(unicodedata.normalize("NFD", text)) == normalised(unicodedata.normalize("NFC", text))


@given(TEXTS, st.sampled_from(["\u200b", "\u2060", "\u00ad", "\ufe0f", "\u202e", "\u034f", "\x00"]), st.integers(0, 30))
def test_what_shows_nothing_changes_nothing_wherever_it_stands(text: str, hidden: str, at: int) -> None:
    plain = unicodedata.normalize("NFC", text)
    assert normalised(plain[:at] + hidden + plain[at:]) == normalised(plain)


@given(TEXTS, st.text(" \t\n\u3000\u00a0", max_size=3), st.text(" \t\n\u3000\u00a0", max_size=3))
def test_white_space_about_a_text_changes_nothing(text: str, before: str, after: str) -> None:
    assert normalised(before + text + after) == normalised(text)


@given(st.text("abcdefgh XYZ東京主人。，0123456789.-", max_size=40))
def test_numbers_survive_in_their_order(text: str) -> None:
    digits = [one for one in text if one.isdigit()]
    assert [one for one in normalised(text) if one.isdigit()] == digits


def test_no_two_letters_of_one_alphabet_stand_with_the_same_letter() -> None:
    for script, letters_of in like().items():
        if script not in ("radicals", "written twice"):  # 長 and 长 are one character
            assert len(set(letters_of.values())) == len(letters_of), script


def test_what_a_letter_stands_with_is_a_normal_form() -> None:
    for plain in (*(one for pairs in like().values() for one in pairs.values()), *IN_LATIN.values()):
        assert normalised(plain) == plain


def test_every_two_faced_letter_leaves_no_trace_of_itself() -> None:
    for letter in IN_LATIN:
        assert letter not in normalised(letter)
        assert letter not in normalised(f"x{letter}")
