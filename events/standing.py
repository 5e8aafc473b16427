"""Who may say what. Nobody promotes himself: what always holds is said by an operator, or decided by a reviewer on evidence.

An `actor` is what a producer says of itself. So each path vouches only for what it can know: whoever reaches the store's own
socket (mode 0700, the command line) may be its operator; whoever calls over HTTP holds a token, and speaks for a user, an agent
or a judge. One table, `CLAIMS`, says for whom one may speak by which path, and every entry point asks it.

What an event says of memories that were shown has bounds here, and is read as sums or each access by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_args

from engramlog_server.events.catalogue import MemoriesAccessed
from engramlog_server.events.envelope import LOCAL, OWN_WORD, AnyEvent, Bringer, Word, bringer
from engramlog_server.events.partitions import ACCESS, SYSTEM_OWNERS, SYSTEM_TYPES, access_id
from engramlog_server.events.trust import ASSERTED, IMPORTED, INFERRED, ORDER, lowest
from engramlog_server.events.vocabulary import Actor, Trust

MOST_ACCESSES = 500
"""Accesses in one event."""
MOST_MEMORIES = 500
"""Different memories that the accesses of one event name: as many as it may load and change when it is folded."""
MOST_BYTES = 256 * 1024
"""Bytes of an event that holds accesses, its envelope too."""
LOOKING = frozenset({"inspection", "reveal"})
"""Ways of showing that a person looks by: recorded, and no law hears of them."""
_BY_ITSELF = "each access by itself: data.accesses, in schema_version 2; sums of them in data.hits"


def shown_in(data: MemoriesAccessed) -> tuple[str, ...]:
    """The memories that were shown, each once, in the order in which they were first; a block's profile is no access."""
    ids = [hit.memory_id for hit in data.hits]
    for one in data.accesses:
        ids += one.shown
    return tuple(dict.fromkeys(ids))


def profile_in(data: MemoriesAccessed) -> tuple[str, ...]:
    """The memories that stood in a block as who the user is: told in every prompt, which is no access."""
    return () if data.block is None or data.block.stable is None else data.block.stable.profile


def problem_with_accesses(data: MemoriesAccessed, version: int, size: int) -> Objection | None:
    """Why validation does not take these accesses, in an event of a schema version and of so many bytes; or None."""
    if not data.hits and not data.accesses and not profile_in(data):
        return Objection("data.accesses", "nothing", f"what was shown: {_BY_ITSELF}")
    if not data.accesses:
        return None
    if version < 2:
        return Objection("data.accesses", f"schema_version {version}", _BY_ITSELF)
    memories = len({memory_id for one in data.accesses for memory_id in one.shown})
    if memories > MOST_MEMORIES:
        allowed = f"at most {MOST_MEMORIES} different memories in one event: more events where there are more"
        return Objection("data.accesses", f"{memories:,} different memories", allowed)
    if size > MOST_BYTES:
        allowed = f"at most {MOST_BYTES:,} bytes in one event: more events where there are more"
        return Objection("data.accesses", f"an event of {size:,} bytes", allowed)
    return None


Path = Literal["terminal", "http", "mcp", "job", "import"]
"""How an event comes in."""
FIRM = frozenset({"system", "core"})
"""Tiers of what stands in every prompt, whatever is asked."""
ACTORS: tuple[str, ...] = get_args(Actor)
CLAIMS: Mapping[tuple[Path, Bringer], tuple[Actor, ...]] = {
    ("terminal", "side"): ("user", "assistant", "judge", "system", "operator"),
    ("http", "side"): ("user", "assistant", "judge"),
    ("mcp", "side"): ("user", "assistant", "system"),
    ("job", "side"): ("user", "judge", "system"),
    ("job", "job"): ("user", "judge", "system"),
    ("job", "model"): ("user", "judge"),
    ("import", "side"): ("user", "assistant", "system"),
}
"""By which path, brought by whom -> the actors that may be claimed. What is not in it nobody claims."""
TRUSTED: Mapping[tuple[Path, Bringer], Trust] = {
    ("terminal", "side"): ASSERTED,
    ("http", "side"): ASSERTED,
    ("mcp", "side"): INFERRED,
    ("job", "side"): INFERRED,
    ("job", "job"): INFERRED,
    ("job", "model"): INFERRED,
    ("import", "side"): IMPORTED,
}
"""By which path, brought by whom -> how far the word of a user or operator goes; that of anybody else: `inferred` at most. What
an operator lets this side reach over HTTP (`Speaker.highest`) may be less."""
PATHS: Mapping[Path, str] = {
    "terminal": "a command at the store",
    "http": "HTTP, the client too",
    "mcp": "a tool of MCP",
    "job": "a job, and what the store itself records",
    "import": "an import: turns, chats, records of an export",
}
"""Every path, in words."""
BRINGERS: Mapping[Bringer, str] = {
    "side": "`local`, or a name in the settings",
    "job": "`job:` and its name",
    "model": "either, and ` model:`",
}
"""Every kind of principal, in words."""
RETOLD = frozenset({"MemoryCreated", "MemoryMentioned"})
"""What a job tells again of what a user said in a turn: that it is kept, that it was said once more."""
REVIEWERS = frozenset({"operator", "system", "judge"})
"""Who may promote: what of it is borne out is decided when it is folded."""
PERSONS = frozenset({"user", "operator"})
"""Who may set a sensitivity by hand, and so lower it; and who says what is not so."""
REPORTERS = frozenset({"user", "assistant", "operator", "system"})
"""Who may report that what a memory rests on has changed: those who can look at it."""
PROMOTION = frozenset(
    {
        "core_importance", "promotion_importance", "use_boost", "boost_daily_limit", "boost_cooldown_hours",
    }
)  # fmt: skip
"""Parameters that decide what becomes core."""
_PROMOTED = (
    "an operator makes it always hold (`engramlog edit OWNER ID --tier core`), or a reviewer promotes it for being put to"
    " use"
)


