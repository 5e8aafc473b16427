"""What an operation is: one definition makes the route, the command, the auditor's tool and the client's verb.

It imports the standard library alone, so that a command can name its options before it loads what it asks. If a face needs
something else than the rest, the definition says it next to what the rest has. Parameters that several operations take
follow: which past, when, by whom, which page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from operator import attrgetter
from typing import Any, NamedTuple

from engramlog_server.api.operations.needs import Need
from engramlog_server.api.work import Work

OWNER = "/v1/owners/{owner}"
MEMORIES = f"{OWNER}/memories"
MEMORY = f"{MEMORIES}/{{memory_id}}"
OF_PLACE = (409, 504, 507)
"""A position that does not exist, or is not folded in time; an owner with more memories than a process loads."""
OF_MEMORY = (404, *OF_PLACE)
Given = dict[str, Any]
"""What was told, by the names of parameters."""
NAMES = frozenset({"memory_id", "above", "replaced_by", "from_memory", "ids", "sources"})
"""Parameters that name memories that are there, by id or handle."""
REQUIRED: Any = ...
"""Of a parameter without a default; of an option: as its parameter has it."""
SPEAKER = "speaker"
"""A kind: who says so. Over HTTP nobody speaks as an operator."""
NEVER = "never"
"""A kind: a flag that a question may name and not set, since only a request that is recorded does that."""


class Option(NamedTuple):
    """How the command line has a parameter, where that is not `--its-name` with its kind, default and description."""

    names: tuple[str, ...] = ()
    help: str = ""
    default: Any = REQUIRED
    kind: Any = None
    argument: bool = False
    """By its place, not by a name."""
    metavar: str | None = None
    panel: str | None = None
    completes: str = ""
    """What TAB offers: a function of `api.cli.completion`."""
    reads: str = ""
    """`module:function` that makes what the service takes of what was told."""


AS_IT_IS = Option()
"""As the parameter is."""


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """One thing that an operation may be told."""

    name: str
    """As the service's method has it."""
    kind: Any
    """Its Python type, or a kind of this module."""
    description: str
    default: Any = REQUIRED
    """A type stands for what it makes."""
    examples: tuple[Any, ...] = ()
    bounds: Mapping[str, Any] = field(default_factory=dict)
    """What the door itself refuses: `ge`, `le`, `max_length`, `strict`. The others are the service's to refuse."""
    option: Option | None = AS_IT_IS
    """None: not on the command line."""
    route: bool = True
    """Whether HTTP has it."""

    def but(self, **other: Any) -> Parameter:
        """The same with other words, or another default."""
        return replace(self, **other)


def text(name: str, description: str, *examples: str, **other: Any) -> Parameter:
    """Some text, which need not be told."""
    return Parameter(name, str | None, description, None, examples, **other)


def time(name: str, description: str) -> Parameter:
    """A day or an instant, which need not be told."""
    return text(name, description, "2026-05-01", "2026-05-01T09:30:00Z")


def needed(name: str, description: str, *examples: str, **other: Any) -> Parameter:
    """Some text without which nothing is asked."""
    return Parameter(name, str, description, examples=examples, **other)


def flag(name: str, description: str, **other: Any) -> Parameter:
    """What is not done unless it is told."""
    return Parameter(name, bool, description, False, (True,), **other)


class Record(NamedTuple):
    """A kind: an object inside a body."""

    name: str
    purpose: str
    fields: tuple[Parameter, ...]


class Body(NamedTuple):
    """What a POST is told: the name of its shape, what that is, and examples by name."""

    name: str
    purpose: str
    examples: Mapping[str, Any]
    required: bool = False
    """Whether it must be sent where nothing in it must be told."""


def told(name: str, purpose: str, *, required: bool = False, **examples: Given | tuple[str, Given]) -> Body:
    """A body with its examples: what is told, perhaps behind a summary of it."""
    values = {one: {"value": found} if isinstance(found, dict) else _summed(*found) for one, found in examples.items()}
    return Body(name, purpose, values, required)


