"""Time lines on a terminal: as wide as there is room, a mark wherever anything happened, plain letters where it takes no others."""

from __future__ import annotations

import io
from typing import Any

from api.cli.show.events import fitting, lines, picture
from api.cli.show.visible import Terminal
from tests.rows import each_row

COUNTS = [0, 1, 40, 0, 1_000, 0]
LINE = {
    "since": "2023-05-08T13:56:00Z",
    "until": "2026-11-22T09:30:00Z",
    "seconds": 1.0,
    "events": 1_041,
    "counts": COUNTS,
    "groups": None,
}


def drawn(width: int = 100, **more: Any) -> list[str]:
    answer = {
        "events": 1_041,
        "late": 1_000,
        "happened": {"first": None, "last": None, "ahead": None},
        "recorded": {"first": None, "last": None, "untold": 0},
        "buckets": {"count": 6, "happened": LINE, "recorded": LINE | {"since": None, "until": None, "events": 0}},
        "hint": None,
        "as_of": None,
        "known": None,
        "position": "5:30",
    } | more
    written = io.StringIO()
    lines(answer, Terminal(file=written, width=width, color_system=None))  # type: ignore[arg-type]
    return written.getvalue().splitlines()


def test_both_lines_have_their_ends_and_one_picture_each() -> None:
    assert drawn() == [
        "1,041 events, 1,000 of them late, position 5:30",
        "happened  2023-05-08 13:56 to 2026-11-22 09:30 UTC, 1,041 events",
        "           ▁▁ █",
        "recorded  nothing",
    ]


@each_row("width", [1, 11, 12, 20, 40, 200])
def test_no_picture_is_wider_than_the_terminal_and_none_loses_an_event(width: int) -> None:
    counts = list(range(500))
    columns = fitting(counts, width)
    assert len(columns) <= width
    assert sum(columns) == sum(counts)


def test_a_part_with_anything_shows_a_mark_and_one_with_nothing_none() -> None:
    assert picture([1, 0, 10_000], ascii_only=False) == "▁ █"
    assert picture([1, 0, 10_000, 0], ascii_only=True) == ". @"
    assert picture([0, 0], ascii_only=False) == picture([], ascii_only=False) == ""
    assert picture([1, 2, 3, 4, 5, 6, 7, 8], ascii_only=False) == "▁▂▃▄▅▆▇█"


def test_what_is_beside_the_lines_is_told() -> None:
    groups = {
        "made": [1, 0, 3, 0, 0, 0],
        "changed": [0] * 6,
        "ended": [0] * 6,
        "seen": [1_037] + [0] * 5,
        "talk": [0] * 6,
    }
    told = drawn(
        happened={"first": None, "last": None, "ahead": "2026-11-22T09:35:00Z"},
        recorded={"first": None, "last": None},
        buckets={"count": 6, "happened": LINE | {"groups": groups}, "recorded": LINE},
        hint="nothing of it is recorded",
    )
    assert "          made 4, seen 1,037" in told
    assert "the last one lies ahead: 2026-11-22 09:35 UTC" in told
    assert told[-1] == "nothing of it is recorded"
