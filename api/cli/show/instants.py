"""Weights and ranks at many instants, for people: a line of blocks for each memory, and where it stood first and last."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from api.cli.app import out
from api.cli.show.memories import plain
from api.cli.show.tables import Cell, Column, tabulate
from projections.shapes import InstantsRow, InstantsTold

BLOCKS = "▁▂▃▄▅▆▇█"
COLUMNS = 30
"""Of a line of blocks."""


def instants(answer: InstantsTold, console: Console = out) -> None:
    """All of an answer that people read."""
    times, rows = answer["instants"], answer["rows"]
    laws = ", ".join(answer["laws"])
    console.print(f"[dim]{times[0]} to {times[-1]}, {len(times)} instants, line {answer['line']}, by {laws}[/]")
    most = max((weight for row in rows for weight in row["weights"] if weight is not None), default=0.0)
    columns = [
        Column("id", is_id=True),
        Column("weight"),
        Column("first", right=True),
        Column("last", right=True),
        Column("rank", right=True),
        Column("text", takes_rest=True),
    ]
    tabulate(columns, [_cells(row, most, answer["reasons"]) for row in rows], console)
    if answer["unknown"]:
        console.print(Text(f"unknown: {', '.join(map(plain, answer['unknown']))}", "yellow"))
    marks, left = len(answer["marks"]), answer["marks_left_out"]
    console.print(f"[dim]{marks + left:,} events name these memories in that time[/]")


def _cells(row: InstantsRow, most: float, reasons: Sequence[str]) -> dict[str, Cell]:
    weights = [one for one in row["weights"] if one is not None]
    first, last = (f"{weights[0]:.3f}", f"{weights[-1]:.3f}") if weights else ("", "")
    return {
        "id": row["id"],
        "weight": blocks(row["weights"], most),
        "first": first,
        "last": last,
        "rank": _ranks(row, reasons),
        "text": Text(plain(row["text"])),
    }


def _ranks(row: InstantsRow, reasons: Sequence[str]) -> str:
    """Its rank at the first instant at which it has one, and at the last instant; or why it has none there."""
    first = next((one for one in row["ranks"] if one is not None), None)
    last, why = row["ranks"][-1], row["withheld"][-1]
    ends = reasons[why] if why is not None else "-" if last is None else str(last)
    return f"{'-' if first is None else first} → {ends}"


def blocks(weights: Sequence[float | None], most: float, columns: int = COLUMNS) -> str:
    """A line of so many columns at most; of each the last weight in it, blank where there is none. `most`: a full block."""
    many = min(columns, len(weights))
    found = [weights[(number + 1) * len(weights) // many - 1] for number in range(many)]
    return "".join(" " if one is None else BLOCKS[_height(one, most)] for one in found)


def _height(weight: float, most: float) -> int:
    return 0 if most <= 0 else min(len(BLOCKS) - 1, max(0, int(weight / most * len(BLOCKS))))
