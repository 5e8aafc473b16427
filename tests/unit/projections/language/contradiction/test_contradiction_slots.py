"""Values read out of a statement, and when two of them clash."""

from __future__ import annotations

from engramlog_server.projections.language.contradiction.relation import written
from engramlog_server.projections.language.contradiction.slots import (
    certain,
    clashes,
    different_places,
    place_at_start,
    slots,
    value_of,
)
from tests.rows import each_row


def read(text: str) -> list[tuple[str, str, str]]:
    return [tuple(slot) for slot in slots(written(text))]


@each_row(
    ("text", "expected"),
    [
        ("I'm 25 and I live in Berlin.", [("i", "age", "years 25"), ("i", "home", "berlin")]),
        ("My sister is a 30-year-old nurse", [("my sister", "age", "years 30")]),
        ("She was born in 1984", [("she", "year of birth", "year 1984")]),
        ("I recently moved from Rome to New York", [("i", "home", "new york")]),
        ("We have two dogs and live in Paris, France", [("we", "number of dog", "count 2")]),
        ("Our rent is €950 per month", [("our rent", "€", "€ 950")]),
        ("The review is on 3 June", [("the review", "day", "day 6-3")]),
        ("My lesson starts at 3:30 pm", [("my lesson", "time", "time 15:30")]),
        ("我叫王佳，今年二十一岁。", [("i", "age", "years 21")]),
        ("我儿子三岁，女儿五岁", [("儿子", "age", "years 3"), ("女儿", "age", "years 5")]),
        ("我是哈尔滨人，在北京工作", [("i", "origin", "harbin"), ("i", "whereabouts", "beijing")]),
        ("我家有两只小猫", [("i", "number of 猫", "count 2")]), ("我的生日是10月1号", [("生日", "day", "day 10-1")]),
        ("例会改到下午三点半", [("例会", "time", "time 15:30")]), ("我是88年的", [("i", "year of birth", "year 1988")]),
    ],
)  # fmt: skip
def test_slots_are_read(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert read(text) == expected


@each_row(
    "text",
    [
        "", "Are you 25?", "I think I'm 25", "I'm not 25", "I was 25", "I'm about 30 years old", "If I lived in Berlin",
        "I used to live in Berlin", "I'm going to live in Berlin", "I have many cats", "I am 25, no, I am 26",
        "I live in Paris, Texas", "我快60了", "我猜你20多了", "我不是北京人", "我以前住在北京", "你今年25岁吗？",
        "我想去上海", "我比你大五岁", "我三岁的时候", "我只有一只猫",
    ],
)  # fmt: skip
def test_what_is_asked_supposed_denied_past_or_guessed_fills_no_slot(text: str) -> None:
    assert read(text) == []


@each_row(
    ("new", "known", "sure"),
    [
        ("I live in Lyon", "I live in Paris", True), ("I live in Lyon", "I live in France", None),
        ("I live in Lyon", "I come from Paris", None), ("He lives in Lyon", "He lives in Paris", False),
        ("My meeting is on Monday", "My meeting is on Friday", False),
        ("The meeting is at 3 pm", "The meeting is at 4 pm", False),
        ("My birthday is on May 3", "My birthday is on 2024-05-04", True), ("I am 180 cm tall", "I am 6 feet tall", None),
        ("我住在浦东", "我住在上海", None), ("我住在浦东", "我住在北京", True), ("我来自广州", "我是广东人", None),
        ("他今年30岁", "他今年31岁", False),
    ],
)  # fmt: skip
def test_values_clash_only_where_they_are_of_one_thing_and_cannot_both_hold(
    new: str, known: str, sure: bool | None
) -> None:
    found = clashes(slots(written(new)), slots(written(known)))
    assert [certain(clash) for clash in found] == ([] if sure is None else [sure])


@each_row(
    ("text", "value"),
    [
        ("25", 25), ("1,200", 1200), ("3.5", 3.5), ("twelve", 12), ("forty", 40), ("twenty-one", 21), ("ninety nine", 99),
        ("十", 10), ("二十一", 21), ("两百", 200), ("一百零五", 105), ("一九九〇", 1990), ("三五", None), ("一百二", None),
        ("十百", None),
    ],
)  # fmt: skip
def test_numbers_are_read_where_they_are_certain(text: str, value: float | None) -> None:
    assert value_of(text) == value


def test_places_lie_in_each_other_through_any_number_of_areas() -> None:
    assert place_at_start("北京市海淀") == ("beijing", 2)
    assert place_at_start("parisian cafe") is None
    assert not different_places("brooklyn", "usa")
    assert not different_places("usa", "brooklyn")
    assert different_places("brooklyn", "chicago")
    assert not different_places("cambridge", "england")
    assert not different_places("cambridge", "massachusetts")
