"""Every law by which memories can be weighed, as tables."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from api.cli.app import out
from api.cli.show.tables import Column, figure, tabulate, words


def laws(answer: dict[str, Any], console: Console = out) -> None:
    """Every law, then the factors of each."""
    columns = (
        Column("law", "name", style="bold cyan"),
        words("formula"),
        figure("normal", "thresholds.normal", "{:g}".format),
        figure("review", "thresholds.review", "{:g}".format),
        Column("source", style="dim", if_room=True),
    )
    tabulate(columns, answer["laws"], console)
    console.print()
    factors = [
        {"law": law["name"] if first else "", "factor": name, "what it says": meaning}
        for law in answer["laws"]
        for first, (name, meaning) in zip([True] + [False] * len(law["factors"]), law["factors"].items(), strict=False)
    ]
    tabulate((Column("law", style="bold cyan"), Column("factor"), words("what it says")), factors, console)
    console.print("[dim]normal and review: the least weight that these modes show, at the default parameters[/]")
