"""Searching and listing: what may be asked beside the words. A new filter is named here, and where it is applied."""

from __future__ import annotations

from typing import Any

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import (
    CURSOR,
    INCLUDE_FADED,
    INSPECT,
    MODE,
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
    "query", "What to look for, in any language.", "咖啡", "When did she go to Paris?", option=Option(argument=True)
)
TERMS = (
    Parameter(
        "ranking",
        str,
        "`conversation` (text, and its place in the conversation), `text`, `published` (seed 001's score),"
        " `overlap` (seed 004's) or `associative` (what activation reaches among the hits).",
        RANKINGS[0],
        RANKINGS,
    ),
    Parameter(
        "search_mode",
        str,
        f"{', '.join(f'`{mode}`' for mode in SEARCH_MODES)}; hybrid goes by words where no embedder is configured.",
        "hybrid",
        ("hybrid", "keyword", "semantic"),
    ),
    _any("keywords", "Only what has one of these keywords", ["kiln"], "--keyword"),
    _any("kinds", "Only these kinds of memory (fact, lesson ...)", ["lesson"], "--kind"),
    _any("categories", "Only these categories (identity, skill ...)", ["identity"], "--category"),
    _any(
        "tags",
        "Only what has one of these context tags (late_night, weekend, debugging ..., or a producer's own)",
        ["late_night", "debugging"],
        "--tag",
    ),
    _filter("feeling", str | None, "Only what is positive, negative or urgent.", None, "positive"),
    _filter("session", str | None, "Only from this session.", None, "s1"),
    _filter("project", str | None, "Only of this project.", None, "engram"),
    text("near_project", "Memories of this project stand higher under `overlap`.", "engram"),
    _filter("speaker", str | None, "Only what this speaker said.", None, "Alice"),
    _filter(
        "since",
        str | None,
        'Created then or later: 2026-05-01, an instant, or words such as "last week", 上周; of a range its beginning.',
        None,
        "2026-05-01",
    ),
    _filter(
        "until", str | None, "Created up to the end of that; the same forms. The answer tells both.", None, "2026-06-01"
    ),
    _filter("min_relevance", float, "Only at least so relevant, 0 to 1.", 0.0, 0.6),
    _filter("min_weight", float | None, "Only of at least this weight.", None, 0.3),
    TRUST.but(option=Option(panel=FILTERS)),
    _any("metadata", "Only what was told with it: name=value, all of them", ["page=4"], "--metadata"),
    flag("associations", "Also what the hits bring to mind, and how."),
    INCLUDE_FADED,
)
"""What a search may ask beside its words."""
SEARCH = Operation(
    name="search",
    help="Find memories; each tells why it stands where it stands, and the answer tells what was withheld.",
    call="reader.search",
    needs=needs.READ,
    verb="search",
    path=f"{OWNER}/search",
    question=(
        QUERY,
        MODE,
        limit(5, "How many results a page, 1 to 100."),
        CURSOR.but(
            description="The next page: what `next` said, with nothing else changed. It is read as of the first page.",
            examples=("WyIzOjEyOCIsMTcwMCw1LCJhYiJd",),
        ),
        *TERMS,
        *TIMES,
        TRACE,
        INSPECT,
        Parameter(
            "reasons",
            bool,
            "Tell in `explain` what each score and weight is made of; without, its parts are empty.",
            True,
            (True,),
            option=None,
        ),
    ),
    answer="Found",
    example='Examples: `engramlog search conv-26 "When did Caroline go to the support group?" --mode review -k 3`,'
    " `engramlog search alice 咖啡 --since 2026-05-01 --speaker Alice --search-mode keyword`,"
    " `engramlog search alice coffee --as-of 2026-03-03 --known 2026-03-03`",
    folds=True,
    traces=TRACED,
)


_NOT_OF_ROWS = frozenset({"keywords", "feeling", "min_relevance", "metadata"})
"""Filters of a search that read every record, or its relevance."""
OF_ROWS = (
    *(one for one in TERMS if one.option and one.option.panel == FILTERS and one.name not in _NOT_OF_ROWS),
    _filter("max_weight", float | None, "Only of at most this weight.", None, 0.3),
    _any(
        "statuses",
        "Only of this status: live, fading, kept_version, superseded, merged, retired, proposed, set_aside, rejected, deleted or"
        " purged, as far as the mode shows it",
        ["live", "fading"],
        "--status",
    ),
    _any("levels", "Only at this level now: full, summary, tag, trace or archive", ["full"], "--level"),
    _any(
        "trusts",
        "Only of just this trust: asserted, inferred, imported, proposed, disputed or rejected",
        ["disputed"],
        "--trusted",
    ),
    _any("tiers", "Only of this tier: system, core, fact or episode", ["core"], "--tier"),
    _any("sensitivities", "Only of this sensitivity, 0 to 3", [2], "--sensitivity", list[int]),
    _any("sources", "Only from this source: user, assistant, judge, system or import", ["user"], "--source"),
    _any(
        "flags",
        "Only what is conflicting (it may contradict one that stands), waiting (the inbox has something about it) or"
        " ground_changed",
        ["conflicting"],
        "--flag",
    ),
    _filter(
        "words",
        str | None,
        "Only what has this in its text or its id, in any case, width, and traditional or simplified; a secret by its id alone.",
        None,
        "咖啡",
    ),
    _filter("updated_since", str | None, "Made or revised then or later; the forms of `since`.", None, "2026-05-01"),
    _filter("updated_until", str | None, "Made or revised up to the end of that.", None, "2026-06-01"),
)
"""What may be asked of every row; of several values of one filter any will do, and all filters must hold."""
SORTED = (
    Parameter(
        "sort",
        str,
        "By `activated`, `created`, `updated`, `weight` or `id`; of equals what was made later stands first.",
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
