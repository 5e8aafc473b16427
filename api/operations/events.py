"""The events of the log themselves: of an owner, and of a partition of the whole store."""

from __future__ import annotations

from api.choices import MOST_EVENTS, MOST_WAIT
from api.operations.common import CURSOR, LINES, ORDER, limit
from api.operations.definition import Operation, Option, Parameter
from api.operations.places import OWNER


def _time(name: str, description: str) -> Parameter:
    return Parameter(name, str | None, description, None, ("2026-05-01", "2026-05-01T09:30:00Z"))


def _named(name: str, description: str, example: str) -> Parameter:
    return Parameter(name, str | None, description, None, (example,), bounds={"max_length": 400})


SPANS = (
    _time("since", "Happened at this instant or later; a day begins by the owner's clocks, of a partition in UTC."),
    _time("until", "Happened at this instant or before; a day ends likewise."),
    _time(
        "recorded_since",
        "Taken in by the log at this instant or later.",
    ),
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
    Parameter(
        "actor",
        str | None,
        "Only what was done as user, assistant, judge, system or operator.",
        None,
        ("judge",),
    ),
    Parameter("late", bool, "Only what was recorded more than five minutes after it happened.", False, (True,)),
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
    call="events.events",
    path=f"{OWNER}/events",
    title="Events of the log",
    tag="owners",
    question=QUESTION,
    answer="LogEvents",
    told="A page of the owner's events.",
    route_help="The owner's events as they lie in the log, turns and tool results too, in the order of their positions. Words that"
    " may not be told (of secrets, of what was purged, deleted or retracted) are withheld, with the reason. Leaves no trace.",
    shown="events:events",
    example="Example: `engramlog events alice --type MemoryNegated --since 2026-05-01` or `engramlog events alice --follow`",
)
PARTITION_EVENTS = Operation(
    name="partition_events",
    help="The events of one partition of the store, whosever they are, as they lie in the log.",
    call="events.partition_events",
    path="/v1/partitions/{partition}/events",
    title="Events of a partition",
    tag="store",
    question=QUESTION,
    answer="LogEvents",
    told="A page of the partition's events.",
    route_help="The events of one partition, whosever they are, in the order of their positions; for operators. Words as of an"
    " owner's events. Leaves no trace.",
    shown="events:events",
)
OPERATIONS = (EVENTS, PARTITION_EVENTS)
