"""`engramlog alarms`: what stopped or was lost, and an operator's word that it was looked at."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape

from api.cli.app import Json, app, opened, out, show
from api.cli.show.memories import when
from api.cli.show.tables import grid
from events.errors import InputError

COLUMNS = ("alarm", "about", "since", "times", "what happened")


@app.command(epilog='Example: `engramlog alarms`, after a look `engramlog alarms --clear state_damaged "partition 3"`')
def alarms(
    context: typer.Context,
    subject: Annotated[
        str | None, typer.Argument(help="With --clear: only the alarm about this.", show_default=False)
    ] = None,
    clear: Annotated[
        str | None, typer.Option("--clear", help="Acknowledge the alarms of this name.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """What stopped or was lost, until it is over or somebody has looked; exit code 1 while anything stands still."""
    if subject is not None and clear is None:
        raise InputError(f"subject: got {subject!r}; allowed: with --clear NAME only", field="subject", got=subject)
    with opened(context) as application:
        operator = application.operator
        answer = operator.alarms() if clear is None else operator.clear_alarm(clear, subject, face="command")
    show(answer, json, standing)
    if clear is None and any(alarm["severity"] == "stopped" for alarm in answer["alarms"]):
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
