"""Commands of the store: `engramlog status`, `alarms`, `dead` and `events`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import typer
from rich.markup import escape

from engramlog_server.api.choices import MOST_WAIT
from engramlog_server.api.cli.app import opened, out, print_json_line
from engramlog_server.api.cli.command import Call, argument, command
from engramlog_server.api.cli.output import visible_in
from engramlog_server.api.cli.show import memories as render
from engramlog_server.api.cli.show.tables import grid, when
from engramlog_server.api.operations.definition import Option, Parameter
from engramlog_server.api.operations.events import EVENTS, PARTITION_EVENTS, TIMES_OF_OWNER, without_waiting
from engramlog_server.api.operations.inbox import SOURCES
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
from engramlog_server.projections.shapes import LogEvents, LoggedEvent

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
        argument("subject", None, "With --clear: only the alarm about this."),
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
        argument("owner", "[OWNER]", "Show this owner's waiting events.", "owners"),
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


NEWEST = 10
"""Events that are shown before what comes, where no cursor says from where on."""


@command(
    EVENTS,
    SOURCES,
    TIMES_OF_OWNER,
    more=(
        Parameter("times", bool, "Count what happened and what was recorded, by time.", False),
        Parameter("sources", bool, "List who spoke: sessions, principals, actors, models; in figures.", False),
        argument("owner", "[OWNER]", "Whose events.", "owners"),
        Parameter("partition", int | None, "All events of this partition, whosever they are, from 0 on.", None),
        Parameter(
            "follow", bool, f"Show the newest {NEWEST}, then what comes, until Ctrl-C; with --json a line each.", False
        ),
    ),
    subject=(),
)
def events(call: Call) -> None:
    """Print a page of events of an owner or a partition, follow new ones, or list speakers."""
    sources, times = call.take("sources", "times")
    if sources or times:
        way = "--sources" if sources else "--times"
        if call.given["owner"] is None:
            raise refused("owner", None, f"OWNER with {way}")
        call.turn_to(SOURCES if sources else TIMES_OF_OWNER, way)
        return
    owner, partition, follow = call.take("owner", "partition", "follow")
    call.only(EVENTS, "events")
    if (owner is None) is (partition is None):
        raise refused(
            "owner", "nothing" if owner is None else f"{owner} with --partition {partition}", "OWNER, or --partition N"
        )
    operation, subject = (
        (without_waiting(), {"owner": owner}) if partition is None else (PARTITION_EVENTS, {"partition": partition})
    )
    if not follow:
        call.print(call.answer(operation, **subject))
        return
    if call.given["order"] != "oldest":
        raise refused("order", call.given["order"], "no --order with --follow: what comes is the newest")
    with opened(call.context) as application:

        def ask(**given: Any) -> LogEvents:
            answer: LogEvents = operation.ask(application, subject | call.given | given)
            return answer

        _follow(call, ask, whose=owner is None)


def _follow(call: Call, ask: Callable[..., LogEvents], *, whose: bool) -> None:
    for found in _pages(call, ask):
        for event in found:
            if call.json:
                print_json_line(event)
            else:
                out.print(render.line(visible_in(event), whose=whose), soft_wrap=True)
        sys.stdout.flush()


def _pages(call: Call, ask: Callable[..., LogEvents]) -> Iterator[list[LoggedEvent]]:
    """The newest, or what a cursor begins with, and from there on what comes."""
    cursor = call.given["cursor"]
    if cursor is None:
        first = ask(order="newest", limit=NEWEST)
        if not call.json:
            render.waiting(first)
        yield first["events"][::-1]
        cursor = first["follow"]
    while True:
        page = ask(cursor=cursor, wait=MOST_WAIT)
        yield page["events"]
        cursor = page["next"] or page["follow"]
