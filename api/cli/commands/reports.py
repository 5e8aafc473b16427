"""Reports on an owner: `engramlog context`, `answers`, `compare`, `map`, `diff`, `replay`, `retract` and `set-aside`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from engramlog_server.api.choices import MOST_PROCESSES, decoded_id
from engramlog_server.api.cli.app import joined, out
from engramlog_server.api.cli.command import PARTLY, Call, argument, command
from engramlog_server.api.cli.show import generic
from engramlog_server.api.cli.show.reports import block, differences, whole
from engramlog_server.api.operations.definition import Given, Option, Parameter
from engramlog_server.api.operations.inbox import ASIDES, BRING_BACK, SET_ASIDE
from engramlog_server.api.operations.knowledge import MAP
from engramlog_server.api.operations.reports import (
    ANSWER,
    ANSWERS,
    COMPARE,
    CONTEXT,
    CURVES,
    DIFF,
    LOOK,
    REPLAY,
    RETRACT,
)
from engramlog_server.api.operations.writing import GROUND_REPORT
from engramlog_server.events.errors import refused

if TYPE_CHECKING:
    from engramlog_server.api.pictures.svg import Look

LOOK_OPTIONS = tuple(
    one.but(
        kind=one.kind | None,
        default=None,
        description=f"With --out, of a picture: {one.description[0].lower()}{one.description[1:].rstrip('.')};"
        f" [default: {one.default}]",
        option=Option(),
    )
    for one in LOOK
)


def look_of(call: Call, path: Path | None, otherwise: str = "nothing without --out") -> Look:
    """The look of the picture. Raises InputError if one is chosen and nothing is drawn."""
    from engramlog_server.api.pictures.svg import checked_look

    names = [one.name for one in LOOK]
    told = {name: value for name, value in zip(names, call.take(*names), strict=True) if value is not None}
    if path is None and told:
        name, value = next(iter(told.items()))
        raise refused(name, str(value), otherwise)
    return checked_look(**told)


@command(
    COMPARE,
    CURVES,
    more=(
        argument("memory_id", "[ID]", "A memory: its curves over time."),
        Parameter("out", Path | None, "With an ID: draw the curves into this .svg.", None),
        *LOOK_OPTIONS,
    ),
)
def compare(call: Call) -> None:
    """Compare laws for all memories, or for one memory over time."""
    given = call.given
    if given["memory_id"] is None:
        _refuse("without a memory's ID", given, ("since", "until", "points", "out"))
        look_of(call, None, "nothing without a memory's ID")
        call.take("memory_id", "since", "until", "points", "out")
        answer = call.answer(limit=20 if given["limit"] is None else given["limit"])
        call.print(answer)
        return
    _refuse("with a memory's ID, whose span --since and --until choose", given, ("limit", "at"))
    path, _, _ = call.take("out", "limit", "at")
    look = look_of(call, path)
    answer = call.answer(CURVES, points=200 if given["points"] is None else given["points"])
    if path is not None:
        from engramlog_server.api.pictures.curves import curves_picture
        from engramlog_server.api.pictures.svg import write_picture

        write_picture(curves_picture(answer, look), path)
        answer["picture"] = {"file": str(path)}
    call.print(answer, _story)


def _refuse(where: str, given: Given, names: tuple[str, ...]) -> None:
    """InputError for the first option that is given and has no meaning there."""
    for name in names:
        if given[name] is not None:
            raise refused(name, str(given[name]), f"nothing {where}")


def _story(answer: Mapping[str, Any]) -> None:
    """Print each event of one memory and its effect under each law. Curves are a picture or JSON."""
    from engramlog_server.api.cli.show import generic

    laws = {
        name: {"normal_from": law["threshold"], "at_the_end": law["weights"][-1]}
        for name, law in answer["laws"].items()
    }
    generic.answer({name: value for name, value in answer.items() if name != "times"} | {"laws": laws})
    if "picture" not in answer:
        out.print("[dim]The curves: --out FILE.svg; as numbers: --json[/]")


@command(
    MAP,
    more=(
        Parameter("out", Path | None, "Also draw it into this .svg.", None),
        *LOOK_OPTIONS,
    ),
)
def map_(call: Call) -> None:
    """Into a file too, where one is named."""
    (path,) = call.take("out")
    look = look_of(call, path)
    if path is None:
        call.print(call.answer())
        return
    from engramlog_server.api.pictures.map import map_picture
    from engramlog_server.api.pictures.svg import check_file, write_picture

    check_file(path)
    answer = call.answer()
    if not answer["nodes"]:
        raise refused("map", "no memories", "at least one memory; nothing was drawn")
    drawn = map_picture(answer, look)
    write_picture(drawn.root, path)
    call.print(answer | {"drawn": str(path), "remarks": drawn.remarks})


@command(
    DIFF,
    more=(
        Parameter(
            "queries_file",
            Path | None,
            "Questions from this file, one per line, in addition to those of --query.",
            None,
            option=Option(("--queries",), metavar="FILE"),
        ),
    ),
)
def diff(call: Call) -> None:
    """Questions out of a file too."""
    (path,) = call.take("queries_file")
    if path is not None:
        from engramlog_server.api.services.replaying import questions_in

        call.given["queries"] = [*call.given["queries"], *questions_in(path)]
    call.print(call.answer(), differences)


WHOLE = "The whole store"

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
    REPLAY,
    more=(
        argument("owner", None, "Whose memories: a user, an agent, a team; omit it with --all.", "owners"),
        QUESTIONS,
        Parameter(
            "every_owner",
            bool,
            "Replay every owner of the store, and show the sums.",
            False,
            option=Option(("--all",), panel=WHOLE),
        ),
        Parameter(
            "processes",
            int | None,
            "With --all: processes that share the partitions, 1 to 64. Default: the number of cores, fewer for a small store.",
            None,
            option=Option(("--processes",), metavar="N", panel=WHOLE),
        ),
    ),
    subject=(),
)
def replay(call: Call) -> None:
    """Print the differences of one owner, or of all."""
    owner, every_owner, processes = call.take("owner", "every_owner", "processes")
    if not every_owner:
        if owner is None:
            raise refused("owner", None, "an owner's name, or --all")
        if processes is not None:
            raise refused("processes", processes, "nothing without --all")
        call.given["owner"] = decoded_id(owner)
        call.print(call.answer(queries=_questions(call)))
        return
    if owner is not None:
        raise refused("owner", owner, "no owner, because --all is given")
    if processes is not None and not 1 <= processes <= MOST_PROCESSES:
        raise refused("processes", processes, f"1 to {MOST_PROCESSES}")
    for name, default in {one.name: one.default for one in REPLAY.question if one.name in OF_ONE}.items():
        if (value := call.given.pop(name)) != default:
            raise refused(name, value, f"nothing with --all: {OF_ONE[name]}")
    replay_all = joined(call.context).replay_all
    assert replay_all is not None
    answer = replay_all(call.given | {"queries": _questions(call)}, count=processes, json=call.json)
    call.show(answer, _of_all)
    if answer["left_out"] or answer["quarantined"]:
        raise typer.Exit(PARTLY)


OF_ALL = {
    "changes": "memories_that_differ",
    "quarantined": "owners_quarantined",
    "behind": "owners_behind",
    "left_out": "owners_left_out",
    "questions": "orders",
    "by_weight": "order_of_the_heaviest_ten",
}
"""Figures of a whole store that have the names of something else in an answer about one owner."""


def _of_all(answer: Mapping[str, Any]) -> None:
    generic.answer({OF_ALL.get(name, name): value for name, value in answer.items()})
    if answer["quarantined"]:
        out.print("owners quarantined are replayed up to the event that could not be folded: `engramlog dead`")
    if answer["behind"]:
        out.print("owners behind are replayed as far as they are folded: `engramlog status` shows the lag")
    if answer["left_out"]:
        out.print("owners left out count in no other figure")


def _questions(call: Call) -> list[str]:
    """The questions of the options, then those of the file."""
    queries, path = call.take("queries", "questions")
    if path is None:
        return list(queries or ())
    from engramlog_server.api.services.replaying import questions_in

    return [*(queries or ()), *questions_in(path)]


NOTHING = "no event would undo it: nothing is left to do"
TAKEN_BACK = "to take it back: `engramlog set-aside OWNER ... --undo` for a source, `engramlog delete OWNER ID --undo` for memories"


@command(
    RETRACT,
    more=(QUESTIONS, Parameter("yes", bool, "Do it at once and show its reach.", False)),
)
def retract(call: Call) -> None:
    """Print the reach, then what was done."""
    yes, dry_run, reach = call.take("yes", "dry_run", "reach")
    questions = _questions(call)
    if dry_run and (yes or reach):
        raise refused("dry_run", f"--dry-run with {'--yes' if yes else '--reach'}", "one of them")
    with call.asking() as ask:
        given = call.given | {"queries": questions}
        if reach is None:
            told = ask(RETRACT, given | {"dry_run": True})
            if not yes or not told["undoes_total"]:
                call.show(told)
                if not call.json:
                    how = f"to do it: the same again with --reach {told['reach']}, or with --yes"
                    out.print(Text(how if told["undoes_total"] else NOTHING, "bold"), soft_wrap=True)
                return
            reach = told["reach"]
        answer = ask(RETRACT, given | {"dry_run": False, "reach": reach})
    call.print(answer)
    if not call.json and not answer["again"]:
        out.print(Text(TAKEN_BACK, "dim"), soft_wrap=True)
    if answer["not_undone"] or answer["remains_total"]:
        raise typer.Exit(PARTLY)


@command(
    SET_ASIDE,
    ASIDES,
    more=(
        Parameter("undo", bool, "Bring the source back: its statements count again.", False),
        Parameter(
            "ground", str | None, "Something that memories rest on: withhold those that rest on another digest.", None
        ),
        Parameter("digest", str | None, "With --ground: the digest it has now.", None),
    ),
)
def set_aside(call: Call) -> None:
    """Set a source aside or bring it back; list them if none is named."""
    undo, ground, digest = call.take("undo", "ground", "digest")
    if ground is not None or digest is not None:
        if undo or ground is None or digest is None:
            raise refused("ground", ground, "a URI with --digest, and no --undo")
        call.turn_to(GROUND_REPORT, "--ground", uri=ground, digest=digest)
        return
    named = any(call.given[name] is not None for name in ("session", "principal", "of_actor"))
    if undo or named:
        call.turn_to(BRING_BACK if undo else SET_ASIDE, "a source")
    else:
        call.turn_to(ASIDES, "the list of sources")


SPLIT = Parameter("split", bool, "Print the two parts separated by an empty line.", False, option=Option(("--split",)))


@command(CONTEXT, more=(SPLIT,))
def context(call: Call) -> None:
    """The block of one turn."""
    (split,) = call.take("split")
    call.print(call.answer(), partial(block, split=split))


TURN = argument(
    "turn_id", "[TURN]", "A turn's id, a reply's, or the position of an injection; a page of turns without."
)
OF_A_PAGE = {"session": None, "since": None, "until": None, "limit": 20, "offset": 0}


@command(ANSWERS, more=(TURN,), subject=("owner",))
def answers(call: Call) -> None:
    """One turn in full where one is named."""
    if call.given["turn_id"] is None:
        call.take("turn_id")
        call.print(call.answer())
        return
    for name, default in OF_A_PAGE.items():
        (told,) = call.take(name)
        if told != default:
            raise refused(name, told, "nothing together with a turn: it selects a page of turns")
    call.print(call.answer(ANSWER), whole)
