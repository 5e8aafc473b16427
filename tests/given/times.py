"""Time expressions as read on Thursday 15 June 2023, ten in the morning, for tests. No store."""

from __future__ import annotations

from datetime import UTC, datetime

from engramlog_server.events.envelope import micros
from engramlog_server.projections.ranking.search_request import QuestionTimes, times_in, told

NOW = micros(datetime(2023, 6, 15, 10, tzinfo=UTC))


def heard(text: str, now: int = NOW, zone: str = "UTC") -> QuestionTimes:
    """The times of a text."""
    return times_in(text.casefold(), now, zone)[0]


def read(text: str, now: int = NOW) -> list[tuple[str, str, str]]:
    """Words, from and to of every time told of a text in UTC; midnight and zone left out, `*` for an open end."""
    lines = told(heard(text, now), text)
    return [(line["text"], _short(line["from"]), _short(line["to"])) for line in lines]


def table(text: str) -> list[tuple[str, str, str, str]]:
    """Rows of `phrase | words | from | to`; words `=`: the whole phrase."""
    rows = [tuple(cell.strip() for cell in line.split("|")) for line in text.strip().splitlines()]
    return [(phrase, phrase if words == "=" else words, start, end) for phrase, words, start, end in rows]


def _short(instant: str) -> str:
    text = instant.removesuffix("+00:00").removesuffix("T00:00:00").removesuffix(":00")
    return "*" if text.startswith(("0001-01-01", "9999-12-31")) else text
