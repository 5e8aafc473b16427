"""Ranks of a question on two sides: what moved is told one by one, what only made room for it in one line."""

from __future__ import annotations

import io

from rich.console import Console

from engramlog_server.api.cli.show.reports import question_moved
from engramlog_server.projections.reports.comparison import ranks_moved
from tests.rows import each_row

SIX = ["a", "b", "c", "d", "e", "f"]


def told(before: list[str], after: list[str]) -> list[list[str]]:
    console = Console(file=io.StringIO(), width=140, color_system=None)
    moved = ranks_moved(before, after)
    question_moved({"query": "tea", "before": before, "after": after, "moved": moved}, console)
    written = console.file
    assert isinstance(written, io.StringIO)
    return [
        line.split() for line in written.getvalue().splitlines() if line and not line.startswith(("tea", "id", "─"))
    ]


def test_what_a_new_result_pushed_down_is_one_line() -> None:
    assert told(SIX, ["new", *SIX]) == [["new", "-", "1", "-"], ["6", "others", "moved", "by", "1", "place"]]


def test_what_went_is_told_and_what_rose_by_it_is_one_line() -> None:
    assert told(SIX, SIX[1:]) == [["a", "1", "-", "-"], ["5", "others", "moved", "by", "1", "place"]]


def test_a_result_that_passed_others_is_told_and_those_it_passed_are_counted() -> None:
    assert told(SIX, ["e", "a", "b", "c", "d", "f"]) == [
        ["e", "5", "1", "d"], ["4", "others", "moved", "by", "1", "place"]
    ]  # fmt: skip


@each_row("after", [SIX, []])
def test_nothing_is_counted_where_nothing_made_room(after: list[str]) -> None:
    assert not any("others" in line for line in told(SIX, after))
