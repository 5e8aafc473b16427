"""What a caller with a key needs for an operation. Each operation names its need; see `api.access`.

This module imports the standard library alone, because commands load operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from engramlog_server.events.catalogue import Looked, Verb

Told = Mapping[str, Any]
"""What a call is told, by the names of its parameters."""
About = Literal["owner", "store", "anybody", "events"]
"""Of whom: an owner; the store as a whole; whoever holds any key; or of each event's owner, which the service asks for itself."""


class Need(NamedTuple):
    """What a call needs."""

    verb: Verb
    about: About = "owner"
    mode: str | None = None
    """A mode that it reads by, whatever it is told."""
    speaks: Callable[[Told], tuple[str, ...]] = lambda _told: ()
    """As which actors it says something, if any."""
    owner: str = "owner"
    """Where the owner is told: a parameter, or a parameter and its attribute (`options.owner`)."""
    also: Callable[[Told], tuple[Verb, ...]] = lambda _told: ()
    """What else it needs, by what it is told."""
    instead: tuple[Verb, ...] = ()
    """Verbs of which any lets do it too."""
    recorded: Looked | None = None
    """As what it is recorded that somebody looked."""
    of_past: bool = False
    """Whether it tells the past whatever it is told: of another's owner that is recorded."""
    told: Verb | None = None
    """By which verb's modes and sensitivity its answer is narrowed; None: it is not, for the verb itself shows what is hidden."""
    least: int = 0
    """The sensitivity below which nobody is told anything of it: it withholds by no lower one."""
    narrows: Callable[[Told], bool] = lambda _told: False
    """Whether the service also answers callers who read below `least`, and leaves out the parts that need it."""
    by: Callable[[Told], str | None] = lambda _told: None
    """A mode that it reads by, by what it is told."""
    is_by_mode: Callable[[Told], bool] = lambda _told: True
    """Whether the operation reads by its argument `mode`, so that the grant must cover this mode."""


def _actor(told: Told) -> tuple[str, ...]:
    """Whoever is named, or the user."""
    return (str(told.get("actor") or getattr(told.get("by"), "actor", None) or "user"),)


def _of_turns(told: Told) -> tuple[str, ...]:
    return tuple({"user" if one.role == "user" else "assistant" for one in told["turns"]})


def _of_chats(_told: Told) -> tuple[str, ...]:
    """An export of a chat holds both sides."""
    return ("user", "assistant")


def _reveals(told: Told) -> tuple[Verb, ...]:
    return ("reveal",) if told.get("reveal") or getattr(told.get("options"), "reveal", False) else ()


def _foretells(told: Told) -> tuple[Verb, ...]:
    """What would be made is told with the words that it would be made of."""
    return ("read",) if told.get("dry_run") else ()


def _shows_all(told: Told) -> bool:
    """Whether an export holds more than the memories that stand; a page is of everything, whatever is told."""
    options = told["options"]
    return bool(options.everything or options.include or told.get("format") == "html")


def _exports(told: Told) -> tuple[Verb, ...]:
    """An export of everything, or of what is hidden, is an auditor's."""
    return (*_reveals(told), *(("audit",) if _shows_all(told) else ()))


def _whole(told: Told) -> str | None:
    """What is hidden is exported to whoever reads it in mode debug."""
    return "debug" if _shows_all(told) else None


def _compares_ranks(told: Told) -> bool:
    """Whether `why` compares two memories: only then its `mode` matters, and part of it is no words of the log."""
    return told.get("above") is not None or told.get("query") is not None


def _of_the_store(told: Told) -> tuple[Verb, ...]:
    return () if told.get("owner") is not None else ("operate",)


WITHHELD_FROM = 2
"""What stands in the log is judged as secret or not, no finer: who is told less than this is told none of it."""
READ = Need("read", told="read")
OF_THE_LOG = READ._replace(least=WITHHELD_FROM)
"""Reads that tell words of events beside memories."""
WHY = OF_THE_LOG._replace(is_by_mode=_compares_ranks, narrows=_compares_ranks)
MAKES = Need("produce", also=lambda _told: ("read",), least=WITHHELD_FROM)
"""What is made of the owner's memories is told to whoever has it made."""
SAYS = Need("produce", speaks=_actor)
CORRECTS = Need("correct", speaks=_actor)
DELETES = Need("delete", speaks=_actor)
ANSWERS = Need("review", speaks=_actor)
REPLAYS = Need("replay")
AUDITS = Need("audit")
OPERATES = Need("operate", "store")
AUDITS_ALL = Need("audit", "store")
ADMINISTERS = Need("admin", "store")
READ_OR_REVEAL = READ._replace(also=_reveals)
READ_OR_OPERATE = READ._replace(about="anybody", also=_of_the_store)
READ_CONTEXT = READ._replace(least=1)
ANYBODY = READ._replace(about="anybody")
EXPORT = OF_THE_LOG._replace(also=_exports, recorded="export", by=_whole)
EXPORT_SECRETS = EXPORT._replace(speaks=_actor)
REVEAL = Need("reveal", speaks=_actor, told="reveal")
REVIEW = Need("review")
IMPORT = SAYS._replace(owner="options.owner")
IMPORT_CHATS = Need("produce", speaks=_of_chats)
CLEANS = Need("delete", also=_foretells)
DISCARDS = Need("operate", speaks=_actor)
BESIDES: Mapping[str, Need] = {
    "reader.snapshot": READ,
    "writer.append": Need("produce", "events"),
    "rememberer.append_judged": Need("produce", "events"),
    "rememberer.add_turns": Need("produce", speaks=_of_turns),
    "extractor.rehearse": MAKES,
}
"""Calls of faces that are no operation of their own."""
