"""Texts of pictures: made visible, measured on the wide side, cut and broken by their width."""

from __future__ import annotations

import string
from itertools import product
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from fontTools.ttLib import TTCollection, TTFont, TTLibError
from hypothesis import given
from hypothesis import strategies as st

from api.pictures.font_files import (
    characters_of,
    chinese_fonts,
    family_of,
    has_chinese_name,
    installed_fonts,
    usual_font,
)
from api.pictures.text import ELLIPSIS, broken, columns, cut, short, shown, width
from tests.drawn import HOSTILE

TEXTS = st.text(max_size=60) | st.sampled_from(HOSTILE)


@pytest.mark.parametrize(
    ("name", "chinese"),
    [
        ("NotoSansCJK-Regular.ttc", True),
        ("NotoSansSC[wght].ttf", True),
        ("wqy-microhei.ttc", True),
        ("simhei.ttf", True),
        ("msyh.ttc", True),
        ("PingFang.ttc", True),
        ("Hiragino Sans GB.ttc", True),
        ("DejaVuSans.ttf", False),
        ("NotoSans-Regular.ttf", False),
        ("NotoColorEmoji.ttf", False),
    ],
)
def test_fonts_with_chinese_are_known_by_their_file_name(name: str, chinese: bool) -> None:
    assert has_chinese_name(Path("fonts") / name) is chinese


@pytest.mark.parametrize(
    ("text", "most", "told"),
    [
        ("short", 10, "short"),
        ("exactly ten", 11, "exactly ten"),
        ("much longer than that", 10, "much long…"),
        ("早上一定要喝咖啡", 10, "早上一定…"),
        (" two\nlines\x00 ", 10, "two lines"),
    ],
)
def test_a_label_of_a_terminal_is_cut_by_its_columns(text: str, most: float, told: str) -> None:
    assert short(text, most) == told
    assert columns(told) <= most


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("bold", [False, True])
def test_no_usual_font_here_is_wider_than_the_estimate(bold: bool) -> None:
    letters = [*string.printable[:95], *"äöüéèñçßøåœ–—“”‘’…·早上咖啡，。！？（）「」ＡБжщЩ"]
    measured = 0
    for path in installed_fonts():
        if not any(one in path.stem for one in ("DejaVuSans", "LiberationSans-", "NotoSansCJK", "Arial", "Roboto-")):
            continue
        if "Mono" in path.stem or ("Bold" in path.stem) is not bold or "Condensed" in path.stem:
            continue
        font = _font(path)
        if font is None:
            continue
        names, em = font.getBestCmap(), font["head"].unitsPerEm
        for char in letters:
            if ord(char) in names:
                advance = font["hmtx"][names[ord(char)]][0] / em
                assert advance <= width(char, 1.0, bold=bold) + 0.03, (path.name, char, advance)
        measured += 1
    if installed_fonts():
        assert measured or usual_font(installed_fonts()) is None


def _font(path: Path) -> TTFont | None:
    try:
        return TTCollection(path).fonts[0] if path.suffix == ".ttc" else TTFont(path)
    except TTLibError:
        return None


def test_the_characters_and_the_family_of_a_font_file_are_those_that_another_reader_finds() -> None:
    found = installed_fonts()
    usual = usual_font(found)
    for path in [*([usual] if usual else []), *chinese_fonts(found)[:1]]:
        font = _font(path)
        assert font is not None
        names = font.getBestCmap()
        ours = characters_of(path)
        assert [point for point in range(0x30000) if (point in ours) is not (point in names)] == []
        assert family_of(path) == font["name"].getDebugName(1)


@pytest.mark.parametrize("content", [b"", b"no font", b"ttcf", b"\x00\x01\x00\x00\xff\xff" + b"\xff" * 200])
def test_what_is_no_font_has_no_characters(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.ttf"
    path.write_bytes(content)
    assert not characters_of(path)
    assert family_of(path) == ""


def test_every_kind_of_letters_has_an_estimate() -> None:
    assert all(width(char, 10) >= 0 for char in map(chr, product_of_planes()))


def product_of_planes() -> list[int]:
    return [high * 0x100 + low for high, low in product(range(0x110), (0, 0x41, 0x9F)) if not 0xD8 <= high <= 0xDF]
