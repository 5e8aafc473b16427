"""`engramlog status`, `alarms` and `dead`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer
from rich.markup import escape

from engramlog_server.api.cli.app import out
from engramlog_server.api.cli.command import Call, command
from engramlog_server.api.cli.show.tables import grid, when
from engramlog_server.api.operations.definition import Option, Parameter
from engramlog_server.api.operations.store import (
    ALARMS,
    CAPACITY,
    CLEAR,
    DEAD,
    DEAD_DISCARD,
    DEAD_RETRY,
    DEAD_SHOW,
    JOBS,
    MODELS,
    OWNERS,
    STATUS,
)
from engramlog_server.events.errors import InputError, refused

PARTS = {"jobs": JOBS, "capacity": CAPACITY, "models": MODELS, "owners": OWNERS}


@command(
    STATUS,
    more=(
        Parameter("jobs", bool, "Show each kind of job, and why one failed.", False),
        Parameter("capacity", bool, "Forecast when memory and disk are full.", False),
        Parameter("models", bool, "Show the configured models and their use.", False),
        Parameter("owners", bool, "List owners by name.", False),
        Parameter("days", int | None, "Days of growth (default 7) or of model use (default 30).", None),
        *(one.but(default=None, kind=int | None, bounds={}) if one.name == "limit" else one for one in OWNERS.question),
    ),
)
def status(call: Call) -> None:
    """The store, or the part that a flag names."""
    parts = [name for name, told in zip(PARTS, call.take(*PARTS), strict=True) if told]
    if len(parts) > 1:
        raise refused(parts[1], f"--{parts[1]} with --{parts[0]}", "one of them")
    call.turn_to(PARTS[parts[0]] if parts else STATUS, f"--{parts[0]}" if parts else "the state of the store")


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


def standing(answer: Mapping[str, Any]) -> None:
    """The alarms as a table, and under it what each name means and what to do, once."""
    if "cleared" in answer:
        out.print("[green]cleared[/]" if answer["cleared"] else "[dim]no such alarm stood[/]")
    if not answer["alarms"]:
        out.print("[green]No active alarms.[/]")
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


@command(
    DEAD.but(
        name="dead",
        help="Quarantined owners and their waiting events; retry them, or discard one event.",
        example='Examples: `engramlog dead`, `engramlog dead alice --retry`, `engramlog dead alice --discard 3:128 --reason "..."`',
    ),
    more=(
        Parameter(
            "owner",
            str | None,
            "Show this owner's waiting events.",
            None,
            option=Option(argument=True, metavar="[OWNER]", completes="owners"),
        ),
        Parameter("retry", bool, "Fold the owner's waiting events again.", False),
        Parameter(
            "position", str | None, "Discard the event at this position for good.", None, option=Option(("--discard",))
        ),
        *(one for one in DEAD_DISCARD.question if one.name == "reason"),
    ),
)
def dead(call: Call) -> None:
    """Exit code 1 if a retry leaves the owner quarantined."""
    (retry,) = call.take("retry")
    owner, position = call.given["owner"], call.given["position"]
    if owner is None and (retry or position is not None):
        raise refused("OWNER", None, "an owner: engramlog dead OWNER --retry")
    if retry and position is not None:
        raise refused("discard", f"--discard {position} with --retry", "one of them")
    if retry:
        call.given = {"owner": owner}
        call.operation = DEAD_RETRY
        answer = call.answer()
        call.print(answer)
        raise typer.Exit(0 if answer["freed"] else 1)
    if position is not None:
        call.turn_to(DEAD_DISCARD, "--discard")
    else:
        call.turn_to(
            DEAD if owner is None else DEAD_SHOW, "the list of owners" if owner is None else "an owner's events"
        )
