"""`engramlog alarms`: what stopped or was lost, and an operator's word that it was looked at."""

from __future__ import annotations

from typing import Any

import typer
from rich.markup import escape

from api.cli.app import out
from api.cli.made import Call, command
from api.cli.show.tables import grid, when
from api.operations.definition import Option, Parameter
from api.operations.store import ALARMS, CLEAR
from events.errors import InputError

COLUMNS = ("alarm", "about", "since", "times", "what happened")


@command(
    ALARMS,
    more=(
        Parameter(
            "subject", str | None, "With --clear: only the alarm about this.", None, option=Option(argument=True)
        ),
        Parameter("clear", str | None, "Acknowledge the alarms of this name.", None),
    ),
)
def alarms(call: Call) -> None:
    """What stands, or what was acknowledged; exit code 1 while anything stands still."""
    subject, clear = call.take("subject", "clear")
    if subject is not None and clear is None:
        raise InputError(f"subject: got {subject!r}; allowed: with --clear NAME only", field="subject", got=subject)
    if clear is not None:
        call.print(call.answer(CLEAR, name=clear, subject=subject, face="command"), standing)
        return
    answer = call.answer()
    call.print(answer, standing)
    if any(alarm["severity"] == "stopped" for alarm in answer["alarms"]):
        raise typer.Exit(1)


def standing(answer: dict[str, Any]) -> None:
    """The alarms as a table, and under it what each name means and what to do, once."""
    if "cleared" in answer:
        out.print("[green]cleared[/]" if answer["cleared"] else "[dim]no such alarm stood[/]")
    if not answer["alarms"]:
        out.print("[green]No alarm stands.[/]")
        return
    table = grid()
    for name in COLUMNS:
        table.add_column(name, overflow="fold", no_wrap=name in ("alarm", "since"))
    for alarm in answer["alarms"]:
        colour = "red" if alarm["severity"] == "stopped" else "yellow"
        table.add_row(
            f"[{colour}]{escape(alarm['name'])}[/]",
            escape(alarm["subject"]),
            when(alarm["first"]),
            f"{alarm['count']:,}",
            escape(alarm["text"]),
        )
    out.print(table)
    for name, meaning in {alarm["name"]: alarm["meaning"] for alarm in answer["alarms"]}.items():
        out.print(f"[bold]{escape(name)}[/]: {escape(meaning)}", soft_wrap=True)
