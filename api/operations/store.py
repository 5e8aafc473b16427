"""The whole store: status, jobs, capacity, models, owners, alarms, owners whose fold stands still, and heads of its chains."""

from __future__ import annotations

from engramlog_server.api.choices import MOST_NAME, MOST_OWNERS, OWNERS_PAGE
from engramlog_server.api.operations import needs
from engramlog_server.api.operations.definition import (
    ACTOR,
    OWNER,
    PLACE,
    Body,
    Operation,
    Option,
    Parameter,
    needed,
    text,
    told,
)
from engramlog_server.api.work import Work

STATUS = Operation(
    name="status",
    command="State of the store; --jobs, --capacity, --models and --owners show one part in full.",
    help="Partitions with head, checkpoint, lag, lease and quarantine; workers; memory.",
    call="operator.status",
    needs=needs.OPERATES,
    work=Work.WATCH,
    verb="status",
    path="/v1/status",
    answer="StoreStatus",
    shown="status:store",
    example="Example: `engramlog status --json | jq '.lag'`",
)
STATS = Operation(
    name="stats",
    help="How many owners, events and memories, and the largest owners.",
    call="operator.stats",
    needs=needs.READ_OR_OPERATE,
    work=Work.HEAVY,
    path="/v1/stats",
    title="Statistics",
    answer="StoreStats",
)
OWNERS = Operation(
    name="owners",
    help="Owners by name, in pages, with their number of memories.",
    call="owners.owners",
    needs=needs.ANYBODY,
    work=Work.HEAVY,
    verb="owners",
    path="/v1/owners",
    question=(
        text("prefix", "Only owners whose name starts with this.", "conv-", bounds={"max_length": MOST_NAME}),
        text(
            "search",
            "Only owners whose name contains this, in any case, width, traditional or simplified.",
            "团队",
            "team",
            bounds={"max_length": MOST_NAME},
        ),
        text("after", "Only names after this: `next` of the page before.", "conv-26", bounds={"max_length": MOST_NAME}),
        Parameter(
            "limit",
            int,
            "Most entries, 1 to 1000.",
            OWNERS_PAGE,
            (100,),
            bounds={"ge": 1, "le": MOST_OWNERS},
            option=Option(("-k", "--limit")),
        ),
    ),
    answer="OwnerPage",
    example="Example: `engramlog status --owners --prefix conv-` or `engramlog status --owners --search 团队`",
)
ALARMS = Operation(
    name="alarms",
    help="Show active alarms; exit code 1 while something has stopped.",
    endpoint="standing",
    call="operator.alarms",
    needs=needs.OPERATES,
    work=Work.WATCH,
    verb="alarms",
    path="/v1/alarms",
    answer="AlarmsStanding",
    example='Example: `engramlog alarms`, after a look `engramlog alarms --clear state_damaged "partition 3"`',
    route_help="Every active alarm: what happened, since when, how often, and what to do.",
)
CLEAR = Operation(
    name="clear",
    call="operator.clear_alarm",
    needs=needs.OPERATES,
    work=Work.WATCH,
    path="/v1/alarms/clear",
    title="Clear an alarm",
    question=(
        needed("name", "Name of the alarm.", "state_damaged", bounds={"max_length": 60}),
        text("subject", "Its subject. [default: all alarms of that name]", "partition 3", bounds={"max_length": 120}),
    ),
    body=told(
        "ClearingAlarm",
        "An alarm to acknowledge.",
        one=("One partition's", {"name": "state_damaged", "subject": "partition 3"}),
    ),
    answer="AlarmCleared",
    help="Acknowledge an alarm, or all of that name. It is raised again if its cause remains.",
    fixed={"face": "http"},
)
DEAD = Operation(
    name="dead list",
    endpoint="list_",
    call="operator.dead",
    needs=needs.OPERATES,
    work=Work.WATCH,
    path="/v1/dead",
    title="Quarantined owners",
    tag="dead letters",
    answer="DeadOwners",
    help="List quarantined owners, with reasons and waiting events.",
    example="Example: `engramlog dead`",
)
DEAD_SHOW = Operation(
    name="dead show",
    endpoint="show",
    call="operator.dead_show",
    needs=needs.Need("debug", recorded="debug"),
    path="/v1/dead/{owner}",
    title="Parked events",
    tag="dead letters",
    answer="DeadOwner",
    statuses=(404,),
    help="An owner's parked events. Contents are not shown.",
    example="Example: `engramlog dead alice`",
)
DEAD_RETRY = Operation(
    name="dead retry",
    endpoint="retry",
    call="operator.dead_retry",
    needs=needs.Need("operate"),
    path="/v1/dead/{owner}/retry",
    title="Retry",
    tag="dead letters",
    body=Body("", "", {}),
    answer="Retried",
    statuses=(404,),
    help="Fold an owner's parked events again, for example after an upgrade. The worker of the partition does it.",
    example="Example: `engramlog dead alice --retry`",
)
DEAD_DISCARD = Operation(
    name="dead discard",
    endpoint="discard",
    call="operator.dead_discard",
    needs=needs.DISCARDS,
    path="/v1/dead/{owner}/discard",
    title="Discard",
    tag="dead letters",
    question=(
        needed("position", "The parked position to drop.", "3:128", option=Option(argument=True)),
        Parameter("reason", str, "The reason; kept in the log.", "", ("written by a broken producer",)),
        ACTOR.but(option=None),
    ),
    body=told(
        "Discarding",
        "One parked event to drop for good.",
        one=("Drop one", {"position": "3:128", "reason": "written by a broken producer"}),
    ),
    answer="Discarded",
    statuses=(404, 409, 504),
    help="Discard one parked event for good, by an event of its own. Then the owner's other parked events are folded.",
    route_help="Discard one parked event for good, by an event of its own. Then the owner's other parked events are"
    " folded.\n\nThe event names its actor, which cannot be operator over HTTP.",
    example='Example: `engramlog dead alice --discard 3:128 --reason "written by a broken producer"`',
)


