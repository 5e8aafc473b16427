"""Who may do what: one's own rights, keys and grants, and who looked at what."""

from __future__ import annotations

from engramlog_server.api.choices import MOST_KEY_DAYS
from engramlog_server.api.operations import needs
from engramlog_server.api.operations.definition import REASON, Operation, Option, Parameter, Record, needed, text, told
from engramlog_server.api.work import Work

GRANT = Record(
    "GrantTold",
    "Verbs and owners. A call must fit one grant completely.",
    (
        Parameter(
            "verbs",
            list[str],
            "Any of produce, read, correct, delete, review, debug, reveal, replay, audit, operate, admin.",
            examples=(["read", "produce"],),
            bounds={"min_length": 1, "max_length": 11},
        ),
        Parameter(
            "owners",
            list[str],
            "Names of owners, prefixes with /* (team/*), or * for all.",
            examples=(["alice", "team/*"],),
            bounds={"min_length": 1, "max_length": 100},
        ),
        Parameter("modes", list[str], "Modes for reading: normal, review, debug.", ["normal"], (["normal"],)),
        Parameter("sensitivity", int, "Highest sensitivity returned, 0 to 3; 3 needs the verb reveal.", 2, (2,)),
        Parameter(
            "actors",
            list[str],
            "Actors that the holder may use: user, assistant, judge. To record what users say, include user.",
            ["assistant"],
            (["user", "assistant"],),
        ),
        Parameter(
            "trust",
            str,
            "Highest trust of the holder's statements: asserted, inferred, imported, proposed.",
            "inferred",
            ("asserted",),
        ),
    ),
)
_GRANTS_EXAMPLE = [{"verbs": ["read", "produce"], "owners": ["team/*"], "modes": ["normal"]}]
_PRINCIPAL = needed(
    "principal",
    "Name of the principal: 1 to 64 letters of any script, digits and . _ @ / -. Recorded with each of its events.",
    "support",
    "客服",
    bounds={"max_length": 64},
    option=Option(argument=True, metavar="NAME"),
)
ME = Operation(
    name="me",
    call="keys.me",
    needs=needs.ANYBODY,
    work=Work.WATCH,
    verb="me",
    path="/v1/me",
    title="Who am I?",
    tag="access",
    answer="WhoAsks",
    help="The caller's own name, key and grants.",
)
ACCESS = Operation(
    name="access",
    command="Show keys and grants of every principal, now or on any day; --reads shows who looked at what.",
    help="Keys and grants of every principal, now or on any day, and who set them. Shows no key.",
    call="keys.access",
    needs=needs.AUDITS_ALL._replace(instead=("admin",)),
    work=Work.WATCH,
    verb="access",
    path="/v1/access",
    title="Who may do what",
    tag="access",
    question=(
        text(
            "as_of",
            "An instant, a day (its end, UTC), or a position of `:access`. [default: now]",
            "2026-11-22T09:30:00Z",
            bounds={"max_length": 64},
        ),
        text("principal", "Only this principal.", "support", bounds={"max_length": 64}),
    ),
    answer="AccessTold",
    example="Example: `engramlog access --as-of 2027-01-31T18:00:00Z`",
)
ISSUE = Operation(
    name="issue key",
    endpoint="issue_key",
    call="keys.issue",
    needs=needs.ADMINISTERS,
    work=Work.WATCH,
    verb="make_key",
    path="/v1/keys",
    title="Make a key",
    tag="access",
    question=(
        _PRINCIPAL,
        Parameter("grants", [GRANT, None], "Grants from now on. [default: unchanged]", None, option=None),
        text(
            "expires_at",
            "When the key ends. [default: never]",
            "2027-01-01T00:00:00Z",
            bounds={"max_length": 64},
            option=Option(("--until",), help="When the key ends, RFC 3339 with a zone. [default: never]"),
        ),
        Parameter(
            "days",
            int | None,
            f"Or the key ends after this many days, 1 to {MOST_KEY_DAYS}.",
            None,
            (90,),
            bounds={"ge": 1, "le": MOST_KEY_DAYS},
            option=Option(metavar="N"),
        ),
        REASON,
    ),
    body=told(
        "MakingKey", "Make a key.", team=("For a team's agents", {"principal": "support", "grants": _GRANTS_EXAMPLE})
    ),
    answer="KeyMade",
    help="Make a key for a principal, optionally with grants. The key is shown only once; the store keeps its public half.",
)
REVOKE = Operation(
    name="revoke key",
    endpoint="revoke_key",
    call="keys.revoke",
    needs=needs.ADMINISTERS,
    work=Work.WATCH,
    verb="revoke_key",
    path="/v1/keys/revoke",
    title="Revoke a key",
    tag="access",
    question=(
        needed(
            "key_id",
            "The 8 letters and digits after egl_.",
            "k7m2p9qa",
            bounds={"max_length": 8},
            option=Option(argument=True, metavar="KEY_ID"),
        ),
        REASON,
    ),
    body=told("RevokingKey", "Revoke a key.", lost=("It was lost", {"key_id": "k7m2p9qa", "reason": "lost laptop"})),
    answer="KeyRevokedTold",
    help="Revoke a key and every token made from it, from the next request on.",
)
SET_GRANTS = Operation(
    name="grant",
    help="Replace all grants of a principal.",
    endpoint="set_grants",
    call="keys.grant",
    needs=needs.ADMINISTERS,
    work=Work.WATCH,
    verb="set_grants",
    path="/v1/grants",
    title="Set grants",
    tag="access",
    question=(
        _PRINCIPAL,
        Parameter(
            "grants",
            [GRANT],
            "All grants from now on; an empty list removes every right.",
            examples=(_GRANTS_EXAMPLE,),
            option=None,
        ),
        REASON,
    ),
    body=told(
        "SettingGrants",
        "All grants of a principal.",
        team=("A team's owners", {"principal": "support", "grants": _GRANTS_EXAMPLE}),
    ),
    answer="GrantsTold",
)
READS = Operation(
    name="audit",
    help="List who looked at secrets, exports, hidden memories and pasts with a key, and who was refused.",
    endpoint="reads",
    call="reads.reads",
    needs=needs.AUDITS_ALL._replace(instead=("admin",)),
    verb="reads",
    path="/v1/reads",
    title="Who looked at what",
    tag="access",
    question=(
        Parameter(
            "limit",
            int,
            "Most entries, 1 to 1000.",
            100,
            (100,),
            bounds={"ge": 1, "le": 1_000},
            option=Option(("-k", "--limit")),
        ),
        text("cursor", "Next page: `next` of the page before.", "3:128", bounds={"max_length": 400}),
        Parameter("order", str, "newest or oldest first.", "newest", ("newest",), bounds={"max_length": 10}),
    ),
    answer="ReadsTold",
    example="Example: `engramlog access --reads -k 1000 --order oldest`",
)
