"""What waits for a person: listed, accepted, said in his own words, rejected."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import OFFSET, PLACE, REASONED, limit
from engramlog_server.api.operations.definition import OF_MEMORY, OWNER, Body, Operation, Option, needed

_ITEM = needed(
    "item",
    "What is answered: `item` of the inbox.",
    "018f3c1e-7b2a-7000-8000-000000000003",
    option=Option(argument=True, metavar="ITEM"),
)
_NAMED = {"it": {"summary": "By its name in the inbox", "value": {"item": "018f3c1e-7b2a-7000-8000-000000000003"}}}

INBOX = Operation(
    name="inbox",
    command="What waits for a person; with an item accept it, reject it, or say it in your own words.",
    help="What waits for a person: changes of the user's own word by lower sources, and what others propose.",
    call="inbox.page",
    needs=needs.REVIEW,
    verb="inbox",
    path=f"{OWNER}/inbox",
    question=(*PLACE, limit(20, "How many, 1 to 100."), OFFSET),
    answer="InboxPage",
    route_help="Changes of the user's own word by lower sources that wait for a person, and what others propose. Leaves no trace.",
    more="With an item `--accept` has it be so, your own words say it better, `--reject` leaves all as it is: each is an event"
    " of a person."
    " What waits has no effect meanwhile.",
    example="Example: `engramlog inbox alice`, then `engramlog inbox alice ITEM --accept` or `engramlog inbox alice ITEM --reject`",
    folds=True,
)
ACCEPT = Operation(
    name="accept",
    help="What waits is so: a person says it himself, and it is done or counts.",
    call="inbox.accept",
    needs=needs.ANSWERS,
    verb="accept",
    path=f"{OWNER}/inbox/accept",
    question=(_ITEM, *REASONED),
    body=Body("Accepting", "What waits is so: a person says it himself.", _NAMED),
    answer="Answered",
    statuses=OF_MEMORY,
    example="Example: `engramlog inbox alice 018f3c1e-7b2a-7000-8000-000000000003 --accept`",
)
AMEND = Operation(
    name="amend",
    help="What waits, in a person's own words: the memory says this from here on.",
    call="inbox.edit",
    needs=needs.ANSWERS,
    verb="amend",
    path=f"{OWNER}/inbox/edit",
    question=(
        _ITEM,
        needed(
            "content",
            "What the memory says from here on.",
            "The kiln fires at 1220 degrees",
            option=Option(argument=True, metavar="TEXT"),
        ),
        *REASONED,
    ),
    body=Body(
        "Amending",
        "A person says it in his own words.",
        {
            "words": {
                "value": {"item": "018f3c1e-7b2a-7000-8000-000000000003", "content": "The kiln fires at 1220 degrees"}
            }
        },
    ),
    answer="Answered",
    statuses=OF_MEMORY,
    example='Example: `engramlog inbox alice 018f3c1e-7b2a-7000-8000-000000000003 "The kiln fires at 1220 degrees"`',
)
REJECT = Operation(
    name="reject",
    help="What waits is not so: a change stays undone; a proposal goes, and what it says becomes no memory again.",
    call="inbox.reject",
    needs=needs.ANSWERS,
    verb="reject",
    path=f"{OWNER}/inbox/reject",
    question=(_ITEM, *REASONED),
    body=Body("Rejecting", "What waits is not so.", _NAMED),
    answer="Answered",
    statuses=OF_MEMORY,
    example="Example: `engramlog inbox alice m-018f3c1e-7b2a-7000-8000-000000000002 --reject --reason 'never said so'`",
)
