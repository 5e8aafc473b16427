"""Any answer for people: its figures in lines, its parts under their names, and its lists as tables.

A renderer of its own is worth its lines only if it says more than this: `why`, `context`, `search`, `diff`, `history`, and where a
sentence tells what to do next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from api.cli.app import out
from api.cli.show.tables import Column, Row, tabulate

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
OF_THE_FRAME = frozenset({"behind", "quarantined", "log_gap", "next"})
"""What the command line prints with every answer, and what comes last."""
COUNTED = {"value", "count"}
LONGEST_WORD = 30
"""Characters of a value that is wrapped and never cut if it is longer."""
MOST_FIGURES = 12
"""Of a list of numbers, in a line."""
IDS = frozenset({"id", "memory_id", "owner", "turn_id", "item"})
TEXTS = frozenset(
    {"memory", "text", "content", "reason", "problem", "error", "help", "formula", "withheld", "unknown", "basis"}
)
INSTANTS = ("_at", "at", "since", "until", "_tick", "last_done")


def answer(told: Row, console: Console = out) -> None:
    """Print an answer: what has one value first, then its parts, and its lists as tables."""
    parts = {name: value for name, value in told.items() if not _of_the_frame(name, value)}
    _part(parts, console)
    if all(_is_line(value) for value in parts.values()) and (empty := [one for one in parts if parts[one] == []]):
        console.print(f"[green]{_words(empty[0])}: none[/]")
    if (following := told.get("next")) is not None:
        console.print(Text(f"more: --{'after' if 'owners' in told else 'cursor'} {following}", "dim"), soft_wrap=True)


def _of_the_frame(name: str, value: Any) -> bool:
    return name in OF_THE_FRAME and not isinstance(value, list)


def _part(part: Row, console: Console) -> None:
    lines = {name: value for name, value in part.items() if _is_line(value)}
    _lines(lines, console)
    for name, value in part.items():
        if name in lines:
            continue
        console.print(Text(_words(name), "bold"))
        if isinstance(value, Mapping):
            rows = [{"": key, **row} for key, row in value.items() if isinstance(row, Mapping)]
            _table(rows, console) if len(rows) == len(value) else _part(value, console)
        else:
            _table(value, console)


def _is_line(value: Any) -> bool:
    """Whether a value fits into a line: counts do, and a few single values; a list of objects does not."""
    if _counts(value) is not None:
        return True
    if isinstance(value, Mapping):
        return len(value) < 4 and all(not isinstance(one, Mapping | list) for one in value.values())
    return not isinstance(value, list) or not any(isinstance(one, Mapping) for one in value)


def _counts(value: Any) -> dict[str, int] | None:
    """Counts by name, of a mapping or of a list of values with a count each; None of anything else."""
    if isinstance(value, Mapping) and value.keys() == {"counts", "left_out"}:
        found = _counts(value["counts"])
        return None if found is None else found | {"others": value["left_out"]}
    if isinstance(value, list) and value and all(isinstance(one, Mapping) and one.keys() == COUNTED for one in value):
        return {str(one["value"]): one["count"] for one in value}
    if isinstance(value, Mapping) and value and all(type(one) is int for one in value.values()):
        return dict(value)
    return None


def _lines(values: Row, console: Console) -> None:
    told = {name: told_value(name, value) for name, value in values.items()}
    told = {name: text for name, text in told.items() if text != "-"}
    if not told:
        return
    table = Table(show_header=False, box=None, padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in told.items():
        table.add_row(_words(name), Text(text))
    console.print(table)


def _table(rows: Sequence[Row], console: Console) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    used = [name for name in names if any(row.get(name) not in (None, [], {}, "") for row in rows)]
    tabulate([_column(name, rows, number) for number, name in enumerate(used)], _filled(rows, used), console)


def _filled(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    return [{name: row.get(name) for name in names} for row in rows]


def _column(name: str, rows: Sequence[Row], number: int) -> Column:
    """How a field is shown, by its name and what it holds; a narrow terminal does without what comes after the sixth."""
    values = [row.get(name) for row in rows if row.get(name) is not None]
    figures = bool(values) and all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
    is_text = name in TEXTS or any(len(told_value(name, one)) > LONGEST_WORD for one in values if not figures)
    return Column(
        _words(name),
        name,
        lambda value: told_value(name, value),
        right=figures,
        takes_rest=is_text and name not in IDS,
        if_room=number >= 6 and not is_text,
        is_id=name in IDS,
    )


def told_value(name: str, value: Any) -> str:
    """A value in words: sizes with their unit, instants to the minute, counts with commas, nothing as a dash."""
    if (counts := _counts(value)) is not None:
        return ", ".join(f"{_words(key)} {told_value(key, many)}" for key, many in counts.items() if many) or "-"
    if isinstance(value, Mapping):
        return ", ".join(f"{_words(key)} {told_value(key, one)}" for key, one in value.items()) or "-"
    if isinstance(value, list | tuple):
        return _several(name, value)
    if isinstance(value, str):
        an_instant = name.endswith(INSTANTS) and value[4:5] == "-"
        return f"{value[:16].replace('T', ' ')} UTC" if an_instant else value or "-"
    return "-" if value is None else _figure(name, value)


def _several(name: str, values: Sequence[Any]) -> str:
    if len(values) > MOST_FIGURES and all(isinstance(one, int | float) for one in values):
        return f"{len(values):,} figures"
    mark = "; " if any(isinstance(one, Mapping) for one in values) else ", "
    return mark.join(told_value(name, one) for one in values) or "-"


def _figure(name: str, value: float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("bytes"):
        return size(value)
    if name.endswith("share"):
        return f"{value:.1%}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}" if abs(value) < 1_000 else f"{value:,.0f}"


def size(count: float) -> str:
    """Bytes in a unit that is read at a glance."""
    value, unit = float(count), 0
    while value >= 1_024 and unit < len(UNITS) - 1:
        value, unit = value / 1_024, unit + 1
    return f"{value:,.1f} {UNITS[unit]}" if unit else f"{count:,.0f} bytes"


def _words(name: str) -> str:
    return name.replace("_", " ")
