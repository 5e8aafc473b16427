"""What is set aside, for people."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from api.cli.app import out
from api.cli.show.memories import times_of, told_at, when
from api.cli.show.tables import Cell, Column, tabulate
from projections import shapes

_SHOWN = 5
_MEANWHILE = {
    "negated": "stand meanwhile",
    "revised": "tell their former words meanwhile",
    "merged": "stand by themselves meanwhile",
    "deleted": "stay deleted: restore brings each back",
}


def told(answer: shapes.SourceSaid, console: Console = out) -> None:
    """What became of a source, or would."""
    for change in answer["changes"]:
        console.print(Text(change["reason"], "yellow" if change["decision"] == "ignored" else ""))
    count = answer["memories"]
    console.print(Text(f"{count:,} {'memory is' if count == 1 else 'memories are'} of it"))
    for name, what in _MEANWHILE.items():
        some: shapes.SomeMemories = answer[name]  # type: ignore[literal-required]
        if some["total"]:
            more = ", ..." if some["total"] > _SHOWN else ""
            console.print(
                Text(f"{name} by it: {some['total']:,} ({', '.join(some['ids'][:_SHOWN])}{more}); they {what}")
            )
    ending = "nothing was written" if answer["dry_run"] else f"position {answer['position']}"
    console.print(Text(ending, "dim"))


def asides(answer: shapes.SourcesAside, console: Console = out) -> None:
    """What is set aside, the newest first."""
    total = answer["total"]
    head = f"{total:,} source{'' if total == 1 else 's'} set aside, position {answer['position']}"
    console.print(Text(head, "dim"))
    rows: list[dict[str, Cell]] = [
        {
            "session": Text(one["session"] or ""),
            "principal": Text(one["principal"] or ""),
            "actor": Text(one["of_actor"] or ""),
            "since": when(one["since"], console),
            "by": Text(_by(one)),
            "memories": Text(f"{one['memories']:,}"),
            "reason": Text(one["reason"]),
        }
        for one in answer["sources"]
    ]
    if rows:
        names = map(Column, ("session", "principal", "actor"))
        told = (Column("since", is_time=True), Column("by"), Column("memories", right=True), Column("reason"))
        tabulate((*names, *told), rows, console)


def aside(told: shapes.AsideTold | None, console: Console = out) -> None:
    """By whose setting aside a memory is withheld; nothing where it is not."""
    if told is None:
        return
    named = (("session", told["session"]), ("principal", told["principal"]), ("actor", told["of_actor"]))
    source = ", ".join(f"{name} {value}" for name, value in named if value is not None)
    said = f"{source} is set aside since {told_at(told['since'], console)} by {_by(told)}"
    console.print(Text(f"{said}: {told['reason']}" if told["reason"] else said, "yellow"), soft_wrap=True)


def _by(told: shapes.AsideTold) -> str:
    """Who set it aside, as far as the log tells."""
    actor, principal = told.get("by_actor"), told.get("by_principal")
    return f"{actor} ({principal})" if principal else actor or "-"


def named(answer: shapes.SourcesNamed, console: Console = out) -> None:
    """Who spoke, what happened last first."""
    total, shown = answer["total"], len(answer["sources"])
    head = f"{total:,} name{'' if total == 1 else 's'} in {answer['events']:,} events, position {answer['position']}"
    console.print(Text(head + times_of(answer), "dim"))
    rows: list[dict[str, Cell]] = [
        {
            "by": one["by"],
            "name": Text(one["name"]),
            "events": f"{one['events']:,}",
            "memories": f"{one['memories']:,}",
            "late": f"{one['late']:,}" if one["late"] else "",
            "first happened": when(one["first_happened"], console),
            "last happened": when(one["last_happened"], console),
            "set aside": _aside(one, console),
        }
        for one in answer["sources"]
    ]
    figures = (Column("events", right=True), Column("memories", right=True), Column("late", right=True))
    happened = (Column("first happened", if_room=True, is_time=True), Column("last happened", is_time=True))
    if rows:
        columns = (Column("by"), Column("name", is_id=True), *figures, *happened, Column("set aside", takes_rest=True))
        tabulate([one for one in columns if any(str(row[one.name]) for row in rows)], rows, console)
    if (left := total - answer["offset"] - shown) > 0:
        console.print(f"[dim]{left:,} more: --offset {answer['offset'] + shown}[/]")
    for by, events in answer["left_out"].items():
        console.print(Text(f"{events:,} events tell further names of a {by}: --search and --since find them", "yellow"))
    if answer["withheld"]:
        console.print(Text(f"{answer['withheld']:,} events name a URI that may not be told", "yellow"))
    if answer["hint"] is not None:
        console.print(Text(answer["hint"], "yellow"))


def _aside(one: shapes.NamedSourceTold, console: Console) -> Text:
    if (aside := one["set_aside"]) is not None:
        return Text(f"{when(aside['since'], console)} {aside['reason']}".strip())
    return Text("in part" if one["partly_aside"] else "")
