"""What a replay changes, in a table: what the memories say, what nobody named first, and no "today" of the past."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from engramlog_server.api.cli.show.replay import comparison
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
        "questions": [{"query": "tea", "before": ["tea"], "after": [], "moved": [{"id": "tea"}]}],
    } | asked
    console = Console(file=io.StringIO(), width=140, color_system=None)
    comparison(answer, console)  # type: ignore[arg-type]
    written = console.file
    assert isinstance(written, io.StringIO)
    return written.getvalue()


def test_each_memory_tells_what_it_says_and_only_what_differs() -> None:
    lines = told().splitlines()
    (gone,) = [line for line in lines if "I met three friends" in line]
    assert "weight 0.9910, level full, status live, shown yes" in gone
    assert "trust" not in gone
    (changed,) = [line for line in lines if "早上喝龙井茶" in line]
    assert ("weight 0.9910" in changed, "weight 0.5000" in changed, "level" in changed) == (True, True, False)


def test_in_what_memories_differ_is_said_beside_how_many_do() -> None:
    assert told().startswith("2 of lin's memories differ in weight 1; ")
    assert told(changed_fields={}).startswith("2 of lin's memories differ; ")


def test_what_nobody_named_is_told_first_where_not_all_fits() -> None:
    lines = told().splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("position")) + 2
    assert "caused by 5:3" in lines[first]
    assert "and 2 more: --json tells them" in lines


@each_row(("asked", "head"), [({}, "today"), ({"as_of": "2022-05-02"}, "then")])
def test_a_replay_of_the_past_calls_no_column_today(asked: dict[str, str], head: str) -> None:
    heads = [line.split() for line in told(**asked).splitlines() if line.startswith("id ")]
    assert heads == [["id", "memory", head, "replayed"], ["id", head, "replayed"]]


def test_a_figure_that_rounds_to_nothing_has_no_minus() -> None:
    told = [number(value, 4, "+") for value in (-0.00001, 0.00001, -0.5, None)]
    assert told == ["+0.0000", "+0.0000", "-0.5000", "-"]
