"""English names of months and weekdays."""

from __future__ import annotations

import re

import pytest

from engramlog_server.projections.language.times.calendar import MONTH, MONTHS, SHORT_MONTHS, month_number
from engramlog_server.projections.lifecycle.judge.corrections import unsaid_number
from tests.rows import each_row


@each_row("written", [*MONTHS, *SHORT_MONTHS])
def test_a_name_is_read_whole_and_gives_its_number(written: str) -> None:
    assert re.match(MONTH, f"{written} 5")[0] == written  # type: ignore[index]
    assert MONTHS[month_number(written) - 1].startswith(written)


@each_row("written", ["monday", "", "ja"])
def test_another_word_has_no_number(written: str) -> None:
    with pytest.raises(ValueError, match="is not in list"):
        month_number(written)


@each_row("written", ["5 May 2023", "May 5", "Sept 5, 2023", "2023-05-05", "5月5日"])
def test_a_date_near_the_day_need_not_be_said_in_either_language(written: str) -> None:
    assert unsaid_number(f"User moved on {written}", "I moved yesterday", "2023-05-06") is None


@each_row("written", ["5 May 2021", "May 5, 2021", "2021年5月5日"])
def test_a_date_far_from_the_day_must_be_said(written: str) -> None:
    assert unsaid_number(f"User moved on {written}", "I moved yesterday", "2023-05-06") is not None
