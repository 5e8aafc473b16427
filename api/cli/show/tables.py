"""Tables that stay readable: no frames, ids whole where there is room, and fewer columns on a narrow terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from api.cli.app import CUT, out

UNBROKEN = 40
"""Ids up to this long are never broken over lines where there is room; a generated one has 38 characters."""
LEAST_REST = 16
"""Columns that a text has at least."""
LONG_ID = 20
"""Ids longer than this are cut where there is no room."""
LEAST_SHOWN = 12
"""Characters of an id that are shown at least."""
ROOM = 120
"""Columns from which there is."""
Cell = str | Text
"""A `str` may hold markup of ours; what somebody said is `Text`, whose brackets are no markup."""


class Column(NamedTuple):
    """A column: `right` for figures, `takes_rest` for texts, `if_room` where a narrow terminal does without it,
    `is_time` for instants, which are UTC."""

    name: str
    style: str = ""
    right: bool = False
    takes_rest: bool = False
    if_room: bool = False
    is_id: bool = False
    is_time: bool = False

    @property
    def heading(self) -> str:
        """What stands above it. Times are told by one clock, whatever the owner's: days asked for go by his."""
        return f"{self.name} UTC" if self.is_time else self.name


def grid() -> Table:
    """An empty table in the one style: no frame, so that rows can be cut and copied."""
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))


def id_column(table: Table, ids: Iterable[str], name: str = "id", console: Console = out) -> None:
    """A column of ids that can be copied whole."""
    most = UNBROKEN if has_room(console) else UNBROKEN // 3
    table.add_column(name, style="cyan", overflow="fold", no_wrap=all(len(one) <= most for one in ids), min_width=4)


def shortened_ids(ids: Iterable[str]) -> dict[str, str]:
    """How ids that are too long for a narrow table are shown there: so much of each that no two look alike."""
    every = sorted(set(ids))
    shown = {}
    for number, one in enumerate(every):
        beside = every[max(number - 1, 0) : number] + every[number + 1 : number + 2]
        alike = max((_alike(one, other) for other in beside), default=0)
        kept = max(LEAST_SHOWN, alike + 1)
        if len(one) > LONG_ID and kept + 1 < len(one):
            shown[one] = one[:kept] + CUT
    return shown


def _alike(one: str, other: str) -> int:
    """Characters that two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))


def has_room(console: Console = out) -> bool:
    """Whether every column has its place."""
    return console.width >= ROOM


def _width(columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]], cut: Mapping[str, Mapping[str, str]]) -> int:
    """Columns that a table takes at least where no id is broken over lines."""
    widths = []
    for column in columns:
        cells = (cut.get(column.name, {}).get(str(row[column.name]), row[column.name]) for row in rows)
        texts = (Text.from_markup(one) if isinstance(one, str) else one for one in cells)
        lengths = (line.cell_len for text in texts for line in text.split(allow_blank=True))
        widths.append(LEAST_REST if column.takes_rest else max(lengths, default=0))
    return sum(max(width, len(column.heading)) for width, column in zip(widths, columns, strict=True)) + 2 * len(
        columns
    )


def tabulate(columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]], console: Console = out) -> None:
    """Print rows, each a cell by the name of its column."""
    table = grid()
    kept = [column for column in columns if has_room(console) or not column.if_room]
    ids = {column.name: [str(row[column.name]) for row in rows] for column in kept if column.is_id}
    fits = has_room(console) and (not console.is_terminal or _width(kept, rows, {}) <= console.width)
    cut = {} if fits else {name: shortened_ids(every) for name, every in ids.items()}
    whole = _width(kept, rows, cut) <= console.width
    for column in kept:
        if column.is_id:
            table.add_column(column.name, style="cyan", overflow="fold", no_wrap=whole, min_width=4)
        elif column.takes_rest:
            table.add_column(column.name, ratio=1, min_width=LEAST_REST, overflow="fold")
        else:
            justify = "right" if column.right else "left"
            table.add_column(column.heading, style=column.style, no_wrap=True, justify=justify)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(cut.get(column.name, {}).get(str(row[column.name]), row[column.name]) for column in kept))
    console.print(table)
    if any(cut.values()):
        console.print(
            f"[dim]{CUT} ends what is cut: whole with --json or `| cat`, and TAB completes it[/]", soft_wrap=True
        )
    if rows and (left := ", ".join(column.name for column in columns if column not in kept)):
        console.print(f"[dim]not shown: {left}; --json, `| cat` or {ROOM} columns show them[/]", soft_wrap=True)