OWN = ":"
"""What names of the store's own begin with; nobody's memories are kept under one."""
ENDING = frozenset(
    {
        "MemoryDeleted", "MemoryRestored", "MemoryPurged", "MemoryErased", "FactRetracted", "EventDiscarded", "SensitivitySet",
        "MemoryUnmerged", "MemoriesAccessed", "MemoriesRevealed",
    }
)  # fmt: skip
"""Events by which an owner with such a name, that an older release took in, can be looked at and be ended."""
OWNER_RULE = "a name that does not begin with ':', as the store's own do; of one that an older release took in, only what ends it"


class Objection(NamedTuple):
    """Why an event may not be said by this actor at this face: as in `InvalidEvent`."""

    field: str
    got: str
    allowed: str


class Speaker(NamedTuple):
    """By which path an event comes in, and who brings it, as the side that receives knows."""

    path: Path = "terminal"
    principal: str = LOCAL
    raw: bool = False
    """Whether it was sent as an event, so that nothing in it is a verb's own word."""
    highest: Trust = ASSERTED
    """The most that an operator lets what comes over HTTP reach, and the grants of whoever brings it, by whichever path."""

    @property
    def is_remote(self) -> bool:
        """Whether it came from outside: by a caller who need not be at the store."""
        return self.path in _REMOTE


AT_THE_STORE = Speaker()
_REMOTE: tuple[Path, ...] = ("http", "mcp")
_CALLED: tuple[Path, ...] = ("http", "mcp", "import")
"""Paths by which somebody comes whose grants say how far his word goes."""


def claimable(path: Path, principal: str = LOCAL) -> tuple[Actor, ...]:
    """The actors for whom one may speak."""
    return CLAIMS.get((path, bringer(principal)), ())


def claimed(actor: str, by: Speaker, field: str = "actor") -> Objection | None:
    """Why nobody who comes this way speaks for the actor, or None."""
    return None if _may_claim(actor, by) else Objection(field, actor, claim_rule(by))


@lru_cache(maxsize=256)
def _may_claim(actor: str, by: Speaker) -> bool:
    return actor in claimable(by.path, by.principal)


def claim_rule(by: Speaker) -> str:
    """Who may be claimed, in words."""
    allowed, path = claimable(by.path, by.principal), PATHS[by.path]
    if not allowed:
        return f"nobody: by this path ({path}) {by.principal} brings nothing"
    told = " or ".join(filter(None, (", ".join(allowed[:-1]), allowed[-1])))
    others = (
        ""
        if "operator" in allowed
        else f": by this path ({path}) nobody speaks for others; an operator uses the commands at the store"
    )
    return told + others


def objection(event: AnyEvent, by: Speaker) -> Objection | None:
    """Why validation refuses an event for who says it and how it comes in, or None."""
    if event.type in SYSTEM_TYPES or (event.owner in SYSTEM_OWNERS and event.type != "EventDiscarded"):
        return _of_the_store(event, by) or claimed(event.actor, by)
    if event.owner[0] == OWN and by.path != "job" and event.type not in ENDING:
        return Objection("owner", event.owner, f"{OWNER_RULE}: {', '.join(sorted(ENDING))}")
    if problem := claimed(event.actor, by):
        return problem
    if by.path == "job" and event.actor == "user" and event.type not in RETOLD:
        return Objection("actor", event.actor, f"{claim_rule(by)}; user of {' and '.join(sorted(RETOLD))} alone")
    if problem := trust_objection(event, by):
        return problem
    return None if event.actor == "operator" else _reserved(event, by)


