"""Tools of those who look over what is remembered: auditors and operators. None moves a weight, leaves a trace or writes.

Each is made of the operation that its route and its command are made of, and answers with the same JSON. What a model need not
choose is left out; pages are short, since it reads them whole. Secrets stay withheld: revealing one is a person's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter as Argument
from inspect import Signature
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from engramlog_server.api.mcp.connection import Connection, ToolAnswer
from engramlog_server.api.operations.definition import REQUIRED, Operation, Parameter, loaded_from
from engramlog_server.api.operations.events import EVENTS
from engramlog_server.api.operations.knowledge import ASSOCIATIONS, FACTS, LAWS
from engramlog_server.api.operations.reading import GET, HISTORY, LIST, OWNER_STATS, PROVENANCE, SEARCH, USES, WHY
from engramlog_server.api.operations.reports import ANSWER, ANSWERS, COMPARE, DIFF, REPLAY
from engramlog_server.api.operations.store import ALARMS, STATUS
from engramlog_server.api.work import Work

MOST = 100
"""Entries of an answer: a model reads them all."""
LINES = ("as_of", "known")
TIMES = (*LINES, "at")
PAGE = ("limit", "offset")
CHANGES = ("limit", "cursor", "order")
SPANS = ("since", "until", "recorded_since", "recorded_until")
NEWEST = {"limit": 20, "order": "newest"}
KINDS: Mapping[str, Any] = {
    "as_of": Annotated[str | None, Field(description="Happened by: instant, day or position (3:128).")],
    "known": Annotated[str | None, Field(description="Recorded by: the same.")],
    "at": Annotated[str | None, Field(description="Weights at this instant, not now.")],
    "mode": Annotated[
        Literal["normal", "review", "debug"], Field(description="debug: also what is hidden, with the reason.")
    ],
    "limit": Annotated[int, Field(ge=1, le=MOST)],
    "offset": Annotated[int, Field(ge=0, le=1_000_000)],
    "order": Literal["oldest", "newest"],
    "cursor": Annotated[str | None, Field(description="Next page: `next` of the page before.")],
    "depth": Annotated[int, Field(ge=1, le=4)],
    "memory_id": Annotated[str, Field(description="An id, or a handle of a block.")],
    "turn_id": Annotated[str, Field(description="A turn's id, a reply's, or the position of an injection.")],
    "metadata": Annotated[list[str] | None, Field(max_length=50, description="name=value, all of them (page=4).")],
    "queries": Annotated[list[str] | None, Field(max_length=20, description="Questions whose ranks are compared.")],
    "line": Annotated[
        Literal["known", "happened"], Field(description="known: as answers were given; happened: as known now.")
    ],
    "parameters": Annotated[list[str] | None, Field(max_length=64, description="Each name=value (user_factor=1.3).")],
    "kinds": Annotated[
        list[str] | None, Field(max_length=64, description="Decisions (negate) or types of events (MemoryNegated).")
    ],
    "types": Annotated[list[str] | None, Field(max_length=64, description="Types of events (TurnRecorded).")],
    "law": Annotated[str | None, Field(description="In this law's numbers, not the weighted law's.")],
    "without": Annotated[list[str] | None, Field(max_length=MOST, description="Event ids or positions to leave out.")],
    "without_actors": Annotated[list[str] | None, Field(max_length=8)],
    **{
        name: Annotated[list[str] | None, Field(max_length=20)]
        for name in ("without_turns", "without_sessions", "without_sources", "without_principals", "without_models")
    },
    "most": Annotated[int, Field(ge=1, le=MOST)],
}
"""Bounds and words for a model, where they are not the operation's."""


class Audited(NamedTuple):
    """An operation as an auditor's tool."""

    operation: Operation
    title: str
    takes: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = {}
    fixed: Mapping[str, Any] = {}
    help: str = ""
    """Where it is not the operation's."""
    memory_may_be_left_out: bool = False


