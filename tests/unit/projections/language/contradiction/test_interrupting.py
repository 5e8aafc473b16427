"""What cannot hold beside another at the same time, where one of the two is limited in time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.language.contradiction.relation import interrupts
from tests.rows import each_row

YES = [
    ("I am in Paris.", "User lives in Berlin"), ("I am in Paris.", "I live in Berlin."), ("我在上海。", "我住在北京。"),
    ("我住在上海。", "用户住在北京"), ("I live in Paris.", "I live in Berlin."), ("I work at Bosch.", "I work at Siemens."),
    ("I'm working at Bosch.", "User works at Siemens"), ("My office is in room 14", "My office is in room 12."),
    ("我在家吃午饭。", "用户在学校食堂吃午饭（2026-11-23说）"), ("I eat at home", "I eat at the canteen"),
    ("我在家办公", "我在公司办公"),
]  # fmt: skip
NO = [
    ("I am in Paris.", "I like Berlin"), ("I am in Paris.", "I live in France"), ("我在上海。", "我喜欢北京"), ("", ""),
    ("I work at Bosch.", "I work at home on Sundays and cook for my family"), ("I am on call", "I am free"),
    ("I work at Bosch.", "I eat at Siemens."), ("My sister is in Paris", "I live in Berlin"), ("我在家办公", "我在家吃饭"),
    ("I am in Paris.", "I am in Paris."), ("I am in Paris until then", "I live in Berlin"), ("I work at", "I work at Bosch"),
]  # fmt: skip


@each_row(("one", "other"), YES)
def test_one_takes_the_place_of_the_other(one: str, other: str) -> None:
    assert interrupts(one, other)
    assert interrupts(other, one)


@each_row(("one", "other"), NO)
def test_both_may_hold(one: str, other: str) -> None:
    assert not interrupts(one, other)
    assert not interrupts(other, one)


@given(st.text(max_size=80), st.text(max_size=80))
def test_it_never_raises_and_is_mutual(one: str, other: str) -> None:
    assert interrupts(one, other) == interrupts(other, one)
    assert not interrupts(one, one)
