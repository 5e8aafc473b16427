"""`engramlog context`: the block for a prompt, as one text or in its two parts."""

from __future__ import annotations

from functools import partial

from api.cli.made import Call, command
from api.cli.show.context import block
from api.operations.definition import Option, Parameter
from api.operations.reports import CONTEXT

SPLIT = Parameter("split", bool, "Print the two parts separated by an empty line.", False, option=Option(("--split",)))


@command(CONTEXT, more=(SPLIT,))
def context(call: Call) -> None:
    """The block of one turn."""
    (split,) = call.take("split")
    call.print(call.answer(), partial(block, split=split))
