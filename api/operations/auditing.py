"""What an auditor asks: changes between two moments, ranks of two memories, weights over time, the prompt of an answer."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import MODE, OFFSET, PLACE, limit
from engramlog_server.api.operations.definition import (
    OF_MEMORY,
    OWNER,
    Operation,
    Option,
    Parameter,
    flag,
    needed,
    text,
    told,
)
from engramlog_server.api.work.patience import Work

DIFF = Operation(
    name="diff",
    help="Show what changed between two moments, who changed it, and why.",
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
            "To this moment; the forms of `since`. [default: now]",
            "2026-11-22",
            "2026-11-22T12:00:00Z",
            option=Option(help="To this moment; the forms of --since. [default: now]"),
        ),
        Parameter(
            "line",
            str,
            "Time line of both moments: `known` (recorded by then, as answers were given) or `happened` (happened by"
            " then, as known now).",
            "known",
            ("known", "happened"),
        ),
        Parameter(
            "queries",
            list[str],
            "Questions whose results are compared, at most 20.",
            [],
            (["coffee"],),
            option=Option(("--query",), "A question whose results are compared; repeatable, at most 20."),
        ),
        MODE,
        Parameter("results", int, "Results of each question, 1 to 100.", 10, (10,)),
        flag("everything", "Include memories of which only the weight changed."),
        limit(50),
        OFFSET,
        text(
            "as_of",
            "With `known`: use only events that had happened by this, on both sides; weights are computed at it.",
            "2026-03-03",
        ),
        text("known", "With `happened`: use only events recorded by this, on both sides.", "2026-11-22"),
    ),
    answer="Diff",
    shown="diff:differences",
    more="Each memory comes with the events that changed it and their principals. Without such an event, time changed it.",
    example="Example: `engramlog diff alice --since 2026-03-03 --query coffee` or"
    " `engramlog diff alice --since 2026-01-01 --until 2026-06-01 --line happened`",
    folds=True,
)
DIFF_POSTED = DIFF.but(
    verb="diff",
    endpoint="diff_posted",
    title="Diff, asked in a body",
    body=told(
        "Differing",
        "Two moments of an owner: for questions that are too long for an address.",
        since=("What changed since?", {"since": "2026-03-03", "queries": ["coffee"]}),
        required=True,
    ),
)

ANSWERS = Operation(
    name="answers",
    help="List turns with memories in their prompts; for one turn, show its memories and the block as it was. Leaves no"
    " trace.",
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
    more="With a turn: its memories as they were, and the block, made again and compared. Name the turn by its id, the"
    " reply's id, or the position of the injection.",
    route_help="The turns with memories in their prompts, newest first, with the replies. Leaves no trace.",
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
    help="The prompt of one answer: each memory as it was, and the block as it was, with proof.",
    shown="context:whole",
    folds=True,
)
