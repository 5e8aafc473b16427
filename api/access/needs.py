"""What each call of a service needs, and of which owner. What stands in no line of this table nobody with a key may call.

A test finds every service and method that a face calls without a line here, and every line that nothing calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from events.catalogue.access import Looked, Verb

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
    by: Callable[[Told], str | None] = lambda _told: None
    """A mode that it reads by, by what it is told."""


def _actor(told: Told) -> tuple[str, ...]:
    """Whoever is named, or the user."""
    return (str(told.get("actor") or getattr(told.get("by"), "actor", None) or "user"),)


def _of_turns(told: Told) -> tuple[str, ...]:
    return tuple({"user" if one.role == "user" else "assistant" for one in told["turns"]})


def _of_chats(_told: Told) -> tuple[str, ...]:
    """An export of a chat holds both sides."""
    return ("user", "assistant")


WITHHELD_FROM = 2
"""What stands in the log is judged as secret or not, no finer: who is told less than this is told none of it."""
READ = Need("read", told="read")
OF_THE_LOG = READ._replace(least=WITHHELD_FROM)
"""Reads that tell words of events beside memories."""
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


def _reveals(told: Told) -> tuple[Verb, ...]:
    return ("reveal",) if told.get("reveal") or getattr(told.get("options"), "reveal", False) else ()


def _foretells(told: Told) -> tuple[Verb, ...]:
    """What would be made is told with the words that it would be made of."""
    return ("read",) if told.get("dry_run") else ()


def _shows_all(told: Told) -> bool:
    """Whether an export holds more than the memories that stand; a page is of everything, whatever is told."""
    options = told["options"]
    return bool(options.everything or options.include or told.get("form") == "html")


def _exports(told: Told) -> tuple[Verb, ...]:
    """An export of everything, or of what is hidden, is an auditor's."""
    return (*_reveals(told), *(("audit",) if _shows_all(told) else ()))


def _whole(told: Told) -> str | None:
    """What is hidden is exported to whoever reads it in mode debug."""
    return "debug" if _shows_all(told) else None


def _of_the_store(told: Told) -> tuple[Verb, ...]:
    return () if told.get("owner") is not None else ("operate",)


NEEDS: Mapping[str, Need] = {
    "reader.search": READ,
    "reader.list": READ,
    "reader.get": READ._replace(also=_reveals),
    "reader.snapshot": READ,
    "reader.why": OF_THE_LOG,
    "reader.history": OF_THE_LOG,
    "reader.count_changes": OF_THE_LOG,
    "reader.provenance": OF_THE_LOG,
    "counter.counts": READ,
    "outranking.above": READ,
    "knower.assess": READ,
    "knower.associations": READ,
    "knower.map": READ,
    "facts.facts": READ,
    "synonyms.synonyms": OF_THE_LOG,
    "time_lines.times": READ,
    "contexts.context": READ._replace(least=1),
    "living.profile": READ,
    "living.health": READ,
    "living.fading": READ,
    "living.review": READ,
    "embeddings.coverage": READ,
    "owner_heads.heads": READ,
    "operator.stats": READ._replace(about="anybody", also=_of_the_store),
    "owners.owners": READ._replace(about="anybody"),
    "records.export": OF_THE_LOG._replace(also=_exports, recorded="export", by=_whole),
    "revealer.get": Need("reveal", speaks=_actor, told="reveal"),
    "revealer.export": OF_THE_LOG._replace(also=_exports, speaks=_actor, recorded="export", by=_whole),
    "inbox.page": Need("review"),
    "inbox.accept": ANSWERS,
    "inbox.edit": ANSWERS,
    "inbox.reject": ANSWERS,
    "living.grade": ANSWERS,
    "writer.append": Need("produce", "events"),
    "rememberer.append_judged": Need("produce", "events"),
    "rememberer.add": SAYS,
    "rememberer.add_turns": Need("produce", speaks=_of_turns),
    "writer.mention": SAYS,
    "living.reinforce": SAYS,
    "grounds.report": SAYS,
    "records.take_in_whole": SAYS._replace(owner="options.owner"),
    "chats.take_in_whole": Need("produce", speaks=_of_chats),
    "extractor.extract": MAKES,
    "extractor.rehearse": MAKES,
    "episodes.make": MAKES,
    "rememberer.edit": CORRECTS,
    "writer.negate": CORRECTS,
    "writer.confirm": CORRECTS,
    "writer.set_sensitivity": CORRECTS,
    "writer.merge": CORRECTS,
    "writer.unmerge": CORRECTS,
    "living.choose": CORRECTS,
    "synonyms.define": CORRECTS,
    "sources.set_aside": CORRECTS,
    "sources.bring_back": CORRECTS,
    "retracter.retract": CORRECTS._replace(also=lambda _told: ("audit",)),
    "deleter.delete_many": DELETES,
    "restorer.restore": DELETES,
    "many_restorer.restore_many": DELETES,
    "cleaner.clean": Need("delete", also=_foretells),
    "replayer.replay": REPLAYS._replace(of_past=True),
    "comparer.compare": REPLAYS,
    "comparer.curves": REPLAYS._replace(told="replay", of_past=True),
    "differ.diff": REPLAYS._replace(of_past=True),
    "instants.instants": REPLAYS._replace(of_past=True),
    "events.events": AUDITS,
    "events.partition_events": AUDITS_ALL,
    "answers.answers": AUDITS,
    "answers.answer": AUDITS._replace(of_past=True),
    "uses.uses": AUDITS._replace(told="audit"),
    "named_sources.sources": AUDITS,
    "sources.asides": AUDITS,
    "heads.heads": AUDITS_ALL,
    "heads.check": AUDITS_ALL,
    "operator.dead_show": Need("debug", recorded="debug"),
    "operator.dead_retry": Need("operate"),
    "operator.dead_discard": Need("operate", speaks=_actor),
    "operator.dead": OPERATES,
    "operator.status": OPERATES,
    "operator.alarms": OPERATES,
    "operator.clear_alarm": OPERATES,
    "job_queue.jobs": OPERATES,
    "capacities.capacity": OPERATES,
    "model_uses.models": OPERATES,
    "keys.me": READ._replace(about="anybody"),
    "keys.access": AUDITS_ALL._replace(instead=("admin",)),
    "keys.issue": ADMINISTERS,
    "keys.revoke": ADMINISTERS,
    "keys.grant": ADMINISTERS,
    "reads.reads": AUDITS_ALL._replace(instead=("admin",)),
}
