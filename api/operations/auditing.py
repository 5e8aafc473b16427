"""What an auditor asks: changes between two moments, ranks of two memories, weights over time, the prompt of an answer."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import INCLUDE_FADED, MODE, OFFSET, PLACE, TIMES, limit
from engramlog_server.api.operations.definition import (
    MEMORY,
    OF_MEMORY,
    OWNER,
    Body,
    Operation,
    Option,
    Parameter,
    flag,
    needed,
    text,
    without,
)
from engramlog_server.api.operations.searching import QUERY, TERMS
from engramlog_server.api.work.patience import Work
from engramlog_server.projections.choices import RANKINGS

DIFF = Operation(
    name="diff",
    help="What changed between two moments: memories, weights, what is shown, ranks of questions; by whom and why.",
    call="differ.diff",
    needs=needs.REPLAYS._replace(of_past=True),
    work=Work.HEAVY,
    path=f"{OWNER}/diff",
    question=(
        needed(
            "since",
            "From this moment: an instant, the end of a day, or a position.",
            "2026-03-03",
            "2026-03-03T12:00:00Z",
        ),
        text(
            "until",
            "To this moment, as `since`; now if not given. Not before it.",
            "2026-11-22",
            "2026-11-22T12:00:00Z",
            option=Option(help="To this moment, as --since; now if not given. Not before it."),
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
            option=Option(
                ("--query",), "A question whose results are ranked on both sides; as often as needed, at most 20."
            ),
        ),
        MODE,
        Parameter("results", int, "How many results of each question, 1 to 100.", 10, (10,)),
        flag("everything", "Also memories of which nothing moved but the weight."),
        limit(50),
        OFFSET,
        text(
            "as_of", "On the line `known`: only what had happened by this, on both sides, weights at it.", "2026-03-03"
        ),
        text("known", "On the line `happened`: only what was recorded by this, on both sides.", "2026-11-22"),
    ),
    answer="Diff",
    shown="diff:differences",
    more="Each memory with the events that are its causes, and who brought them. Where no event touched one, time did.",
    example="Example: `engramlog diff alice --since 2026-03-03 --query coffee` or"
    " `engramlog diff alice --since 2026-01-01 --until 2026-06-01 --line happened`",
    folds=True,
)
DIFF_POSTED = DIFF.but(
    verb="diff",
    endpoint="diff_posted",
    title="Diff, asked in a body",
    body=Body(
        "Differing",
        "Two moments of an owner: for questions that are too long for an address.",
        {"since": {"summary": "What changed since?", "value": {"since": "2026-03-03", "queries": ["coffee"]}}},
        required=True,
    ),
)
OTHER = needed("other", "The memory that it stands above, or below.", "tea")
LANGUAGE = text("language", "Of the sentence: `en` or `zh`; the question's if not given.", "zh")
ABOVE = Operation(
    name="above",
    call="outranking.above",
    needs=needs.READ,
    verb="above",
    path=f"{MEMORY}/above",
    title="Why above",
    question=(
        OTHER,
        QUERY.but(option=Option(("--query",))),
        MODE,
        *(one for one in TERMS if one.name != "associations"),
        LANGUAGE,
        *TIMES,
    ),
    answer="Above",
    help="Why one memory stands above another for a question, or below: each part of both scores. Leaves no trace.",
    folds=True,
)


ANSWERS = Operation(
    name="answers",
    help="What stood in the prompts of answers: the turns, and of one its memories and the block as it was. Leaves no trace.",
    call="answers.answers",
    needs=needs.AUDITS,
    work=Work.HEAVY,
    verb="answers",
    path=f"{OWNER}/answers",
    question=(
        text("session", "Only turns of this session.", "s1"),
        text("since", "Injected then or later: RFC 3339 with a zone, or a day.", "2026-11-22T00:00:00Z"),
        text("until", "Injected then or before; a day is its end.", "2026-11-23T00:00:00Z"),
        limit(20),
        OFFSET,
        *PLACE,
    ),
    answer="AnsweredTurns",
    more="With a turn: what was injected for it, each memory as it was then, and the block made again and compared. The turn is"
    " named by its id, by a reply's, or by the position of the injection.",
    route_help="The turns for which memories were put into a prompt, the newest first, with what was replied. Leaves no trace.",
    example="Example: `engramlog answers alice` or `engramlog answers alice D4:7`",
    folds=True,
)
ANSWER = Operation(
    name="answer",
    call="answers.answer",
    needs=needs.AUDITS._replace(of_past=True),
    work=Work.HEAVY,
    verb="answer",
    path=f"{OWNER}/answers/{{turn_id}}",
    question=PLACE,
    answer="AnsweredInFull",
    statuses=OF_MEMORY,
    help="What stood in the prompt of one answer: each memory as it was then, and the block as it was, with proof.",
    shown="context:whole",
    folds=True,
)


_SPAN = (
    text(
        "since", "Begin at this instant; at the owner's first event on that line if not given.", "2026-01-01T00:00:00Z"
    ),
    text("until", "End at this instant, past or future; now if not given.", "2026-11-22T09:30:00Z"),
    Parameter("points", int, "Evenly spaced instants, 2 to 240; times rows at most 24,000.", 120, (120,)),
    Parameter(
        "line",
        str,
        "The time line that the instants are on: `happened`, each as `as_of` tells it; or `known`, each as `known` does.",
        "happened",
        ("happened", "known"),
    ),
)
INSTANTS = Operation(
    name="instants",
    help="What memories weigh, and where they stand among each other, at many instants: a question's results, or by id.",
    call="instants.instants",
    needs=needs.REPLAYS._replace(of_past=True),
    work=Work.HEAVY,
    path=f"{OWNER}/instants",
    question=(
        text(
            "query",
            "A question, whose best results are rows, and by whose scores all rows are ranked.",
            "What does she drink?",
        ),
        Parameter(
            "ids",
            list[str],
            "Memories that are rows, at most 200; with a query beside its results.",
            [],
            (["coffee", "tea"],),
            option=Option(("--id",), "A memory that is a row; as often as needed, at most 200."),
        ),
        Parameter("results", int, "How many results of the query, 1 to 100.", 20, (20,)),
        MODE,
        text(
            "law",
            "Weigh by this law, whatever the owner chose; by the owner's own at each instant if not given.",
            "ebbinghaus",
            option=Option(completes="laws"),
        ),
        Parameter(
            "order",
            str,
            "By what rows are ranked without a query: `activated`, as `list` has them, or `weight`.",
            "activated",
            ("activated", "weight"),
        ),
        *_SPAN,
        Parameter(
            "ranking",
            str,
            "`conversation` or `text`: the other rankings go by more of time than a weight.",
            RANKINGS[0],
            RANKINGS[:2],
        ),
        *without(TERMS, "ranking", "near_project", "since", "until", "associations", "include_faded"),
        INCLUDE_FADED,
        *PLACE,
    ),
    answer="InstantsTold",
    more="Weights, and what is shown and why not, are those of each instant; of a score the part of words and meaning is that of"
    " now, or of --known or --as-of. Leaves no trace.",
    folds=True,
)
INSTANTS_POSTED = INSTANTS.but(
    verb="instants",
    endpoint="instants_posted",
    title="Instants, asked in a body",
    body=Body(
        "InstantsWanted",
        "Rows and a span: for more ids than an address holds.",
        {
            "rows": {"summary": "Rows on a screen", "value": {"ids": ["coffee", "tea"], "points": 60}},
            "question": {"summary": "A question's results", "value": {"query": "What does she drink?"}},
        },
        required=True,
    ),
)