def _of_the_store(event: AnyEvent, by: Speaker) -> Objection | None:
    """What is said of the store itself is said by verbs of access alone, each type under its own owner."""
    whose = SYSTEM_TYPES.get(event.type)
    if whose is None:
        return Objection("owner", event.owner, OWNER_RULE.partition(";")[0])
    if by.raw or by.path in ("mcp", "import"):
        return Objection("type", event.type, f"any other: {BY_ACCESS}")
    if event.owner != whose:
        return Objection("owner", event.owner, f"{whose}: {event.type} is said of the store")
    if whose == ACCESS and event.event_id != access_id(event.data.number):
        return Objection("event_id", event.event_id, f"{access_id(event.data.number)}, as its number says")
    return None


def _reserved(event: AnyEvent, by: Speaker) -> Objection | None:
    if by.is_remote and by.raw and event.type in BY_VERBS:
        return Objection("type", event.type, f"any other: {BY_VERBS[event.type]}")
    check = _RESERVED.get(event.type)
    return None if check is None else check(event.data, event.actor, by)


@lru_cache(maxsize=256)
def reach(actor: str, by: Speaker) -> Trust:
    """How far the word of an actor goes who comes this way."""
    most = TRUSTED.get((by.path, bringer(by.principal)), INFERRED)
    if by.path in _CALLED:
        most = lowest(most, by.highest)
    return most if actor in PERSONS else lowest(most, INFERRED)


def is_persons_word(actor: str, by: Speaker) -> bool:
    """Whether what is said so is a person's own word: such words alone reject what a memory says, and answer what waits."""
    return actor in PERSONS and reach(actor, by) == ASSERTED


def vouched(event: AnyEvent, by: Speaker) -> Word:
    """How far the event's word goes.

    A job tells by the envelope's `trust` how far that goes which it rests on. Where that is what the user himself said, rules
    change as he would, and nobody has to look at what is created of it. That is `inferred` all the same, but for the turn itself.
    """
    told = event.trust if by.path == "job" else None
    if told is not None and bringer(by.principal) != "model" and not _draws(event):
        found: Trust = told
    else:
        most = reach(event.actor, by)
        found = most if event.trust is None else lowest(most, event.trust)
    return OWN_WORD if found == ASSERTED else Word(found, told not in (ASSERTED, IMPORTED))


def _draws(event: AnyEvent) -> bool:
    """Whether it creates something that was drawn from what was said."""
    return event.type == "MemoryCreated" and event.data.source_turns != (event.data.memory_id,)


def trust_objection(event: AnyEvent, by: Speaker) -> Objection | None:
    """Why nobody who comes this way may claim so much, or None."""
    if event.trust is None or by.path == "job":
        return None
    most = reach(event.actor, by)
    if ORDER[event.trust] <= ORDER[most]:
        return None
    return Objection("trust", event.trust, f"{most} at most: by this path ({PATHS[by.path]}), as {event.actor}")


def report_objection(actor: str, by: Speaker) -> Objection | None:
    """Why somebody may not report that what a memory rests on has changed, or None."""
    return claimed(actor, by) or _of_ground(None, actor, by)


def firm_tier(tier: str | None, kind: str) -> str | None:
    """The tier of system or core that a creation asks for, by `tier` or else by `kind`; None for an ordinary memory."""
    asked = tier or kind
    return asked if asked in FIRM else None


def _of_creation(data: Any, actor: str, _by: Speaker) -> Objection | None:
    asked = firm_tier(data.tier, data.kind)
    if asked is None:
        return None
    if data.tier is None:
        return Objection(
            "data.kind",
            f"{asked} from {actor}",
            f"another kind, or this kind with the tier fact or episode: {_PROMOTED}",
        )
    return Objection("data.tier", f"{asked} from {actor}", f"fact or episode: {_PROMOTED}")


def _of_promotion(data: Any, actor: str, by: Speaker) -> Objection | None:
    if data.to not in FIRM or (actor in REVIEWERS and not by.is_remote):
        return None
    return Objection("data.to", f"{data.to} from {actor}", f"fact or episode: {_PROMOTED}")


def _of_parameters(data: Any, actor: str, _by: Speaker) -> Objection | None:
    for name in data.parameters:
        if name in PROMOTION:
            got = f"{data.parameters[name]} from {actor}"
            return Objection(f"data.parameters.{name}", got, f"a change by an operator: {_PROMOTED}")
    return None


