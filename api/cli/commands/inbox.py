"""`engramlog inbox`: what waits for a person, and the answer to one item."""

from __future__ import annotations

from engramlog_server.api.cli.command import Call, command
from engramlog_server.api.operations.definition import Option, Parameter
from engramlog_server.api.operations.inbox import ACCEPT, AMEND, INBOX, REJECT
from engramlog_server.events.errors import refused


def _argument(name: str, metavar: str, description: str) -> Parameter:
    return Parameter(name, str | None, description, None, option=Option(argument=True, metavar=metavar))


@command(
    INBOX,
    more=(
        _argument("item", "[ITEM]", "The item to answer; list the inbox without."),
        _argument("content", "[TEXT]", "The new text of the memory, in your own words."),
        Parameter("accept", bool, "Accept the item: you say so yourself.", False),
        Parameter("reject", bool, "Reject the item: nothing changes, or the proposal goes.", False),
        *(one for one in ACCEPT.question if one.name != "item"),
    ),
)
def inbox(call: Call) -> None:
    """A page, or the answer to one item."""
    accept, reject = call.take("accept", "reject")
    item, content = call.given["item"], call.given["content"]
    if item is None:
        if accept or reject:
            raise refused("ITEM", None, f"an item: engramlog inbox {call.given['owner']} ITEM --accept")
        call.turn_to(INBOX, "the list of the inbox")
    elif accept + reject + (content is not None) != 1:
        raise refused("ITEM", item, "an item together with one of --accept, --reject or TEXT")
    else:
        call.turn_to(ACCEPT if accept else REJECT if reject else AMEND, "the answer to an item")
