"""Every law by which memories can be weighed, as tables."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from api.cli.app import out
from api.cli.show.tables import Cell, Column, tabulate


def laws(answer: dict[str, Any], console: Console = out) -> None:
    """Every law, then the factors of each."""
    columns = (
        Column("law", "bold cyan"),
        Column("formula", takes_rest=True),
        Column("normal", right=True),
        Column("review", right=True),
        Column("source", "dim", if_room=True),
    )
    rows: list[dict[str, Cell]] = [
        {
            "law": law["name"],
            "formula": Text(law["formula"]),
            "normal": f"{law['thresholds']['normal']:g}",
            "review": f"{law['thresholds']['review']:g}",
            "source": law["source"],
        }
        for law in answer["laws"]
    ]
    tabulate(columns, rows, console)
    console.print()
    factors: list[dict[str, Cell]] = [
        {"law": law["name"] if first else "", "factor": name, "what it says": Text(meaning)}
        for law in answer["laws"]
        for first, (name, meaning) in zip([True] + [False] * len(law["factors"]), law["factors"].items(), strict=False)
    ]
    tabulate((Column("law", "bold cyan"), Column("factor"), Column("what it says", takes_rest=True)), factors, console)
    console.print("[dim]normal and review: the least weight that these modes show, at the default parameters[/]")
