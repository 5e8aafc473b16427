"""Secrets as people say them, and what only sounds like one; texts that are written so as to hide what they say."""

from __future__ import annotations

from engramlog_server.projections.language.sensitivity import codes, credentials, passwords, personal
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity, folded, in_lower_case, reasons
from engramlog_server.projections.language.sensitivity.rule import (
    AFTER,
    BEFORE,
    FREE,
    SPACING,
    ends_of,
    listed,
    pieces,
    spaced,
)
from tests.given.sensitive_texts import HARMLESS_CHINESE, HARMLESS_ENGLISH, SECRET_CHINESE, SECRET_ENGLISH
from tests.rows import each_row

WRITTEN_OTHERWISE = [
    ("ｐａｓｓｗｏｒｄ：　ｈｕｎｔｅｒ２", "full width"), ("my pass\u200bword is hun\u200dter2", "zero width"),
    ("my pass\u00adword is hunter2", "soft hyphens"), ("my p\ufe0fassword is h\U000e0101unter2", "variation selectors"),
    ("my pass\u2060word is hun\u3164ter2", "fillers"), ("my pass\x00word is hunter2", "controls"),
    ("my \U000e0070password is hunter2", "tags"),
    ("the gate code is \U0001d7d5\U0001d7d5\U0001d7cf\U0001d7d2#", "mathematical digits"),
    ("PIN: 4\ufe0f\u20e38\ufe0f\u20e32\ufe0f\u20e31\ufe0f\u20e3", "keycaps"), ("my pin is ٤٨٢١", "Arabic digits"),
    ("ssn 219\u201309\u20139999", "dashes"), ("我的密碼是 tiger2024x", "traditional"),
    ("開機密碼：四八二一", "digits in Han"), ("我的密\u200b码是 tiger2024x", "zero width in Han"),
]  # fmt: skip

PRIVATE = [
    ("health", "I was diagnosed with Crohn's disease last year"), ("health", "My wife is three months pregnant"),
    ("health", "he takes lithium every night"), ("health", "my mom has stage 2 breast cancer"),
    ("health", "医生说我确诊了双相情感障碍"), ("health", "我有糖尿病，每天打胰岛素"), ("health", "她怀孕了，还没告诉别人"),
    ("orientation", "I'm gay but not out at work"), ("orientation", "my brother is bisexual"),
    ("orientation", "我是同性恋，爸妈不知道"), ("pay", "my salary is 85000 a year"),
    ("pay", "I make $42 an hour at the shop"), ("pay", "我月薪一万二"), ("pay", "年终奖发了58000"),
    ("birth-date", "I was born on 3 May 1990"), ("birth-date", "DOB: 1987-11-02"),
    ("birth-date", "my daughter's birthday is June 4th"), ("birth-date", "我的生日是1992年8月15日"),
]  # fmt: skip

NOT_PRIVATE = [
    "I am allergic to peanuts", "我对花生过敏", "cancer research needs more money", "the market looks healthy this quarter",
    "vaccines against covid were approved in 2020", "a gay bar opened on Main Street", "this bicycle lane is straight",
    "salaries are rising across the sector", "she makes 3 cakes a week", "we earn points with each purchase",
    "he was born in Ohio", "the birthday party is on Saturday", "癌症研究有了新进展", "预防高血压要少吃盐", "工资还没发",
    "生日蛋糕要8寸的",
]  # fmt: skip

CUES = {
    "passwords": passwords.PASSWORDS, "logins": credentials.GIVEN, "codes": codes.CODES,
    "keys": credentials.KEYS, "health": sorted(personal.HEALTH), "chinese": passwords.CODES_ZH,
}  # fmt: skip


@each_row("text", SECRET_ENGLISH + SECRET_CHINESE)
def test_a_secret_is_known_however_it_is_said(text: str) -> None:
    assert detect_sensitivity(text) == 3


@each_row("text", HARMLESS_ENGLISH + HARMLESS_CHINESE)
def test_what_sounds_like_a_secret_is_not_withheld(text: str) -> None:
    assert (detect_sensitivity(text) == 3, reasons(text) if detect_sensitivity(text) == 3 else []) == (False, [])


@each_row(("text", "how"), WRITTEN_OTHERWISE, ids=[how for _, how in WRITTEN_OTHERWISE])
def test_a_secret_is_known_whatever_characters_it_is_written_with(text: str, how: str) -> None:
    assert (how, detect_sensitivity(text)) == (how, 3)


@each_row(("rule", "text"), PRIVATE)
def test_health_orientation_pay_and_birth_date_are_level_2(rule: str, text: str) -> None:
    assert (detect_sensitivity(text), rule in reasons(text)) == (2, True)


@each_row("text", NOT_PRIVATE)
def test_a_word_for_illness_pay_or_birth_is_not_level_2(text: str) -> None:
    assert detect_sensitivity(text) < 2


@each_row(
    ("written", "read"),
    [
        ("幺三八，零零", "13800"), ("一二三四，一二一", "一二三四,一二一"), ("一两个人", "一两个人"),
        ("“quoted” – said", '"quoted" - said'), ("tab\tand\nline stay", "tab\tand\nline stay"),
        ("\ud83d half", "\ud83d half"),
    ],
)  # fmt: skip
def test_folding_reads_a_text_as_a_reader_does(written: str, read: str) -> None:
    assert folded(written) == read


def test_lists_of_words_are_split_at_commas_and_lines() -> None:
    assert listed("a b, c\n d ,\n") == ("a b", "c", "d")


@each_row("words", CUES.values(), ids=CUES)
def test_what_is_read_closely_of_64_kib_is_a_few_times_as_long_however_often_a_word_stands_there(
    words: list[str],
) -> None:
    for word in words:
        text = in_lower_case(folded((word + " 1") * (65_536 // (len(word.encode()) + 2))))
        read = [len(piece.text) for piece in pieces(text, text, spaced(text, ends_of(text, words)))]
        assert len(read) <= FREE + len(text) // SPACING + 1
        assert sum(read) <= (BEFORE + AFTER + SPACING) * (FREE + len(text) // SPACING + 1)
