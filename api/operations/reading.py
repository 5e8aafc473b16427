"""Read one owner's memories: search, list, get, why, history, provenance, uses, counts. Filters are named here."""

from __future__ import annotations

from typing import Any

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.definition import (
    ACTOR,
    AFTER,
    AS_OF,
    AT,
    CURSOR,
    EXPAND,
    INCLUDE_FADED,
    INSPECT,
    KNOWN,
    MEMORIES,
    MEMORY,
    MODE,
    NEVER,
    OF_MEMORY,
    OFFSET,
    ORDER,
    OWNER,
    OWNERS,
    PLACE,
    REASON,
    TIMES,
    TRACE,
    TRACED,
    TRUST,
    Operation,
    Option,
    Parameter,
    flag,
    limit,
    needed,
    text,
    time,
    told,
)
from engramlog_server.api.work import Work
from engramlog_server.projections.choices import RANKINGS, SEARCH_MODES

FILTERS = "Filters"
"""Panel of the help text."""


def _filter(name: str, kind: Any, description: str, default: Any, example: Any, *names: str) -> Parameter:
    option = Option(names=names, panel=FILTERS)
    return Parameter(name, kind, description, default, (example,), option=option)


def _any(name: str, description: str, example: list[Any], option: str, kind: Any = list[str]) -> Parameter:
    return _filter(name, kind, f"{description}; repeatable.", [], example, option)


QUERY = needed(
    "query", "The question, in any language.", "咖啡", "When did she go to Paris?", option=Option(argument=True)
)
RANKING = Parameter(
    "ranking",
    str,
    "`conversation` (text and place in the conversation), `text`, `published` (formula of the hybrid-search source),"
    " `overlap` (ebbinghaus source) or `associative` (spreading activation).",
    RANKINGS[0],
    RANKINGS,
)
SEARCH_MODE = Parameter(
    "search_mode",
    str,
    f"{', '.join(f'`{mode}`' for mode in SEARCH_MODES)}; hybrid goes by words where no embedder is configured.",
    "hybrid",
    ("hybrid", "keyword", "semantic"),
)
TERMS = (
    RANKING,
    SEARCH_MODE,
    _any("keywords", "Only memories with one of these keywords", ["kiln"], "--keyword"),
    _any("kinds", "Only these kinds of memory (fact, lesson ...)", ["lesson"], "--kind"),
    _any("categories", "Only these categories (identity, skill ...)", ["identity"], "--category"),
    _any(
        "tags",
        "Only memories with one of these tags (late_night, weekend, debugging ..., or a producer's own)",
        ["late_night", "debugging"],
        "--tag",
    ),
    _filter("feeling", str | None, "Only positive, negative or urgent memories.", None, "positive"),
    _filter("session", str | None, "Only from this session.", None, "s1"),
    _filter("project", str | None, "Only this project.", None, "engram"),
    text("near_project", "With `overlap`: rank memories of this project higher.", "engram"),
    _filter("speaker", str | None, "Only statements of this speaker.", None, "Alice"),
    _filter(
        "since",
        str | None,
        'Created at or after this day, instant or phrase ("last week", 上周; its beginning).',
        None,
        "2026-05-01",
    ),
    _filter(
        "until",
        str | None,
        "Created up to the end of this; the same forms. The answer shows both bounds.",
        None,
        "2026-06-01",
    ),
    _filter("min_relevance", float, "Least relevance, 0 to 1.", 0.0, 0.6),
    _filter("min_weight", float | None, "Least weight.", None, 0.3),
    TRUST.but(option=Option(panel=FILTERS)),
    _any("metadata", "Only memories with this metadata, name=value; all must match", ["page=4"], "--metadata"),
    flag("associations", "Include memories associated with the results."),
    INCLUDE_FADED,
    EXPAND,
)
"""What a search may ask beside its words."""
SEARCH = Operation(
    name="search",
    help="Search memories; results come with reasons, and withheld matches are counted.",
    call="reader.search",
    needs=needs.READ,
    verb="search",
    path=f"{OWNER}/search",
    question=(
        QUERY,
        MODE,
        limit(5, "Results per page, 1 to 100."),
        CURSOR.but(
            description="Next page: send `next` of the page before, with nothing else changed. All pages show the state of the"
            " first.",
            examples=("WyIzOjEyOCIsMTcwMCw1LCJhYiJd",),
        ),
        OWNERS,
        *TERMS,
        *TIMES,
        TRACE,
        INSPECT,
        Parameter("reasons", bool, "Show the parts of each score and weight in `explain`.", True, (True,), option=None),
    ),
    answer="Found",
    example='Examples: `engramlog search conv-26 "When did Caroline go to the support group?" --mode review -k 3`,'
    " `engramlog search alice 咖啡 --since 2026-05-01 --speaker Alice --search-mode keyword`,"
    " `engramlog search alice coffee --as-of 2026-03-03 --known 2026-03-03`",
    folds=True,
    traces=TRACED,
    together="engramlog_server.api.services.sharing:found_together",
)


_NOT_OF_ROWS = frozenset({"keywords", "feeling", "min_relevance", "metadata"})
"""Filters of a search that read every record, or its relevance."""
OF_ROWS = (
    *(term for term in TERMS if term.option and term.option.panel == FILTERS and term.name not in _NOT_OF_ROWS),
    _filter("max_weight", float | None, "Highest weight.", None, 0.3),
    _any(
        "statuses",
        "Only this status: live, fading, kept_version, superseded, merged, retired, proposed, set_aside, rejected,"
        " deleted or purged, if the mode shows it",
        ["live", "fading"],
        "--status",
    ),
    _any("levels", "Only at this level now: full, summary, tag, trace or archive", ["full"], "--level"),
    _any(
        "trusts",
        "Only exactly this trust: asserted, inferred, imported, proposed, disputed or rejected",
        ["disputed"],
        "--trusted",
    ),
    _any("tiers", "Only this tier: system, core, fact or episode", ["core"], "--tier"),
    _any("sensitivities", "Only this sensitivity, 0 to 3", [2], "--sensitivity", list[int]),
    _any("sources", "Only from this source: user, assistant, judge, system or import", ["user"], "--source"),
    _any(
        "flags",
        "Only memories that are conflicting (may contradict another), waiting (an inbox item is about them) or"
        " ground_changed",
        ["conflicting"],
        "--flag",
    ),
    _filter(
        "words",
        str | None,
        "Only memories whose text or id contains this, in any case, width, traditional or simplified. Secrets match by id"
        " only.",
        None,
        "咖啡",
    ),
    _filter(
        "updated_since", str | None, "Created or revised at or after this; the forms of `since`.", None, "2026-05-01"
    ),
    _filter("updated_until", str | None, "Created or revised up to the end of this.", None, "2026-06-01"),
)
"""What may be asked of every row; of several values of one filter any will do, and all filters must hold."""
SORTED = (
    Parameter(
        "sort",
        str,
        "Sort by `activated`, `created`, `updated`, `weight` or `id`; ties: newest first.",
        "activated",
        ("activated", "weight"),
    ),
    text(
        "order",
        "`descending` (newest, heaviest first) or `ascending`. [default: ascending for ids, else descending]",
        "descending",
        "ascending",
    ),
)

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
        *(one.but(description=f"With `above`: {one.description}") for one in (MODE, RANKING, SEARCH_MODE, EXPAND)),
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
    time("since", "Happened at or after this; a day begins in the owner's time zone."),
    time("until", "Happened at or before this; a day ends in the owner's time zone."),
    time("recorded_since", "Recorded at or after this."),
    time("recorded_until", "Recorded at or before this."),
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
