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
    Operation,
    Option,
    Parameter,
    text,
    told,
)
from engramlog_server.api.operations.searching import OF_ROWS, RANKING, SEARCH_MODE, SORTED
from engramlog_server.api.work.patience import Work

PAGE = Option(("-k", "--limit"), "Changes per page, 1 to 1000. [default: all]", None, int | None)

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
    more="Values of one filter are alternatives; different filters must all match. Memories that the mode hides are not"
    " found; `withheld` counts all of them for the owner.",
    shown="memories:memories",
    example="Examples: `engramlog list alice --mode review --limit 20`,"
    " `engramlog list alice --words 咖啡 --level full --sort weight`",
    folds=True,
)
COUNTS = Operation(
    name="counts",
    help="Count the memories of a list by status, level, trust, tier, kind, tag, law and more. Leaves no trace.",
    call="counter.counts",
    needs=needs.READ,
    verb="counts",
    path=f"{OWNER}/counts",
    question=(MODE, *OF_ROWS, *TIMES),
    answer="Counts",
    more="Each count ignores the filter of its own field, so that you can choose another value. By law: how many of the"
    " matches each law shows in normal mode.",
    example="Examples: `engramlog list alice --counts`, `engramlog list alice --counts --mode debug --status deleted`",
    folds=True,
)
GET = Operation(
    name="get",
    help="Show everything about one memory. The text of a secret needs --reveal, which is recorded first.",
    call="reader.get",
    needs=needs.READ_OR_REVEAL,
    path=MEMORY,
    question=(
        *TIMES,
        TRACE.but(description="Record that this memory was shown."),
        INSPECT.but(description="Record a look (`inspection`) at any time. The weight does not change."),
        Parameter(
            "reveal", NEVER, "Refused: POST .../reveal shows a secret, and records it.", False, (False,), option=None
        ),
    ),
    answer="Detail",
    route_help="Everything about one memory. Only POST `.../reveal` shows the text of a secret.",
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
        ACTOR.but(description="The actor that asks: user, assistant or judge."),
        REASON.but(description="The reason."),
        AS_OF,
        KNOWN,
        AT,
        AFTER,
        TRACE.but(
            description="Also record the memory as shown. The reveal itself is always recorded; neither changes the weight."
        ),
    ),
    body=told("Revealing", "Show a secret.", why=("With the reason", {"reason": "asked at the desk"})),
    answer="Detail",
    help="Everything about one memory, also the text of a secret. The reveal is recorded first (`MemoriesRevealed`).",
)
LAW = text(
    "law",
    "Show weights and factors under this law, computed from the owner's events. [default: as stored, the weighted law]",
    "ebbinghaus",
    option=Option(completes="laws"),
)


def _time(name: str, description: str) -> Parameter:
    return text(name, description, "2026-05-01", "2026-05-01T09:30:00Z")


_ABOVE = "Show only why it ranks above or below this memory, for --query."
WHY = Operation(
    name="why",
    help="Explain a memory's weight: factors, changes and sources. Leaves no trace.",
    call="reader.why",
    needs=needs.WHY,
    path=f"{MEMORY}/why",
    question=(
        *TIMES,
        limit(1_000, "Changes per page, 1 to 1000.").but(option=PAGE),
        CURSOR.but(
            description="Next page: send `next` of the page before, with nothing else changed; `history` takes it too.",
            option=Option(help="Next page: `next` of the page before."),
        ),
        ORDER,
        LAW.but(description=f"Changes: {LAW.description[0].lower()}{LAW.description[1:]}"),
        text("above", "Also compare its rank with this memory's, for `query`.", "tea", option=Option(help=_ABOVE)),
        text("query", "With `above`: the question by which both are ranked.", "What does she drink?"),
        *(one.but(description=f"With `above`: {one.description}") for one in (MODE, RANKING, SEARCH_MODE)),
        text("language", "With `above`: language of the sentence, `en` or `zh`. [default: that of `query`]", "zh"),
    ),
    answer="Why",
    folds=True,
    example="Example: `engramlog why alice coffee --as-of 2024-03-01T00:00:00Z` or"
    ' `engramlog why alice coffee --above tea --query "What does she drink?"`',
)
_CHANGES = (
    *PLACE,
    limit(100, "Changes per page, 1 to 1000.").but(option=PAGE),
    CURSOR,
    ORDER,
    _time("since", "Happened at or after this; a day begins in the owner's time zone."),
    _time("until", "Happened at or before this; a day ends in the owner's time zone."),
    _time("recorded_since", "Recorded at or after this."),
    _time("recorded_until", "Recorded at or before this."),
    Parameter(
        "kinds",
        list[str],
        "Only these kinds: decisions (`negate`) or event types (`MemoryNegated`).",
        list,
        (["negate", "reinforce"],),
        option=Option(
            ("--kind",),
            "Only this kind: a decision (negate) or event type (MemoryNegated); repeatable. `events --type` also has"
            " events that changed nothing.",
        ),
    ),
    LAW,
)
HISTORY = Operation(
    name="history",
    help="Show the change log: each event, its decision, and the weight before and after.",
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
    route_help="Changes of all memories of the owner in the order of folding, in pages, with the head of the owner's chain.",
)
PROVENANCE = Operation(
    name="provenance",
    help="Show the turns, memories and events from which a memory comes, as a tree.",
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
    help="List the turns for which a memory was put into a prompt, with the replies. Leaves no trace.",
    call="answers.uses",
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
    help="Count the store's events and largest owners, or one owner's memories by category, level and state.",
    call="operator.stats",
    needs=needs.READ_OR_OPERATE,
    verb="stats",
    path=f"{OWNER}/stats",
    title="Statistics",
    question=TIMES,
    answer="OwnerStats",
    route_help="Counts of the owner's memories by category, level and state, their weights, events and accesses.",
    example="Example: `engramlog stats` or `engramlog stats conv-26`",
    folds=True,
)
