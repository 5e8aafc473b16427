"""What operations share: paths, what they may be refused with, and parameters: which past, when, by whom, which page."""

from __future__ import annotations

from engramlog_server.api.operations.definition import SPEAKER, Option, Parameter, flag, text

INSTANT = "2023-10-22T12:00:00Z"
AS_OF = text(
    "as_of",
    "Use only events that had happened by this instant, day (its end) or position.",
    INSTANT,
    "2023-10-22",
    "3:128",
    option=Option(
        help="Use only events that had happened by this instant (2023-10-22T12:00:00Z), day (2023-10-22: its end) or"
        " position (3:128)."
    ),
)
KNOWN = text(
    "known",
    "Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.",
    "2026-11-22T12:00:00Z",
    "2026-11-22",
    "3:128",
    option=Option(help="Use only events recorded by this instant, day or position. Can be combined with --as-of."),
)
AT = text("at", "Compute weights at this instant, past or future, instead of now.", INSTANT)
AFTER = text(
    "after",
    "Wait until this position of the owner is folded (read your writes). 504 after two seconds; 409 if it is parked or"
    " does not exist.",
    "3:128",
    option=Option(help="Wait until this position of the owner is folded (read your writes)."),
)
LINES = (AS_OF, KNOWN)
PLACE = (*LINES, AFTER)
"""Which past, and after what."""
TIMES = (*PLACE, AT)
"""The same, and at which instant weights are computed."""
MODE = Parameter(
    "mode",
    str,
    "`normal` (for a dialogue), `review` (also replaced memories) or `debug` (all memories).",
    "normal",
    ("normal", "review", "debug"),
    option=Option(completes="modes"),
)
CURSOR = text(
    "cursor",
    "Next page: send `next` of the page before, with nothing else changed. Newer changes are included.",
    "WyJiMSIsMTMxLDEyLCJhYiJd",
)
ORDER = Parameter("order", str, "`oldest` or `newest` first.", "oldest", ("oldest", "newest"))
OFFSET = Parameter(
    "offset", int, "Number of rows to skip.", 0, (0,), bounds={"ge": 0, "le": 1_000_000_000}, option=Option()
)
TRACE = Parameter("trace", bool, "Record after the answer that these memories were shown.", True, (True,), option=None)
INSPECT = Parameter(
    "inspect",
    bool,
    "Record a look (`inspection`) in any mode and at any time. No weight changes.",
    False,
    (False,),
    option=None,
)
TRACED = (
    Parameter(
        "trace",
        bool,
        "Count as an agent's recall, which strengthens the memories shown. [default: record a look]",
        False,
    ),
    Parameter("no_trace", bool, "Record nothing, not even a look.", False),
    Parameter("inspect", bool, "Record only a look, in any mode and at any time. No weight changes.", False),
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
    "Your own name for this call, at most 200 characters. Sent again with it, the call changes nothing and returns its"
    " first answer. 409 if the call differs.",
    "message-17/negate",
    option=Option(
        help="Your own name for this call: repeated with it, the call writes nothing and returns its first answer."
    ),
)
REASON = Parameter("reason", str, "The reason; kept in the log.", "", ("asked at the desk",))
EVENT_ID = text(
    "event_id",
    "A UUID for the event. The same request can be sent again with it and changes nothing.",
    "018f3c1e-7b2a-7000-8000-000000000003",
    option=None,
)
DRY_RUN = flag("dry_run", "Show what would change. Write nothing.")
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


TRUST = text("trust", "Least trust: `imported`, `inferred` or `asserted` (said by the user).", "asserted")

OWNERS = Parameter(
    "owners",
    list[str],
    "Also the memories of these owners, at most 7: access is checked for each, and the answer says whose each memory is;"
    " repeatable.",
    [],
    (["team/ops"],),
    option=Option(names=("--also",)),
)


def limit(default: int, description: str = "Most entries, 1 to 1000.") -> Parameter:
    """How many of a page."""
    return Parameter("limit", int, description, default, (default,), option=Option(names=("-k", "--limit")))
