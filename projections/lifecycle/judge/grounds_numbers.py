"""Numbers and dates of a content that somebody said, or that follow from the day on which it was said. Pure.

"Three" is 3 and 三; "yesterday" is a date, "five years ago" a year. What follows from nothing that was said, nobody said.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import date

from engramlog_server.projections.language.contradiction.numbers import NUMBER_CHINESE, NUMBER_ENGLISH, value_of
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.names import MONTH, month_number

NEAR_DAYS = 400
"""Days around that of a turn within which a date may be what "last year" or "next month" means."""
_MONTH = rf"(?P<month>{MONTH})\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DATES = tuple(
    regex(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\d){_YEAR}-(?P<m>\d\d)-(?P<day>\d\d)(?!\d)",
        rf"(?<!\d){_YEAR}年(?P<m>\d{{1,2}})月(?:(?P<day>\d{{1,2}})[日号])?",
        r"(?<!\d)(?P<m>\d{1,2})月(?P<day>\d{1,2})[日号]",
        rf"\b{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,? {_YEAR})?\b",
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? {_YEAR})?\b",
        rf"\b{_MONTH},? {_YEAR}\b",
    )
)
_WRITTEN = regex(r"\d+(?:[.,:]\d+)*")
_IN_WORDS = regex(rf"(?<![a-z\d.,:]){NUMBER_ENGLISH}(?![a-z\d])")
_IN_HAN = regex(NUMBER_CHINESE)


def unsaid_number(content: str, heard: str, day: str | None) -> str | None:
    """A number of the content that nobody said, as it stands there; None if there is none.

    `day`, YYYY-MM-DD, is that on which the turn was said: dates near it, and years that follow from it, need not be said.
    """
    told, said = without_dates(content, day).casefold(), _folded(heard)
    spoken = date.fromisoformat(day) if day else None
    written, values = set(_WRITTEN.findall(said)), set(_values(said))
    if spoken is not None:
        values |= {float(spoken.year + off) for off in (-1, 0, 1)}
        values |= {float(spoken.year - value) for value in values if value < 100 and value.is_integer()}
    for number in _WRITTEN.findall(told):
        if number not in written and _value(number) not in values:
            return str(number)
    for pattern in (_IN_WORDS, _IN_HAN):
        for found in pattern.finditer(told):
            value = value_of(found[0])
            if value is not None and value > 1 and value not in values and found[0] not in said:
                return found[0]
    return None


def without_dates(content: str, day: str | None) -> str:
    """A content without the dates that are near the day, YYYY-MM-DD, on which it was said."""
    told = unicodedata.normalize("NFKC", content)
    if day is None:
        return told
    spoken = date.fromisoformat(day)

    def kept(found: re.Match[str]) -> str:
        parts = found.groupdict()
        month = int(parts["m"]) if parts.get("m") else _month(parts.get("month"))
        try:
            named = date(int(parts.get("year") or spoken.year), month, int(parts.get("day") or 1))
        except ValueError:
            return str(found[0])
        return " " if abs((named - spoken).days) <= NEAR_DAYS else str(found[0])

    for pattern in _DATES:
        told = pattern.sub(kept, told)
    return told


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _value(written: str) -> float | None:
    digits = written.replace(",", "")
    return None if digits.count(".") > 1 or ":" in digits else float(digits)


def _values(said: str) -> Iterator[float]:
    """What is said in digits or in words, as numbers."""
    for number in _WRITTEN.findall(said):
        value = _value(number)
        if value is not None:
            yield value
    for pattern in (_IN_WORDS, _IN_HAN):
        for found in pattern.finditer(said):
            value = value_of(found[0])
            if value is not None:
                yield value


def _month(name: str | None) -> int:
    return month_number(name.lower()) if name else 0
