"""What a replay changes, in a table: what the memories say, what nobody named first, and no "today" of the past."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from engramlog_server.api.cli.show.generic import answer as printed
from engramlog_server.api.cli.show.tables import number
from tests.rows import each_row

STANDING = {
    "weight": 0.9909681,
    "level": "full",
    "status": "live",
    "trust": "imported",
    "is_negated": False,
    "mention_count": 1,
    "shown": True,
    "reason": None,
}
GONE = {"id": "D6:1", "memory": "I met three friends", "today": STANDING, "replayed": None, "fields": []}
CHANGED = {
    "id": "tea",
    "memory": "早上喝龙井茶",
    "today": STANDING,
    "replayed": STANDING | {"weight": 0.5},
    "fields": [],
}


def struck(position: str, because: str, of: str) -> dict[str, Any]:
    return {
        "position": position,
        "event_id": "",
        "event": "MemoryCreated",
        "memory": "D6:1",
        "because": because,
        "of": of,
    }


def told(**asked: Any) -> str:
    answer = {
        "owner": "lin",
        "mode": "review",
        "position": "5:30",
        "profile": None,
        "as_of": None,
        "known": None,
        "at": None,
        "events": {"today": 30, "replayed": 8},
        "differences": [GONE, CHANGED],
        "changed_fields": {"weight": 1},
        "total": 2,
        "offset": 0,
        "struck": [*(struck(f"5:{n}", "named", "s6") for n in range(21)), struck("5:29", "caused", "5:3")],
        "struck_total": 22,
        "struck_because": {"named": 21, "caused": 1},
        "stays": [],
        "stays_total": 0,
        "without_effect": [],
        "in_its_light": [],
        "questions": [
            {
                "query": "tea",
                "before": ["tea"],
                "after": [],
                "moved": [{"id": "tea", "before": 1, "after": None, "passed": None}],
            }
        ],
    } | asked
    console = Console(file=io.StringIO(), width=140, color_system=None)
    printed(answer, console)
    written = console.file
    assert isinstance(written, io.StringIO)
    return written.getvalue()


def test_each_memory_tells_what_it_says_and_how_it_stands_on_both_sides() -> None:
    lines = told().splitlines()
    (gone,) = [line for line in lines if "I met three friends" in line]
    assert "0.991 full live shown" in gone
    assert "not there" in gone
    (changed,) = [line for line in lines if "早上喝龙井茶" in line]
    assert ("0.991" in changed, "0.500" in changed) == (True, True)


def test_in_what_memories_differ_is_said_beside_how_many_do() -> None:
    said = " ".join(told().split())
    assert said.startswith("2 differences, lin, review mode")
    assert "changed fields weight 1" in said
    assert "struck because named 21, caused 1" in said


def test_where_all_that_differs_is_gone_it_says_so() -> None:
    (line,) = [line for line in told(differences=[GONE], total=1).splitlines() if "I met three friends" in line]
    assert "not there" in line


@each_row(("asked", "head"), [({}, "today"), ({"as_of": "2022-05-02"}, "then")])
def test_a_replay_of_the_past_calls_no_column_today(asked: dict[str, str], head: str) -> None:
    heads = [line.split() for line in told(**asked).splitlines() if line.startswith("id ")]
    assert heads == [["id", "memory", head, "replayed"], ["id", "before", "after", "passed"]]


def test_a_figure_that_rounds_to_nothing_has_no_minus() -> None:
    told = [number(value, 4, "+") for value in (-0.00001, 0.00001, -0.5, None)]
    assert told == ["+0.0000", "+0.0000", "-0.5000", "-"]
