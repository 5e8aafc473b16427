"""Ends of a span as people tell them: a day, a month, a year."""

from __future__ import annotations

import pytest

from engramlog_server.api.checks import span_of
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import InputError
from tests.rows import each_row


@each_row(
    ("told", "first", "last"),
    [
        ("2026", "2026-01-01T00:00:00Z", "2026-12-31T23:59:59.999999Z"),
        ("2026-02", "2026-02-01T00:00:00Z", "2026-02-28T23:59:59.999999Z"),
        ("2026-02-03", "2026-02-03T00:00:00Z", "2026-02-03T23:59:59.999999Z"),
    ],
)
def test_both_ends_count_whole(told: str, first: str, last: str) -> None:
    span = span_of(told, told, "UTC")
    assert span.since is not None
    assert span.until is not None
    assert (utc_text(from_micros(span.since)), utc_text(from_micros(span.until))) == (first, last)


@each_row("told", ["05/06/2026", "2026-13", "1850", "2026-02-30", "26"])
def test_what_is_no_such_time_is_refused(told: str) -> None:
    with pytest.raises(InputError, match=r"^since: got"):
        span_of(told, None, "UTC")
