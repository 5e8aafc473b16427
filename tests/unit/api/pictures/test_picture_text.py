"""Texts of pictures: made visible, measured on the wide side, cut and broken by their width."""

from __future__ import annotations

from itertools import product
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.api.pictures.text import ELLIPSIS, broken, cut, shown, width
from tests.drawn import HOSTILE
from tests.rows import each_row

TEXTS = st.text(max_size=60) | st.sampled_from(HOSTILE)


@each_row(
    ("text", "told"),
    [
        ("plain 早上 café", "plain 早上 café"),
        ("safe\u202eevil\u202c", "safe\\u202eevil\\u202c"),
        ("zero\u200bwidth\x1b[31m", "zero\\u200bwidth\\x1b[31m"),
        (" two\n lines\t", "two lines"),
        ("a" + "\u0301" * 50, "a" + "\u0301" * 3),
        ("\ufffe", "\\ufffe"),
        ("<b>&", "<b>&"),
    ],
)
def test_what_shows_nothing_or_turns_others_round_is_spelled_out(text: str, told: str) -> None:
    assert shown(text) == told


@given(TEXTS)
def test_what_is_shown_is_xml_and_shown_again_the_same(text: str) -> None:
    told = shown(text)
    element = ET.Element("text")
    element.text = told
    assert (ET.fromstring(ET.tostring(element, encoding="unicode")).text or "") == told
    assert shown(told) == told


@given(TEXTS, st.floats(0, 300), st.sampled_from([10.0, 13.5]), st.booleans())
def test_a_cut_text_is_a_beginning_that_fits(text: str, most: float, size: float, bold: bool) -> None:
    told = cut(text, most, size, bold=bold)
    assert told == "" or width(told, size, bold=bold) <= most + 1e-9
    assert shown(text).startswith(told.removesuffix(ELLIPSIS))


@given(TEXTS, st.floats(30, 300), st.integers(1, 4))
def test_broken_lines_fit_and_hold_the_text_as_far_as_they_go(text: str, most: float, lines: int) -> None:
    told = broken(text, most, 11, lines)
    assert len(told) <= lines
    assert all(width(one, 11) <= most + 1e-9 for one in told)
    bare = str.maketrans(
        "", "", " \u200c\u200d"
    )  # what parts or joins letters has no ink, and may go where a line ends
    joined = "".join(told).removesuffix(ELLIPSIS).translate(bare)
    assert shown(text).translate(bare).startswith(joined)


def test_lines_are_broken_between_words_and_anywhere_in_chinese_but_not_before_punctuation() -> None:
    assert broken("one two three four", 60, 11, 4) == ["one two", "three", "four"]
    told = broken("早上一定要喝咖啡，不然没精神", 5.2 * 11 * 1.02, 11, 4)
    assert len(told) > 1
    assert not any(one.startswith("，") for one in told)


def test_every_kind_of_letters_has_an_estimate() -> None:
    assert all(width(char, 10) >= 0 for char in map(chr, product_of_planes()))


def product_of_planes() -> list[int]:
    return [high * 0x100 + low for high, low in product(range(0x110), (0, 0x41, 0x9F)) if not 0xD8 <= high <= 0xDF]
