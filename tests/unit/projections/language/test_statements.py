"""What counts as the same statement, and what must not: the ways of writing by which a refused value would come back."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from engramlog_server.events.catalogue import FactAsserted, MemoryCreated, MemoryMerged, MemoryRevised
from engramlog_server.events.envelope import Event, derived_id
from engramlog_server.events.vocabulary import MAX_TEXT_BYTES
from engramlog_server.projections.language.statements import normalised, statements_of
from tests.given.samples import MOMENT
from tests.rows import each_row

TOKYO = "I live in Tokyo"
TOKYO_ZH = "主人住在东京"
SAME = {
    TOKYO: [
        "i LIVE in tokyo", "I live in Tokyo.", "I live in Tokyo!!!", "I live in Tokyo…", "“I live in Tokyo”",
        "(I live in Tokyo)", "**I live in Tokyo**", "I live, in Tokyo", "I live,in Tokyo", "- I live in Tokyo",
        "I live — in Tokyo", "  I  live\tin\n\nTokyo \u3000", "I\u00a0live\u2009in\u202fTokyo", "I live in T o k y o",
        "IliveinTokyo", "I\u200blive\u200bin\u200bTokyo", "I live in To\u200bkyo", "I live in To\u00adkyo",
        "I live in To\u2060k\ufeffyo", "I live in \u202eTokyo\u202c", "I live in \u2066Tokyo\u2069",
        "I live in To\ufe0fk\U000e0101yo", "I live in T\u034fo\u034fkyo", "I live in To\x00k\x08yo",
        "I live in Tokyo\U000e0041\U000e0042", "I live in \u3164Tok\u2800yo\uffa0", "Ｉ ｌｉｖｅ ｉｎ Ｔｏｋｙｏ．",
        "I live in 𝐓𝐨𝐤𝐲𝐨", "I live in 𝕿𝖔𝖐𝖞𝖔", "I live in 𝚃𝚘𝚔𝚢𝚘", "I live in ⓉⓄⓀⓎⓄ", "I live in ⒯⒪⒦⒴⒪", "I live in 🅃🄾🄺🅈🄾",
        "I live in 🆃🅾🅺🆈🅾", "I live in 🅣🅞🅚🅨🅞", "I live in ᴛᴏᴋʏᴏ", "I live in ᵀᵒᵏʸᵒ", "I live in Tоkуо", "I live in ТОКУО",
        "І lіvе іn Токуо", "I live in ΤΟΚΥΟ", "I live in Τοkyο", "I liνe in Tokyo", "I lıve ın Tokyo", "I live in ꓔꓳꓗꓬꓳ",
        "I live in ᎢOᏦᎩO", "I live in Tօkyօ", "I live in T̶o̶k̶y̶o̶", "I live in T̷o̷k̸y⃝o⃠",
    ],
    TOKYO_ZH: [
        "主 人 住 在 东 京", "主\u3000人住在东\n京。", "主人住在東京", "主 人住在東京！", "主人，住在东京",
        "「主人」住在《东京》", "主人\u200b住在东\u200d京", "主人住在东\u0301京", "主人住在东\ufe00京\U000e0100",
        "\u202e主人住在东京\u202c", "主⼈住在东京", "主人住在东京～", "主人住在东京……", "*主人住在东京*",
    ],
    "我用Python写代码": [
        "我用 Python 写代码", "我用Ｐｙｔｈｏｎ寫代碼。", "我用Руthоn写代码", "我用ＰＹＴＨＯＮ写代码",
    ],
    "约翰·史密斯有3只狗": ["約翰・史密斯有３隻狗", "约翰史密斯有3 只狗。", "约翰•史密斯有٣只狗"],
    "他说:加工二口": ["他說：加工ニロ", "他说，加工二囗"],
    "长风马": ["⻓⻛⻢", "長風馬"],
    "don't": ["don’t", "don‘t", "don`t", "don´t", "ＤＯＮ＇Ｔ", "Don't."],
    "über straße": ["u\u0308ber strasse", "ÜBER STRASSE", "über  Straße!"],
    "in 1,000 days": ["in 1,000 days.", "in １，０００ days"],
    "it is -5 degrees": ["it is −5 degrees", "it is –5 degrees", "it is －５ degrees"],
    "about 10^2 or 1/2": ["about 10² or ½", "about １０² or 1⁄2"],
    "is he in Tokyo?": [
        "Is he in Tokyo ？", "is he in Tokyo?!", "is he in Tokyo؟", "“is he in Tokyo?”", "Is he in Tokyo???",
    ],
    "محمد في طوكيو": ["محـــمد في طوكيو", "محمد\u200f في طوكيو.", "محمد، في طوكيو"],
    "like 👍": ["like 👍🏽", "like 👍\ufe0f", "LIKE👍"],
    "в Москве": ["В МОСКВЕ.", "в Mocквe", "ВМОСКВЕ"],
    "...": ["…", ". . ."],
}  # fmt: skip
OTHERS = [
    ("3.5", "35"), ("3.5", "3,5"), ("3.5", "3 5"), ("3 .5", "3.5"), ("I have 3 5", "I have 35"), ("3, 5", "3,5"),
    ("3—5", "35"), ("3。5", "35"), ("3…5", "35"), ("1,000", "1000"), ("1,000", "1.000"), ("1½", "11/2"), ("10²", "102"),
    ("x²", "x2"), ("1①", "11"), ("9:30", "930"), ("2-3", "23"), ("5 - 3", "5 3"), ("-5", "5"), ("是-5度", "是5度"),
    ("-$5", "$5"), ("~5", "5"), ("1/2", "12"), ("C", "C++"), ("C", "C#"), ("C++", "C#"), ("I write C.", "I write C++."),
    ("我写C", "我写C++"), ("NET", ".NET"), ("他用.NET", "他用NET"), ("A", "A-"), ("A", "A+"), ("A-", "A+"), ("A", "A*"),
    ("O-型血", "O型血"), ("Rh-", "Rh"), ("50%", "50"), ("$5", "5"), ("$5", "€5"), ("5°", "5"), ("#1", "1"),
    ("x = y", "x != y"), ("x = y", "x ≠ y"), ("x < y", "x > y"), ("a & b", "a b"), ("can't", "cant"), ("we're", "were"),
    ("he'll", "hell"), ("re-sign", "resign"), ("He moved?", "He moved."), ("他搬家了？", "他搬家了。"),
    ("去吗? 去", "去吗 去"), ("👍", "👎"), ("✅ done", "❌ done"), ("Tokyo", "Kyoto"), ("Tokyo", "T0kyo"), ("H2O", "H20"),
    ("año", "ano"), ("papá", "papa"), ("schön", "schon"), ("má", "mà"), ("мой", "мои"), ("все", "всё"), ("дом", "том"),
    ("кот", "код"), ("ұ", "у"), ("үй", "уй"), ("һава", "нава"), ("νέα", "ηέα"), ("5 Ω", "5 W"), ("5 µg", "5 mg"),
    ("5 μ", "5 m"), ("未来", "末来"), ("日", "曰"), ("己", "已"), ("土", "士"), ("他", "她"), ("三", "3"),
    ("喜欢", "不喜欢"), ("はし", "ばし"), ("カ", "ガ"), ("가", "까"), ("का", "कि"), ("modem", "modern"), ("...", "---"),
    ("!", "?"),
]  # fmt: skip


@each_row(("said", "again"), [(said, one) for said, ways in SAME.items() for one in ways])
def test_the_same_letters_are_the_same_statement_however_they_are_written(said: str, again: str) -> None:
    assert normalised(again) == normalised(said)


@each_row(("one", "other"), OTHERS)
def test_a_sign_or_a_letter_that_means_something_makes_another_statement(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


_RUSSIAN = (
    "мама", "рама", "нора", "гора", "кора", "пора", "сора", "вор", "бор", "тор", "нос", "нас", "вас", "рот", "кот", "мот",
)  # fmt: skip


def test_what_looks_the_same_in_two_scripts_is_one_statement_and_no_russian_words_become_one() -> None:
    assert normalised("сор") == normalised("cop")
    assert len({normalised(word) for word in _RUSSIAN}) == len(_RUSSIAN)


@each_row("text", ["", "\u200b", " \n", "\u202e\u2066"])
def test_a_text_that_shows_nothing_has_nothing_in_it(text: str) -> None:
    assert normalised(text) == ""


HOSTILE = {
    "marks on a letter": "a" + "\u0301\u0323", "marks of Hebrew with spaces": "\u05b0 \u05b1", "signs": "-.,~",
    "spaces": " ", "invisible": "\u200b\u2060", "stops and letters": "a.", "two-faced letters": "xν", "ligatures": "\ufdfa",
    "raised digits": "²", "short words": "A- ", "numbers": "5 - ", "questions": "? ",
}  # fmt: skip


@each_row("name", HOSTILE)
def test_twice_as_long_a_text_takes_twice_as_many_calls(name: str) -> None:
    unit = HOSTILE[name]
    times = MAX_TEXT_BYTES // len(unit.encode())
    once, twice = (calls_of((unit * times)[: len(unit) * part]) for part in (times // 2, times))
    assert twice <= 2.1 * once + 50


def calls_of(text: str) -> int:
    """How many Python and C functions the normal form of a text calls."""
    count = 0

    def counted(_frame: FrameType, what: str, _argument: Any) -> None:
        nonlocal count
        count += what in ("call", "c_call")

    sys.setprofile(counted)
    try:
        normalised(text)
    finally:
        sys.setprofile(None)
    return count


def test_no_more_marks_on_a_letter_are_ordered_than_a_reader_could_tell() -> None:
    heaped = normalised("a" + "\u05b0\u0591" * 10_000)
    assert len(heaped) <= 31


def stated(data: Any) -> tuple[bytes, ...]:
    """What an event with this data states; made past the door, which would refuse some of the texts."""
    made = Event(
        event_id=derived_id("stated"),
        type=type(data).__name__,
        owner="ann",
        occurred_at=MOMENT,
        actor="user",
        data=data,
    )
    return statements_of(made)


def created(content: str) -> MemoryCreated:
    return MemoryCreated(
        memory_id="m", content=content, category="fact", kind="plain_fact", source="user", summary="else"
    )


def test_a_created_a_revised_and_a_merged_memory_state_one_text() -> None:
    told = {
        stated(created("I live in Tokyo.")),
        stated(MemoryRevised(memory_id="m", content="i live in TOKYO", keywords=("x",))),
        stated(MemoryMerged(sources=("a", "b"), into="m", summary="I live in  Tokyo")),
    }
    assert told == {(b"tiliveintokyo",)}


def fact(subject: str = "user", predicate: str = "likes", thing: str = "tea", **more: Any) -> tuple[bytes, ...]:
    return stated(FactAsserted(subject=subject, predicate=predicate, object=thing, evidence=("m",), **more))


@each_row("again", [fact("USER", "Likes", "Τеа"), fact(thing="tea."), fact(degree=0.3)])
def test_a_triple_is_one_statement_however_its_parts_are_written(again: tuple[bytes, ...]) -> None:
    assert again == fact() == (b"f+\x1fuser\x1flikes\x1ftea\x1f",)


def test_a_triple_that_is_denied_or_holds_on_a_condition_is_another() -> None:
    others = {fact(), fact(negation=True), fact(condition="at night"), fact(negation=True, condition="at night")}
    assert len(others) == 4


def test_no_part_of_a_triple_can_pass_for_two() -> None:
    assert fact("a\x1fb", "c", "d") == fact("ab", "c", "d")
    assert (
        len({fact("a", "b", "cd"), fact("ab", "c", "d"), fact("a", "bc", "d"), fact("a", "b", "c", condition="d")}) == 4
    )
