"""What proves a log: the heads of its chains, compared with those that somebody holds."""

from __future__ import annotations

from api.operations.common import PLACE
from api.operations.definition import Body, Operation, Parameter
from api.operations.places import OF_PLACE, OWNER

HEADS = Operation(
    name="heads",
    call="heads.heads",
    path="/v1/heads",
    title="Heads",
    tag="store",
    answer="ChainHeads",
    told="The heads, with their times.",
    help="The heads of the log's chains: what proves, written down where others hold it, that nothing before was changed.",
    route_help="The heads of the log's chains with their times, beside those that this server keeps; and all of them as a line to"
    " keep elsewhere. Reads only.",
)
CHECK_HEADS = Operation(
    name="check heads",
    endpoint="check_heads",
    call="heads.check",
    path="/v1/heads/check",
    title="Check heads",
    tag="store",
    question=(
        Parameter(
            "text",
            str,
            "Kept heads: lines of a file of them, of one file or several, or the JSON of `heads`. At most 8,388,608 characters.",
            examples=(
                '{"n":1,"at":"2026-11-22T09:30:02Z","store":"6d0f…","heads":[[3,131,"5f0c…"]],"before":"0000…"}',
            ),
        ),
        Parameter(
            "most",
            int,
            "Events that are read at most, 1 to 1,000,000; what was not reached is told.",
            200_000,
            (200_000,),
        ),
    ),
    body=Body(
        "HeadsHeld",
        "Heads that somebody holds.",
        {
            "line": {
                "summary": "A line",
                "value": {"text": '{"n":1,"at":"…","store":"6d0f…","heads":[[3,131,"5f0c…"]],"before":"0000…"}'},
            }
        },
    ),
    answer="HeadsCompared",
    told="Which partitions agree, which do not, and what was not reached.",
    help="Compare the log with heads that somebody holds: each chain that is named is computed anew from its first event.",
)
OWNER_HEADS = Operation(
    name="owner heads",
    endpoint="owner_heads",
    call="owner_heads.heads",
    path=f"{OWNER}/heads",
    title="An owner's head",
    tag="owners",
    question=(
        Parameter(
            "chain",
            str | None,
            "Compare with this one: 64 hexadecimal digits.",
            None,
            ("5f0c" * 16,),
            bounds={"max_length": 100},
        ),
        *PLACE,
    ),
    answer="OwnerHead",
    told="The head, and whether it is the one that was told.",
    statuses=OF_PLACE,
    help="The head of an owner's chain, now or as of the past, and whether it is the one that was told. Leaves no trace.",
    folds=True,
)
OPERATIONS = (HEADS, CHECK_HEADS, OWNER_HEADS)
