"""`engramlog compare` and `engramlog diff`: laws next to each other, and an owner at two moments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engramlog_server.api.cli.app import out
from engramlog_server.api.cli.command import Call, command
from engramlog_server.api.cli.picture_options import LOOK_OPTIONS, look_of
from engramlog_server.api.cli.show.diff import differences
from engramlog_server.api.operations.definition import Given, Option, Parameter
from engramlog_server.api.operations.reports import COMPARE, CURVES, DIFF
from engramlog_server.events.errors import refused


@command(
    COMPARE,
    CURVES,
    more=(
        Parameter(
            "memory_id",
            str | None,
            "A memory: its curves over time.",
            None,
            option=Option(argument=True, metavar="[ID]"),
        ),
        Parameter("out", Path | None, "With an ID: draw the curves into this .svg.", None),
        *LOOK_OPTIONS,
    ),
)
def compare(call: Call) -> None:
    """Of all memories, or of one over time."""
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
    """What touched one memory, and what that did under each law; the curves themselves are drawn or JSON."""
    from engramlog_server.api.cli.show import generic

    laws = {
        name: {"normal_from": law["threshold"], "at_the_end": law["weights"][-1]}
        for name, law in answer["laws"].items()
    }
    generic.answer({name: value for name, value in answer.items() if name != "times"} | {"laws": laws})
    if "picture" not in answer:
        out.print("[dim]The curves: --out FILE.svg; as numbers: --json[/]")


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
