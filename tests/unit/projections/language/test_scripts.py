"""Which characters are Han, and what reads by it."""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import (
    FROM_KANA_TO_HAN,
    HAN,
    HAN_BLOCK,
    WORDS_BY_THEMSELVES,
    begins_with_han,
    count_of_han,
    holds_han,
    in_han_block,
)
from tests.rows import each_row

RARE = {
    "extension A": "㐀", "a mark": "々", "a zero": "〇", "a compatibility ideograph": "\uf900", "extension B": "𠀀",
    "extension G": "\U00030000",
}  # fmt: skip
OTHERS = {
    "Latin": "é", "kana": "か", "a hexagram": "䷀", "Hangul": "한", "an emoji": "😀", "fullwidth Latin": "Ａ",
    "punctuation": "。",
}  # fmt: skip


@each_row("character", [*RARE.values(), "中", "一", "鿿"], ids=[*RARE, "a word", "first", "last"])
def test_every_han_character_is_han(character: str) -> None:
    assert begins_with_han(f"{character}x")
    assert holds_han(f"x{character}")
    assert count_of_han(f"x{character}y{character}") == 2


@each_row("character", [*OTHERS.values(), ""], ids=[*OTHERS, "nothing"])
def test_nothing_else_is_han(character: str) -> None:
    assert not begins_with_han(character)
    assert not holds_han(character)
    assert count_of_han(character) == 0


@each_row(("character", "there"), [("中", True), ("一", True), ("鿿", True), ("㐀", False), ("", False)])
def test_the_block_is_that_of_everyday_text(character: str, there: bool) -> None:
    assert in_han_block(character) is there


def test_what_stored_levels_and_digests_are_made_by_stays_as_it_was() -> None:
    whole = "".join(chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000)
    read = {
        name: [ord(found) for found in re.findall(f"[{extent}]", whole)]
        for name, extent in (("levels", HAN_BLOCK), ("words", WORDS_BY_THEMSELVES), ("accents", FROM_KANA_TO_HAN))
    }
    kana = [*range(0x3041, 0x3097), *range(0x309D, 0x30A0), *range(0x30A1, 0x30FB), *range(0x30FC, 0x3130)]
    assert read["levels"] == [*range(0x4E00, 0xA000)]
    assert read["words"] == [*range(0x3005, 0x3008), *kana, *range(0x3400, 0xA000), *range(0x20000, 0x40000)]
    assert read["accents"] == [*range(0x3005, 0xA000)]


def test_the_block_lies_within_han() -> None:
    assert all(re.match(f"[{HAN}]", chr(point)) for point in range(0x4E00, 0xA000))
