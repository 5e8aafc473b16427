"""The log's events, and both time lines of an owner at a glance."""

from __future__ import annotations

from engramlog_server.api.choices import MOST_BUCKETS, MOST_EVENTS, MOST_WAIT
from engramlog_server.api.operations import needs
from engramlog_server.api.operations.definition import (
    CURSOR,
    LINES,
    ORDER,
    OWNER,
    PLACE,
    Operation,
    Option,
    Parameter,
    flag,
    limit,
    text,
    time,
)
from engramlog_server.api.work import Work


def _named(name: str, description: str, example: str) -> Parameter:
    return text(name, description, example, bounds={"max_length": 400})


SPANS = (
    time("since", "Happened at or after this; a day begins in the owner's time zone, for a partition in UTC."),
    time("until", "Happened at or before this; a day ends likewise."),
    time("recorded_since", "Recorded at or after this."),
    time("recorded_until", "Recorded at or before this."),
)
"""From when to when, on both lines."""
FILTERS = (
    Parameter(
        "types",
        list[str],
        "Only events of these types.",
        list,
        (["TurnRecorded", "MemoryNegated"],),
        option=Option(
            ("--type",), "Only this event type (TurnRecorded); repeatable. `history --kind` also has decisions."
        ),
    ),
    *SPANS,
    _named("session", "Only events of this session.", "s1"),
    _named("principal", "Only events of this principal, by the full name.", "job:extract"),
    text("actor", "Only events of this actor: user, assistant, judge, system or operator.", "judge"),
    flag("late", "Only events recorded more than five minutes after they happened."),
    _named("turn", "Only events about this turn.", "D4:7"),
    _named("memory", "Only events about this memory.", "coffee"),
    _named("correlation", "Only events with this correlation id.", "extract:rules"),
)
PAGE = (
    limit(100, f"Events per page, 1 to {MOST_EVENTS}."),
    CURSOR.but(
        description="Next page: `next` of the page before, with nothing else changed; or `follow`, for newer events."
    ),
    ORDER,
    Parameter(
        "wait",
        float,
        f"Seconds, 0 to {MOST_WAIT}, to wait for the next event if the page is empty (oldest first).",
        0.0,
        (10,),
        option=None,
    ),
)
QUESTION = (*FILTERS, *LINES, *PAGE)
EVENTS = Operation(
    name="events",
    help="Show events of the log, also turns and tool results, with filters; --follow waits for new ones.",
    apart=True,
    call="events.events",
    needs=needs.AUDITS,
    work=Work.FREE,
    verb="events",
    path=f"{OWNER}/events",
    title="Events of the log",
    question=QUESTION,
    answer="LogEvents",
    route_help="The owner's events in the log, also turns and tool results, in the order of positions. Texts that are secret,"
    " purged, deleted or retracted are withheld, with the reason. Leaves no trace.",
    shown="memories:events",
    example="Example: `engramlog events alice --type MemoryNegated --since 2026-05-01` or `engramlog events alice --follow`",
)
PARTITION_EVENTS = Operation(
    name="partition_events",
    help="Show the events of one partition, of all owners.",
    apart=True,
    call="events.partition_events",
    needs=needs.AUDITS_ALL,
    work=Work.FREE,
    verb="partition_events",
    path="/v1/partitions/{partition}/events",
    title="Events of a partition",
    question=QUESTION,
    answer="LogEvents",
    route_help="The events of one partition, of all owners, in the order of positions; for operators. Texts are withheld as for"
    " one owner. Leaves no trace.",
    shown="memories:events",
)


def without_waiting() -> Operation:
    """The events of an owner as one look finds them: what a service answers for a command."""
    return EVENTS.but(apart=False, work=Work.LIGHT)


TIMES_OF_OWNER = Operation(
    name="times",
    help="Count an owner's events over both time lines: when they happened and when they were recorded. Leaves no trace.",
    call="time_lines.times",
    needs=needs.READ,
    verb="times",
    path=f"{OWNER}/times",
    title="Time lines",
    question=(
        Parameter(
            "buckets",
            int,
            f"Equal parts of each line, 1 to {MOST_BUCKETS}.",
            120,
            (120,),
            option=Option(help="Equal parts of each line."),
        ),
        flag("groups", "Also count each part by effect: `made`, `changed`, `ended`, `seen`, `talk`."),
        SPANS[0].but(description="Happened at or after this; a day begins in the owner's time zone."),
        *SPANS[1:],
        *PLACE,
    ),
    answer="OwnerTimes",
    more="Ends and totals cover all matching events; `buckets` cover those within the given spans. Without a span a line"
    " ends at its first or last event. A purge changes no count.",
    example="Example: `engramlog events alice --times --since 2026-05-01 --until 2026-05-31 --groups`",
    folds=True,
    task="reading when it happened",
)
