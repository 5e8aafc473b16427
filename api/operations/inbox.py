"""What waits for a person: listed, accepted, said in his own words, rejected."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import OFFSET, PLACE, REASONED, limit
from engramlog_server.api.operations.definition import OF_MEMORY, OWNER, Body, Operation, Option, needed, told

_ITEM = needed(
    "item", "The inbox item.", "018f3c1e-7b2a-7000-8000-000000000003", option=Option(argument=True, metavar="ITEM")
)
_NAMED = {"it": {"summary": "By its id in the inbox", "value": {"item": "018f3c1e-7b2a-7000-8000-000000000003"}}}

INBOX = Operation(
    name="inbox",
    command="List the inbox; accept, reject or reword one item.",
    help="List changes of the user's own statements by lower sources, and proposals, that wait for a person.",
    call="inbox.page",
    needs=needs.REVIEW,
    verb="inbox",
    path=f"{OWNER}/inbox",
    question=(*PLACE, limit(20, "Most entries, 1 to 100."), OFFSET),
    answer="InboxPage",
    route_help="Changes of the user's own statements by lower sources, and proposals, that wait for a person. Leaves no trace.",
    more="An item has no effect until a person answers: `--accept` applies it, your own words replace it, `--reject` drops"
    " it. Each answer is an event.",
    example="Example: `engramlog inbox alice`, then `engramlog inbox alice ITEM --accept` or `engramlog inbox alice ITEM --reject`",
    folds=True,
)
ACCEPT = Operation(
    name="accept",
    help="Accept an inbox item: its change or proposal takes effect.",
    call="inbox.accept",
    needs=needs.ANSWERS,
    verb="accept",
    path=f"{OWNER}/inbox/accept",
    question=(_ITEM, *REASONED),
    body=Body("Accepting", "Accept an inbox item.", _NAMED),
    answer="Answered",
    statuses=OF_MEMORY,
    example="Example: `engramlog inbox alice 018f3c1e-7b2a-7000-8000-000000000003 --accept`",
)
AMEND = Operation(
    name="amend",
    help="Answer an inbox item with your own words, which become the memory's text.",
    call="inbox.edit",
    needs=needs.ANSWERS,
    verb="amend",
    path=f"{OWNER}/inbox/edit",
    question=(
        _ITEM,
        needed(
            "content",
            "The new text of the memory.",
            "The kiln fires at 1220 degrees",
            option=Option(argument=True, metavar="TEXT"),
        ),
        *REASONED,
    ),
    body=told(
        "Amending",
        "Answer an inbox item with your own words.",
        words={"item": "018f3c1e-7b2a-7000-8000-000000000003", "content": "The kiln fires at 1220 degrees"},
    ),
    answer="Answered",
    statuses=OF_MEMORY,
    example='Example: `engramlog inbox alice 018f3c1e-7b2a-7000-8000-000000000003 "The kiln fires at 1220 degrees"`',
)
REJECT = Operation(
    name="reject",
    help="Reject an inbox item: a change is not made; a proposal is dropped and not remembered again.",
    call="inbox.reject",
    needs=needs.ANSWERS,
    verb="reject",
    path=f"{OWNER}/inbox/reject",
    question=(_ITEM, *REASONED),
    body=Body("Rejecting", "Reject an inbox item.", _NAMED),
    answer="Answered",
    statuses=OF_MEMORY,
    example="Example: `engramlog inbox alice m-018f3c1e-7b2a-7000-8000-000000000002 --reject --reason 'never said so'`",
)
