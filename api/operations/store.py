"""The whole store: status, counts, owners, alarms, and owners whose fold stands still."""

from __future__ import annotations

from api.choices import MOST_NAME, MOST_OWNERS, OWNERS_PAGE
from api.operations.common import ACTOR
from api.operations.definition import Body, Operation, Option, Parameter

STATUS = Operation(
    name="status",
    help="Partitions with head, checkpoint, lag, lease and quarantine; workers; memory.",
    call="operator.status",
    path="/v1/status",
    title="Status",
    tag="store",
    answer="StoreStatus",
    told="The store as it stands.",
    shown="store:partitions",
    example="Example: `engramlog status --json | jq '.lag'`",
)
STATS = Operation(
    name="stats",
    call="operator.stats",
    path="/v1/stats",
    title="Statistics",
    tag="store",
    answer="StoreStats",
    told="Counts of the whole store.",
    route_help="How many owners, events and memories, and the largest owners.",
)
OWNERS = Operation(
    name="owners",
    help="Who has memories here: owners by name, in pages, with how many memories each has.",
    call="owners.owners",
    path="/v1/owners",
    title="Owners",
    tag="store",
    question=(
        Parameter(
            "prefix",
            str | None,
            "Only owners whose names begin so.",
            None,
            ("conv-",),
            bounds={"max_length": MOST_NAME},
        ),
        Parameter(
            "search",
            str | None,
            "Only owners whose names hold this, in any case, width, and traditional or simplified.",
            None,
            ("团队", "team"),
            bounds={"max_length": MOST_NAME},
        ),
        Parameter(
            "after",
            str | None,
            "Only after this name: `next` of the page before.",
            None,
            ("conv-26",),
            bounds={"max_length": MOST_NAME},
        ),
        Parameter(
            "limit",
            int,
            "How many, 1 to 1000.",
            OWNERS_PAGE,
            (100,),
            bounds={"ge": 1, "le": MOST_OWNERS},
            option=Option(("-k", "--limit")),
        ),
    ),
    answer="OwnerPage",
    told="A page of owners, in the order of their names.",
    shown="generic:answer",
    example="Example: `engramlog status --owners --prefix conv-` or `engramlog status --owners --search 团队`",
)
ALARMS = Operation(
    name="alarms",
    endpoint="standing",
    call="operator.alarms",
    path="/v1/alarms",
    title="Alarms",
    tag="store",
    answer="AlarmsStanding",
    told="What stands, the worst and newest first.",
    example='Example: `engramlog alarms`, after a look `engramlog alarms --clear state_damaged "partition 3"`',
    route_help="Every alarm that stands: what happened, since when, how often, and what to do.",
)
CLEAR = Operation(
    name="clear",
    call="operator.clear_alarm",
    path="/v1/alarms/clear",
    title="Clear an alarm",
    tag="store",
    question=(
        Parameter("name", str, "The alarm's name.", examples=("state_damaged",), bounds={"max_length": 60}),
        Parameter(
            "subject",
            str | None,
            "What it is about; all of that name without.",
            None,
            ("partition 3",),
            bounds={"max_length": 120},
        ),
    ),
    body=Body(
        "ClearingAlarm",
        "An alarm that somebody has looked at.",
        {"one": {"summary": "One partition's", "value": {"name": "state_damaged", "subject": "partition 3"}}},
    ),
    answer="AlarmCleared",
    told="Whether there was one.",
    help="Acknowledge an alarm, or with no subject all of that name. What still holds is raised again.",
    fixed={"face": "http"},
)
DEAD = Operation(
    name="dead list",
    endpoint="list_",
    call="operator.dead",
    path="/v1/dead",
    title="Quarantined owners",
    tag="dead letters",
    answer="DeadOwners",
    told="Who, why, and how many events wait.",
    help="Every quarantined owner, why, and how many of its events wait.",
    shown="generic:answer",
    example="Example: `engramlog dead`",
)
DEAD_SHOW = Operation(
    name="dead show",
    endpoint="show",
    call="operator.dead_show",
    path="/v1/dead/{owner}",
    title="Parked events",
    tag="dead letters",
    answer="DeadOwner",
    told="What waits.",
    statuses=(404,),
    help="An owner's parked events. Contents are not shown.",
    shown="generic:answer",
    example="Example: `engramlog dead alice`",
)
DEAD_RETRY = Operation(
    name="dead retry",
    endpoint="retry",
    call="operator.dead_retry",
    path="/v1/dead/{owner}/retry",
    title="Retry",
    tag="dead letters",
    body=Body("", "", {}),
    answer="Retried",
    told="Whether it is freed.",
    statuses=(404,),
    help="Fold an owner's parked events again, after an upgrade say. Carried out by the worker that holds its partition.",
    shown="generic:answer",
    example="Example: `engramlog dead alice --retry`",
)
DEAD_DISCARD = Operation(
    name="dead discard",
    endpoint="discard",
    call="operator.dead_discard",
    path="/v1/dead/{owner}/discard",
    title="Discard",
    tag="dead letters",
    question=(
        Parameter("position", str, "The parked position to drop.", examples=("3:128",), option=Option(argument=True)),
        Parameter("reason", str, "Why, in words; kept in the log.", "", ("written by a broken producer",)),
        ACTOR.but(option=None),
    ),
    body=Body(
        "Discarding",
        "One parked event to drop for good.",
        {"one": {"summary": "Drop one", "value": {"position": "3:128", "reason": "written by a broken producer"}}},
    ),
    answer="Discarded",
    told="What became of it.",
    statuses=(404, 409, 504),
    help="Drop one parked event for good, by an event of its own; the rest of the owner's parked events fold then.",
    route_help="Drop one parked event for good, by an event of its own; the rest of the owner's parked events fold then.\n\n"
    "The event tells who said so, and that is not an operator: over HTTP nobody speaks as one.",
    shown="generic:answer",
    example='Example: `engramlog dead alice --discard 3:128 --reason "written by a broken producer"`',
)
OPERATIONS = (STATUS, STATS, OWNERS, ALARMS, CLEAR, DEAD, DEAD_SHOW, DEAD_RETRY, DEAD_DISCARD)
