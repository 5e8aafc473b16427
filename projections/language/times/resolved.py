"""Relative days in a recorded text, followed by the date that is meant: "tomorrow (2024-03-03)". English and Chinese. Pure."""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache
from re import Match
from zoneinfo import ZoneInfo

from engramlog_server.events.envelope import from_micros
from engramlog_server.projections.language.patterns import regex

MOST_READ = 2_000
"""Characters of a text that are read."""
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_OFFSETS = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "the day after tomorrow": 2,
    "tomorrow": 1,
    "大前天": -3,
    "前天": -2,
    "昨天": -1,
    "昨晚": -1,
    "今天": 0,
    "今晚": 0,
    "今早": 0,
    "明天": 1,
    "明晚": 1,
    "明早": 1,
    "后天": 2,
    "大后天": 3,
}
_ANY = regex(r"day\b|tonight|night|morning|tomorrow|天|晚|早|周|星期|礼拜", 2)
_RELATIVE = regex(
    r"\b(?P<word>the day before yesterday|the day after tomorrow|yesterday|last night|today|tonight|this morning|tomorrow)\b"
    rf"|\b(?P<way>last|this|next) (?P<weekday>{'|'.join(_DAYS)})\b"
    r"|(?P<han>大前天|大后天|前天|昨天|昨晚|今天|今晚|今早|明天|明晚|明早|后天)(?!早已|今日)"
    r"|(?P<week>上个?|这个?|本|下个?)(?:周|星期|礼拜)(?P<number>[一二三四五六日天])",
    2,
)


@lru_cache(maxsize=1 << 14)
def dated(text: str, said_at: int, zone: str) -> str:
    """The text with the date after each relative day; `said_at` in microseconds, the day in the time zone.

    "Next" and "last" are the nearest such day. Dates that are written out already stay as they are.
    """
    if len(text) > MOST_READ or _ANY.search(text) is None:
        return text
    try:
        said = from_micros(said_at).astimezone(ZoneInfo(zone)).date()
    except OverflowError:  # at the ends of the calendar
        return text

    def with_date(found: Match[str]) -> str:
        if text[found.end() :].lstrip()[:1] in ("(", "（"):
            return found[0]
        try:
            day = said + timedelta(days=_offset(found, said))
        except OverflowError:
            return found[0]
        return f"{found[0]}（{day}）" if found["han"] or found["week"] else f"{found[0]} ({day})"

    return _RELATIVE.sub(with_date, text)


def _offset(found: Match[str], said: date) -> int:
    """Days from the day it was said to the day that is meant."""
    word = found["word"] or found["han"]
    if word:
        return _OFFSETS[word.lower()]
    if found["week"]:
        weeks = {"上": -1, "这": 0, "本": 0, "下": 1}[found["week"][0]]
        return 7 * weeks + "一二三四五六日".find(found["number"].replace("天", "日")) - said.weekday()
    ahead = (_DAYS.index(found["weekday"].lower()) - said.weekday() - 1) % 7 + 1
    return {"last": ahead - 7 if ahead < 7 else -7, "next": ahead}.get(found["way"].lower(), ahead % 7)
