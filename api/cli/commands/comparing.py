"""`engramlog compare`: the laws beside each other, for all memories of an owner or for one over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from api.cli.app import out
from api.cli.made import Call, command
from api.cli.pictures import LOOK_OPTIONS, look_of
from api.cli.show.memories import number, shortened, times_of, told_at, when
from api.cli.show.tables import Cell, Column, tabulate
from api.operations.definition import Given, Option, Parameter
from api.operations.reports import COMPARE, CURVES
from events.errors import refused

SHOWN_EVENTS = 30
"""Events told in a table; JSON has all."""


@command(
    COMPARE,
    CURVES,
    more=(
        Parameter(
            "memory_id",
            str | None,
            "A memory: its curves over time.",
            None,
            option=Option(argument=True, metavar="[ID]"),
        ),
        Parameter("out", Path | None, "With an ID: draw the curves into this .svg.", None),
        *LOOK_OPTIONS,
    ),
)
def compare(call: Call) -> None:
    """Of all memories, or of one over time."""
    given = call.given
    if given["memory_id"] is None:
        _refuse("without a memory's ID", given, {"since": "from", "until": "to", "points": "points", "out": "out"})
        look_of(call, None, "nothing without a memory's ID")
        call.take("memory_id", "since", "until", "points", "out")
        answer = call.answer(limit=20 if given["limit"] is None else given["limit"])
        call.print(answer, overview)
        return
    _refuse("with a memory's ID, whose span --from and --to choose", given, {"limit": "limit", "at": "at"})
    path, _, _ = call.take("out", "limit", "at")
    look = look_of(call, path)
    answer = call.answer(CURVES, points=200 if given["points"] is None else given["points"])
    if path is not None:
        from api.pictures.curves import curves_picture
        from api.pictures.files import write_picture

        write_picture(curves_picture(answer, look), path)
        answer["picture"] = {"file": str(path)}
    call.print(answer, story)


def _refuse(where: str, given: Given, names: dict[str, str]) -> None:
    """InputError for the first option that is given and has no meaning there."""
    for name, option in names.items():
        if given[name] is not None:
            raise refused(option, str(given[name]), f"nothing {where}")


def overview(answer: dict[str, Any], console: Console = out) -> None:
    """All laws at an instant: what each shows, how they agree, and the memories they disagree on most."""
    console.print(
        f"[dim]{answer['total']:,} memories of {escape(answer['owner'])} at {told_at(answer['instant'], console)},"
        f" position {answer['position']}; the profile is {answer['profile']}[/]"
    )
    laws = answer["laws"]
    rows: list[dict[str, Cell]] = [
        {
            "law": name,
            "normal from": f"{law['threshold']:g}",
            "shown": f"{law['shown']:,}",
            "withheld": ", ".join(f"{one['count']:,} {one['reason'].replace('_', ' ')}" for one in law["withheld"])
            or "-",
        }
        for name, law in laws.items()
    ]
    columns = (
        Column("law"),
        Column("normal from", right=True),
        Column("shown", right=True),
        Column("withheld", takes_rest=True),
    )
    tabulate(columns, rows, console)
    console.print()
    pairs: list[dict[str, Cell]] = [
        {
            "laws": " and ".join(pair["laws"]),
            "shown by only one": f"{pair['shown_by_one']:,}",
            "rank correlation": number(pair["rank_correlation"], 2),
        }
        for pair in answer["pairs"]
    ]
    tabulate(
        (Column("laws"), Column("shown by only one", right=True), Column("rank correlation", right=True)),
        pairs,
        console,
    )
    _disputed(answer, console)


def _disputed(answer: dict[str, Any], console: Console) -> None:
    memories, laws = answer["memories"], answer["laws"]
    if not memories:
        return
    part = f", the first {len(memories):,} of {answer['total']:,}" if len(memories) < answer["total"] else ""
    console.print(f"\n[dim]Weights, y where normal mode shows it; those with the widest spread of ranks first{part}[/]")
    columns = [
        Column("id", is_id=True),
        Column("memory", takes_rest=True),
        *(Column(name, right=True) for name in laws),
        Column("spread", right=True, if_room=True),
    ]
    rows: list[dict[str, Cell]] = []
    for memory in memories:
        weights: dict[str, Cell] = {name: _verdict(memory["laws"][name]) for name in laws}
        named: dict[str, Cell] = {"id": Text(memory["id"]), "memory": shortened(memory["memory"])}
        rows.append({**named, **weights, "spread": f"{memory['spread']:g}"})
    tabulate(columns, rows, console)


def _verdict(told: dict[str, Any]) -> Text:
    return Text(f"{told['weight']:.3f} {'y' if told['shown'] else 'n'}", "green" if told["shown"] else "dim")


def story(answer: dict[str, Any], console: Console = out) -> None:
    """One memory over time: what touched it and what that did under each law."""
    span = " to ".join(told_at(instant, console) for instant in answer["window"].values())
    place = f"position {answer['position']}{times_of(answer)}"
    console.print(Text(f"{answer['owner']} / {answer['title']}, {span}, {place}", "dim"))
    _touches(answer["events"], list(answer["laws"]), console)
    if picture := answer.get("picture"):
        console.print(Text(f"drawn into {picture['file']}"))
    else:
        console.print("[dim]The curves: --out FILE.svg; as numbers: --json[/]")


def _touches(events: list[dict[str, Any]], laws: list[str], console: Console) -> None:
    left_out = max(len(events) - SHOWN_EVENTS, 0)
    if left_out:
        console.print(f"[dim]{left_out:,} earlier events are left out here; --json has all[/]")
    columns = [
        Column("time", "dim", is_time=True),
        Column("event", if_room=True),
        Column("decision"),
        *(Column(name, right=True) for name in laws),
    ]
    rows: list[dict[str, Cell]] = [
        {
            "time": when(event["time"], console),
            "event": event["event"],
            "decision": event["decision"],
            **{name: _jump(**event["weights"][name]) for name in laws},
        }
        for event in events[left_out:]
    ]
    tabulate(columns, rows, console)


def _jump(before: float | None, after: float | None) -> str:
    """The weight before and after an event; one figure where it stays."""
    return number(after, 3) if before == after else f"{number(before, 3)} > {number(after, 3)}"