JOBS = Operation(
    name="jobs",
    help="Lifecycle jobs: when each last ran and is due, what waits, and why one failed.",
    call="job_queue.jobs",
    needs=needs.OPERATES,
    work=Work.WATCH,
    verb="jobs",
    path="/v1/jobs",
    answer="JobBoard",
    example="Example: `engramlog status --jobs`, `engramlog status --jobs --json | jq '.jobs[] | select(.state == \"failed\")'`",
)
CAPACITY = Operation(
    name="capacity",
    help="Forecast when memory and disk are full, from the growth of the last days.",
    call="capacities.capacity",
    needs=needs.OPERATES,
    work=Work.WATCH,
    verb="capacity",
    path="/v1/capacity",
    question=(Parameter("days", int, "Days of growth to use, 1 to 366.", 7, (7,), bounds={"ge": 1, "le": 366}),),
    answer="Capacity",
    example="Example: `engramlog status --capacity --days 30`",
)
MODELS = Operation(
    name="models",
    help="Configured models and their use: questions, tokens and costs, by use and day.",
    call="model_uses.models",
    needs=needs.OPERATES,
    work=Work.WATCH,
    verb="models",
    path="/v1/models",
    question=(Parameter("days", int, "Days to list, 1 to 366.", 30, (30,), bounds={"ge": 1, "le": 366}),),
    answer="ModelsUsed",
    example="Example: `engramlog status --models --days 7`",
)


HEADS = Operation(
    name="heads",
    call="heads.heads",
    needs=needs.AUDITS_ALL,
    work=Work.HEAVY,
    verb="heads",
    path="/v1/heads",
    answer="ChainHeads",
    help="Heads of the log's chains. Kept by others, they prove that nothing before them was changed.",
    route_help="Heads of the log's chains with times, next to those that this server keeps, and a line with all of them to keep"
    " elsewhere. Reads only.",
)
CHECK_HEADS = Operation(
    name="check heads",
    endpoint="check_heads",
    call="heads.check",
    needs=needs.AUDITS_ALL,
    work=Work.HEAVY,
    verb="check_heads",
    path="/v1/heads/check",
    question=(
        needed(
            "text",
            "Kept heads: lines of one or several files, or the JSON of `heads`. At most 8,388,608 characters.",
            '{"n":1,"at":"2026-11-22T09:30:02Z","store":"6d0f…","heads":[[3,131,"5f0c…"]],"before":"0000…"}',
        ),
        Parameter(
            "most",
            int,
            "Most events to read, 1 to 1,000,000; the answer says what was not reached.",
            200_000,
            (200_000,),
        ),
    ),
    body=told(
        "HeadsHeld",
        "Kept heads.",
        line=("A line", {"text": '{"n":1,"at":"…","store":"6d0f…","heads":[[3,131,"5f0c…"]],"before":"0000…"}'}),
    ),
    answer="HeadsCompared",
    help="Compare the log with kept heads: each chain is computed again from its first event.",
)
OWNER_HEADS = Operation(
    name="owner heads",
    endpoint="owner_heads",
    call="owner_heads.heads",
    needs=needs.READ,
    verb="owner_heads",
    path=f"{OWNER}/heads",
    title="An owner's head",
    question=(
        text("chain", "Compare with this one: 64 hexadecimal digits.", "5f0c" * 16, bounds={"max_length": 100}),
        *PLACE,
    ),
    answer="OwnerHead",
    help="The head of an owner's chain, now or in the past, and whether it is the given one. Leaves no trace.",
    folds=True,
)
