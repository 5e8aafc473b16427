"""Tables that stay readable: no frames, ids whole where there is room, and fewer columns on a narrow terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from engramlog_server.api.cli.app import CUT, out

LEAST_REST = 16
"""Columns that a text has at least."""
LONG_ID = 20
"""Ids longer than this are cut where there is no room."""
LEAST_SHOWN = 12
"""Characters of an id that are shown at least."""
HANDLED = frozenset(
    {"id", "memory", "item", "turn", "from", "to", "of", "into", "memory id", "turn id", "ids", "other"}
)
"""Columns of ids that have handles; every command takes a handle in the place of such an id."""
ROOM = 120
"""Columns from which there is."""
Cell = str | Text
"""A `str` may hold markup of ours; what somebody said is `Text`, whose brackets are no markup."""
Row = Mapping[str, Any]
SHOWN_TEXT = 400
"""Characters of a memory shown in a table."""


class Column(NamedTuple):
    """A column of a table, and what of a row it shows."""

    name: str
    field: str | None = None
    """Its name in a row, as a path with dots; the column's own name if None."""
    show: Callable[[Any], Cell | None] | None = None
    """Makes the cell of the value; by its type if None."""
    style: str = ""
    right: bool = False
    """For figures."""
    takes_rest: bool = False
    """For texts."""
    if_room: bool = False
    """A narrow terminal does without it."""
    is_id: bool = False
    is_time: bool = False
    """For instants, which are UTC."""

    @property
    def heading(self) -> str:
        """What stands above it. Times are told by one clock, whatever the owner's: days asked for go by his."""
        return f"{self.name} UTC" if self.is_time else self.name

    def cell(self, row: Row, console: Console) -> Cell:
        """What it shows of a row: `-` for nothing."""
        value: Any = row
        for name in (self.field or self.name).split("."):
            value = None if value is None else value[name]
        if self.show is not None:
            value = self.show(value)
        if value is None or value in ([], {}):
            return "-"
        if isinstance(value, Text):
            return value
        if value == "":
            return ""
        if self.is_time:
            return when(value, console)
        if self.takes_rest:
            return shortened(plain(value))
        return Text(plain(value))


def ident(name: str = "id", field: str | None = None) -> Column:
    """A column of ids."""
    return Column(name, field, is_id=True)


def words(name: str, field: str | None = None, show: Callable[[Any], Cell | None] | None = None) -> Column:
    """A column of texts, which take the room that is left."""
    return Column(name, field, show, takes_rest=True)


def figure(
    name: str,
    field: str | None = None,
    show: Callable[[Any], Cell | None] | None = None,
    *,
    places: int | None = None,
    style: str = "",
    if_room: bool = False,
) -> Column:
    """A column of figures; `places` after the point."""
    if places is not None:
        show = partial(number, places=places)
    return Column(name, field, show, style, right=True, if_room=if_room)


def instant(name: str, field: str | None = None, *, if_room: bool = False) -> Column:
    """A column of instants."""
    return Column(name, field, style="dim", if_room=if_room, is_time=True)


def number(value: float | None, places: int = 4, sign: str = "") -> str:
    """A figure, or a dash; what rounds to nothing has no minus. `sign`: `+` for a difference."""
    return "-" if value is None else f"{round(value, places) + 0.0:{sign}.{places}f}"


def when(at: str | None, console: Console = out) -> str:
    """An instant to the minute, or only its day where there is no room; or a dash. For a column that says that it is UTC."""
    return "-" if at is None else at[: 16 if has_room(console) else 10].replace("T", " ")


def shortened(text: str) -> Text:
    """A text as a table shows it."""
    return Text(text if len(text) <= SHOWN_TEXT else text[:SHOWN_TEXT] + "…")


def plain(value: Any) -> str:
    """A value of an answer in words: lists with commas, mappings as name and value, nothing as a dash."""
    if value is None or value in ([], {}, ""):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {plain(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ("; " if any(isinstance(item, Mapping) for item in value) else ", ").join(plain(item) for item in value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def grid() -> Table:
    """An empty table in the one style: no frame, so that rows can be cut and copied."""
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))


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


def handles_of(ids: Iterable[str]) -> dict[str, str]:
    """The handles of ids that are too long for a narrow table; an id whose handle another one shares stays whole."""
    from engramlog_server.projections.memory.record import handle_of

    handles = {one: handle_of(one) for one in set(ids) if len(one) > LONG_ID}
    many = Counter(handles.values())
    return {one: handle for one, handle in handles.items() if many[handle] == 1}


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


def tabulate(columns: Sequence[Column], found: Sequence[Row], console: Console = out) -> None:
    """Print the rows of an answer, if there are any."""
    table = grid()
    kept = [column for column in columns if has_room(console) or not column.if_room]
    rows = [{column.name: column.cell(row, console) for column in kept} for row in found]
    ids = {column.name: [str(row[column.name]) for row in rows] for column in kept if column.is_id}
    fits = has_room(console) and (not console.is_terminal or _width(kept, rows, {}) <= console.width)
    cut = {} if fits else {name: (handles_of if name in HANDLED else shortened_ids)(ids[name]) for name in ids}
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
    if any(cut[name] for name in cut if name not in HANDLED):
        console.print(f"[dim]{CUT} ends what is cut; --json and `| cat` show it whole[/]", soft_wrap=True)
    if any(cut[name] for name in cut if name in HANDLED):
        console.print(
            "[dim]ids are short: any command takes them; --json and `| cat` show them whole[/]", soft_wrap=True
        )
    if rows and (left := ", ".join(column.name for column in columns if column not in kept)):
        console.print(f"[dim]not shown: {left}; --json, `| cat` or {ROOM} columns show them[/]", soft_wrap=True)
