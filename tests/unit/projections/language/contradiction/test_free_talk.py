"""What free talk is not judged by: shared characters beside a denial, places of another time, places of other people."""

from __future__ import annotations

from engramlog_server.projections.language.contradiction.relation import compare
from tests.rows import each_row

DENIED, AFFIRMED = "没有啊,我们这里的天气不怎么热", "我们这里的天气有点冷啊"


def test_shared_characters_and_a_denial_tell_only_of_what_was_rewritten() -> None:
    rewritten = compare(DENIED, AFFIRMED, rewritten=True)
    assert (rewritten.kind, rewritten.sure, rewritten.by_characters) == ("contradicts", False, True)
    assert compare(DENIED, AFFIRMED).kind == "unrelated"


ELSEWHEN = [
    ("I used to live in Graz", "I live in Vienna"), ("In 2010, I moved to Berlin", "I live in Vienna"),
    ("I moved to Berlin in 2010", "I live in Vienna"), ("Back then I live in Berlin", "I live in Vienna"),
    ("I moved to Berlin as a child", "I live in Vienna"), ("I live in Paris for the summer", "I live in Vienna"),
    ("我在上海工作过", "我在北京工作"), ("我在上海工作了两年", "我在北京工作"), ("那会儿我在上海上班", "我在北京上班"),
    ("2010年我搬到上海", "我住在北京"), ("我以前住在上海", "我住在北京"),
]  # fmt: skip
OTHERS = [
    ("My sister lives in Oslo", "I live in Vienna"), ("My friend Anna lives in Oslo", "I live in Vienna"),
    ("我同学在上海", "我在北京"), ("我公司在上海", "我在北京"), ("我室友住在上海", "我住在北京"),
    ("小王住在上海", "我住在北京"), ("我大学在上海", "我在北京"), ("我表姐住在上海", "我住在北京"),
]  # fmt: skip


@each_row(("one", "other"), [*ELSEWHEN, *OTHERS])
def test_a_place_of_another_time_or_of_somebody_else_contradicts_nothing_of_mine(one: str, other: str) -> None:
    assert compare(one, other).kind == "unrelated"
    assert compare(other, one).kind == "unrelated"


@each_row(
    ("new", "known"),
    [
        ("I live in Munich", "I live in Berlin"), ("My sister lives in Oslo", "My sister lives in Rome"),
        ("I moved from London to Paris", "I live in London"), ("我在上海工作", "我在北京工作"),
        ("是的，我现在在上海", "我在北京"), ("我在上海工作了两年了", "我在北京工作"), ("目前在深圳上班", "我在北京上班"),
        ("我老家在上海", "我老家在北京"),
    ],
)  # fmt: skip
def test_two_places_of_one_person_now_still_do(new: str, known: str) -> None:
    found = compare(new, known)
    assert (found.kind, found.sure) == ("contradicts", True)


def test_a_school_named_by_a_place_is_no_origin() -> None:
    assert compare("我是天津大学的", "我是河北人").kind == "unrelated"
