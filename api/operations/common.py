"""What operations share: paths, what they may be refused with, and parameters: which past, when, by whom, which page."""

from __future__ import annotations

from engramlog_server.api.operations.definition import SPEAKER, Option, Parameter, flag, text

INSTANT = "2023-10-22T12:00:00Z"
AS_OF = text(
    "as_of",
    "Answer as of an instant (what had happened by then), the end of a day, or a position.",
    INSTANT,
    "2023-10-22",
    "3:128",
    option=Option(
        help="Answer as of an instant (2023-10-22T12:00:00Z: what had happened by then), the end of a day (2023-10-22) or a"
        " position (3:128)."
    ),
)
KNOWN = text(
    "known",
    "Answer from what was recorded by an instant, the end of a day or a position: as it was given then."
    " With `as_of` what had happened by that, as it was known by this.",
    "2026-11-22T12:00:00Z",
    "2026-11-22",
    "3:128",
    option=Option(
        help="Answer from what was recorded by an instant, a day or a position: as it was given then. With --as-of what had"
        " happened by that, as it was known by this."
    ),
)
AT = text("at", "Compute weights at this instant, past or future, instead of now.", INSTANT)
AFTER = text(
    "after",
    "Wait until this position of the owner is folded (read your writes): 504 after two seconds, 409 where it is parked or does"
    " not exist.",
    "3:128",
    option=Option(help="Wait until this position of the owner is folded: read your writes."),
)
LINES = (AS_OF, KNOWN)
PLACE = (*LINES, AFTER)
"""Which past, and after what."""
TIMES = (*PLACE, AT)
"""The same, and at which instant weights are computed."""
MODE = Parameter(
    "mode",
    str,
    "`normal` (dialogue), `review` (looking back) or `debug` (everything).",
    "normal",
    ("normal", "review", "debug"),
    option=Option(completes="modes"),
)
CURSOR = text(
    "cursor",
    "The next page: what `next` said, with nothing else changed. What was folded meanwhile comes too.",
    "WyJiMSIsMTMxLDEyLCJhYiJd",
)
ORDER = Parameter("order", str, "`oldest` or `newest` first.", "oldest", ("oldest", "newest"))
OFFSET = Parameter(
    "offset", int, "How many to pass over.", 0, (0,), bounds={"ge": 0, "le": 1_000_000_000}, option=Option()
)
TRACE = Parameter("trace", bool, "Record that these memories were shown, after the answer.", True, (True,), option=None)
INSPECT = Parameter(
    "inspect",
    bool,
    "Somebody only looks: recorded in any mode and at any time, and no memory gains by it.",
    False,
    (False,),
    option=None,
)
TRACED = (
    Parameter(
        "trace", bool, "Count as an agent's recall: what is shown gains by it. Without it this only looks.", False
    ),
    Parameter("no_trace", bool, "Record nothing, not even that somebody looked.", False),
    Parameter("inspect", bool, "Only look: recorded in any mode and at any time, and no memory gains by it.", False),
)
"""What a command has that shows memories."""
ACTOR = Parameter(
    "actor",
    SPEAKER,
    "Actor of the event: user, assistant or judge.",
    "user",
    ("user",),
    option=Option(help="Actor of the event: user, assistant, judge, system or operator."),
)
OCCURRED_AT = text("occurred_at", "When it happened, if not now: RFC 3339 with a zone.", "2026-11-22T09:30:00Z")
KEY = text(
    "key",
    "Any text of your own for this call, at most 200 characters: sent again under it, it changes nothing and answers as"
    " it did. Sent with something else: 409.",
    "message-17/negate",
    option=Option(
        help="Any text of your own for this call: made again under it, it writes nothing more and answers as it did."
    ),
)
REASON = Parameter("reason", str, "Why, in words; kept in the log.", "", ("asked at the desk",))
EVENT_ID = text(
    "event_id",
    "A UUID for the event: the same request under it may be sent again, and changes nothing then.",
    "018f3c1e-7b2a-7000-8000-000000000003",
    option=None,
)
DRY_RUN = flag(
    "dry_run", "Tell what it would do, with the changes that it would tell; write nothing, and leave no trace."
)
"""Of a verb about memories that stand."""
SAID = (ACTOR, OCCURRED_AT, KEY)
"""Who says so, when, and under which key."""
REASONED = (*SAID, REASON)
"""What may be told with why."""


INCLUDE_FADED = Parameter(
    "include_faded",
    bool | None,
    "Include memories hidden only because they are old. [default: the owner's parameter `long_ago`]",
    None,
    (True,),
    option=Option(("--include-faded/--no-faded",)),
)


TRUST = text(
    "trust",
    "Only what is trusted at least so far: `imported`, `inferred` or `asserted` (by the user himself).",
    "asserted",
)


def limit(default: int, description: str = "How many, 1 to 1000.") -> Parameter:
    """How many of a page."""
    return Parameter("limit", int, description, default, (default,), option=Option(names=("-k", "--limit")))
