"""The command `engramlog health`: how memories are held, of an owner or of all."""

from __future__ import annotations

from api.cli.everybody import OF_WHOM, everybody_asked, of_all
from api.cli.made import Call, command
from api.cli.show.whole.everybody import everybody_held
from api.operations.living import HEALTH

OF_ONE = {
    "limit": "it tells figures, and no list that has pages",
    "offset": "it tells figures, and no list that has pages",
    "after": "a position is one owner's",
}
"""Options that are about one owner, and why."""


@command(
    HEALTH,
    more=(OF_WHOM, *of_all("how memories are held, what waits for a person, and what wants a look,")),
    subject=(),
)
def health(call: Call) -> None:
    """How memories are held."""
    everybody = everybody_asked(call, HEALTH, OF_ONE)
    if everybody is not None:
        everybody("health", call.given, everybody_held)
        return
    call.print(call.answer())
