"""Tables that stay readable: no frames, ids whole where there is room, and fewer columns on a narrow terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from api.cli.app import out

UNBROKEN = 40
"""Ids up to this long are never broken over lines where there is room; a generated one has 38 characters."""
ROOM = 120
"""Columns from which there is."""
Cell = str | Text
"""A `str` may hold markup of ours; what somebody said is `Text`, whose brackets are no markup."""


class Column(NamedTuple):
    """A column: `right` for figures, `takes_rest` for texts, `if_room` where a narrow terminal does without it."""

    name: str
    style: str = ""
    right: bool = False
    takes_rest: bool = False
    if_room: bool = False
    is_id: bool = False


def grid() -> Table:
    """An empty table in the one style: no frame, so that rows can be cut and copied."""
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))


def id_column(table: Table, ids: Iterable[str], name: str = "id", console: Console = out) -> None:
    """A column of ids that can be copied whole."""
    most = UNBROKEN if has_room(console) else UNBROKEN // 3
    table.add_column(name, style="cyan", overflow="fold", no_wrap=all(len(one) <= most for one in ids), min_width=4)


def has_room(console: Console = out) -> bool:
    """Whether every column has its place."""
    return console.width >= ROOM


def tabulate(columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]], console: Console = out) -> None:
    """Print rows, each a cell by the name of its column."""
    table = grid()
    kept = [column for column in columns if has_room(console) or not column.if_room]
    for column in kept:
        if column.is_id:
            id_column(table, [str(row[column.name]) for row in rows], column.name, console)
        elif column.takes_rest:
            table.add_column(column.name, ratio=1, min_width=16, overflow="fold")
        else:
            justify = "right" if column.right else "left"
            table.add_column(column.name, style=column.style, no_wrap=True, justify=justify)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(row[column.name] for column in kept))
    console.print(table)
