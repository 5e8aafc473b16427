"""Any answer as lines, parts and tables."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from engramlog_server.api.cli.show.generic import MOST_ROWS, answer, value_text
from tests.rows import each_row


def told(given: dict[str, Any], width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    answer(given, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@each_row(
    "name, value, shown",
    [
        ("used_bytes", 1_536, "1.5 KiB"),
        ("used_share", 0.256, "25.6%"),
        ("recorded_at", "2026-01-05T08:00:30Z", "2026-01-05 08:00 UTC"),
        ("reason", "2026 was a good year", "2026 was a good year"),
        ("events", 12_345, "12,345"),
        ("weight", 1.23456, "1.235"),
        ("loaded", False, "no"),
        ("host", None, "-"),
        ("tags", ["a", "b"], "a, b"),
        ("by_level", {"full": 5, "trace": 0}, "full 5"),
        (
            "by_kind",
            {"counts": [{"value": "fact", "count": 3}, {"value": "note", "count": 0}], "left_out": 2},
            "fact 3, others 2",
        ),
        ("counts", list(range(120)), "120 figures"),
    ],
)
def test_a_value_is_told_by_its_name_and_kind(name: str, value: Any, shown: str) -> None:
    assert value_text(name, value) == shown


def test_values_come_first_then_parts_then_tables() -> None:
    given = {
        "owners": [{"owner": "ada", "memories": 3}, {"owner": "bo", "memories": 1_000}],
        "room": {"used_bytes": 10, "max_bytes": None, "node": "a", "unknown": "the log is too young"},
        "events": 7,
        "next": "bo",
    }
    places = [told(given).index(one) for one in ("events", "owners", "1,000", "room", "too young", "--after bo")]
    assert places == sorted(places)


def test_an_answer_of_nothing_says_what_there_is_none_of() -> None:
    assert "quarantined: none" in told({"quarantined": []})
    assert "owners: none" in told({"owners": [], "matching": 0, "next": None})


def test_what_does_not_fit_80_columns_is_left_out_and_named() -> None:
    row = {f"field_{number}": "x" * 8 for number in range(12)}
    lines = told({"rows": [row]}).splitlines()
    assert max(map(len, lines[:-1])) <= 80
    assert "not shown: field 6" in " ".join(lines)


def test_of_many_rows_the_first_are_shown_and_the_rest_counted() -> None:
    assert "and 50 more; --json has all" in told({"rows": [{"n": number} for number in range(MOST_ROWS + 50)]})


def test_memories_of_a_row_are_told_by_id_trust_and_words() -> None:
    evidence = [{"id": "kiln", "memory": "fires at 1240", "trust": "inferred", "level": "full"}]
    assert value_text("evidence", evidence) == "kiln (inferred): fires at 1240"


def test_a_page_is_counted_above_its_table_and_not_named_again() -> None:
    lines = told({"owner": "ada", "facts": [{"subject": "a"}], "total": 5, "offset": 2, "position": "1:1"}).splitlines()
    assert (lines[0], "facts" in "".join(lines[1:])) == ("3 of 5 facts, ada, position 1:1", False)


def test_withheld_memories_are_told_by_reason_or_by_id() -> None:
    by_reason = [{"reason": "sensitive", "shown_by": "get --reveal", "count": 2}]
    assert "withheld: 2 sensitive (shown by get --reveal)" in told({"withheld": by_reason, "position": "1:1"})
    assert "withheld: coffee" in told({"withheld": ["coffee"], "position": "1:1"})


def test_two_sides_are_one_table_and_a_change_is_plain() -> None:
    rows = told({"before": {"weight": 1.0}, "after": {"weight": 2.0}, "position": "1:1"}).splitlines()
    assert [row.split() for row in rows if "weight" in row] == [["weight", "1", "2"]]
