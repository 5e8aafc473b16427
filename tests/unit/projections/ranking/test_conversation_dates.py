"""Times of a question as ranges: how turns fit them, how they are told, time zones, filters, and any text at all."""

from __future__ import annotations

from datetime import UTC, datetime
from math import exp

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramlog_server.events.envelope import micros
from engramlog_server.projections.ranking.search_request import (
    MOST,
    DateShares,
    TimeRange,
    date_fit,
    parse_range,
    range_of,
    times_in,
    told,
)
from tests.given.times import NOW, heard
from tests.rows import each_row

SHARES = DateShares()
HOUR = 3_600_000_000
PIECE_TEXT = """
may march 5 may 2023 2023-05-07 5/7/2023 last next week weekend tuesday since before between and from to until the of two
weeks ago a couple of early mid- q3 evening year's eve 30 february 0000-00-00 9999 0001-01-01 29 february 3 hours every
上 下 周 三 个 月 年 号 5月2号 去年 前 后 从 到 之间 昨天 晚上 二十 〇 2023年 12月31日 半 几 天 上上周末 最近 初 \0 ’ İ ß
"""
PIECES = PIECE_TEXT.split()


def moment(*parts: int) -> int:
    return micros(datetime(*parts, tzinfo=UTC))  # type: ignore[arg-type, misc]


def fits(question: str, *said: tuple[int, ...], now: int = NOW) -> list[float]:
    instants = np.array([moment(*one) for one in said], dtype=np.int64)
    return date_fit(heard(question, now), instants, SHARES).tolist()


@each_row("question", ["rain on 2 May 2023", "2023年5月2号下雨"])
def test_a_named_day_fits_itself_the_week_after_it_and_a_little_its_eve(question: str) -> None:
    said = [(2023, 4, 30, 12), (2023, 5, 1, 12), (2023, 5, 2), (2023, 5, 3), (2023, 5, 9, 23), (2023, 5, 10)]
    assert fits(question, *said) == pytest.approx([0, SHARES.eve, 1, *(SHARES.week * exp(-d / 7) for d in (1, 7)), 0])


@each_row(
    ("question", "said", "value"),
    [
        ("the news of last week", (2023, 6, 7), SHARES.relative), ("上周的消息", (2023, 6, 7), SHARES.relative),
        ("what was in May 2023", (2023, 5, 31), SHARES.month), ("between 3 May and 7 May 2023", (2023, 5, 4), SHARES.month),
        ("between 3 May and 7 May 2023", (2023, 5, 3), 1), ("the week before 16 May 2023", (2023, 5, 10), SHARES.relative),
        ("the week before 16 May 2023", (2023, 5, 16), 1), ("early May 2023", (2023, 5, 2), SHARES.month),
        ("in 2022", (2022, 8, 1), SHARES.relative * 31 / 365), ("去年夏天", (2022, 8, 1), SHARES.relative * 31 / 92),
        ("what I said today", (2023, 6, 15, 1), SHARES.today), ("我今天早上说的", (2023, 6, 15, 1), SHARES.today),
        ("an hour ago", (2023, 6, 15, 9), SHARES.relative), ("tomorrow", (2023, 6, 15), 0),
    ],
)  # fmt: skip
def test_the_vaguer_a_time_is_the_less_it_says_of_a_turn(question: str, said: tuple[int, ...], value: float) -> None:
    assert fits(question, said) == [pytest.approx(value)]


def test_an_open_range_ends_with_the_memories_and_leaves_out_the_time_it_is_told_by() -> None:
    said = [(2023, 4, 1), (2023, 4, 30), (2023, 5, 1), (2023, 5, 2)]
    assert fits("before May 2023", *said) == [SHARES.relative, SHARES.relative, 0, 0]
    assert fits("2023年5月1号之后", *said) == [0, 0, 0, SHARES.relative]


def test_no_instants_fit_nothing() -> None:
    assert fits("last week") == []


@each_row(
    ("zone", "day", "hours"),
    [
        ("UTC", "2023-03-26", 24),
        ("Asia/Shanghai", "2023-03-26", 24),
        ("Europe/Berlin", "2023-03-26", 23),
        ("Europe/Berlin", "2023-10-29", 25),
        ("America/Santiago", "2023-09-03", 23),  # the clocks skip midnight
        ("Australia/Lord_Howe", "2023-04-02", 24.5),
    ],
)
def test_a_day_is_as_long_as_it_is_by_the_owner_s_clocks(zone: str, day: str, hours: float) -> None:
    found = parse_range(day, NOW, zone)
    assert (found.end - found.start) / HOUR == hours


def test_what_is_open_is_told_within_the_owner_s_memories() -> None:
    within = moment(2022, 1, 1), moment(2023, 6, 1) - 1
    (before,) = told(heard("before April 2023"), "Before April 2023", within)
    (after,) = told(heard("after 3 May 2023"), "After 3 May 2023", within)
    assert (before["text"], before["from"]) == ("Before April 2023", "2022-01-01T00:00:00+00:00")
    assert after["to"] == "2023-06-01T00:00:00+00:00"
    (none,) = told(heard("before April 2020"), "before April 2020", within)
    assert none["from"] == none["to"]


