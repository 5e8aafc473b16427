"""`engramlog replay`: what would be without some of a history."""

from __future__ import annotations

from pathlib import Path

from api.cli.made import Call, command
from api.operations.definition import Option, Parameter
from api.operations.replaying import REPLAY

QUESTIONS = Parameter(
    "questions",
    Path | None,
    "Compare the order of the results of the questions in this file too, one a line.",
    None,
    option=Option(("--queries",), metavar="FILE"),
)


@command(REPLAY, more=(QUESTIONS,))
def replay(call: Call) -> None:
    """What differs."""
    call.print(call.answer(queries=_questions(call)))


def _questions(call: Call) -> list[str]:
    """Those that were told, and then those of the file."""
    queries, path = call.take("queries", "questions")
    if path is None:
        return list(queries or ())
    from api.services.auditing.questions import questions_in

    return [*(queries or ()), *questions_in(path)]
