"""Until when a statement says that it holds: read ahead from the day it was said; no bound where no day lies ahead."""

from __future__ import annotations

from datetime import UTC, date, datetime

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.envelope import from_micros, micros
from engramlog_server.projections.language.times.bounds import MOST_READ, bounded, plan_over
from tests.rows import each_row

SAID = micros(datetime(2026, 11, 24, 10, tzinfo=UTC))  # a Tuesday
BOUNDS = {
    "Until Friday I am in Paris.": ("I am in Paris.", "2026-11-28"),
    "I live in Paris until Friday.": ("I live in Paris.", "2026-11-28"),
    "I live in Paris, but only until next Friday": ("I live in Paris", "2026-11-28"),
    "Before Friday I am in Paris": ("I am in Paris", "2026-11-27"),
    "I am staying in Paris until the end of May.": ("I am staying in Paris.", "2027-06-01"),
    "Until March I work at Bosch.": ("I work at Bosch.", "2027-03-01"),
    "I work at Bosch through March": ("I work at Bosch", "2027-04-01"),
    "I am in Rome through 5 December": ("I am in Rome", "2026-12-06"),
    "I am in Rome until 2026-12-05": ("I am in Rome", "2026-12-06"),
    "I work at Bosch for the next three months.": ("I work at Bosch.", "2027-02-23"),
    "My office is in room 14 until Monday": ("My office is in room 14", "2026-12-01"),
    "until Tuesday I am in Rome": ("I am in Rome", "2026-11-25"),
    "before Tuesday I am in Rome": ("I am in Rome", "2026-12-01"), "周五之前我在上海。": ("我在上海。", "2026-11-27"),
    "周二之前我在上海。": ("我在上海。", "2026-12-01"), "下周五以前我住在酒店": ("我住在酒店", "2026-12-04"),
    "我到下周五为止住在上海。": ("我住在上海。", "2026-12-05"), "到三月底我在腾讯上班": ("我在腾讯上班", "2027-04-01"),
    "直到明年六月我都住在巴黎": ("我都住在巴黎", "2027-07-01"), "接下来三天我在杭州": ("我在杭州", "2026-11-28"),
}  # fmt: skip
NONE = [
    "I live in Paris", "I lived in Paris until March", "I was in Paris until Friday", "I am happy until he comes",
    "I am in Paris until last Friday", "上周五之前我在上海", "Until when are you in Paris?", "Will you be in Paris until Friday?",
    "I am 34 this year", "Until Friday", "I read up to page 40", "before breakfast I run",
    "三天之前我在上海", "我之前住在上海", "以前我住在北京", "到了公司我就开会", "我从北京到上海", "睡觉之前我喝牛奶", "我今年34岁",
    "我看到报道说昨天有日食", "只要到要做账的那些月末我会忙一些", "周五之前你在上海吗？", "直到我上个月毕业", "接下来有什么计划",
]  # fmt: skip

PLANS = {
    "User has a deadline of May 10, 2027, to finish the statement (said on 2026-11-24)": "2027-05-11",
    "User's nephew's communion is the 17th of May": "2027-05-18",
    "I'm flying to Rome on Friday": "2026-11-28",
    "User is planning a concert with friends on 3 December": "2026-12-04",
    "My exam is on 9 May and the next on 16 May": "2027-05-17",
    "User will set up a meeting for next week": "2026-12-07",
    "User has an appointment for the 22nd with Dr. Vail": "2026-12-23",
    "My interview is on the 3rd": "2026-12-04",
    "User's goal is to solve ten problems by February 1": "2027-02-02",
    "User is planning to join the choir in January": "2027-02-01",
    "We have booked a table for 29 November": "2026-11-30",
    "演讲是3月15号，在社区图书馆": "2027-03-16",
    "用户下周五要去面试": "2026-12-05",
    "我的航班改到12月3日晚上": "2026-12-04",
    "用戶的婚禮在明年六月": "2027-07-01",
}
NO_PLANS = [
    "My birthday is on 4 May", "Our wedding anniversary is 21 September", "I have an exam every Friday",
    "I was at the concert on 3 May", "My wedding was on 6 June 2019", "I live in Paris", "I plan to learn Greek",
    "User works at the harbour on Fridays", "我的生日是5月4日", "我每周三要去开会", "我打算学滑雪", "我3月15号结束了演讲",
    "I have lived here since my wedding in May", "My flight is the 3rd time lucky",
    "My flight to Rome on 3 May 2020 is a dear memory",
]  # fmt: skip


@each_row("text", PLANS)
def test_a_plan_is_over_after_the_last_day_that_it_names(text: str) -> None:
    found = plan_over(text, SAID, "UTC")
    assert found is not None
    assert from_micros(found).date().isoformat() == PLANS[text]


@each_row("text", NO_PLANS)
def test_what_comes_again_is_past_or_names_no_day_is_no_plan_that_ends(text: str) -> None:
    assert plan_over(text, SAID, "UTC") is None


@each_row("text", BOUNDS)
def test_a_bound_is_read_ahead_from_the_day_it_was_said(text: str) -> None:
    found = bounded(text, SAID, "UTC")
    assert found is not None
    assert (found.rest, from_micros(found.until).date().isoformat()) == BOUNDS[text]


@each_row("text", NONE)
def test_what_names_no_day_ahead_or_is_past_or_asked_is_no_bound(text: str) -> None:
    assert bounded(text, SAID, "UTC") is None


def test_a_day_ends_where_its_owner_lives() -> None:
    there = bounded("Until Friday I am in Paris.", SAID, "Asia/Shanghai")
    assert there is not None
    assert from_micros(there.until).isoformat() == "2026-11-27T16:00:00+00:00"


@each_row("day", range(1, 29))
@each_row("text", ["until Friday I am in Rome", "before Friday I am in Rome", "周五之前我在罗马"])
def test_the_next_such_day_is_meant_whenever_it_is_said(day: int, text: str) -> None:
    said = datetime(2026, 11, day, 23, 59, tzinfo=UTC)
    found = bounded(text, micros(said), "UTC")
    assert found is not None
    ahead = (from_micros(found.until).date() - date(2026, 11, day)).days
    assert 1 <= ahead <= 7


def test_long_texts_are_not_read() -> None:
    assert bounded("Until Friday I am in Paris. " + "x" * MOST_READ, SAID, "UTC") is None


@given(
    st.text(max_size=60),
    st.sampled_from(["until Friday", "周五之前", "for the next 9 months", "到三月"]),
    st.text(max_size=60),
)
def test_reading_never_raises_and_a_bound_lies_ahead(before: str, words: str, after: str) -> None:
    found = bounded(before + words + after, SAID, "UTC")
    assert found is None or (found.until > SAID and found.rest)


@each_row("at", ["0001-01-01T00:00:00+00:00", "1900-01-01T00:00:00+00:00", "9999-12-31T23:00:00+00:00"])
def test_at_the_ends_of_the_calendar_nothing_raises(at: str) -> None:
    for text in BOUNDS:
        bounded(text, micros(datetime.fromisoformat(at)), "Asia/Shanghai")
        bounded(text, micros(datetime.fromisoformat(at)), "America/St_Johns")
