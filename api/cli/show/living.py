"""Answers about health, reviews, profiles and laws as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from api import shapes
from api.cli.app import out
from api.cli.show.memories import part_of, times_of, told_at
from api.cli.show.tables import Column, figure, has_room, ident, instant, number, tabulate, words

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
        f"{_part(answer)}{total:,} live {_memories(total)}, mean strength {answer['mean_strength']:g}: {counts}"
        f"  [dim]{_profile_of(answer)}[/]"
    )
    _strengths(answer, console)


def fading(answer: shapes.Fading, console: Console = out) -> None:
    """What is nearly forgotten."""
    total = answer["total"]
    if not total:
        console.print(
            f"[green]Nothing is fading[/]: none of {answer['live']:,} live {_memories(answer['live'])} is under strength"
            f" {answer['under']} [dim](position {_place(answer)})[/]"
        )
        return
    console.print(
        f"{_part(answer)}{total:,} of {answer['live']:,} live {_memories(answer['live'])} under strength {answer['under']}"
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


def _memories(count: int) -> str:
    return "memory" if count == 1 else "memories"


def _part(answer: shapes.MemoryHealth | shapes.Fading) -> str:
    """Which page it is, where it is not all."""
    return part_of(answer["offset"], len(answer["memories"]), answer["total"])


def _place(answer: Mapping[str, object]) -> str:
    return escape(f"{answer['position']}{times_of(answer)}")


def _profile_of(answer: shapes.MemoryHealth | shapes.Fading) -> str:
    return f"profile {answer['profile']}, position {_place(answer)}"


def reinforced(answer: shapes.Reinforced, console: Console = out) -> None:
    """What reinforcing changed, law by law."""
    before, after = answer["before"], answer["after"]
    console.print(f"[cyan]{escape(answer['id'])}[/] {answer['outcome']}  [dim]at {answer['position']}[/]")
    if after is None:
        console.print("[yellow]Written, but not folded yet.[/]")
        return
    rows = [
        {"": name, "before": first, "after": Text(second, "" if first == second else "bold green")}
        for name, first, second in _sides(before, after)
    ]
    tabulate((Column("", style="dim"), figure("before"), figure("after")), rows, console)
    for remark in answer["remarks"]:
        console.print(Text(remark, "yellow"))


def _sides(before: shapes.Held, after: shapes.Held) -> Sequence[tuple[str, str, str]]:
    def told(one: shapes.Held) -> dict[str, str]:
        return {
            "strength": f"{one['strength']}",
            "stability": _hours(one["stability_hours"]),
            "importance": f"{number(one['effective_importance'])} ({one['tier']})",
            "weight": f"{number(one['weight'])} ({one['law']})",
            "next review": f"{told_at(one['next_review_at'])} ({one['scheduler']})",
        }

    first, second = told(before), told(after)
    return [(name, first[name], second[name]) for name in first]


def due(answer: shapes.ReviewsDue, console: Console = out) -> None:
    """What is due for review."""
    found, total, left_out = answer["memories"], answer["due"], answer["left_out"]
    kept = total - left_out
    where = f"[dim]position {_place(answer)}[/]"
    if not total:
        soon = f"; the next one is due {told_at(answer['next_due_at'])}" if answer["next_due_at"] else ""
        console.print(f"[green]Nothing is due for review[/]{soon}  {where}")
        return
    shown = f"{len(found):,} of " if len(found) < kept else ""
    console.print(
        f"{total:,} due for review, {shown}{kept:,} of importance {answer['min_importance']:g} or more  {where}"
    )
    if found:
        columns = (
            ident(),
            words("memory"),
            figure("importance", places=3, style="green"),
            instant("due", "due_at"),
            figure("overdue", "days_overdue", "{:,.1f} d".format),
            figure("interval", "interval_days", "{:g} d".format, if_room=True),
            Column("by", "scheduler", style="dim", if_room=True),
        )
        tabulate(columns, found, console)
    if left_out:
        console.print(
            f"[dim]{left_out:,} left out by --min-importance {answer['min_importance']:g}; a lower one shows them (at confidence"
            " 0.6 few reach 0.5)[/]"
        )


def graded(answer: shapes.Graded, console: Console = out) -> None:
    """When a graded memory is due again, by each scheduler."""
    console.print(f"[cyan]{escape(answer['id'])}[/] graded {answer['grade']}  [dim]at {answer['position']}[/]")
    if answer["schedulers"] is None:
        console.print("[yellow]Written, but not folded yet.[/]")
        return
    columns = (
        Column("scheduler"),
        Column("next review", "due_at", is_time=True),
        figure("interval", "interval_days", "{:g} d".format),
        Column("keeps"),
        Column("", style="bold green"),
    )
    rows = [
        {
            **one,
            "scheduler": name,
            "keeps": {part: value for part, value in one.items() if part not in ("due_at", "interval_days")},
            "": "decides" if name == answer["decides"] else "",
        }
        for name, one in answer["schedulers"].items()
    ]
    tabulate(columns, rows, console)


def profile(answer: shapes.OwnerProfile, console: Console = out) -> None:
    """An owner's law and what it has changed of it."""
    for change in answer.get("changes") or ():
        console.print(f"[dim]{change['position']}[/] {escape(change['reason'])}")
    if "changes" in answer and "quarantined" in answer:
        console.print("[yellow]Written, but not folded yet: below is what holds until then.[/]")
    thresholds = ", ".join(f"{mode} mode from {least:g}" for mode, least in answer["thresholds"].items())
    console.print(
        f"[bold cyan]{answer['profile']}[/] {escape(answer['formula'])}  [dim]position {_place(answer)}[/]\n{thresholds}"
    )
    if warning := answer.get("warning"):
        console.print(f"[yellow]{escape(warning)}[/]")
    if not answer["parameters"]:
        console.print("[dim]all parameters at their defaults[/]")
        return
    rows = [{**one, "parameter": name} for name, one in answer["parameters"].items()]
    columns = (Column("parameter"), figure("value", show=_value), figure("default", show=_value, style="dim"))
    tabulate(columns, rows, console)


def parameters(answer: shapes.ParametersKnown, console: Console = out) -> None:
    """What can be set, and to what."""
    columns = (
        Column("parameter", "name", style="bold cyan"),
        figure("default", show=_value),
        words("allowed"),
        words("what it is", "help"),
    )
    tabulate(columns, answer["parameters"], console)
    console.print("[dim]`engramlog parameters --all` lists every one[/]")
    console.print("[dim]`engramlog profile OWNER --set NAME=VALUE` sets one, from here on[/]")


def _value(value: Any) -> str:
    """A parameter's value as `--set` takes it."""
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


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
