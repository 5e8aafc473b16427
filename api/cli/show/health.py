"""Strengths of memories as coloured bars: `health` and `fading`."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from engramlog_server.api.cli.app import out
from engramlog_server.api.cli.show.memories import part_of, times_of
from engramlog_server.api.cli.show.tables import Column, figure, has_room, ident, instant, tabulate, words
from engramlog_server.events.text import many
from engramlog_server.projections import shapes

BAR = 20
"""Columns of a bar of strength 100, half as many where there is no room."""


def health(answer: shapes.MemoryHealth, console: Console = out) -> None:
    """All live memories, a bar each."""
    total, colours = answer["total"], answer["colours"]
    if not total:
        console.print(f"[yellow]No live memories[/] [dim](position {_place(answer)})[/]")
        return
    counts = ", ".join(f"[{name}]{count:,} {name}[/]" for name, count in colours.items())
    console.print(
        f"{_part(answer)}{many(total, 'live memory', 'live memories')}, mean strength {answer['mean_strength']:g}: {counts}"
        f"  [dim]{_profile_of(answer)}[/]"
    )
    _strengths(answer, console)


def fading(answer: shapes.Fading, console: Console = out) -> None:
    """What is nearly forgotten."""
    total = answer["total"]
    if not total:
        console.print(
            f"[green]Nothing is fading[/]: none of {many(answer['live'], 'live memory', 'live memories')} is under strength"
            f" {answer['under']} [dim](position {_place(answer)})[/]"
        )
        return
    console.print(
        f"{_part(answer)}{total:,} of {many(answer['live'], 'live memory', 'live memories')} under strength {answer['under']}"
        f"  [dim]{_profile_of(answer)}[/]"
    )
    _strengths(answer, console)
    console.print("[dim]`engramlog reinforce OWNER ID` holds one better[/]")


def _strengths(answer: shapes.MemoryHealth | shapes.Fading, console: Console) -> None:
    found = answer["memories"]
    if not found:
        console.print(f"[dim]{answer['offset']:,} were passed over[/]")
        return
    columns = [
        ident(),
        Column("strength"),
        words("memory"),
        figure("stability", "stability_hours", _hours),
        instant("reinforced", "last_reinforced_at", if_room=True),
        *([instant("archives", "archives_at")] if any(m["archives_at"] for m in found) else []),
        *([instant("deletes", "deletes_at")] if any(m["deletes_at"] for m in found) else []),
    ]
    tabulate(columns, [{**m, "strength": _bar(m["strength"], m["colour"], console)} for m in found], console)
    if any(m["archives_at"] or m["deletes_at"] for m in found):
        console.print(
            f"[dim]archives, deletes: what the {answer['profile']} law does if nothing touches them; the next sweep carries out"
            " what has passed[/]"
        )


def _bar(strength: int, colour: str, console: Console) -> Text:
    """The strength as a bar and in figures; at least a mark where anything is left."""
    width = BAR if has_room(console) else BAR // 2
    full, empty = ("#", ".") if console.options.ascii_only else ("█", "░")
    filled = max(round(strength * width / 100), 1 if strength else 0)
    return Text.assemble((f"{strength:3d} ", colour), (full * filled, colour), (empty * (width - filled), "dim"))


def _hours(hours: float) -> str:
    return f"{hours:,.1f} h" if hours < 1000 else f"{hours / 24:,.0f} d"


def _part(answer: shapes.MemoryHealth | shapes.Fading) -> str:
    """Which page it is, where it is not all."""
    return part_of(answer["offset"], len(answer["memories"]), answer["total"])


def _place(answer: Mapping[str, object]) -> str:
    return escape(f"{answer['position']}{times_of(answer)}")


def _profile_of(answer: shapes.MemoryHealth | shapes.Fading) -> str:
    return f"profile {answer['profile']}, position {_place(answer)}"
