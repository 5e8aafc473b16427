"""Reading one owner's memories: list, get, why, history, provenance, uses, counts."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import (
    ACTOR,
    AFTER,
    AS_OF,
    AT,
    CURSOR,
    INSPECT,
    KNOWN,
    MODE,
    OFFSET,
    ORDER,
    PLACE,
    REASON,
    TIMES,
    TRACE,
    TRACED,
    limit,
)
from engramlog_server.api.operations.definition import (
    MEMORIES,
    MEMORY,
    NEVER,
    OF_MEMORY,
    OWNER,
    Body,
    Operation,
    Option,
    Parameter,
    text,
)
from engramlog_server.api.operations.searching import OF_ROWS, SORTED
from engramlog_server.api.work.patience import Work

PAGE = Option(("-k", "--limit"), "A page of so many changes, 1 to 1000; all without.", None, int | None)

LIST = Operation(
    name="list",
    command="An owner's memories, filtered and ordered, newest activation first; --counts counts them. Leaves no trace.",
    help="An owner's memories, filtered and ordered, by default the newest activation first. Leaves no trace.",
    call="reader.list",
    needs=needs.READ,
    verb="list",
    path=MEMORIES,
    question=(MODE, *OF_ROWS, *SORTED, limit(50), OFFSET, *TIMES),
    answer="Listing",
    statuses=OF_MEMORY,
    more="Of several values of one filter any will do; all filters must hold. What the mode does not show is not found: `withheld`"
    " counts it, of the owner in all.",
    shown="memories:memories",
    example="Examples: `engramlog list alice --mode review --limit 20`,"
    " `engramlog list alice --words 咖啡 --level full --sort weight`",
    folds=True,
)
COUNTS = Operation(
    name="counts",
    help="How many memories a list has by status, level, trust, tier, kind, tag and the rest, and by law. Leaves no trace.",
    call="counter.counts",
    needs=needs.READ,
    verb="counts",
    path=f"{OWNER}/counts",
    question=(MODE, *OF_ROWS, *TIMES),
    answer="Counts",
    more="Each is counted as if its own filter were not told, so that another value of it can be chosen. By law: how many of what"
    " the filters match each law shows in normal mode.",
    example="Examples: `engramlog list alice --counts`, `engramlog list alice --counts --mode debug --status deleted`",
    folds=True,
)
GET = Operation(
    name="get",
    help="Everything about one memory; a secret's text only with --reveal, which is recorded before it is shown.",
    call="reader.get",
    needs=needs.READ_OR_REVEAL,
    path=MEMORY,
    question=(
        *TIMES,
        TRACE.but(description="Record that this memory was shown."),
        INSPECT.but(description="Somebody only looks: recorded at any time, and the memory gains nothing by it."),
        Parameter(
            "reveal", NEVER, "Refused: POST .../reveal shows a secret, and records it.", False, (False,), option=None
        ),
    ),
    answer="Detail",
    route_help="Everything about one memory; of a secret no text, which POST `.../reveal` alone shows.",
    example="Example: `engramlog get conv-26 D1:3`",
    folds=True,
    traces=TRACED,
)
REVEAL = Operation(
    name="reveal",
    apart=True,
    call="revealer.get",
    needs=needs.REVEAL,
    path=f"{MEMORY}/reveal",
    question=(
        ACTOR.but(description="Who asks: user, assistant or judge."),
        REASON.but(description="Why, in words."),
        AS_OF,
        KNOWN,
        AT,
        AFTER,
        TRACE.but(
            description="Record also what was shown; who asked is recorded in any case, and the memory gains nothing by either."
        ),
    ),
    body=Body(
        "Revealing",
        "A secret is to be shown.",
        {"why": {"summary": "With the reason", "value": {"reason": "asked at the desk"}}},
    ),
    answer="Detail",
    help="Everything about one memory with its text, also of a secret. That it was shown is recorded first (`MemoriesRevealed`).",
)
LAW = text(
    "law",
    "Show weights and factors under this law, computed from the owner's events. [default: as stored, the weighted law]",
    "ebbinghaus",
    option=Option(completes="laws"),
)


def _time(name: str, description: str) -> Parameter:
    return text(name, description, "2026-05-01", "2026-05-01T09:30:00Z")


WHY = Operation(
    name="why",
    help="Why a memory weighs what it weighs: every factor, every change, where it comes from. Leaves no trace.",
    call="reader.why",
    needs=needs.OF_THE_LOG,
    path=f"{MEMORY}/why",
    question=(
        *TIMES,
        limit(1_000, "How many changes a page, 1 to 1000.").but(option=PAGE),
        CURSOR.but(
            description="The next page: what `next` said, with nothing else changed; `history` takes it too.",
            option=Option(help="The next page: what the one before told."),
        ),
        ORDER,
        LAW.but(description=f"Changes: {LAW.description[0].lower()}{LAW.description[1:]}"),
    ),
    answer="Why",
    folds=True,
    example="Example: `engramlog why alice coffee --as-of 2024-03-01T00:00:00Z`",
)
_CHANGES = (
    *PLACE,
    limit(100, "How many changes a page, 1 to 1000.").but(option=PAGE),
    CURSOR,
    ORDER,
    _time("since", "Happened at this instant or later; a day begins by the owner's clocks."),
    _time("until", "Happened at this instant or before; a day ends by the owner's clocks."),
    _time("recorded_since", "Taken in by the log at this instant or later."),
    _time("recorded_until", "Taken in by the log at this instant or before."),
    Parameter(
        "kinds",
        list[str],
        "Only of these kinds, any of them: decisions (`negate`) or types of events (`MemoryNegated`).",
        list,
        (["negate", "reinforce"],),
        option=Option(
            ("--kind",),
            "Only of this kind: a decision (negate) or a type of events (MemoryNegated); as often as needed. `events` has --type:"
            " of events that changed nothing too.",
        ),
    ),
    LAW,
)
HISTORY = Operation(
    name="history",
    help="The change log: every event, what it decided, the weight before and after. JSON has every entry.",
    call="reader.history",
    needs=needs.OF_THE_LOG,
    path=f"{MEMORY}/history",
    question=_CHANGES,
    answer="History",
    folds=True,
    example="Example: `engramlog history alice coffee`",
)
OWNER_HISTORY = Operation(
    name="history",
    help=HISTORY.help,
    call="reader.history",
    needs=needs.OF_THE_LOG,
    path=f"{OWNER}/history",
    question=_CHANGES,
    answer="History",
    route_help="Changes to any of the owner's memories, in the order of folding, page by page; the head of the owner's chain.",
)
PROVENANCE = Operation(
    name="provenance",
    help="Where a memory comes from: turns, memories it was merged or corrected from, events; as a tree.",
    call="reader.provenance",
    needs=needs.OF_THE_LOG,
    verb="provenance",
    path=f"{MEMORY}/provenance",
    question=PLACE,
    answer="Provenance",
    fixed={"bounded": True},
    shown="memories:provenance",
    example="Example: `engramlog why alice coffee-habit --provenance`",
    folds=True,
)
USES = Operation(
    name="uses",
    help="Which answers used a memory: the turns for which it was put into a prompt, and what was replied. Leaves no trace.",
    call="uses.uses",
    needs=needs.AUDITS._replace(told="audit"),
    work=Work.HEAVY,
    verb="uses",
    path=f"{MEMORY}/uses",
    question=(*PLACE, limit(20), OFFSET),
    answer="MemoryUses",
    example="Example: `engramlog why alice coffee --uses`",
    folds=True,
)
OWNER_STATS = Operation(
    name="stats",
    help="Counts: of the store and its largest owners, or of one owner's memories by category, level and state.",
    call="operator.stats",
    needs=needs.READ_OR_OPERATE,
    verb="stats",
    path=f"{OWNER}/stats",
    title="Statistics",
    question=TIMES,
    answer="OwnerStats",
    route_help="Counts of the owner's memories by category, level and state, how their weights are spread, what happened to them"
    " and what was shown of them.",
    example="Example: `engramlog stats` or `engramlog stats conv-26`",
    folds=True,
)
