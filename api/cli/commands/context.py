"""`engramlog context` and `engramlog answers`: the block for a prompt, and the blocks that answers had."""

from __future__ import annotations

from functools import partial

from engramlog_server.api.cli.command import Call, command
from engramlog_server.api.cli.show import context as render
from engramlog_server.api.cli.show.context import block
from engramlog_server.api.operations.definition import Option, Parameter
from engramlog_server.api.operations.reports import ANSWER, ANSWERS, CONTEXT
from engramlog_server.events.errors import refused

SPLIT = Parameter("split", bool, "Print the two parts separated by an empty line.", False, option=Option(("--split",)))


@command(CONTEXT, more=(SPLIT,))
def context(call: Call) -> None:
    """The block of one turn."""
    (split,) = call.take("split")
    call.print(call.answer(), partial(block, split=split))


TURN = Parameter(
    "turn_id",
    str | None,
    "A turn's id, a reply's, or the position of an injection; a page of turns without.",
    None,
    option=Option(argument=True, metavar="[TURN]"),
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
    call.print(call.answer(ANSWER), render.whole)
