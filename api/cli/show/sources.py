"""What is set aside, for people."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from api import shapes
from api.cli.app import out
from api.cli.show.memories import times_of, told_at
from api.cli.show.tables import Column, figure, ident, tabulate, when, words

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
    if rows := [{**one, "late": one["late"] or "", "set aside": _aside(one, console)} for one in answer["sources"]]:
        columns = [Column("by"), ident("name"), figure("events"), figure("memories"), figure("late")]
        columns += [Column("first happened", "first_happened", if_room=True, is_time=True)]
        columns += [Column("last happened", "last_happened", is_time=True), words("set aside")]
        tabulate([one for one in columns if any(str(one.cell(row, console)) for row in rows)], rows, console)
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
