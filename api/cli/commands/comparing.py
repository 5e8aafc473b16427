"""`engramlog compare`: the laws beside each other, for all memories of an owner or for one over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from api.cli.app import out
from api.cli.made import Call, command
from api.cli.pictures import LOOK_OPTIONS, look_of
from api.cli.show.memories import times_of, told_at
from api.cli.show.tables import Column, figure, ident, instant, number, tabulate, words
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
        from api.pictures.svg import write_picture

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
    columns = (
        Column("law"),
        figure("normal from", "threshold", "{:g}".format),
        figure("shown"),
        words("withheld", show=_withheld),
    )
    tabulate(columns, [{**law, "law": name} for name, law in laws.items()], console)
    console.print()
    correlation = figure("rank correlation", "rank_correlation", places=2)
    pairs = (Column("laws", show=" and ".join), figure("shown by only one", "shown_by_one"), correlation)
    tabulate(pairs, answer["pairs"], console)
    _disputed(answer, console)


def _withheld(found: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join(f"{one['count']:,} {one['reason'].replace('_', ' ')}" for one in found) or "-"


def _disputed(answer: dict[str, Any], console: Console) -> None:
    memories, laws = answer["memories"], answer["laws"]
    if not memories:
        return
    part = f", the first {len(memories):,} of {answer['total']:,}" if len(memories) < answer["total"] else ""
    console.print(f"\n[dim]Weights, y where normal mode shows it; those with the widest spread of ranks first{part}[/]")
    weights = (figure(name, f"laws.{name}", _verdict) for name in laws)
    spread = figure("spread", show="{:g}".format, if_room=True)
    tabulate((ident(), words("memory"), *weights, spread), memories, console)


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
    columns = (instant("time"), Column("event", if_room=True), Column("decision"))
    weights = (figure(name, f"weights.{name}", _jump) for name in laws)
    tabulate((*columns, *weights), events[left_out:], console)


def _jump(weight: Mapping[str, float | None]) -> str:
    """The weight before and after an event; one figure where it stays."""
    before, after = weight["before"], weight["after"]
    return number(after, 3) if before == after else f"{number(before, 3)} > {number(after, 3)}"