AUDITED = (
    Audited(
        SEARCH,
        "Search without a trace",
        ("query", "mode", "limit", "cursor", "metadata", *TIMES),
        {"mode": "review", "limit": 10},
        {"trace": False},
        "Search with every score taken apart, also in the past or as it was known then, and without leaving a trace.",
    ),
    Audited(LIST, "List", ("mode", *PAGE, *TIMES), {"mode": "review"}),
    Audited(
        GET,
        "One memory in full",
        TIMES,
        fixed={"trace": False},
        help="Everything about one memory: text, versions, corrections, what it rests on and because of what it is kept.",
    ),
    Audited(
        WHY,
        "Why it weighs what it weighs",
        (*CHANGES, "law", "above", "query", "mode", "ranking", "language", *TIMES),
        NEWEST,
    ),
    Audited(
        HISTORY,
        "Change log",
        (*CHANGES, *SPANS, "kinds", "law", *LINES),
        NEWEST,
        help="The change log, page by page: every event, who said so, what it decided, the weight before and after.",
        memory_may_be_left_out=True,
    ),
    Audited(
        EVENTS,
        "Events of the log",
        ("types", *SPANS, "session", "principal", "actor", "late", "turn", "memory", "correlation", *CHANGES, *LINES),
        NEWEST,
        help="Events of the log, also turns and tool results, in pages. Texts that may not be shown are withheld.",
    ),
    Audited(PROVENANCE, "Where it comes from", LINES),
    Audited(USES, "Answers that used it", (*PAGE, *LINES)),
    Audited(ANSWERS, "Answers and what they were given", ("session", "since", "until", *PAGE, *LINES)),
    Audited(ANSWER, "The prompt of one answer", LINES),
    Audited(ASSOCIATIONS, "What it is associated with", ("depth", *LINES)),
    Audited(FACTS, "Facts as triples", ("about", *PAGE, *LINES)),
    Audited(
        REPLAY,
        "What would differ",
        (
            "parameters",
            "profile",
            "without",
            "without_turns",
            "without_sessions",
            "without_sources",
            "without_actors",
            "without_principals",
            "without_models",
            "queries",
            "mode",
            "limit",
            "most",
            "offset",
            *TIMES,
        ),
        {"mode": "review", "most": MOST},
        help="Compares with other parameters, another law, or without some events, turns, sessions or sources"
        " and everything derived from them. Writes nothing.",
    ),
    Audited(
        DIFF,
        "What changed between two moments",
        ("since", "until", "line", "queries", "mode", *PAGE, *LINES),
        {"limit": 20},
    ),
    Audited(COMPARE, "Laws compared", ("limit", *TIMES)),
    Audited(LAWS, "The laws"),
    Audited(OWNER_STATS, "Counts", TIMES, help="Counts of the memories by category, level and state."),
    Audited(STATUS, "State of the store"),
    Audited(
        ALARMS,
        "Alarms of the store",
        help="Active alarms of the store.",
    ),
)


def audit_tools(connection: Connection) -> list[tuple[Callable[..., Any], str]]:
    """Every tool of an auditor with its title."""
    return [(_tool(connection, one), one.title) for one in AUDITED]


def _tool(connection: Connection, audited: Audited) -> Callable[..., Any]:
    operation = audited.operation
    taken = {one.name: one for one in operation.question if one.name in audited.takes}

    def tool(**told: Any) -> ToolAnswer:
        given = {name: _read(taken[name], value) for name, value in told.items() if name in taken}
        given |= dict(operation.fixed) | dict(audited.fixed)
        answer: ToolAnswer
        if ":" in operation.call:  # no store is asked
            answer = operation.ask(None, given)
            return answer
        with connection.session() as asked:
            subject = {"owner": asked.owner, "memory_id": told.get("memory_id"), "turn_id": told.get("turn_id")}
            given |= {name: subject[name] for name in operation.subject}
            answer = operation.ask(asked.application, given)
            return answer

    tool.__name__ = f"audit_{operation.name}"
    tool.__doc__ = audited.help or operation.help
    tool.work = Work.LIGHT if operation.work is Work.FREE else operation.work  # type: ignore[attr-defined]
    tool.__signature__ = _signature(audited, taken)  # type: ignore[attr-defined]
    return tool


def _signature(audited: Audited, taken: Mapping[str, Parameter]) -> Signature:
    arguments = []
    if "memory_id" in audited.operation.subject:
        if audited.memory_may_be_left_out:
            kind: Any = Annotated[str | None, Field(description="One memory. Default: all.")]
            arguments.append(_argument("memory_id", kind, None))
        else:
            arguments.append(_argument("memory_id", KINDS["memory_id"], REQUIRED))
    if "turn_id" in audited.operation.subject:
        arguments.append(_argument("turn_id", KINDS["turn_id"], REQUIRED))
    for name in audited.takes:
        one = taken[name]
        default = audited.defaults.get(name, None if isinstance(one.default, list | type) else one.default)
        kind = KINDS.get(name) or Annotated[one.kind, Field(description=one.description)]
        arguments.append(_argument(name, kind, default))
    return Signature(arguments, return_annotation=ToolAnswer)


def _argument(name: str, kind: Any, default: Any) -> Argument:
    return Argument(
        name, Argument.KEYWORD_ONLY, annotation=kind, default=Argument.empty if default is REQUIRED else default
    )


def _read(parameter: Parameter, value: Any) -> Any:
    """What was told as the service takes it."""
    if parameter.option is not None and parameter.option.reads:
        return loaded_from(parameter.option.reads)(value or ())
    return () if value is None and isinstance(parameter.default, list | type) else value
