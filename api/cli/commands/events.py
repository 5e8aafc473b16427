"""`engramlog events`: the log's events, a page of them or as they come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from engramlog_server.api.choices import MOST_WAIT
from engramlog_server.api.cli.app import opened, out, print_json_line
from engramlog_server.api.cli.command import Call, command
from engramlog_server.api.cli.show import events as render
from engramlog_server.api.cli.show.visible import visible_in
from engramlog_server.api.operations.definition import Option, Parameter
from engramlog_server.api.operations.events import EVENTS, PARTITION_EVENTS, TIMES_OF_OWNER, without_waiting
from engramlog_server.api.operations.inbox import SOURCES
from engramlog_server.events.errors import refused
from engramlog_server.projections.shapes import LogEvents, LoggedEvent

NEWEST = 10
"""Events that are shown before what comes, where no cursor says from where on."""


@command(
    EVENTS,
    SOURCES,
    TIMES_OF_OWNER,
    more=(
        Parameter("times", bool, "Count what happened and what was recorded, by time.", False),
        Parameter("sources", bool, "List who spoke: sessions, principals, actors, models; in figures.", False),
        Parameter(
            "owner",
            str | None,
            "Whose events.",
            None,
            option=Option(argument=True, metavar="[OWNER]", completes="owners"),
        ),
        Parameter("partition", int | None, "All events of this partition, whosever they are, from 0 on.", None),
        Parameter(
            "follow", bool, f"Show the newest {NEWEST}, then what comes, until Ctrl-C; with --json a line each.", False
        ),
    ),
    subject=(),
)
def events(call: Call) -> None:
    """Of an owner, or of a partition; a page, what comes, or who spoke."""
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
