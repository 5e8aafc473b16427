"""What is set aside, for people."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from api.cli.app import out
from api.cli.show.memories import told_at, when
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
