"""Comparing statements: never raises, never contradicts itself, is mutual, and two denials affirm."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.language.contradiction.relation import compare, written
from engramlog_server.projections.language.contradiction.slots import slots

WORDS = """
I my like don't not never no nobody hate is there live in Berlin Paris 3 three cats am 25 years old , . ? if but a man dog
open closed
我 不 没有 喜欢 讨厌 是不是 住在 北京 上海 今年 二十 岁 猫 。 ， 吗？ 如果 不是 两只 有 的
May 5 birthday
"""
ENGLISH = st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)
MIXED = st.lists(st.sampled_from(WORDS.split()), max_size=12).map("".join)
ANY = ENGLISH | MIXED | st.text(max_size=40)
THINGS = st.sampled_from(["coffee", "swimming", "the sea", "old films", "my job"])
THINGS_CHINESE = st.sampled_from(["咖啡", "游泳", "老电影", "我的工作", "大海"])


@given(ANY, ANY)
def test_contradiction_and_strangeness_are_mutual(one: str, other: str) -> None:
    there, back = compare(one, other), compare(other, one)
    for kind in ("contradicts", "unrelated"):
        assert (there.kind == kind) == (back.kind == kind)
    if there.kind == "contradicts":
        assert there.sure == back.sure
        assert there.reasons


@given(ANY)
def test_slots_are_named_once(text: str) -> None:
    found = [(slot.subject, slot.name) for slot in slots(written(text))]
    assert len(found) == len(set(found))


@given(THINGS)
def test_two_denials_affirm_in_english(thing: str) -> None:
    assert compare(f"I like {thing}", f"I don't like {thing}").sure
    assert compare(f"I don't hate {thing}", f"I like {thing}").kind == "same"
    assert compare(f"I don't hate {thing}", f"I hate {thing}").kind == "contradicts"


@given(THINGS_CHINESE)
def test_two_denials_affirm_in_chinese(thing: str) -> None:
    assert compare(f"我喜欢{thing}", f"我不喜欢{thing}").sure
    assert compare(f"我不是不喜欢{thing}", f"我喜欢{thing}").kind == "same"
    assert compare(f"我不是不喜欢{thing}", f"我不喜欢{thing}").kind == "contradicts"
