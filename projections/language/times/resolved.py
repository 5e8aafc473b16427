"""Relative days in a recorded text, followed by the date that is meant: "tomorrow (2024-03-03)". English and Chinese. Pure."""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import lru_cache
from re import Match
from zoneinfo import ZoneInfo

from engramlog_server.events.envelope import from_micros
from engramlog_server.projections.language.lexicon import either
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.names import WEEKDAY, WEEKDAYS

MOST_READ = 2_000
"""Characters of a text that are read."""
_OFFSETS = {
    **dict.fromkeys(("today", "tonight", "this morning", "今天", "今晚", "今早"), 0),
    **dict.fromkeys(("yesterday", "last night", "昨天", "昨晚"), -1),
    **dict.fromkeys(("tomorrow", "明天", "明晚", "明早"), 1),
    **dict.fromkeys(("the day before yesterday", "前天"), -2),
    **dict.fromkeys(("the day after tomorrow", "后天"), 2),
    "大前天": -3,
    "大后天": 3,
}
"""Days from the day on which it was said."""
_ANY = regex(r"day\b|tonight|night|morning|tomorrow|天|晚|早|周|星期|礼拜", re.IGNORECASE)
_RELATIVE = regex(
    rf"\b(?P<word>{either(word for word in _OFFSETS if word.isascii())})\b"
    rf"|\b(?P<way>last|this|next) (?P<weekday>{WEEKDAY})\b"
    rf"|(?P<han>{either(word for word in _OFFSETS if not word.isascii())})(?!早已|今日)"
    r"|(?P<week>上个?|这个?|本|下个?)(?:周|星期|礼拜)(?P<number>[一二三四五六日天])",
    re.IGNORECASE,
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
    ahead = (WEEKDAYS.index(found["weekday"].lower()) - said.weekday() - 1) % 7 + 1
    return {"last": ahead - 7 if ahead < 7 else -7, "next": ahead}.get(found["way"].lower(), ahead % 7)
