"""`engramlog replay` and `engramlog retract`: what would be without some of a history, and undoing it."""

from __future__ import annotations

from pathlib import Path

import typer

from api.cli.everybody import OF_WHOM, everybody_asked, of_all
from api.cli.made import PARTLY, Call, command
from api.cli.show.replaying import looked_at
from api.cli.show.whole.moved import everybody_moved
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


OF_ONE = {
    "mode": "it tells of normal mode",
    "most": "it tells figures, and no list that has pages",
    "offset": "it tells figures, and no list that has pages",
    "after": "a position is one owner's",
}
"""Options that are about one owner, and why."""


@command(
    REPLAY, more=(OF_WHOM, QUESTIONS, *of_all("how normal mode and the order of memories would change")), subject=()
)
def replay(call: Call) -> None:
    """What differs, of an owner or of all."""
    everybody = everybody_asked(call, REPLAY, OF_ONE)
    if everybody is not None:
        everybody("replay", call.given | {"queries": _questions(call)}, everybody_moved)
        return
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
