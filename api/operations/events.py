"""The log's events, and both time lines of an owner at a glance."""

from __future__ import annotations

from engramlog_server.api.choices import MOST_BUCKETS, MOST_EVENTS, MOST_WAIT
from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import CURSOR, LINES, ORDER, PLACE, limit
from engramlog_server.api.operations.definition import OWNER, Operation, Option, Parameter, flag, text
from engramlog_server.api.work.patience import Work


def _time(name: str, description: str) -> Parameter:
    return text(name, description, "2026-05-01", "2026-05-01T09:30:00Z")


def _named(name: str, description: str, example: str) -> Parameter:
    return text(name, description, example, bounds={"max_length": 400})


SPANS = (
    _time("since", "Happened at this instant or later; a day begins by the owner's clocks, of a partition in UTC."),
    _time("until", "Happened at this instant or before; a day ends likewise."),
    _time("recorded_since", "Taken in by the log at this instant or later."),
    _time("recorded_until", "Taken in by the log at this instant or before."),
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
            ("--type",),
            "Only events of this type (TurnRecorded); as often as needed. `history` has --kind: what was decided, too.",
        ),
    ),
    *SPANS,
    _named("session", "Only events of this session.", "s1"),
    _named("principal", "Only what this principal brought, whole as an event tells it.", "job:extract"),
    text("actor", "Only what was done as user, assistant, judge, system or operator.", "judge"),
    flag("late", "Only what was recorded more than five minutes after it happened."),
    _named("turn", "Only events that are about this turn, or name it.", "D4:7"),
    _named("memory", "Only events that are about this memory, or name it.", "coffee"),
    _named("correlation", "Only events with this correlation id.", "extract:rules"),
)
PAGE = (
    limit(100, f"How many events a page, 1 to {MOST_EVENTS}."),
    CURSOR.but(
        description="The next page: what `next` said, with nothing else changed; or what `follow` said: what came since."
    ),
    ORDER,
    Parameter(
        "wait",
        float,
        f"Seconds, 0 to {MOST_WAIT}, that an empty page waits for the next event, oldest first; answered as soon as one comes.",
        0.0,
        (10,),
        option=None,
    ),
)
QUESTION = (*FILTERS, *LINES, *PAGE)
EVENTS = Operation(
    name="events",
    help="The events of the log themselves, turns and tool results too: by type, time, session, who; or as they come.",
    apart=True,
    call="events.events",
    needs=needs.AUDITS,
    work=Work.FREE,
    verb="events",
    path=f"{OWNER}/events",
    title="Events of the log",
    question=QUESTION,
    answer="LogEvents",
    route_help="The owner's events as they lie in the log, turns and tool results too, in the order of their positions. Words that"
    " may not be told (of secrets, of what was purged, deleted or retracted) are withheld, with the reason. Leaves no trace.",
    shown="events:events",
    example="Example: `engramlog events alice --type MemoryNegated --since 2026-05-01` or `engramlog events alice --follow`",
)
PARTITION_EVENTS = Operation(
    name="partition_events",
    help="The events of one partition of the store, whosever they are, as they lie in the log.",
    apart=True,
    call="events.partition_events",
    needs=needs.AUDITS_ALL,
    work=Work.FREE,
    verb="partition_events",
    path="/v1/partitions/{partition}/events",
    title="Events of a partition",
    question=QUESTION,
    answer="LogEvents",
    route_help="The events of one partition, whosever they are, in the order of their positions; for operators. Words as of an"
    " owner's events. Leaves no trace.",
    shown="events:events",
)


TIMES_OF_OWNER = Operation(
    name="times",
    help="Both time lines at a glance: from when to when things happened and were recorded, and how many when. Leaves no trace.",
    call="time_lines.times",
    needs=needs.READ,
    verb="times",
    path=f"{OWNER}/times",
    title="Time lines",
    question=(
        Parameter(
            "buckets",
            int,
            f"Into how many equal parts each line is cut: 1 to {MOST_BUCKETS}.",
            120,
            (120,),
            option=Option(help="Into how many equal parts each line is cut."),
        ),
        flag("groups", "Count each part by what its events do, too: `made`, `changed`, `ended`, `seen`, `talk`."),
        SPANS[0].but(description="Happened at this instant or later; a day begins by the owner's clocks."),
        *SPANS[1:],
        *PLACE,
    ),
    answer="OwnerTimes",
    more="The ends and figures are of all events that count; `buckets` are of those that lie in every span that is told. An end"
    " of a line that is not told is the first, or the last, of these. A purge changes none of it: what happened when stays.",
    example="Example: `engramlog events alice --times --since 2026-05-01 --until 2026-05-31 --groups`",
    folds=True,
    task="reading when it happened",
)
