"""Who may do what: one's own rights, keys and grants, and who looked at what."""

from __future__ import annotations

from engramlog_server.api.choices import MOST_KEY_DAYS
from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import REASON
from engramlog_server.api.operations.definition import Body, Operation, Option, Parameter, Record, needed, text
from engramlog_server.api.work.patience import Work

GRANT = Record(
    "GrantTold",
    "What may be done to which owners; all of it must fit one grant.",
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
            "Names of owners, beginnings of names before /* (team/*), or * for all.",
            examples=(["alice", "team/*"],),
            bounds={"min_length": 1, "max_length": 100},
        ),
        Parameter("modes", list[str], "By which memories are read: normal, review, debug.", ["normal"], (["normal"],)),
        Parameter(
            "sensitivity", int, "The most sensitive memories that are told, 0 to 3; 3 with the verb reveal.", 2, (2,)
        ),
        Parameter(
            "actors",
            list[str],
            "For whom its holder may speak: user, assistant, judge. Who records what users say names user.",
            ["assistant"],
            (["user", "assistant"],),
        ),
        Parameter(
            "trust",
            str,
            "The most that its holder's word reaches: asserted, inferred, imported, proposed.",
            "inferred",
            ("asserted",),
        ),
    ),
)
_GRANTS_EXAMPLE = [{"verbs": ["read", "produce"], "owners": ["team/*"], "modes": ["normal"]}]
_PRINCIPAL = needed(
    "principal",
    "Whose key: 1 to 64 letters of any script, digits and . _ @ / -. It stands beside each event that he brings.",
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
    help="Who asks, as what he shows says, and what he may do.",
)
ACCESS = Operation(
    name="access",
    command="Keys and grants of every principal, now or on a day; --keys by key, --reads shows who looked at what.",
    help="Who has, or had, which keys and grants, now or on any day, and who said so. Tells no key.",
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
            "As it was then: an instant, a day (its end, UTC), or a position of `:access`; now without.",
            "2026-11-22T09:30:00Z",
            bounds={"max_length": 64},
        ),
        text("principal", "Only his.", "support", bounds={"max_length": 64}),
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
        Parameter("grants", [GRANT, None], "What he may do from here on; as it stands without.", None, option=None),
        text(
            "expires_at",
            "When it ends; by no date without.",
            "2027-01-01T00:00:00Z",
            bounds={"max_length": 64},
            option=Option(("--until",), help="When it ends, an RFC 3339 date-time with a zone; by no date without."),
        ),
        Parameter(
            "days",
            int | None,
            f"When it ends, told otherwise: after so many days, 1 to {MOST_KEY_DAYS}.",
            None,
            (90,),
            bounds={"ge": 1, "le": MOST_KEY_DAYS},
            option=Option(metavar="N"),
        ),
        REASON,
    ),
    body=Body(
        "MakingKey",
        "A key to be made.",
        {"team": {"summary": "For a team's agents", "value": {"principal": "support", "grants": _GRANTS_EXAMPLE}}},
    ),
    answer="KeyMade",
    shown="access:made",
    help="Make a key for a principal, and with `grants` say what he may do. The key is told once; the store keeps its public half.",
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
    body=Body(
        "RevokingKey",
        "A key that is to open nothing.",
        {"lost": {"summary": "It was lost", "value": {"key_id": "k7m2p9qa", "reason": "lost laptop"}}},
    ),
    answer="KeyRevokedTold",
    help="Revoke a key: it, and every token made of it, opens nothing from the next request on.",
)
SET_GRANTS = Operation(
    name="grant",
    help="Say what a principal may do from here on; what he could do before holds no more.",
    endpoint="set_grants",
    call="keys.grant",
    needs=needs.ADMINISTERS,
    work=Work.WATCH,
    verb="set_grants",
    path="/v1/grants",
    title="Say who may do what",
    tag="access",
    question=(
        _PRINCIPAL,
        Parameter(
            "grants",
            [GRANT],
            "All that he may do from here on; an empty list: nothing.",
            examples=(_GRANTS_EXAMPLE,),
            option=None,
        ),
        REASON,
    ),
    body=Body(
        "SettingGrants",
        "All grants of a principal.",
        {"team": {"summary": "A team's owners", "value": {"principal": "support", "grants": _GRANTS_EXAMPLE}}},
    ),
    answer="GrantsTold",
    shown="access:granted",
)
READS = Operation(
    name="audit",
    help="Who looked at what with a key: secrets, exports, hidden memories, other people's pasts, and who was refused.",
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
            "How many, 1 to 1000.",
            100,
            (100,),
            bounds={"ge": 1, "le": 1_000},
            option=Option(("-k", "--limit")),
        ),
        text("cursor", "The next page: what `next` told.", "3:128", bounds={"max_length": 400}),
        Parameter("order", str, "newest or oldest first.", "newest", ("newest",), bounds={"max_length": 10}),
    ),
    answer="ReadsTold",
    example="Example: `engramlog access --reads -k 1000 --order oldest`",
)
