"""`engramlog dead`: quarantined owners, and the events that wait behind them."""

from __future__ import annotations

import typer

from api.cli.made import Call, command
from api.operations.definition import Option, Parameter
from api.operations.store import DEAD, DEAD_DISCARD, DEAD_RETRY, DEAD_SHOW
from events.errors import refused


@command(
    DEAD.but(
        name="dead",
        help="Quarantined owners and their waiting events; retry them, or discard one event.",
        example='Examples: `engramlog dead`, `engramlog dead alice --retry`, `engramlog dead alice --discard 3:128 --reason "..."`',
    ),
    more=(
        Parameter(
            "owner",
            str | None,
            "Show this owner's waiting events.",
            None,
            option=Option(argument=True, metavar="[OWNER]", completes="owners"),
        ),
        Parameter("retry", bool, "Fold the owner's waiting events again.", False),
        Parameter(
            "position", str | None, "Drop the event at this position for good.", None, option=Option(("--discard",))
        ),
        *(one for one in DEAD_DISCARD.question if one.name == "reason"),
    ),
)
def dead(call: Call) -> None:
    """Exit code 1 if a retry leaves the owner quarantined."""
    (retry,) = call.take("retry")
    owner, position = call.given["owner"], call.given["position"]
    if owner is None and (retry or position is not None):
        raise refused("OWNER", "nothing", "an owner: engramlog dead OWNER --retry")
    if retry and position is not None:
        raise refused("discard", f"--discard {position} with --retry", "one of them")
    if retry:
        call.given = {"owner": owner}
        call.operation = DEAD_RETRY
        answer = call.answer()
        call.print(answer)
        raise typer.Exit(0 if answer["freed"] else 1)
    if position is not None:
        call.turn_to(DEAD_DISCARD, "--discard")
    else:
        call.turn_to(
            DEAD if owner is None else DEAD_SHOW, "the list of owners" if owner is None else "an owner's events"
        )