def _summed(summary: str, value: Given) -> Given:
    return {"summary": summary, "value": value}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Operation:
    """One thing that can be asked or told.

    `path` names the subject: `{owner}` and `{memory_id}` are arguments of the
    command and come first in the call.
    """

    name: str
    call: str
    """The service of the application and its method: `reader.list`. `module:function` where it needs no store."""
    path: str
    title: str = ""
    """In the reference; its name, if none is given."""
    tag: str = ""
    """Of the reference; by its path, if none is given: memories, owners or store."""
    needs: Need | None = None
    """What a caller with a key needs; None: no store is asked, or a command alone has it."""
    work: Work = Work.LIGHT
    verb: str = ""
    """Its name in the client; empty if the client has none, or one that is written by hand."""
    question: tuple[Parameter, ...] = ()
    body: Body | None = None
    """None: it is asked by GET."""
    answer: str = ""
    """A class of `engramlog.answers`; empty if the answer is lines."""
    statuses: tuple[int, ...] | None = None
    """What it may be refused with beside 422, 429 and 503; by its path, if none is given."""
    apart: bool = False
    """Whether HTTP has an endpoint of its own for it, because one call of a service does not answer it."""
    endpoint: str = ""
    """Its name in OpenAPI, where that was published as another."""
    help: str = ""
    """The first paragraph: what it does, in one sentence."""
    command: str = ""
    """The first paragraph of the command's help, if a command of its name does more."""
    more: str = ""
    """The paragraphs after the first."""
    route_help: str = ""
    """What the route does, where its words differ from the command's."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """What HTTP and MCP always tell the service."""
    shown: str = "generic:answer"
    """`module:function` below `api.cli.show` that prints an answer."""
    example: str = ""
    """Of the command: its last lines of help."""
    folds: bool = False
    """Whether it tells how far the past is folded."""
    traces: tuple[Parameter, ...] = ()
    """Where it records what it shows, the options of a command: `--trace`, `--no-trace` and `--inspect`."""
    task: str = "folding the past"
    """Of the progress bar."""
    together: str = ""
    """`module:function` that joins the answers for several owners (`owners`); empty if it takes one owner."""

    def __post_init__(self) -> None:
        of_memory, of_owner = "{memory_id}" in self.path, "{owner}" in self.path
        tag = "memories" if self.path.startswith(MEMORIES) else "owners" if self.path.startswith(OWNER) else "store"
        object.__setattr__(self, "tag", self.tag or tag)
        object.__setattr__(self, "title", self.title or self.name.replace("_", " ").replace("-", " ").capitalize())
        if self.statuses is None:
            object.__setattr__(self, "statuses", OF_MEMORY if of_memory else OF_PLACE if of_owner else ())

    @property
    def described(self) -> str:
        """Its help in whole."""
        return f"{self.help}\n\n{self.more}" if self.more else self.help

    @property
    def subject(self) -> tuple[str, ...]:
        """The arguments that the path names."""
        return tuple(name for name in ("owner", "memory_id", "turn_id", "partition") if f"{{{name}}}" in self.path)

    @property
    def tells(self) -> bool:
        """Whether it tells something new of one owner: such a call has a key."""
        return any(one.name == "key" for one in self.question)

    def tells_by(self, given: Mapping[str, Any]) -> bool:
        """Whether a call of it does: one that only asks what it would do tells nothing."""
        return self.tells and not given.get("dry_run")

    @property
    def route(self) -> tuple[str, str]:
        """Method and path by which HTTP has it."""
        return "GET" if self.body is None else "POST", self.path

    @property
    def is_routed(self) -> bool:
        """Whether HTTP has it."""
        return self.needs is not None or ":" in self.call

    @property
    def asks(self) -> bool:
        """Whether it only asks."""
        return self.body is None or any(one.name == "trace" for one in self.question)

    @property
    def served(self) -> bool:
        """Whether a running service may carry it out for a command: it asks, or takes a moment and may be told under a key.

        A heavy question it answers where it takes a moment of this owner.
        """
        of_store = self.work is Work.WATCH and "owner" not in self.subject
        quick = of_store or (self.work in (Work.LIGHT, Work.HEAVY) and "owner" in self.subject)
        told = self.asks or (self.tells and self.work is not Work.HEAVY)
        return quick and self.needs is not None and not self.apart and told

    def but(self, **other: Any) -> Operation:
        """The same but for this."""
        return replace(self, **other)

    def ask(self, application: Any, given: Mapping[str, Any]) -> Any:
        """Call the service: the subject by place, all else by name. Handles become the ids of their memories.

        With `owners` the service is called for each of them, so access is checked for each as for a call of its own.
        """
        if "owners" in given and self.together:
            one = {name: value for name, value in given.items() if name != "owners"}
            if not given["owners"]:
                return self.ask(application, one)
            application.allow(self.call, one, given["owners"])  # before anything is recorded of any of them
            return loaded_from(self.together)(partial(self.ask, application), one, given["owners"])
        method = attrgetter(self.call)(application) if ":" not in self.call else loaded_from(self.call)
        given = self._with_ids(application, given)
        named_ones = {name: value for name, value in given.items() if name not in self.subject}
        return method(*(given[name] for name in self.subject if name in given), **named_ones)

    def _with_ids(self, application: Any, given: Mapping[str, Any]) -> Mapping[str, Any]:
        owner = given.get("owner")
        if application is None or not isinstance(owner, str):
            return given
        changed: Given = {}
        for name in NAMES.intersection(given):
            value = given[name]
            if name == "memory_id" and name not in self.subject:  # the id of a memory to be made
                continue
            if isinstance(value, str):
                changed[name] = application.named(owner, value)
            elif isinstance(value, list | tuple):
                changed[name] = [application.named(owner, one) if isinstance(one, str) else one for one in value]
        return {**given, **changed}


def loaded_from(place: str) -> Callable[..., Any]:
    """What stands at `module:name`, loaded now."""
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def without(parameters: Iterable[Parameter], *names: str) -> tuple[Parameter, ...]:
    """The parameters but these."""
    return tuple(one for one in parameters if one.name not in names)


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


EXPAND = Parameter(
    "expand",
    bool,
    "Let the configured language model reword the question (`ENGRAMLOG_EXPANSION=model`); false sends it to no model.",
    True,
    (False,),
    option=None,
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
