"""How late an event was recorded."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.envelope import lateness
from engramlog_server.events.text import late_words
from tests.rows import each_row

MINUTE = 60_000_000
DAY = 24 * 60 * MINUTE
instants = st.integers(-(2**61), 2**61)


def test_up_to_five_minutes_nothing_is_late_and_a_microsecond_more_is() -> None:
    assert lateness(7, 7 + 5 * MINUTE) is None
    assert lateness(7, 7 + 5 * MINUTE + 1) == 300.000001


def test_what_was_recorded_before_it_occurred_is_not_late() -> None:
    assert lateness(5 * MINUTE, 0) is None


@given(instants, instants)
def test_what_is_told_is_always_more_than_five_minutes(occurred: int, recorded: int) -> None:
    late = lateness(occurred, recorded)
    assert (late is not None) == (recorded - occurred > 5 * MINUTE)
    assert late is None or late >= 300


@each_row(
    ("micros", "words"),
    [
        (5 * MINUTE + 1, "recorded 5 minutes later"),
        (119 * MINUTE, "recorded 119 minutes later"),
        (120 * MINUTE, "recorded 2 hours later"),
        (2 * DAY - 1, "recorded 47 hours later"),
        (263 * DAY, "recorded 263 days later"),
        (40_000 * DAY, "recorded 40,000 days later"),
    ],
)
def test_it_is_said_in_the_largest_unit_of_which_there_are_two(micros: int, words: str) -> None:
    late = lateness(0, micros)
    assert late is not None
    assert late_words(late) == words
