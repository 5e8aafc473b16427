"""Searching and listing: what may be asked beside the words. A new filter is named here, and where it is applied."""

from __future__ import annotations

from typing import Any

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import (
    CURSOR,
    INCLUDE_FADED,
    INSPECT,
    MODE,
    OWNERS,
    TIMES,
    TRACE,
    TRACED,
    TRUST,
    limit,
)
from engramlog_server.api.operations.definition import OWNER, Operation, Option, Parameter, flag, needed, text
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
    *(one for one in TERMS if one.option and one.option.panel == FILTERS and one.name not in _NOT_OF_ROWS),
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
