"""A table on a narrow terminal: what is left out of it is said, and what is shown can be read."""

from __future__ import annotations

import io

from rich.console import Console
from rich.text import Text

from engramlog_server.api.cli.show.tables import Cell, Column, tabulate
from tests.rows import each_row

LONG = "m-01a206a6-8654-74fe-bb89-9179da178cae"
COLUMNS = (
    Column("position"),
    Column("time"),
    Column("event", if_room=True),
    Column("memory", is_id=True),
    Column("decision"),
    Column("by", if_room=True),
    Column("new", right=True),
    Column("delta", right=True),
    Column("reason", takes_rest=True),
)
ROW: dict[str, Cell] = {
    "position": "2:1",
    "time": "2026-11-23 11:48",
    "event": "MemoryCreated",
    "memory": Text(LONG),
    "decision": "create",
    "by": "user",
    "new": "1.1000",
    "delta": "+0.0000",
    "reason": "merged into another one",
}


def told(width: int, rows: list[dict[str, Cell]], columns: tuple[Column, ...] = COLUMNS, terminal: bool = True) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None)
    tabulate(columns, rows, console)
    written = console.file
    assert isinstance(written, io.StringIO)
    return written.getvalue()


@each_row("width", [80, 119])
def test_columns_that_a_narrow_terminal_does_without_are_named_and_how_to_see_them(width: int) -> None:
    assert "not shown: event, by; --json, `| cat` or 120 columns show them" in told(width, [ROW])


@each_row("width", [120, 200])
def test_where_no_column_is_left_out_none_is_named(width: int) -> None:
    assert "not shown" not in told(width, [ROW])
    assert "MemoryCreated" in told(width, [ROW])


@each_row("width", [80, 100, 120, 160])
def test_the_reason_can_be_read_whole_however_long_the_ids_beside_it_are(width: int) -> None:
    twenty = ROW | {"memory": Text("x" * 20)}
    for row in (ROW, twenty):
        lines = told(width, [row]).splitlines()
        begins = lines[0].index("reason")
        shown = " ".join(line[begins:].strip() for line in lines[2:5])
        assert "merged into another one" in shown.replace("  ", " ")


@each_row(("width", "whole"), [(80, False), (120, False), (160, True)])
def test_an_id_is_cut_where_the_table_has_no_place_for_it_and_only_there(width: int, whole: bool) -> None:
    shown = told(width, [ROW])
    assert (LONG in shown, "ids are short" in shown) == (whole, not whole)


def test_chinese_takes_its_two_columns_of_the_terminal() -> None:
    columns = (Column("name"), Column("id", is_id=True), Column("memory", takes_rest=True))
    rows: list[dict[str, Cell]] = [{"name": "茶" * 35, "id": Text(LONG), "memory": "喝茶"}]
    assert "ids are short" in told(120, rows, columns)
    assert "喝茶" in told(120, rows, columns)


@each_row("width", [80, 140])
def test_a_column_of_times_says_that_they_are_utc_and_no_other_does(width: int) -> None:
    columns = (Column("id", is_id=True), Column("happened", is_time=True), Column("session"))
    row: dict[str, Cell] = {"id": Text("m1"), "happened": "2026-03-02 18:00", "session": "s1"}
    assert told(width, [row], columns).splitlines()[0].split() == ["id", "happened", "UTC", "session"]
