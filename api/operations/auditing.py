"""What an auditor asks: what changed between two moments, and why one memory stands above another."""

from __future__ import annotations

from api.operations.common import MODE, OFFSET, TIMES, limit
from api.operations.definition import Body, Operation, Option, Parameter
from api.operations.places import MEMORY, OF_MEMORY, OF_PLACE, OWNER
from api.operations.searching import QUERY, TERMS

DIFF = Operation(
    name="diff",
    call="differ.diff",
    path=f"{OWNER}/diff",
    title="Diff",
    tag="owners",
    question=(
        Parameter(
            "since",
            str,
            "From this moment: an instant, the end of a day, or a position.",
            examples=("2026-03-03", "2026-03-03T12:00:00Z"),
            wire="from",
            option=Option(("--from",)),
        ),
        Parameter(
            "until",
            str | None,
            "To this moment, as `from`; now if not given. Not before it.",
            None,
            ("2026-11-22", "2026-11-22T12:00:00Z"),
            wire="to",
            option=Option(("--to",), "To this moment, as --from; now if not given. Not before it."),
        ),
        Parameter(
            "line",
            str,
            "The time line of both moments: `known`, what was recorded by them, as answers were given then; or `happened`, what"
            " had happened by them, as known now.",
            "known",
            ("known", "happened"),
        ),
        Parameter(
            "queries",
            list[str],
            "A question whose results are ranked on both sides; at most 20.",
            [],
            (["coffee"],),
            wire="query",
            option=Option(
                ("--query",), "A question whose results are ranked on both sides; as often as needed, at most 20."
            ),
        ),
        MODE,
        Parameter("results", int, "How many results of each question, 1 to 100.", 10, (10,)),
        Parameter(
            "everything",
            bool,
            "Also memories of which nothing moved but the weight.",
            False,
            (True,),
            wire="all",
            option=Option(("--all",)),
        ),
        limit(50),
        OFFSET,
        Parameter(
            "as_of",
            str | None,
            "On the line `known`: only what had happened by this, on both sides, weights at it.",
            None,
            ("2026-03-03",),
        ),
        Parameter(
            "known",
            str | None,
            "On the line `happened`: only what was recorded by this, on both sides.",
            None,
            ("2026-11-22",),
        ),
    ),
    answer="Diff",
    told="What changed.",
    statuses=OF_PLACE,
    shown="differing:differences",
    more="Each memory with the events that are its causes, and who brought them. Where no event touched one, time did.",
    example="Example: `engramlog diff alice --from 2026-03-03 --query coffee` or"
    " `engramlog diff alice --from 2026-01-01 --to 2026-06-01 --line happened`",
    folds=True,
)
DIFF_POSTED = DIFF.but(
    endpoint="diff_posted",
    title="Diff, asked in a body",
    body=Body(
        "Differing",
        "Two moments of an owner: for questions that are too long for an address.",
        {"since": {"summary": "What changed since?", "value": {"from": "2026-03-03", "query": ["coffee"]}}},
        required=True,
    ),
)
OTHER = Parameter("other", str, "The memory that it stands above, or below.", examples=("tea",))
LANGUAGE = Parameter(
    "language", str | None, "Of the sentence: `en` or `zh`; the question's if not given.", None, ("zh",)
)
ABOVE = Operation(
    name="above",
    call="outranking.above",
    path=f"{MEMORY}/above",
    title="Why above",
    tag="memories",
    question=(
        OTHER,
        QUERY.but(option=Option(("--query",))),
        MODE,
        *(one for one in TERMS if one.name != "associations"),
        LANGUAGE,
        *TIMES,
    ),
    answer="Above",
    told="Why, in a sentence and in parts.",
    statuses=OF_MEMORY,
    help="Why one memory stands above another for a question, or below: each part of both scores. Leaves no trace.",
    folds=True,
)
OPERATIONS = (DIFF, DIFF_POSTED, ABOVE)
