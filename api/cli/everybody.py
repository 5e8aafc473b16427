"""Commands that ask about an owner, or with `--all` about every owner of the store, in figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import typer

from api.choices import MOST_PROCESSES
from api.cli.app import joined
from api.cli.made import PARTLY, Call
from api.operations.definition import Operation, Option, Parameter
from api.requests.ids import decoded_id
from events.errors import refused

WHOLE = "The whole store"
OF_WHOM = Parameter(
    "owner",
    str | None,
    "Whose memories: a user, an agent, a team; nobody with --all.",
    None,
    option=Option(argument=True, completes="owners"),
)
HOW = (
    Parameter(
        "processes",
        int | None,
        "With --all: processes that share the owners, 1 to 64. Default: as many as cores, one for each 50,000 events at most.",
        None,
        option=Option(("--processes",), metavar="N", panel=WHOLE),
    ),
    Parameter(
        "dask",
        str | None,
        "With --all: have the workers of a Dask cluster share the owners, by the address of its scheduler: of this machine, or tls://.",
        None,
        option=Option(("--dask",), metavar="ADDRESS", panel=WHOLE),
    ),
    Parameter(
        "anew",
        bool,
        "With --all: do again what a run of the same that was killed had done.",
        False,
        option=Option(("--anew",), panel=WHOLE),
    ),
)
Render = Callable[[Mapping[str, Any]], None]
Ask = Callable[[str, Mapping[str, Any], Render], None]
"""Does a work with every owner, as it is asked, and has the answer printed."""


def of_all(what: str) -> tuple[Parameter, ...]:
    """The options of a command that can tell `what` of every owner."""
    everybody = Parameter(
        "everybody",
        bool,
        f"Of every owner: {what} in the whole store, in figures.",
        False,
        option=Option(("--all",), panel=WHOLE),
    )
    return (everybody, *HOW)


def everybody_asked(call: Call, operation: Operation, of_one: Mapping[str, str]) -> Ask | None:
    """Take `OF_WHOM` and `of_all` from what was told: who asks everybody, or None where one owner is asked about, who is told as
    `owner` then.

    `of_one`: names of options that are about one owner, and why. Raises InputError naming the option; `typer.Exit(3)` is raised by
    what is given, where somebody is in no figure, or not whole.
    """
    everybody, owner = call.take("everybody", "owner")
    how = dict(zip(("processes", "dask", "anew"), call.take("processes", "dask", "anew"), strict=True))
    if not everybody:
        if owner is None:
            raise refused("owner", "nothing", "an owner's name, or --all")
        for field, told in how.items():
            if told:
                raise refused(field, told, "nothing without --all")
        call.given["owner"] = decoded_id(owner)
        return None
    if owner is not None:
        raise refused("owner", owner, "nobody with --all")
    processes = how["processes"]
    if processes is not None and not 1 <= processes <= MOST_PROCESSES:
        raise refused("processes", processes, f"1 to {MOST_PROCESSES}")
    if processes is not None and how["dask"] is not None:
        raise refused("processes", processes, "nothing with --dask: the cluster has its own")
    defaults = {one.name: one.default for one in operation.question if one.name in of_one}
    for name, default in defaults.items():
        if (told := call.given.pop(name)) != default:
            raise refused(name, told, f"nothing with --all: {of_one[name]}")
    return lambda work, given, render: _ask(call, how, work, given, render)


def _ask(call: Call, how: Mapping[str, Any], work: str, given: Mapping[str, Any], render: Render) -> None:
    ask = joined(call.context).everybody
    assert ask is not None
    partly = False

    def tell(answer: Mapping[str, Any]) -> None:
        nonlocal partly
        call.show(answer, render)
        partly = bool(answer["left_out"] or answer["quarantined"] or answer.get("troubled"))

    ask(work, given, tell, json=call.json, **how)
    if partly:
        raise typer.Exit(PARTLY)
