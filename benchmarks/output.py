"""Tables for people and JSON for programs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table

Row = dict[str, Any]


def show(tables: Mapping[str, Sequence[Row]], *, as_json: bool) -> None:
    """Print tables by their titles."""
    if as_json:
        sys.stdout.write(orjson.dumps(tables, option=orjson.OPT_INDENT_2).decode() + "\n")
        return
    console = Console(width=None if sys.stdout.isatty() else 200)
    for title, rows in tables.items():
        columns = list(dict.fromkeys(name for row in rows for name in row))
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for name in columns:
            table.add_column(name, justify="right" if _is_number(rows[0].get(name)) else "left")
        for row in rows:
            table.add_row(*(_cell(row.get(name)) for name in columns))
        console.print(table)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) <= 1 else f"{value:,.1f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
