"""Both time lines of an owner at a glance."""

from __future__ import annotations

from api.choices import MOST_BUCKETS
from api.operations.common import PLACE
from api.operations.definition import Operation, Option, Parameter
from api.operations.events import SPANS
from api.operations.places import OF_PLACE, OWNER

TIMES_OF_OWNER = Operation(
    name="times",
    help="Both time lines at a glance: from when to when things happened and were recorded, and how many when. Leaves no trace.",
    call="time_lines.times",
    path=f"{OWNER}/times",
    title="Time lines",
    tag="owners",
    question=(
        Parameter(
            "buckets",
            int,
            f"Into how many equal parts each line is cut: 1 to {MOST_BUCKETS}.",
            120,
            (120,),
            option=Option(help="Into how many equal parts each line is cut."),
        ),
        Parameter(
            "groups",
            bool,
            "Count each part by what its events do, too: `made`, `changed`, `ended`, `seen`, `talk`.",
            False,
            (True,),
        ),
        SPANS[0].but(description="Happened at this instant or later; a day begins by the owner's clocks."),
        *SPANS[1:],
        *PLACE,
    ),
    answer="OwnerTimes",
    told="Ends and parts of both lines.",
    statuses=OF_PLACE,
    more="The ends and figures are of all events that count; `buckets` are of those that lie in every span that is told. An end"
    " of a line that is not told is the first, or the last, of these. A purge changes none of it: what happened when stays.",
    shown="events:lines",
    example="Example: `engramlog events alice --times --since 2026-05-01 --until 2026-05-31 --groups`",
    folds=True,
    task="reading when it happened",
)
OPERATIONS = (TIMES_OF_OWNER,)
