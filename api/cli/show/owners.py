"""Owners, for people: who has memories, and whose fold stands still."""

from __future__ import annotations

from typing import Any

from rich.markup import escape

from api.cli.app import out
from api.cli.show.tables import figure, grid, ident, tabulate


def owners(answer: dict[str, Any]) -> None:
    """A page of owners."""
    found, matching = answer["owners"], answer["matching"]
    if not found:
        out.print("no owners" if not matching else "no more owners")
        return
    tabulate((ident("owner"), figure("memories"), figure("partition", show=str)), found)
    out.print(f"[dim]{len(found):,} of {matching:,} owner{'' if matching == 1 else 's'}[/]")
    if answer["next"] is not None:
        out.print(f"[dim]more: --after {escape(answer['next'])}[/]", soft_wrap=True)


def quarantined(answer: dict[str, Any]) -> None:
    """Every quarantined owner."""
    _table(answer["quarantined"], "owner", "position", "kind", "parked", "reason")


def parked(answer: dict[str, Any]) -> None:
    """An owner's parked events."""
    _table(answer["parked"], "position", "kind", "event_id", "bytes", "problem")


def retried(answer: dict[str, Any]) -> None:
    """Whether an owner is freed."""
    stuck = "" if answer["freed"] else escape(answer["dead"]["reason"])
    out.print("[green]freed[/]" if answer["freed"] else f"[yellow]still stuck: {stuck}[/]")


def _table(rows: list[dict[str, Any]], *names: str) -> None:
    table = grid()
    for name in names:
        table.add_column(name.replace("_", " "), overflow="fold", no_wrap=name in ("position", "event_id", "kind"))
    for row in rows:
        table.add_row(*(escape(str(row.get(name, ""))) for name in names))
    out.print(table if rows else "[green]None.[/]")