def _of_sensitivity(_data: Any, actor: str, _by: Speaker) -> Objection | None:
    allowed = "user or operator: how sensitive a memory is, a person says"
    return None if actor in PERSONS else Objection("actor", actor, allowed)


def _of_value(_data: Any, actor: str, by: Speaker) -> Objection | None:
    allowed = "user or operator, over a path that vouches for the user: only a person rejects or readmits a value"
    told = actor in PERSONS and by.path == "import"  # an operator reads in what another store's people rejected
    return None if told or is_persons_word(actor, by) else Objection("actor", actor, allowed)


def _of_source(_data: Any, actor: str, _by: Speaker) -> Objection | None:
    allowed = "user or operator: whose words count for nothing, a person says"
    return None if actor in PERSONS else Objection("actor", actor, allowed)


def _of_review(_data: Any, actor: str, by: Speaker) -> Objection | None:
    allowed = "user or operator: what waits for a person, a person answers"
    return None if is_persons_word(actor, by) else Objection("actor", actor, allowed)


def _of_ground(_data: Any, actor: str, _by: Speaker) -> Objection | None:
    allowed = "user, assistant, operator or system: who can look at what a memory rests on"
    return None if actor in REPORTERS else Objection("actor", actor, allowed)


def _of_raise(_data: Any, actor: str, _by: Speaker) -> Objection | None:
    allowed = "system or operator: what newer rules find, the job says that reads entries again"
    return None if actor == "system" else Objection("actor", actor, allowed)


def _of_access(data: Any, _actor: str, by: Speaker) -> Objection | None:
    if not (by.is_remote and by.raw):
        return None
    if data.block is not None:
        return Objection("data.block", "how a block was made", "none: POST .../context records that itself")
    allowed = "any other: that a secret was shown, POST .../reveal records itself"
    return Objection("data.via", "reveal", allowed) if data.via == "reveal" else None


def _of_reading(_data: Any, actor: str, _by: Speaker) -> Objection | None:
    allowed = "system or operator: that turns were read, the job says that read them"
    return None if actor == "system" else Objection("actor", actor, allowed)


def _of_discard(_data: Any, actor: str, _by: Speaker) -> Objection | None:
    return None if actor in PERSONS else Objection("actor", actor, "user or operator: a person drops a parked event")


def _of_purge(_data: Any, actor: str, _by: Speaker) -> Objection | None:
    return None if actor == "system" else Objection("actor", actor, "system or operator: nobody else purges a memory")


BY_ACCESS = (
    "keys and grants are made by `engramlog key` and its routes, and who looked at what the store records itself"
)
BY_VERBS: Mapping[str, str] = {
    **dict.fromkeys(SYSTEM_TYPES, BY_ACCESS),
    **dict.fromkeys(
        ("ValueRejected", "ValueReadmitted"),
        "POST .../delete and .../negate with never reject what a memory says, .../confirm takes it up again",
    ),
    **dict.fromkeys(
        ("SourceSetAside", "SourceBroughtBack"),
        "POST .../set-aside and .../bring-back do so, and tell what they withhold",
    ),
    "ReviewSettled": "POST .../inbox/accept, edit and reject answer what waits, and look whether it does",
    "SensitivityRaised": "what newer rules find, the store's own job records; POST .../sensitivity sets a level",
    "MemoriesRevealed": "what is revealed is recorded by POST .../reveal itself",
    "EventDiscarded": "POST /v1/dead/{owner}/discard drops a parked event, and looks first whether it is parked",
    "MemoryCompressed": "levels are what the store's own sweep records; MemoryRevised puts other words",
}
"""What nobody from outside appends as an event, since a verb has to look first -> which verb, in words."""
_RESERVED: Mapping[str, Callable[[Any, str, Speaker], Objection | None]] = {
    "MemoryCreated": _of_creation,
    "MemoryPromoted": _of_promotion,
    "ParametersChanged": _of_parameters,
    "SensitivitySet": _of_sensitivity,
    "MemoriesAccessed": _of_access,
    "SensitivityRaised": _of_raise,
    "TurnsExtracted": _of_reading,
    "EventDiscarded": _of_discard,
    "MemoryPurged": _of_purge,
    "GroundChanged": _of_ground,
    "ValueRejected": _of_value,
    "ValueReadmitted": _of_value,
    "SourceSetAside": _of_source,
    "SourceBroughtBack": _of_source,
    "ReviewSettled": _of_review,
}
"""What an operator may say and others not always: data, actor and how it comes in -> what stands against it."""
