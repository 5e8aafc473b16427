"""Searching: what may be asked beside the words. A new filter is named here, and where it is applied."""

from __future__ import annotations

from typing import Any

from api.operations.common import CURSOR, INCLUDE_FADED, INSPECT, MODE, TIMES, TRACE, TRACED, TRUST, limit
from api.operations.definition import Operation, Option, Parameter
from api.operations.places import OF_PLACE, OWNER
from projections.choices import RANKINGS, SEARCH_MODES

FILTERS = "Filters"
"""Panel of the help text."""


def _filter(name: str, kind: Any, description: str, default: Any, example: Any, *names: str) -> Parameter:
    option = Option(names=names, panel=FILTERS)
    return Parameter(name, kind, description, default, (example,), option=option)


def _any(name: str, description: str, example: list[str], option: str) -> Parameter:
    return _filter(name, list[str], f"{description}; repeatable.", [], example, option)


QUERY = Parameter(
    "query",
    str,
    "What to look for, in any language.",
    examples=("咖啡", "When did she go to Paris?"),
    wire="q",
    option=Option(argument=True),
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
    Parameter("near_project", str | None, "Memories of this project stand higher under `overlap`.", None, ("engram",)),
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
    Parameter("associations", bool, "Also what the hits bring to mind, and how.", False, (True,)),
    INCLUDE_FADED,
)
"""What a search may ask beside its words."""
SEARCH = Operation(
    name="search",
    call="reader.search",
    path=f"{OWNER}/search",
    title="Search",
    tag="owners",
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
    told="The best matches, each with its reasons.",
    statuses=OF_PLACE,
    example='Examples: `engramlog search conv-26 "When did Caroline go to the support group?" --mode review -k 3`,'
    " `engramlog search alice 咖啡 --since 2026-05-01 --speaker Alice --search-mode keyword`,"
    " `engramlog search alice coffee --as-of 2026-03-03 --known 2026-03-03`",
    folds=True,
    traces=TRACED,
)
