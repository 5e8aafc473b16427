"""The command that looks at a deployment and says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.text import Text

from engramlog_server.api.cli.app import Json, app, err, out, show

if TYPE_CHECKING:
    from engramlog_server.ops.doctor.findings import DoctorReport, FindingShape

COLOURS = {"ok": "green", "advice": "yellow", "wrong": "red", "unknown": "dim"}


@app.command(
    epilog="Example: `engramlog doctor`; from cron `engramlog doctor --json`. Exit codes: 0 nothing is wrong, 1 something is (with"
    " --strict: or advised), 2 a setting cannot be right, 3 there is no store, or a check could not be carried out"
)
def doctor(
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 also for advice.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Also list checks that passed.")] = False,
    json: Json = False,
) -> None:
    """Check a deployment: permissions, keys, access, Redis, backups, clock, disk. Changes nothing.

    Run it as the service's user, with the environment of the service.
    """
    from engramlog_server.ops.commands.notices import patient
    from engramlog_server.ops.doctor.checks import examine
    from engramlog_server.ops.doctor.findings import exit_code
    from engramlog_server.ops.settings import load_settings

    answer = examine(load_settings(), on_wait=patient(err))
    show(answer, json, lambda told: _render(told, every=every))
    if code := exit_code(answer, strict=strict):
        raise typer.Exit(code)


def _render(answer: DoctorReport, *, every: bool) -> None:
    render_groups(answer, every=every)
    out.print(_sum(answer), soft_wrap=True)


def render_groups(answer: DoctorReport, *, every: bool) -> None:
    """What was found, by group: what is as it should be in a line of its own each only where `every` is asked for."""
    groups = dict.fromkeys(one["group"] for one in answer["checks"])
    width = max(map(len, groups), default=0)
    for group in groups:
        of_group = [one for one in answer["checks"] if one["group"] == group]
        fine = [one["check"] for one in of_group if one["result"] == "ok"]
        if fine and not every:
            out.print(f"[bold]{group:{width}}[/]  [green]ok[/]       {escape(', '.join(fine))}")
        for one in of_group:
            if every or one["result"] != "ok":
                _print(one, f"{group:{width}}")


def _print(one: FindingShape, group: str) -> None:
    result, colour = one["result"], COLOURS[one["result"]]
    out.print(
        Text.assemble((group, "bold"), "  ", (f"{result:7}", colour), f"  {one['check']}: {one['found']}"),
        soft_wrap=True,
    )
    if one["advice"]:
        out.print(Text.assemble(" " * (len(group) + 11), (f"do: {one['advice']}", "dim")), soft_wrap=True)


def _sum(answer: DoctorReport) -> Text:
    counts = answer["counts"]
    wrong, advised, unknown = counts["wrong"], counts["advice"], counts["unknown"]
    return Text.assemble(
        (f"{wrong:,} wrong" if wrong else "Nothing is wrong", "bold red" if wrong else "bold green"),
        f"; {advised:,} advised" if advised else "",
        f"; {unknown:,} not known" if unknown else "",
        "." if answer["store_id"] is None else f". Store {answer['store_id']}.",
    )
