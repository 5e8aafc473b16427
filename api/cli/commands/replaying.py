"""`engramlog replay` and `engramlog retract`: what would be without some of a history, and undoing it."""

from __future__ import annotations

from pathlib import Path

import typer

from api.cli.made import PARTLY, Call, command
from api.cli.show.replaying import looked_at
from api.operations.definition import Option, Parameter
from api.operations.replaying import REPLAY, RETRACT
from events.errors import refused

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


@command(
    RETRACT,
    more=(QUESTIONS, Parameter("yes", bool, "Do it at once: what it reaches is told, and carried out.", False)),
)
def retract(call: Call) -> None:
    """What it reaches, and then that it is done."""
    yes, dry_run, reach = call.take("yes", "dry_run", "reach")
    questions = _questions(call)
    if dry_run and (yes or reach):
        raise refused("dry_run", f"--dry-run with {'--yes' if yes else '--reach'}", "one of them")
    with call.asking() as ask:
        given = call.given | {"queries": questions}
        if reach is None:
            told = ask(RETRACT, given | {"dry_run": True})
            if not yes or not told["undoes_total"]:
                call.show(told, looked_at)
                return
            reach = told["reach"]
        answer = ask(RETRACT, given | {"dry_run": False, "reach": reach})
    call.print(answer)
    if answer["not_undone"] or answer["remains_total"]:
        raise typer.Exit(PARTLY)
