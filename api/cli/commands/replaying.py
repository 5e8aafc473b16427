"""`engramlog replay` and `engramlog retract`: what would be without some of a history, and undoing it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from api.choices import MOST_PROCESSES
from api.cli.app import joined
from api.cli.made import PARTLY, Call, command
from api.cli.show.replaying import looked_at
from api.cli.show.replaying_all import everybody_moved
from api.operations.definition import Option, Parameter
from api.operations.replaying import REPLAY, RETRACT
from api.requests.ids import decoded_id
from events.errors import refused

QUESTIONS = Parameter(
    "questions",
    Path | None,
    "Compare the order of the results of the questions in this file too, one a line.",
    None,
    option=Option(("--queries",), metavar="FILE"),
)


WHOLE = "The whole store"
OF_WHOM = Parameter(
    "owner",
    str | None,
    "Whose memories: a user, an agent, a team; nobody with --all.",
    None,
    option=Option(argument=True, completes="owners"),
)
ALL = (
    Parameter(
        "everybody",
        bool,
        "Of every owner: how normal mode and the order of memories would change in the whole store, in figures.",
        False,
        option=Option(("--all",), panel=WHOLE),
    ),
    Parameter(
        "processes",
        int | None,
        "With --all: processes that share the owners, 1 to 64. Default: as many as cores, one for each 50,000 events at most.",
        None,
        option=Option(("--processes",), metavar="N", panel=WHOLE),
    ),
    Parameter(
        "anew",
        bool,
        "With --all: do again what a run of the same that was killed had done.",
        False,
        option=Option(("--anew",), panel=WHOLE),
    ),
)

OF_ONE = {
    "mode": "it tells of normal mode",
    "most": "it tells figures, and no list that has pages",
    "offset": "it tells figures, and no list that has pages",
    "after": "a position is one owner's",
}
"""Options that are about one owner, and why."""


@command(REPLAY, more=(OF_WHOM, QUESTIONS, *ALL), subject=())
def replay(call: Call) -> None:
    """What differs, of an owner or of all."""
    everybody, processes, anew, owner = call.take("everybody", "processes", "anew", "owner")
    if everybody:
        _of_all(call, owner, processes, anew)
        return
    if owner is None:
        raise refused("owner", "nothing", "an owner's name, or --all")
    for field, told in (("processes", processes), ("anew", anew)):
        if told:
            raise refused(field, told, "nothing without --all")
    call.print(call.answer(owner=decoded_id(owner), queries=_questions(call)))


def _of_all(call: Call, owner: str | None, processes: int | None, anew: bool) -> None:
    if owner is not None:
        raise refused("owner", owner, "nobody with --all")
    if processes is not None and not 1 <= processes <= MOST_PROCESSES:
        raise refused("processes", processes, f"1 to {MOST_PROCESSES}")
    given, of_one = dict(call.given), {one.name: one.default for one in REPLAY.question if one.name in OF_ONE}
    for name, default in of_one.items():
        if (told := given.pop(name)) != default:
            raise refused(name, told, f"nothing with --all: {OF_ONE[name]}")
    ask = joined(call.context).replay_all
    assert ask is not None
    partly = False

    def tell(answer: Mapping[str, Any]) -> None:
        nonlocal partly
        call.show(answer, everybody_moved)
        partly = bool(answer["left_out"] or answer["quarantined"])

    ask(given | {"queries": _questions(call)}, tell, processes=processes, anew=anew, json=call.json)
    if partly:
        raise typer.Exit(PARTLY)


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