@each_row(
    ("text", "start", "end", "kind"),
    [
        ("2023-05-07T10:00:00Z", (2023, 5, 7, 10), (2023, 5, 7, 10), "moment"),
        ("2023-05-07t12:00:00.5+02:00", (2023, 5, 7, 10, 0, 0, 500_000), (2023, 5, 7, 10, 0, 0, 500_000), "moment"),
        ("2023-05-07", (2023, 5, 7), (2023, 5, 8), "day"), ("2023", (2023, 1, 1), (2024, 1, 1), "span"),
        ("05/05/2023", (2023, 5, 5), (2023, 5, 6), "day"), ("25/06/2023", (2023, 6, 25), (2023, 6, 26), "day"),
        (" Last week. ", (2023, 6, 5), (2023, 6, 12), "week"), ("in May", (2023, 5, 1), (2023, 6, 1), "month"),
        ("May 2023", (2023, 5, 1), (2023, 6, 1), "month"), ("5月2号", (2023, 5, 2), (2023, 5, 3), "day"),
        ("在上周三", (2023, 6, 7), (2023, 6, 8), "day"), ("三天前", (2023, 6, 12), (2023, 6, 13), "day"),
        ("since June", (2023, 6, 1), (2023, 6, 16), "span"),
        ("the last 2 hours", (2023, 6, 15, 8), (2023, 6, 15, 10), "moment"),
        ("last night", (2023, 6, 14, 18), (2023, 6, 15, 5), "part"),
    ],
)  # fmt: skip
def test_a_filter_is_an_instant_a_date_or_a_time_in_words(
    text: str, start: tuple[int], end: tuple[int], kind: str
) -> None:
    assert parse_range(text, NOW, "UTC") == (moment(*start), moment(*end), kind)


@each_row("text", ["05/06/2026", "5/6/26", "12/1/2026"])
def test_a_day_that_is_another_one_elsewhere_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="the same everywhere: 2023-05-07"):
        parse_range(text, NOW, "UTC")


@each_row(
    "text",
    [
        "", "soon", "the rain of last week", "last week or today", "2023-02-30", "2023-05-07T10:00:00",
        "2023-05-07T25:00:00Z",
    ],
)  # fmt: skip
def test_what_is_no_time_is_refused_and_the_refusal_says_what_is_allowed(text: str) -> None:
    with pytest.raises(ValueError, match=r"RFC 3339 .* date .* in words, English or Chinese"):
        parse_range(text, NOW, "UTC")


@each_row(
    "piece",
    [
        "1", "12 ", "1/", "1-", "may ", "may to ", "5 may ", "2023-05-07 ", "年月", "5月", "上", "一", "last ", "the ",
        "三天前",
    ],
)  # fmt: skip
def test_a_long_text_of_times_is_read_and_the_first_ones_are_kept(piece: str) -> None:
    text = (piece * 10_000)[:10_000]
    times, rest = times_in(text, NOW, "UTC")
    assert len(times.phrases) <= MOST
    assert len(rest) <= len(text) + len(times.phrases) or times.phrases
    assert date_fit(times, np.array([NOW]), SHARES).max() <= 1


LISTS = st.lists(st.sampled_from(PIECES))
QUESTIONS = st.one_of(st.text(), LISTS.map(" ".join), LISTS.map("".join))
ZONES = st.sampled_from(["UTC", "Asia/Shanghai", "America/St_Johns", "Pacific/Apia", "Africa/Monrovia"])


@given(QUESTIONS, st.datetimes(timezones=st.just(UTC)), ZONES)
@example("two weeks ago and tomorrow, since 9999, before 0001-01-01", datetime(1, 1, 1, tzinfo=UTC), "America/St_Johns")
@example("0100年前年", datetime(2000, 1, 1, tzinfo=UTC), "UTC")
@example("\0年2001/1/1去年", datetime(2000, 1, 1, tzinfo=UTC), "UTC")
@example("the weekend after next, 12 years from now, 下下周", datetime(9999, 12, 31, tzinfo=UTC), "Asia/Shanghai")
def test_any_text_at_any_time_gives_ordered_ranges_in_reading_order_and_fits_from_0_to_1(
    text: str, asked: datetime, zone: str
) -> None:
    folded, now = text.casefold(), micros(asked)
    times, _ = times_in(folded, now, zone)
    ranges = [range_of(phrase.span, now, zone) for phrase in times.phrases]
    assert all(isinstance(one, TimeRange) and one.start <= one.end for one in ranges)
    assert all(one.end <= other.at for one, other in zip(times.phrases, times.phrases[1:], strict=False))
    assert len(told(times, text, (0, now))) == len(times.phrases)
    fit = date_fit(times, np.array([now, 0, moment(9999, 12, 31), moment(1900, 1, 1)]), SHARES)
    assert ((fit >= 0) & (fit <= 1)).all()
